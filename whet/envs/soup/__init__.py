"""`soup`: programs that extract data from web pages. What the registry knows, without importing what it needs."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from typing import Any

from whet.envs.arguments import Argument, accept
from whet.envs.base import Environment
from whet.errors import WhetError
from whet.extras import install


class SoupFamily:
    """What the registry knows about soup."""

    name = "soup"
    alone = True
    about = "write programs that extract data from web pages, graded on unseen pages of generated sites"

    def variants(self) -> Sequence[str]:
        return ("real",)

    def arguments(self, variant: str) -> Sequence[Argument]:
        from whet.envs.soup.settings import ARGUMENTS

        if variant != "real":
            return ARGUMENTS
        return [argument for argument in ARGUMENTS if argument.name in ("turns", "timeout", "output", "rewards")]

    def build(self, variant: str, source: str, args: Mapping[str, Any]) -> Environment:
        if variant not in ("", "real") or source:
            raise WhetError(f"soup has no {variant or source!r}: there is soup, and soup/real; the rest are arguments")
        # Each by its name, so that its version is found to be part of the fingerprint.
        needs = {"bs4": importlib.util.find_spec("bs4"), "lxml": importlib.util.find_spec("lxml")}
        needs["html5lib"] = importlib.util.find_spec("html5lib")
        missing = [name for name, found in needs.items() if found is None]
        if missing:
            raise WhetError(f"soup needs {', '.join(missing)}: {install('soup')}")
        from whet.envs.soup.environment import Soup
        from whet.envs.soup.settings import settings

        if variant == "real":
            from whet.envs.soup.transfer import RealSoup

            accept("soup/real", self.arguments(variant), args)
            return RealSoup(settings({**args, "rung": "answer"}))
        return Soup(settings(args))


FAMILY = SoupFamily()
