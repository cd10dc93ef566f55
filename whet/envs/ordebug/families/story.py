"""A model written together with its text: every column and every requirement is stated once in words.

Names are neutral (`x1`, `r1`): the text tells what a column means, and leaves it to the reader to find the row that a
requirement became.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from whet.envs.ordebug.algebra import number
from whet.envs.ordebug.model import INF, Column, Kind, LinearProgram, LinearRow, Sense

MIN_ROWS, MAX_ROWS = 5, 200


@dataclass(frozen=True, slots=True)
class ProblemDraft:
    """A model as it should be, and the specification that it follows."""

    family: str
    specification: str
    model: LinearProgram


@dataclass(frozen=True, slots=True)
class ProblemFamily:
    """How drafts of one kind are drawn: `draw(rng, rows)` aims at that many rows, up to `most`."""

    name: str
    draw: Callable[[random.Random, int], ProblemDraft]
    mixed: bool
    most: int = MAX_ROWS - 20


@dataclass(slots=True)
class Story:
    """A draft in the making."""

    family: str
    intro: str
    aim: str
    maximize: bool = False
    columns: list[Column] = field(default_factory=list)
    rows: list[LinearRow] = field(default_factory=list)
    meanings: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def column(
        self, meaning: str, cost: float, upper: float = INF, lower: float = 0.0, kind: Kind = "continuous"
    ) -> str:
        """A new column; its line in the text carries type, bounds and what a unit costs or earns."""
        name = f"x{len(self.columns) + 1}"
        self.columns.append(Column(name, lower, upper, kind, cost))
        self.meanings.append(f"  {name}: {meaning}; {_domain(kind, lower, upper)}; {number(cost)}")
        return name

    def require(self, terms: Mapping[str, float], sense: Sense, rhs: float) -> None:
        """A new row; terms of coefficient 0 are left out."""
        place = {column.name: order for order, column in enumerate(self.columns)}
        kept = sorted(((name, float(value)) for name, value in terms.items() if value), key=lambda term: place[term[0]])
        self.rows.append(LinearRow(f"r{len(self.rows) + 1}", tuple(kept), sense, float(rhs)))

    def say(self, line: str) -> None:
        """A line of the requirements."""
        self.told.append(f"  - {line}")

    def draft(self) -> ProblemDraft:
        text = [
            self.intro,
            "",
            f"Decisions (name: meaning; allowed values; {'profit' if self.maximize else 'cost'} of one unit):",
            *self.meanings,
            "",
            "Requirements:",
            *self.told,
            "",
            f"Aim: {self.aim}",
        ]
        return ProblemDraft(
            self.family,
            "\n".join(text),
            LinearProgram(self.family, tuple(self.columns), tuple(self.rows), self.maximize),
        )


def listed(pairs: Iterable[tuple[str, float]]) -> str:
    """`mill 1 = 40, mill 2 = 55`."""
    return ", ".join(f"{name} = {number(value)}" for name, value in pairs)


def counted(count: int, word: str) -> str:
    """`1 period`, `3 periods`."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def named(count: int, rng: random.Random, words: Sequence[str]) -> list[str]:
    """Names for `count` things: words in random order, numbered where there are too few."""
    chosen = rng.sample(list(words), min(count, len(words)))
    return [
        chosen[place % len(chosen)] + (f" {place // len(chosen) + 1}" if count > len(words) else "")
        for place in range(count)
    ]


def _domain(kind: Kind, lower: float, upper: float) -> str:
    if kind == "binary":
        return "0 or 1"
    whole = "whole number" if kind == "integer" else "any number"
    if upper == INF:
        return f"{whole} from {number(lower)}"
    return f"{whole} from {number(lower)} to {number(upper)}"
