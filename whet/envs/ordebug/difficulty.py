"""Difficulty as it is measured: the share of budgets within which the fixed edit search repairs an instance.

A hard instance must also resist the obvious shortcut of dropping rows. What is drawn for a difficulty (how many
faults, how many rows) only makes it likely; the measurement decides.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

from whet.envs.ordebug.instance import DIFFICULTIES, Cell, Certificate, Difficulty, FaultKind
from whet.envs.ordebug.search import BUDGETS

BANDS: dict[Difficulty, tuple[float, float]] = {"easy": (0.8, 1.0), "medium": (0.4, 0.6), "hard": (0.0, 0.2)}
"""The search rate of each difficulty, both ends included; the bands are at least 20 points apart."""


@dataclass(frozen=True, slots=True)
class ProblemShape:
    """What is drawn: so many faults, in a problem of so many rows. `weight`: how often, against the other shapes."""

    faults: int
    rows: tuple[int, int]
    weight: float = 1.0


_EASY = (ProblemShape(1, (5, 30)),)
_HARD = (ProblemShape(2, (8, 70), 6), ProblemShape(3, (8, 70), 3), ProblemShape(2, (70, 180)))
_ONE_OF_MANY = (ProblemShape(1, (6, 70), 8), ProblemShape(2, (5, 12)), ProblemShape(1, (70, 180), 0.5))
_TWO_OF_FEW = (
    ProblemShape(2, (5, 14), 6),
    ProblemShape(2, (14, 40), 3),
    ProblemShape(1, (6, 70), 2),
    ProblemShape(2, (40, 180), 0.25),
)

SHAPES: dict[Difficulty, dict[FaultKind, tuple[ProblemShape, ...]]] = {
    "easy": {"A": _EASY, "B": _EASY, "C": _EASY, "D": _EASY},
    "medium": {"A": _TWO_OF_FEW, "B": _ONE_OF_MANY, "C": _ONE_OF_MANY, "D": _TWO_OF_FEW},
    "hard": {"A": _HARD, "B": _HARD, "C": _HARD, "D": _HARD},
}
"""Turning a comparison or dropping a row is tried early, so a single such fault is seldom of medium difficulty."""


def shape_drawn(rng: random.Random, cell: Cell) -> ProblemShape:
    shapes = SHAPES[cell.difficulty][cell.kind]
    return rng.choices(shapes, [shape.weight for shape in shapes])[0]


def rows_drawn(rng: random.Random, shape: ProblemShape, most: int) -> int:
    """How many rows to aim at, in a family that goes up to `most`; small problems are the more frequent."""
    high = min(shape.rows[1], most)
    low = min(shape.rows[0], high)
    return low + int((high - low) * rng.random() ** 1.5)


def within(difficulty: Difficulty, rate: float) -> bool:
    low, high = BANDS[difficulty]
    return low - 1e-9 <= rate <= high + 1e-9


def most_tries(difficulty: Difficulty) -> int:
    """The budget that decides: whoever is not repaired within it is harder than the band."""
    low, _ = BANDS[difficulty]
    sufficient = math.ceil(low * len(BUDGETS) - 1e-9)
    return BUDGETS[-1] if sufficient == 0 else BUDGETS[len(BUDGETS) - sufficient]


def measured(certificate: Certificate) -> Difficulty | None:
    """The difficulty that a certificate shows; None: between the bands, or hard by search but solved by dropping."""
    for difficulty in DIFFICULTIES:
        if within(difficulty, certificate.search_rate):
            return None if difficulty == "hard" and certificate.drop_first else difficulty
    return None
