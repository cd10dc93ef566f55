"""Every archetype, one module a family; a family is its tuple `KINDS`."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping

from whet.envs.soup.archetype import TaskKind
from whet.errors import WhetError

FAMILIES = ("primer", "record", "rows", "computed", "table", "nested", "form", "data", "site", "i18n", "bulk")


@functools.cache
def kinds() -> Mapping[str, TaskKind]:
    """All of them by name, in the order of the families."""
    found: dict[str, TaskKind] = {}
    for family in FAMILIES:
        for made in importlib.import_module(f"{__name__}.{family}").KINDS:
            if made.name in found:
                raise WhetError(f"two archetypes are called {made.name}")
            found[made.name] = made
    return found
