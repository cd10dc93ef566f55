"""`soup@1`: the first soup, kept so that published figures keep their meaning. What the registry knows of it."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from typing import Any

from whet.envs.arguments import Argument
from whet.envs.base import Environment
from whet.errors import WhetError
from whet.extras import install


class FirstSoupFamily:
    """What the registry knows about soup."""

    name = "soup@1"
    about = "extract data from HTML with BeautifulSoup: 57 archetypes, two tools, programs in the sandbox"

    def variants(self) -> Sequence[str]:
        return ()

    def arguments(self, variant: str) -> Sequence[Argument]:
        from whet.envs.soup1.settings import ARGUMENTS

        return ARGUMENTS

    def build(self, variant: str, source: str, args: Mapping[str, Any]) -> Environment:
        if variant or source:
            raise WhetError(
                f"soup@1 is one environment: leave out {variant or source!r} and use arguments, as in -a mode=mvp"
            )
        # Each by its name, so that its version is found to be part of the fingerprint.
        needs = {
            "bs4": importlib.util.find_spec("bs4"),
            "lxml": importlib.util.find_spec("lxml"),
            "html5lib": importlib.util.find_spec("html5lib"),
        }
        missing = [name for name, found in needs.items() if found is None]
        if missing:
            raise WhetError(f"soup needs {', '.join(missing)}: {install('soup')}")
        from whet.envs.soup1.environment import FirstSoup
        from whet.envs.soup1.settings import settings

        return FirstSoup(settings(args))


FAMILY = FirstSoupFamily()
