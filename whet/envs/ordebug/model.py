"""An optimisation model as immutable data: named columns with bounds and types, named rows, a linear objective.

Nothing here solves or edits; `edits` changes a model into another one, `solver` asks HiGHS about it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, cast, get_args

from whet.errors import WhetError, nearest
from whet.keys import digest

Sense = Literal["<=", ">=", "="]
Kind = Literal["continuous", "integer", "binary"]

SENSES: tuple[Sense, ...] = get_args(Sense)
KINDS: tuple[Kind, ...] = get_args(Kind)

INF = math.inf


class ModelError(WhetError):
    """A model, or an edit of one, that makes no sense; the message is fit to be told to whoever asked for it."""


@dataclass(frozen=True, slots=True)
class Column:
    """A variable. A binary column keeps its bounds inside [0, 1]; `lower` above `upper` is allowed: it is a fault."""

    name: str
    lower: float = 0.0
    upper: float = INF
    kind: Kind = "continuous"
    cost: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ModelError(f"{self.kind!r} is not a type of variable: {', '.join(KINDS)}")
        _finite(f"the objective coefficient of {self.name}", self.cost)
        if math.isnan(self.lower) or math.isnan(self.upper) or self.lower == INF or self.upper == -INF:
            raise ModelError(f"the bounds of {self.name} are not numbers that bound: [{self.lower}, {self.upper}]")
        if self.kind == "binary" and not (self.lower >= 0.0 and self.upper <= 1.0):
            raise ModelError(f"{self.name} is binary: its bounds lie inside [0, 1]")

    @property
    def whole(self) -> bool:
        """Whether only whole numbers are allowed."""
        return self.kind != "continuous"


@dataclass(frozen=True, slots=True)
class LinearRow:
    """A linear constraint. `span`, where given, bounds the other side too: `rhs - span <= terms <= rhs` for `<=`."""

    name: str
    terms: tuple[tuple[str, float], ...]
    sense: Sense
    rhs: float
    span: float | None = None

    def __post_init__(self) -> None:
        if self.sense not in SENSES:
            raise ModelError(f"{self.sense!r} is not a sense: {' '.join(SENSES)}")
        _finite(f"the right-hand side of {self.name}", self.rhs)
        for column, value in self.terms:
            _finite(f"the coefficient of {column} in {self.name}", value)
        if self.span is not None and not (math.isfinite(self.span) and self.span >= 0.0):
            raise ModelError(f"the range of {self.name} is not a width: {self.span}")
        if self.span is not None and self.sense == "=":
            raise ModelError(f"{self.name} is an equation: it has no range")

    @property
    def lower(self) -> float:
        """The least activity allowed."""
        if self.sense == "<=":
            return -INF if self.span is None else self.rhs - self.span
        return self.rhs

    @property
    def upper(self) -> float:
        """The greatest activity allowed."""
        if self.sense == ">=":
            return INF if self.span is None else self.rhs + self.span
        return self.rhs

    def coefficient(self, column: str) -> float:
        return next((value for name, value in self.terms if name == column), 0.0)

    def activity(self, point: Mapping[str, float]) -> float:
        return math.fsum(value * point[column] for column, value in self.terms)


@dataclass(frozen=True)
class LinearProgram:
    """A model to optimise: columns (some perhaps whole), rows and a linear objective, by name and in a fixed order."""

    name: str
    columns: tuple[Column, ...]
    rows: tuple[LinearRow, ...]
    maximize: bool = False
    offset: float = 0.0

    def __post_init__(self) -> None:
        _finite("the objective's constant", self.offset)
        _unique("variable", [column.name for column in self.columns])
        _unique("constraint", [row.name for row in self.rows])
        known = self.column_index
        for row in self.rows:
            _unique(f"variable in {row.name}", [name for name, _ in row.terms])
            for name, _ in row.terms:
                if name not in known:
                    raise ModelError(f"{row.name} has a term in {name!r}, which is not a variable of the model")

    @cached_property
    def column_index(self) -> dict[str, int]:
        return {column.name: place for place, column in enumerate(self.columns)}

    @cached_property
    def row_index(self) -> dict[str, int]:
        return {row.name: place for place, row in enumerate(self.rows)}

    @cached_property
    def digest(self) -> str:
        """The content, by which a model is known; its name does not enter."""
        data = self.to_data()
        return digest({key: data[key] for key in data if key != "name"})

    @property
    def mixed(self) -> bool:
        """Whether some column allows only whole numbers."""
        return any(column.whole for column in self.columns)

    def row(self, name: str) -> LinearRow:
        place = self.row_index.get(name)
        if place is None:
            raise ModelError(f"there is no constraint {name!r}.{nearest(name, self.row_index)}")
        return self.rows[place]

    def column(self, name: str) -> Column:
        place = self.column_index.get(name)
        if place is None:
            raise ModelError(f"there is no variable {name!r}.{nearest(name, self.column_index)}")
        return self.columns[place]

    def objective(self, point: Mapping[str, float]) -> float:
        return self.offset + math.fsum(column.cost * point[column.name] for column in self.columns)

    def with_row(self, row: LinearRow) -> LinearProgram:
        """The model with the row of that name replaced, or `row` added at the end."""
        place = self.row_index.get(row.name)
        if place is None:
            return replace(self, rows=(*self.rows, row))
        return replace(self, rows=(*self.rows[:place], row, *self.rows[place + 1 :]))

    def without_row(self, name: str) -> LinearProgram:
        place = self.row_index[self.row(name).name]
        return replace(self, rows=(*self.rows[:place], *self.rows[place + 1 :]))

    def with_column(self, column: Column) -> LinearProgram:
        place = self.column_index[self.column(column.name).name]
        return replace(self, columns=(*self.columns[:place], column, *self.columns[place + 1 :]))

    def to_data(self) -> dict[str, Any]:
        """The model as JSON-like data; an infinite bound is None."""
        return {
            "name": self.name,
            "maximize": self.maximize,
            "offset": _plain(self.offset),
            "columns": [[c.name, _shown(c.lower), _shown(c.upper), c.kind, _plain(c.cost)] for c in self.columns],
            "rows": [
                [r.name, r.sense, _plain(r.rhs), [[name, _plain(value)] for name, value in r.terms], r.span]
                for r in self.rows
            ],
        }

    @staticmethod
    def from_data(data: Mapping[str, Any]) -> LinearProgram:
        """What `to_data` wrote."""
        columns = (
            Column(name, -INF if low is None else float(low), INF if high is None else float(high), kind, float(cost))
            for name, low, high, kind, cost in data["columns"]
        )
        rows = (
            LinearRow(
                name,
                tuple((column, float(value)) for column, value in terms),
                cast(Sense, sense),
                float(rhs),
                None if span is None else float(span),
            )
            for name, sense, rhs, terms, span in data["rows"]
        )
        return LinearProgram(data["name"], tuple(columns), tuple(rows), bool(data["maximize"]), float(data["offset"]))


def violations(model: LinearProgram, point: Mapping[str, float], tolerance: float = 1e-6) -> list[str]:
    """The names of rows and columns that `point` does not respect, each tolerance relative to its right-hand side."""
    found = []
    for column in model.columns:
        value = point[column.name]
        slack = tolerance * max(1.0, abs(value))
        broken = value < column.lower - slack or value > column.upper + slack
        if broken or (column.whole and abs(value - round(value)) > slack):
            found.append(column.name)
    for row in model.rows:
        value = row.activity(point)
        slack = tolerance * max(1.0, abs(row.rhs))
        if value < row.lower - slack or value > row.upper + slack:
            found.append(row.name)
    return found


def _plain(value: float) -> float:
    """A float whatever kind of number it was, and never -0.0: equal models have equal bytes."""
    return float(value) + 0.0


def _shown(bound: float) -> float | None:
    return _plain(bound) if math.isfinite(bound) else None


def _finite(what: str, value: float) -> None:
    if not math.isfinite(value):
        raise ModelError(f"{what} is not a finite number: {value}")


def _unique(what: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ModelError(f"two of a kind: {what} {name!r}")
        seen.add(name)
