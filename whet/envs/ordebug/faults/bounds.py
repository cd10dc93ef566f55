"""Type B: a bound is too tight, a count is declared as yes-or-no, or a quantity as a whole number."""

from __future__ import annotations

import random

from whet.envs.ordebug.edits import SetBounds, SetType
from whet.envs.ordebug.faults.fault import Correction, FaultType, Scene
from whet.envs.ordebug.faults.room import above, below, opened, span
from whet.envs.ordebug.model import INF
from whet.envs.ordebug.solver import feasible


def concerns(scene: Scene) -> tuple[str, ...]:
    """Columns whose bounds are shown; where integrality alone contradicts, the whole columns that could be divided."""
    if not scene.iis.integral:
        return tuple(f"column:{name}" for name in scene.iis.column_names)
    used = {name for row in scene.iis.row_names for name, _ in scene.model.row(row).terms}
    whole = [column.name for column in scene.model.columns if column.name in used and column.kind == "integer"]
    return tuple(f"column:{name}" for name in whole if feasible(_divided(name).apply(scene.model)))


def _divided(name: str) -> SetType:
    return SetType(name, "continuous")


def correct(rng: random.Random, scene: Scene, name: str) -> Correction | None:
    if scene.iis.integral:
        return Correction("made_whole", (_divided(name),))
    column = scene.model.column(name)
    sides = [member.side for member in scene.iis.columns if member.name == name]
    found = span(opened(scene.model, name), ((name, 1.0),))
    if found is None or len(sides) != 1:
        return None
    low, high = found
    scale = max(abs(column.lower), abs(low), 4.0)
    high_now = None if column.upper == INF else column.upper
    if sides[0] == "upper":
        value = above(rng, low, scale, column.whole)
        if value < column.lower or value <= column.upper:
            return None
        if column.kind == "binary":
            return Correction("made_binary", (SetType(name, "integer", (column.lower, max(2.0, value))),))
        return Correction("tight_upper", (SetBounds(name, column.lower, value),))
    if column.kind == "binary":
        return None
    value = below(rng, high, scale, column.whole)
    if high >= 0.0 and (value < 0.0 or rng.random() < 0.3):
        value = 0.0
    if value >= column.lower:
        return None
    return Correction("raised_lower", (SetBounds(name, value, high_now),))


FAULT = FaultType(
    "B",
    "the type or the bounds of a variable",
    concerns,
    correct,
    {
        "tight_upper": "an upper bound is too low",
        "raised_lower": "a lower bound is too high",
        "made_binary": "a count is declared as a yes-or-no variable",
        "made_whole": "a quantity is declared as a whole number",
    },
)
