"""Every archetype, one module a family; a family is its tuple `ARCHETYPES`."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping

from whet.envs.soup1.archetype import Archetype
from whet.errors import WhetError

FAMILIES = (
    *("primer", "core", "traversal", "tables", "gotchas", "forms"),
    *("jsonld", "advanced", "hard", "multipage", "i18n", "limit"),
)


@functools.cache
def archetypes() -> Mapping[str, Archetype]:
    """All of them by name, in the order of the families."""
    found: dict[str, Archetype] = {}
    for family in FAMILIES:
        module = importlib.import_module(f"{__name__}.{family}")
        for archetype in module.ARCHETYPES:
            if archetype.name in found:
                raise WhetError(f"two archetypes are called {archetype.name}")
            found[archetype.name] = archetype
    return found
