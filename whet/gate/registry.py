"""Gates by name, from the entry point group `whet.gates`: each name points to a class or function that makes a gate."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, cast

from whet.errors import WhetError
from whet.gate.base import Gate
from whet.plugins import PluginGroup

GATES = PluginGroup("whet.gates", "gate")

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
        raise GATES.refusal(GATES.entry(name), f"makes no gate: it has no {', '.join(missing)}")
    return cast(Gate, gate)


def gate_options(name: str) -> tuple[str, ...]:
    """The keyword arguments that a gate takes."""
    return tuple(inspect.signature(_maker(name)).parameters)


def _maker(name: str) -> Callable[..., Any]:
    maker = GATES.load(name)
    if not callable(maker):
        raise GATES.refusal(GATES.entry(name), "is neither a class nor a function")
    return cast(Callable[..., Any], maker)
