"""Edits of a model as typed data: each names an element and its new value, and is applied to give another model.

As JSON, an edit carries the name of its operation under `op`: `{"op": "set_rhs", "row": "r3", "value": 40}`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

from whet.envs.ordebug.model import INF, Kind, LinearProgram, LinearRow, ModelError, Sense


@dataclass(frozen=True, slots=True)
class SetSense:
    """The row's comparison becomes `sense`; what bounded the other side (a range) is dropped with an equation."""

    op: ClassVar[str] = "set_sense"
    row: str
    sense: Sense

    def apply(self, model: LinearProgram) -> LinearProgram:
        row = model.row(self.row)
        return model.with_row(replace(row, sense=self.sense, span=None if self.sense == "=" else row.span))


@dataclass(frozen=True, slots=True)
class SetRhs:
    op: ClassVar[str] = "set_rhs"
    row: str
    value: float

    def apply(self, model: LinearProgram) -> LinearProgram:
        return model.with_row(replace(model.row(self.row), rhs=self.value))


@dataclass(frozen=True, slots=True)
class SetCoef:
    """The coefficient of `column` in `row` becomes `value`; 0 removes the term, a new term goes in column order."""

    op: ClassVar[str] = "set_coef"
    row: str
    column: str
    value: float

    def apply(self, model: LinearProgram) -> LinearProgram:
        row, place = model.row(self.row), model.column_index
        terms = dict(row.terms)
        new = model.column(self.column).name not in terms
        terms[self.column] = self.value
        kept = sorted(terms.items(), key=lambda term: place[term[0]]) if new else terms.items()
        return model.with_row(replace(row, terms=tuple((name, value) for name, value in kept if value != 0.0)))


@dataclass(frozen=True, slots=True)
class SetBounds:
    """Both bounds of a column; None stands for no bound on that side."""

    op: ClassVar[str] = "set_bounds"
    column: str
    lower: float | None
    upper: float | None

    def apply(self, model: LinearProgram) -> LinearProgram:
        low, high = _bounds(self.lower, self.upper)
        return model.with_column(replace(model.column(self.column), lower=low, upper=high))


@dataclass(frozen=True, slots=True)
class SetType:
    """The column's type. Bounds stay unless `bounds` is given (None: no bound); binary brings them into [0, 1]."""

    op: ClassVar[str] = "set_type"
    column: str
    kind: Kind
    bounds: tuple[float | None, float | None] | None = None

    def apply(self, model: LinearProgram) -> LinearProgram:
        column = model.column(self.column)
        low, high = (column.lower, column.upper) if self.bounds is None else _bounds(*self.bounds)
        if self.kind == "binary" and self.bounds is None:
            low, high = max(0.0, low), min(1.0, high)
        return model.with_column(replace(column, kind=self.kind, lower=low, upper=high))


@dataclass(frozen=True, slots=True)
class Relax:
    """Widens the row by `amount` (0 or more) on every side that binds; an equation becomes a range around its value."""

    op: ClassVar[str] = "relax"
    row: str
    amount: float

    def apply(self, model: LinearProgram) -> LinearProgram:
        row = model.row(self.row)
        if not (math.isfinite(self.amount) and self.amount >= 0.0):
            raise ModelError(f"relax takes an amount of 0 or more, not {self.amount}")
        if row.sense == "=":
            return model.with_row(replace(row, sense="<=", rhs=row.rhs + self.amount, span=2.0 * self.amount))
        span = None if row.span is None else row.span + 2.0 * self.amount
        shift = self.amount if row.sense == "<=" else -self.amount
        return model.with_row(replace(row, rhs=row.rhs + shift, span=span))


@dataclass(frozen=True, slots=True)
class DropRow:
    op: ClassVar[str] = "drop"
    row: str

    def apply(self, model: LinearProgram) -> LinearProgram:
        return model.without_row(self.row)


