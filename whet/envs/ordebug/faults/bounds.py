"""Type B: a bound is too tight, or a variable has the wrong type.

`made_whole` takes all continuous variables of an equation whose value is not whole: only integrality then stands
against a solution.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

from whet.envs.ordebug.edits import Edit, SetBounds, SetType, apply_all
from whet.envs.ordebug.faults.fault import FaultType, Planting
from whet.envs.ordebug.model import INF, Column, LinearProgram

_MOST_WHOLE = 3


def plant(rng: random.Random, model: LinearProgram) -> Iterator[Planting]:
    whole = list(_made_whole(rng, model))
    if rng.random() < 0.6:
        yield from whole
    for column in rng.sample(model.columns, len(model.columns)):
        ways = _ways(rng, model, column)
        rng.shuffle(ways)
        for form, edit, repair in ways:
            yield Planting(form, edit.apply(model), (repair,))


def _ways(rng: random.Random, model: LinearProgram, column: Column) -> list[tuple[str, Edit, Edit]]:
    """What can be wrong with one column."""
    name, low, high = column.name, column.lower, column.upper
    back = SetBounds(name, _open(low), _open(high))
    if column.kind == "binary":
        fixed = rng.choice([("tight_upper", SetBounds(name, 0.0, 0.0)), ("raised_lower", SetBounds(name, 1.0, 1.0))])
        return [(*fixed, back)]
    ways: list[tuple[str, Edit, Edit]] = []
    if high < INF:
        tight = float(rng.choice([math.floor(high / 10), math.floor(high * rng.uniform(0.1, 0.6))]))
        ways.append(("tight_upper", SetBounds(name, _open(low), max(low, tight)), back))
        raised = float(math.ceil(low + (high - low) * rng.uniform(0.6, 1.0)))
        ways.append(("raised_lower", SetBounds(name, min(high, raised), high), back))
    else:
        figures = sorted({abs(row.rhs) for row in model.rows if row.rhs and row.coefficient(name)})
        if figures:
            ways.append(("raised_lower", SetBounds(name, rng.choice(figures), None), back))
            ways.append(("tight_upper", SetBounds(name, low, float(math.floor(rng.choice(figures) / 10))), back))
    if column.kind == "integer" and high > 1.0:
        ways.append(("made_binary", SetType(name, "binary"), SetType(name, "integer", (_open(low), _open(high)))))
    return [way for way in ways if way[1].apply(model) != model]


def _made_whole(rng: random.Random, model: LinearProgram) -> Iterator[Planting]:
    rows = [row for row in model.rows if row.sense == "=" and row.rhs != round(row.rhs)]
    for row in rng.sample(rows, len(rows)):
        free = [name for name, _ in row.terms if not model.column(name).whole]
        if 0 < len(free) <= _MOST_WHOLE:
            made = apply_all(model, (SetType(name, "integer") for name in free))
            yield Planting("made_whole", made, tuple(SetType(name, "continuous") for name in free))


def _open(bound: float) -> float | None:
    return bound if math.isfinite(bound) else None


FAULT = FaultType(
    "B",
    "the type or the bounds of a variable",
    plant,
    {
        "tight_upper": "an upper bound is too low",
        "raised_lower": "a lower bound is too high",
        "made_binary": "a count is declared as a yes-or-no variable",
        "made_whole": "a quantity is declared as a whole number",
    },
)
