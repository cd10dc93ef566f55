"""Type A: a comparison is turned around, or an inequality is written as an equation."""

from __future__ import annotations

import random

from whet.envs.ordebug.edits import SetSense
from whet.envs.ordebug.faults.fault import Correction, FaultType, Scene, rows_shown
from whet.envs.ordebug.faults.room import reach
from whet.envs.ordebug.model import Sense

_TURNED: dict[Sense, Sense] = {"<=": ">=", ">=": "<="}


def correct(rng: random.Random, scene: Scene, name: str) -> Correction | None:
    row = scene.model.row(name)
    found = reach(scene.model, name)
    if found is None:
        return None
    if row.sense != "=":
        return Correction("turned_sense", (SetSense(name, _TURNED[row.sense]),))
    low, high = found
    sense: Sense | None = ">=" if low > row.rhs else "<=" if high < row.rhs else None
    return None if sense is None else Correction("strict_sense", (SetSense(name, sense),))


FAULT = FaultType(
    "A",
    "the sense of a constraint",
    rows_shown,
    correct,
    {"turned_sense": "a comparison is turned around", "strict_sense": "an inequality is written as an equation"},
)