@dataclass(frozen=True, slots=True)
class AddRow:
    """A new row, last; its name must be free."""

    op: ClassVar[str] = "add"
    row: str
    terms: tuple[tuple[str, float], ...]
    sense: Sense
    rhs: float
    span: float | None = None

    def apply(self, model: LinearProgram) -> LinearProgram:
        if self.row in model.row_index:
            raise ModelError(f"there is a constraint {self.row!r} already: choose another name, or edit it")
        return model.with_row(LinearRow(self.row, self.terms, self.sense, self.rhs, self.span))


Edit = SetSense | SetRhs | SetCoef | SetBounds | SetType | Relax | DropRow | AddRow

EDITS: dict[str, type[Edit]] = {
    kind.op: kind for kind in (SetSense, SetRhs, SetCoef, SetBounds, SetType, Relax, DropRow, AddRow)
}


def apply_all(model: LinearProgram, edits: Iterable[Edit]) -> LinearProgram:
    """The model after every edit in turn."""
    for edit in edits:
        model = edit.apply(model)
    return model


def edit_to_data(edit: Edit) -> dict[str, Any]:
    return {"op": edit.op, **asdict(edit)}


def edit_from_data(data: Mapping[str, Any]) -> Edit:
    """What `edit_to_data` wrote, also after a trip through JSON."""
    fields = {key: value for key, value in data.items() if key != "op"}
    if fields.get("bounds") is not None:
        fields["bounds"] = tuple(fields["bounds"])
    if "terms" in fields:
        fields["terms"] = tuple((name, float(value)) for name, value in fields["terms"])
    try:
        return EDITS[data["op"]](**fields)
    except (KeyError, TypeError) as problem:
        raise ModelError(f"not an edit: {dict(data)!r} ({problem})") from None


def element(edit: Edit) -> str:
    """What an edit touches, by name: `row:r3` or `column:x2`. Localisation is counted on these."""
    return f"column:{edit.column}" if isinstance(edit, SetBounds | SetType) else f"row:{edit.row}"


def difference(before: LinearProgram, after: LinearProgram) -> tuple[Edit, ...]:
    """The fewest edits that turn `before` into `after` element by element; columns must have the same names.

    Each changed sense, right-hand side, coefficient and column declaration is one edit, as is a row added or dropped.
    """
    found: list[Edit] = []
    for column in after.columns:
        old = before.column(column.name)
        same_bounds = (old.lower, old.upper) == (column.lower, column.upper)
        if old.kind != column.kind:
            plain = SetType(column.name, column.kind)
            if plain.apply(before).column(column.name) == column:
                found.append(plain)
            else:
                found.append(replace(plain, bounds=(_open(column.lower), _open(column.upper))))
        elif not same_bounds:
            found.append(SetBounds(column.name, _open(column.lower), _open(column.upper)))
    for row in after.rows:
        place = before.row_index.get(row.name)
        if place is None:
            found.append(AddRow(row.name, row.terms, row.sense, row.rhs, row.span))
        else:
            found.extend(_row_difference(before.rows[place], row))
    found.extend(DropRow(row.name) for row in before.rows if row.name not in after.row_index)
    return tuple(found)


def _row_difference(old: LinearRow, new: LinearRow) -> list[Edit]:
    if old.span != new.span:
        return [DropRow(old.name), AddRow(new.name, new.terms, new.sense, new.rhs, new.span)]
    found: list[Edit] = []
    if old.sense != new.sense:
        found.append(SetSense(new.name, new.sense))
    if old.rhs != new.rhs:
        found.append(SetRhs(new.name, new.rhs))
    before, after = dict(old.terms), dict(new.terms)
    for column in sorted(before.keys() | after.keys()):
        if before.get(column, 0.0) != after.get(column, 0.0):
            found.append(SetCoef(new.name, column, after.get(column, 0.0)))
    return found


def _bounds(lower: float | None, upper: float | None) -> tuple[float, float]:
    return -INF if lower is None else lower, INF if upper is None else upper


def _open(bound: float) -> float | None:
    return bound if math.isfinite(bound) else None
