"""Type C: a term of a row is missing, has the wrong sign, or is off by a factor of ten."""

from __future__ import annotations

import random
from collections.abc import Iterator

from whet.envs.ordebug.edits import SetCoef
from whet.envs.ordebug.faults.fault import FaultType, Planting
from whet.envs.ordebug.model import LinearProgram


def plant(rng: random.Random, model: LinearProgram) -> Iterator[Planting]:
    places = [(row.name, column, value) for row in model.rows if len(row.terms) > 1 for column, value in row.terms]
    for row, column, value in rng.sample(places, len(places)):
        ways = [
            ("missing_term", 0.0),
            ("wrong_sign", -value),
            ("wrong_scale", float(f"{value * rng.choice((10.0, 0.1)):.10g}")),
        ]
        rng.shuffle(ways)
        for form, wrong in ways:
            yield Planting(form, SetCoef(row, column, wrong).apply(model), (SetCoef(row, column, value),))


FAULT = FaultType(
    "C",
    "a term of a constraint",
    plant,
    {
        "missing_term": "a term is missing",
        "wrong_sign": "a term has the wrong sign",
        "wrong_scale": "a coefficient is off by a factor of ten",
    },
)
