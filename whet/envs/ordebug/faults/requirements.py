"""Type D: a requirement has a wrong figure, or nobody asked for it."""

from __future__ import annotations

import math
import random

from whet.envs.ordebug.edits import DropRow, SetRhs
from whet.envs.ordebug.faults.fault import Correction, FaultType, Scene, rows_shown
from whet.envs.ordebug.faults.room import above, below, between, reach

_WITH_FIGURE = ("group", "net", "usage", "carry")


def correct(rng: random.Random, scene: Scene, name: str) -> Correction | None:
    row = scene.model.row(name)
    found = reach(scene.model, name)
    if found is None:
        return None
    if scene.meanings[name].kind not in _WITH_FIGURE or rng.random() < 0.2:
        return Correction("foreign_row", (DropRow(name),))
    low, high = found
    if not math.isfinite({"<=": low, ">=": high}.get(row.sense, 0.0)):  # the others leave it every figure
        return None
    scale = max(abs(row.rhs), abs(low if abs(low) < 1e5 else high), 8.0)
    if row.sense == "<=":
        slips = [row.rhs * factor for factor in (10.0, 12.0, 4.0) if row.rhs > 0 and row.rhs * factor >= low]
        value: float | None = above(rng, low, scale)
    elif row.sense == ">=":
        slips = [row.rhs / factor for factor in (10.0, 12.0, 4.0) if 0 <= row.rhs / factor <= high]
        value = below(rng, high, scale)
    else:
        slips, value = [], between(rng, low, high, scale)
    slips = [slip for slip in slips if slip * 4 == round(slip * 4)]
    if slips and rng.random() < 0.25:
        return Correction("wrong_unit", (SetRhs(name, rng.choice(slips)),))
    if value is None or value == row.rhs:
        return None
    return Correction("wrong_figure", (SetRhs(name, value),))


FAULT = FaultType(
    "D",
    "a conflicting requirement",
    rows_shown,
    correct,
    {
        "wrong_figure": "a requirement has a figure that conflicts with the others",
        "wrong_unit": "a requirement's figure is in another unit",
        "foreign_row": "a constraint stands in the model that nobody asked for",
    },
)
