"""`soup`: programs that extract data from web pages. What the registry knows, without importing what it needs."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from typing import Any

from whet.envs.arguments import Argument
from whet.envs.base import Environment
from whet.errors import WhetError


class SoupFamily:
    """What the registry knows about soup."""

    name = "soup"
    about = "write programs that extract data from web pages, graded on unseen pages of generated sites"

    def variants(self) -> Sequence[str]:
        return ()

    def arguments(self, variant: str) -> Sequence[Argument]:
        from whet.envs.soup.settings import ARGUMENTS

        return ARGUMENTS

    def build(self, variant: str, source: str, args: Mapping[str, Any]) -> Environment:
        if variant or source:
            raise WhetError(f"soup has no {variant or source!r}: use arguments, as in soup -a rung=answer")
        # Each by its name, so that its version is found to be part of the fingerprint.
        needs = {"bs4": importlib.util.find_spec("bs4"), "lxml": importlib.util.find_spec("lxml")}
        needs["html5lib"] = importlib.util.find_spec("html5lib")
        missing = [name for name, found in needs.items() if found is None]
        if missing:
            raise WhetError(f"soup needs {', '.join(missing)}: pip install 'whet[soup]'")
        from whet.envs.soup.environment import Soup
        from whet.envs.soup.settings import settings

        return Soup(settings(args))


FAMILY = SoupFamily()
