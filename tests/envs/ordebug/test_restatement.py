"""The grader as a property, on drawn models: whatever says the same is a repair, whatever says less is none.

Truth here is by construction: a restatement is equal by algebra, a loosened side is not said any more. Neither asks the
grader's own code, or the solver.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from dataclasses import replace

from envs.ordebug.puzzles import made
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.envs.ordebug.equivalence import Checker
from whet.envs.ordebug.model import INF, Column, Kind, LinearProgram, LinearRow, Sense

NAMES = ("tiny_near_A", "tiny_near_B", "tiny_near_C", "tiny_near_D")
TURNED: dict[Sense, Sense] = {"<=": ">=", ">=": "<=", "=": "="}
FACTORS = (-3.0, -1.0, -0.25, 0.5, 2.0, 10.0)

models = st.sampled_from(NAMES)
draws = settings(max_examples=30, deadline=None, derandomize=True)


@functools.cache
def checker(name: str) -> Checker:
    return Checker(made(name).original)


def times(row: LinearRow, factor: float) -> LinearRow:
    terms = tuple((name, factor * value) for name, value in row.terms)
    return LinearRow(row.name, terms, row.sense if factor > 0 else TURNED[row.sense], factor * row.rhs)


def sides(row: LinearRow) -> set[tuple[object, ...]]:
    """What a row says, at the scale of its first term: an equation says an upper and a lower limit."""
    scale = min(row.terms)[1]
    terms = tuple((name, round(value / scale, 9)) for name, value in sorted(row.terms))
    sense = row.sense if scale > 0 else TURNED[row.sense]
    return {(terms, side, round(row.rhs / scale, 9)) for side in ("<=", ">=") if sense in (side, "=")}


def said(rows: Iterable[LinearRow]) -> set[tuple[object, ...]]:
    return set().union(*map(sides, rows))


def halves(row: LinearRow) -> list[LinearRow]:
    """An equation as two rows; an inequality as itself, twice."""
    senses: tuple[Sense, Sense] = ("<=", ">=") if row.sense == "=" else (row.sense, row.sense)
    return [LinearRow(f"{row.name}_{side}", row.terms, sense, row.rhs) for side, sense in enumerate(senses)]


def bound_as_row(column: Column) -> tuple[Column, list[LinearRow]]:
    """The column free on its bounded sides, and rows that say its bounds."""
    terms = ((column.name, 1.0),)
    rows = [LinearRow(f"least_{column.name}", terms, ">=", column.lower)] if column.lower > -INF else []
    rows += [LinearRow(f"most_{column.name}", terms, "<=", column.upper)] if column.upper < INF else []
    kind: Kind = "integer" if column.whole else "continuous"
    return replace(column, lower=-INF, upper=INF, kind=kind), rows


@st.composite
def restated(draw: st.DrawFn, name: str) -> LinearProgram:
    """The original in other words: rows multiplied, doubled, split, renamed and shuffled, bounds told as rows."""
    original = made(name).original
    rows: list[LinearRow] = []
    for row in original.rows:
        parts = halves(row) if draw(st.booleans()) else [row]
        rows += [times(part, draw(st.sampled_from(FACTORS))) for part in parts]
    columns = list(original.columns)
    for place in draw(st.sets(st.integers(0, len(columns) - 1), max_size=2)):
        columns[place], said = bound_as_row(columns[place])
        rows += said
    order = draw(st.permutations(range(len(rows))))
    return replace(
        original,
        rows=tuple(replace(rows[old], name=f"s{new}") for new, old in enumerate(order)),
        columns=tuple(draw(st.permutations(columns))),
    )


@draws
@given(st.data(), models)
def test_what_says_the_same_in_other_words_is_a_repair(data: st.DataObject, name: str) -> None:
    model = data.draw(restated(name))
    assert checker(name).verdict(model).same, checker(name).verdict(model).why


@draws
@given(st.data(), models, st.sampled_from((0.02, 1.5, 40.0, 1e4)))
def test_a_row_that_gives_way_is_no_repair(data: st.DataObject, name: str, amount: float) -> None:
    original = made(name).original
    alone = [row for row in original.rows if not sides(row) & said(set(original.rows) - {row})]
    row = data.draw(st.sampled_from(alone))
    room = max(1.0, abs(row.rhs)) * amount
    sense: Sense = data.draw(st.sampled_from(("<=", ">="))) if row.sense == "=" else row.sense
    looser = replace(row, sense=sense, rhs=row.rhs + (room if sense == "<=" else -room))
    assert not checker(name).repaired(original.with_row(looser))
    assert not checker(name).repaired(original.without_row(row.name))


@draws
@given(st.data(), models, st.sampled_from((1.0, 7.0, 1e4, INF)))
def test_a_bound_that_gives_way_is_no_repair(data: st.DataObject, name: str, amount: float) -> None:
    original = made(name).original
    sides = [(column, side) for column in original.columns for side in ("lower", "upper")]
    column, side = data.draw(st.sampled_from([pair for pair in sides if math.isfinite(getattr(*pair))]))
    moved = getattr(column, side) + (amount if side == "upper" else -amount)
    looser = replace(column, kind="integer" if column.whole else "continuous", **{side: moved})
    assert not checker(name).repaired(original.with_column(looser))


@draws
@given(st.data(), models)
def test_a_restatement_that_leaves_one_row_out_is_no_repair(data: st.DataObject, name: str) -> None:
    model = data.draw(restated(name))
    gone = data.draw(st.sampled_from(model.rows))
    others = [row for row in model.rows if row is not gone]
    assert checker(name).repaired(model.without_row(gone.name)) is (sides(gone) <= said(others))
