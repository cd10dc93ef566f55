"""Single edits that might undo a fault, the likeliest first: what the edit search is made of.

Elements are ranked by how the subsystem points at them, the edits of an element by how common such a fault is; a
candidate's place is given by the product of both ranks. Values come from the model and from the numbers that the
specification mentions, never from the original.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from whet.envs.ordebug.edits import DropRow, Edit, SetBounds, SetCoef, SetRhs, SetSense, SetType
from whet.envs.ordebug.iis import Iis
from whet.envs.ordebug.model import INF, Column, LinearProgram, LinearRow, Sense

_NUMBER = re.compile(r"(?<![\w.-])-?\d+(?:\.\d+)?")
_FACTORS = (10.0, 0.1, -1.0, 2.0, 0.5, 100.0, 0.01)
_OTHER_SENSES: dict[Sense, tuple[Sense, ...]] = {"<=": (">=", "="), ">=": ("<=", "="), "=": ("<=", ">=")}


@dataclass(frozen=True, slots=True)
class Clues:
    """What the search goes by: the broken model, its subsystem and the text that it should follow."""

    model: LinearProgram
    iis: Iis
    specification: str

    @property
    def numbers(self) -> tuple[float, ...]:
        """The different numbers in the text, ascending."""
        return tuple(sorted({float(found) for found in _NUMBER.findall(self.specification)}))


def candidates(clues: Clues, count: int) -> tuple[Edit, ...]:
    """The first `count` single edits."""
    numbers = clues.numbers
    ranked: list[tuple[int, int, int, Edit]] = []
    for place, (is_row, name) in enumerate(_elements(clues), start=1):
        most = count // place
        if most == 0:
            break
        edits = _row_edits(clues.model, name, numbers) if is_row else _column_edits(clues.model.column(name), numbers)
        for option, edit in enumerate(itertools.islice(_different(edits), most), start=1):
            ranked.append((place * option, place, option, edit))
    ranked.sort(key=lambda candidate: candidate[:3])
    return tuple(edit for *_, edit in ranked[:count])


def _elements(clues: Clues) -> list[tuple[bool, str]]:
    """Rows (True) and columns by rank: in the subsystem, touching it, then the rest; in turns within a tier."""
    model, iis = clues.model, clues.iis
    shown = set(iis.row_names)
    touched = {name for row in iis.row_names for name, _ in model.row(row).terms} | set(iis.column_names)
    near = [row.name for row in model.rows if any(name in touched for name, _ in row.terms)]
    tiers: list[tuple[Iterable[str], Iterable[str]]] = [
        (iis.row_names, iis.column_names),
        ((), (column.name for column in model.columns if column.name in touched and column.whole)),
        (near, (column.name for column in model.columns if column.name in touched)),
        ((row.name for row in model.rows), (column.name for column in model.columns)),
    ]
    found: dict[tuple[bool, str], None] = {}
    for rows, columns in tiers:
        in_order = sorted(rows, key=lambda name: (name not in shown, model.row_index[name]))
        for row, column in itertools.zip_longest(in_order, columns):
            if row is not None:
                found.setdefault((True, row))
            if column is not None:
                found.setdefault((False, column))
    return list(found)


def _row_edits(model: LinearProgram, name: str, numbers: Sequence[float]) -> Iterator[Edit]:
    """Sense and removal first, then right-hand side, signs, sizes and missing terms in turns."""
    row = model.row(name)
    senses = _OTHER_SENSES[row.sense]
    yield SetSense(name, senses[0])
    yield DropRow(name)
    yield SetSense(name, senses[1])
    yield from _in_turns(
        (SetRhs(name, value) for value in _values(row.rhs, numbers)),
        (SetCoef(name, column, -value) for column, value in row.terms),
        _scaled_terms(row),
        _missing_terms(model, row),
        _replaced_terms(row, numbers),
    )


def _scaled_terms(row: LinearRow) -> Iterator[Edit]:
    for factor in (0.1, 10.0, 0.5, 2.0):
        for column, value in row.terms:
            yield SetCoef(row.name, column, _tidy(value * factor))


def _replaced_terms(row: LinearRow, numbers: Sequence[float]) -> Iterator[Edit]:
    yield from _in_turns(
        *(
            (SetCoef(row.name, column, math.copysign(number, value)) for number in _nearest(abs(value), numbers))
            for column, value in row.terms
        )
    )


def _missing_terms(model: LinearProgram, row: LinearRow) -> Iterator[Edit]:
    """Columns that stand beside those of the row elsewhere, with values that the row or the column already has."""
    mine = dict(row.terms)
    beside: dict[str, list[float]] = {}
    for other in model.rows:
        if other.name != row.name and any(name in mine for name, _ in other.terms):
            for name, value in other.terms:
                if name not in mine:
                    beside.setdefault(name, []).append(value)
    usual = [value for _, value in row.terms][:1]
    for value_of in (lambda seen: usual, lambda seen: [-value for value in usual], lambda seen: seen):
        for name in sorted(beside, key=model.column_index.__getitem__):
            for value in dict.fromkeys(value_of(beside[name])):
                yield SetCoef(row.name, name, value)


def _column_edits(column: Column, numbers: Sequence[float]) -> Iterator[Edit]:
    """Open each bound, take off the type, then other values for either bound."""
    low, high = (None if math.isinf(bound) else bound for bound in (column.lower, column.upper))
    name = column.name
    if column.whole:
        yield SetType(name, "continuous", (low, high))
        if column.kind == "binary":
            yield SetType(name, "continuous", (low, None))
    if column.kind == "binary":
        yield SetBounds(name, 0.0, 1.0)
        yield from (SetType(name, "integer", (low, number)) for number in numbers if number > 1.0)
        return
    if high is not None:
        yield SetBounds(name, low, None)
    if low != 0.0:
        yield SetBounds(name, 0.0, high)
    uppers = () if column.upper == INF else _values(column.upper, numbers)
    yield from _in_turns(
        (SetBounds(name, low, value) for value in uppers if value >= (low or 0.0)),
        (SetBounds(name, value, high) for value in _values(column.lower, numbers) if value <= column.upper),
    )


def _values(value: float, numbers: Sequence[float]) -> Iterator[float]:
    """What a wrong number may have been: a multiple of itself, or a number of the text, the nearest first."""
    seen = {value}
    for other in itertools.chain((_tidy(value * factor) for factor in _FACTORS), _nearest(value, numbers)):
        if other not in seen:
            seen.add(other)
            yield other


def _nearest(value: float, numbers: Sequence[float]) -> list[float]:
    return sorted((number for number in numbers if number != value), key=lambda number: (abs(number - value), number))


def _tidy(value: float) -> float:
    """Without the noise of a floating-point product."""
    return float(f"{value:.10g}")


def _different(edits: Iterator[Edit]) -> Iterator[Edit]:
    seen: set[Edit] = set()
    for edit in edits:
        if edit not in seen:
            seen.add(edit)
            yield edit


def _in_turns(*streams: Iterator[Edit]) -> Iterator[Edit]:
    waiting = [iter(stream) for stream in streams]
    while waiting:
        for stream in list(waiting):
            edit = next(stream, None)
            if edit is None:
                waiting.remove(stream)
            else:
                yield edit
