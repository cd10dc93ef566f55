"""Type D: a requirement stands twice with different figures, has a wrong figure, or has swapped it with another."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from whet.envs.ordebug.edits import DropRow, SetRhs
from whet.envs.ordebug.faults.fault import FaultType, Planting
from whet.envs.ordebug.model import LinearProgram, LinearRow, Sense

_AGAINST: dict[Sense, Sense] = {"<=": ">=", ">=": "<=", "=": "="}


def plant(rng: random.Random, model: LinearProgram) -> Iterator[Planting]:
    for row in rng.sample(model.rows, len(model.rows)):
        ways = [_doubled, _misread, _swapped]
        rng.shuffle(ways)
        for way in ways:
            planting = way(rng, model, row)
            if planting is not None:
                yield planting


def _doubled(rng: random.Random, model: LinearProgram, row: LinearRow) -> Planting | None:
    """A second copy of the row, somewhere else, that asks for something else."""
    sense = _AGAINST[row.sense] if rng.random() < 0.5 else row.sense
    figure = _other_figure(rng, model, row)
    if figure is None:
        return None
    copy = replace(row, name=f"{row.name}_again", sense=sense, rhs=figure)
    if copy.name in model.row_index:
        return None
    place = rng.randint(0, len(model.rows))
    doubled = replace(model, rows=(*model.rows[:place], copy, *model.rows[place:]))
    return Planting("doubled_row", doubled, (DropRow(copy.name),))


def _misread(rng: random.Random, model: LinearProgram, row: LinearRow) -> Planting | None:
    figure = _other_figure(rng, model, row)
    if figure is None:
        return None
    return Planting("wrong_figure", SetRhs(row.name, figure).apply(model), (SetRhs(row.name, row.rhs),))


def _swapped(rng: random.Random, model: LinearProgram, row: LinearRow) -> Planting | None:
    """Two requirements of the same kind with each other's figures."""
    alike = [other for other in model.rows if _alike(other, row) and other.rhs != row.rhs]
    if not alike:
        return None
    other = rng.choice(alike)
    swapped = SetRhs(other.name, row.rhs).apply(SetRhs(row.name, other.rhs).apply(model))
    return Planting("swapped_figures", swapped, (SetRhs(row.name, row.rhs), SetRhs(other.name, other.rhs)))


def _other_figure(rng: random.Random, model: LinearProgram, row: LinearRow) -> float | None:
    """Another requirement's figure, or the row's own with a slip of ten or a share too much or too little."""
    borrowed = sorted({other.rhs for other in model.rows if other.sense == row.sense and other.rhs != row.rhs})
    slips = {row.rhs * factor for factor in (10.0, 0.1)} | {float(round(row.rhs * rng.uniform(0.3, 1.8)))}
    figures = [rng.choice(pool) for pool in (borrowed, sorted(slips - {row.rhs})) if pool]
    return float(f"{rng.choice(figures):.10g}") if figures else None


def _alike(one: LinearRow, other: LinearRow) -> bool:
    return one.name != other.name and one.sense == other.sense and abs(len(one.terms) - len(other.terms)) <= 2


FAULT = FaultType(
    "D",
    "a conflicting or duplicated requirement",
    plant,
    {
        "doubled_row": "a requirement stands twice, once with another figure",
        "wrong_figure": "a requirement has a figure that conflicts with the others",
        "swapped_figures": "two requirements have each other's figures",
    },
)
