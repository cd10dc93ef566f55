"""The rungs that problems are drawn for, on two axes: how large a model is, and how far the fault is from what the
subsystem shows.

The twelve cells of the benchmark are rungs too: each a fault type, with sizes and a subtlety that go with its
difficulty. What the axes say is measured on the problem, not promised by what was drawn.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal, get_args

Size = Literal["tiny", "small", "medium", "large", "huge"]
Subtlety = Literal["near", "mid", "far"]
Difficulty = Literal["easy", "medium", "hard"]
FaultKind = Literal["A", "B", "C", "D"]
"""A: the sense of a row. B: type or bounds of a variable. C: a term. D: a conflicting requirement."""

SIZES: tuple[Size, ...] = get_args(Size)
SUBTLETIES: tuple[Subtlety, ...] = get_args(Subtlety)
DIFFICULTIES: tuple[Difficulty, ...] = get_args(Difficulty)
FAULT_KINDS: tuple[FaultKind, ...] = get_args(FaultKind)
MIXED = "mixed"
"""The fault may be of any type, and where there are two, they are of two types."""
MISSING = "missing"
"""A row is missing: the model has a solution, and no contradiction points to the fault."""


@dataclass(frozen=True, slots=True)
class Extent:
    """Rows from `rows[0]` to `rows[1]`, and how many columns go with a row."""

    rows: tuple[int, int]
    columns: float


EXTENTS: dict[Size, Extent] = {
    "tiny": Extent((3, 5), 0.8),
    "small": Extent((8, 14), 0.7),
    "medium": Extent((16, 36), 0.6),
    "large": Extent((41, 100), 0.55),
    "huge": Extent((500, 5000), 0.6),
}

BRIEF = 1450
"""Characters of specification and model on the tiny rungs: with the rest of the prompt about 900 tokens."""

SUSPECTS: dict[Subtlety, tuple[int, int]] = {"near": (2, 3), "mid": (4, 99), "far": (2, 5)}
"""How many elements of a contradiction could be the wrong one. `near`, `mid`: one fault, few or many that could be it.
`far`: two faults in contradictions that share nothing, of which a subsystem shows one."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A rung: a fault type (or 'mixed') with the sizes and the subtlety it is drawn for."""

    name: str
    kind: str
    difficulty: str
    sizes: tuple[Size, ...]
    subtlety: Subtlety

    @property
    def faults(self) -> int:
        return 2 if self.subtlety == "far" else 1


_SIZES_OF: dict[Difficulty, tuple[Size, ...]] = {
    "easy": ("tiny", "small"),
    "medium": ("small", "medium"),
    "hard": ("small", "medium", "large"),
}
_SUBTLETY_OF: dict[Difficulty, Subtlety] = {"easy": "near", "medium": "mid", "hard": "far"}


def cell(kind: FaultKind, difficulty: Difficulty) -> Cell:
    """One of the twelve cells of the benchmark."""
    return Cell(f"type_{kind}_{difficulty}", kind, difficulty, _SIZES_OF[difficulty], _SUBTLETY_OF[difficulty])


def rung(size: Size, subtlety: Subtlety, kind: str) -> Cell:
    """A place on the two axes, for one fault type or for mixed ones."""
    return Cell(f"{size}_{subtlety}_{kind}", kind, f"{size}_{subtlety}", (size,), subtlety)


CELLS: tuple[Cell, ...] = tuple(cell(kind, difficulty) for kind in FAULT_KINDS for difficulty in DIFFICULTIES)
"""The twelve cells of the benchmark."""

_ABSENT = {("tiny", "mid"), ("tiny", "far")}
"""Models of three to five rows have no room for four suspects of one type, nor for two contradictions that share
nothing: of some 700 drafts none came out. Of mixed types some do, and these tell a
classifier which element is wrong."""

RUNGS: tuple[Cell, ...] = tuple(
    rung(size, subtlety, kind)
    for size in SIZES
    for subtlety in SUBTLETIES
    for kind in (*FAULT_KINDS, MIXED)
    if (size, subtlety) not in _ABSENT
)

OMISSIONS: tuple[Cell, ...] = tuple(rung(size, "near", MISSING) for size in SIZES)
"""Rungs of missing rows. They take no turn among the others: one asks for them by type."""

EVERY_CELL: dict[str, Cell] = {made.name: made for made in (*CELLS, *RUNGS, *OMISSIONS)}


def extent_drawn(rng: random.Random, wanted: Cell) -> tuple[int, int]:
    """A size of the cell, and how many rows and columns to draw."""
    size = rng.choice(wanted.sizes)
    low, high = EXTENTS[size].rows
    rows = low + int((high - low + 1) * rng.random() ** 1.3)
    rows = min(rows, high)
    return rows, max(3, round(rows * EXTENTS[size].columns * rng.uniform(0.8, 1.25)))
