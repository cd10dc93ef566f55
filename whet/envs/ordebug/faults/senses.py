"""Type A: a comparison is turned around, or an inequality is written as an equation."""

from __future__ import annotations

import random
from collections.abc import Iterator

from whet.envs.ordebug.edits import SetSense
from whet.envs.ordebug.faults.fault import FaultType, Planting
from whet.envs.ordebug.model import LinearProgram, Sense

_TURNED: dict[Sense, Sense] = {"<=": ">=", ">=": "<="}


def plant(rng: random.Random, model: LinearProgram) -> Iterator[Planting]:
    rows = [row for row in model.rows if row.sense != "="]
    for row in rng.sample(rows, len(rows)):
        repair = (SetSense(row.name, row.sense),)
        turned, strict = SetSense(row.name, _TURNED[row.sense]), SetSense(row.name, "=")
        ways = [("turned_sense", turned), ("strict_sense", strict)]
        for form, edit in ways if rng.random() < 0.75 else reversed(ways):
            yield Planting(form, edit.apply(model), repair)


FAULT = FaultType(
    "A",
    "the sense of a constraint",
    plant,
    {"turned_sense": "a comparison is turned around", "strict_sense": "an inequality is written as an equation"},
)
