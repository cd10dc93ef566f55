"""What is found by entry points: environments, models, gates, learners, kinds of run and commands, ours and anyone's.

A package that does not load, or two that offer the same name, cost one clear line when that name is asked for, and
nothing else.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from whet.errors import WhetError, nearest

Loaded = TypeVar("Loaded")


@dataclass(frozen=True, slots=True)
class PluginGroup:
    """The entry points of one group. `what` is what such a thing is called in an error."""

    name: str
    what: str

    def names(self) -> list[str]:
        """Everything that is offered, in order; nothing is loaded."""
        return sorted({entry.name for entry in _entries(self.name)})

    def entry(self, name: str) -> EntryPoint:
        """The one entry point of that name."""
        offered = {entry.value: entry for entry in _entries(self.name) if entry.name == name}
        if len(offered) > 1:
            both = " and ".join(origin(entry) for entry in offered.values())
            raise WhetError(f"the {self.what} {name!r} is offered twice, by {both}: uninstall one of them")
        for entry in offered.values():
            return entry
        known = self.names()
        raise WhetError(f"there is no {self.what} {name!r}.{nearest(name, known)} Known: {', '.join(known) or 'none'}.")

    def load(self, name: str) -> Any:
        """What the entry point of that name points to."""
        entry = self.entry(name)
        return self.guarded(entry, entry.load)

    def guarded(self, entry: EntryPoint, load: Callable[[], Loaded]) -> Loaded:
        """What `load` gives. Another package's code may raise anything when it is imported."""
        try:
            return load()
        except WhetError:
            raise
        except Exception as error:
            raise self.refusal(entry, f"cannot be loaded ({type(error).__name__}: {error})") from error

    def refusal(self, entry: EntryPoint, why: str) -> WhetError:
        """What is wrong with what a package offers, in one line."""
        said = " ".join(why.split())[:400]
        return WhetError(f"the {self.what} {entry.name!r} of {origin(entry)} {said}: mend or uninstall that package")


def _entries(group: str) -> Iterable[EntryPoint]:
    """Every entry point of a group. Looking through all packages takes 10 ms, so it is done once for a search path."""
    return _found(group, tuple(sys.path), entry_points)


@lru_cache(maxsize=64)
def _found(group: str, path: tuple[str, ...], find: Callable[..., Iterable[EntryPoint]]) -> tuple[EntryPoint, ...]:
    return tuple(find(group=group))


def origin(entry: EntryPoint) -> str:
    """The package behind an entry point, and where in it."""
    package = entry.dist.name if entry.dist is not None else "an unknown package"
    return f"{package} ({entry.value})"
