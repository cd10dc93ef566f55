"""Gates by name, from the entry point group `whet.gates`: each name points to a class or function that makes a gate."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from typing import Any, cast

from whet.errors import WhetError, nearest
from whet.gate.base import Gate

GROUP = "whet.gates"

_MEMBERS = ("name", "metric", "open", "read", "trial", "carry")


def gate_named(name: str, **options: object) -> Gate:
    """A gate by name, with its options as keyword arguments."""
    maker = _maker(name)
    try:
        gate = maker(**options)
    except TypeError as problem:
        raise WhetError(f"gate {name}: {problem}") from problem
    missing = [member for member in _MEMBERS if not hasattr(gate, member)]
    if missing:
        raise WhetError(f"gate {name}: what {_entry(name).value} makes is not a gate, it has no {', '.join(missing)}")
    return cast(Gate, gate)


def gate_options(name: str) -> tuple[str, ...]:
    """The keyword arguments that a gate takes."""
    return tuple(inspect.signature(_maker(name)).parameters)


def _maker(name: str) -> Callable[..., Any]:
    entry = _entry(name)
    try:
        maker = entry.load()
    except Exception as problem:  # noqa: BLE001 - the module is another package's, and may raise anything
        said = f"{type(problem).__name__}: {problem}"
        raise WhetError(
            f"gate {name}: {entry.value} cannot be loaded ({said}); mend or remove {_owner(entry)}"
        ) from None
    if not callable(maker):
        raise WhetError(f"gate {name}: {entry.value} of {_owner(entry)} is neither a class nor a function")
    return cast(Callable[..., Any], maker)


def _entry(name: str) -> EntryPoint:
    """The entry of that name, or an error that names the nearest."""
    entries: dict[str, EntryPoint] = {}
    for entry in entry_points(group=GROUP):
        other = entries.setdefault(entry.name, entry)
        if entry.name == name and other.value != entry.value:
            raise WhetError(f"gate {name}: both {_owner(other)} and {_owner(entry)} bring it; remove one of them")
    if name not in entries:
        raise WhetError(f"unknown gate {name!r}.{nearest(name, entries)} Known: {', '.join(sorted(entries))}.")
    return entries[name]


def _owner(entry: EntryPoint) -> str:
    return f"the package {entry.dist.name}" if entry.dist is not None else "the package that brings it"
