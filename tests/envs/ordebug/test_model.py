"""Models and edits as immutable data."""

from __future__ import annotations

import json
import math

import pytest
from envs.ordebug.puzzles import BAKERY
from hypothesis import given
from hypothesis import strategies as st

from whet.envs.ordebug.algebra import algebra, linear, row_text
from whet.envs.ordebug.edits import (
    AddRow,
    DropRow,
    Edit,
    Relax,
    SetBounds,
    SetCoef,
    SetRhs,
    SetSense,
    SetType,
    apply_all,
    difference,
    edit_from_data,
    edit_to_data,
    element,
)
from whet.envs.ordebug.model import Column, LinearProgram, LinearRow, ModelError, violations

EDITS: list[Edit] = [
    SetSense("r1", ">="),
    SetSense("r3", "="),
    SetRhs("r2", -7.5),
    SetCoef("r3", "x3", 4.0),
    SetCoef("r1", "x2", 0.0),
    SetBounds("x1", None, 12.0),
    SetType("x3", "binary"),
    SetType("x1", "integer", (1.0, None)),
    Relax("r4", 2.0),
    DropRow("r2"),
    AddRow("r9", (("x1", 1.0), ("x3", -2.0)), "<=", 3.0),
]


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.op)
def test_an_edit_leaves_the_model_it_is_applied_to_alone(edit: Edit) -> None:
    before = BAKERY.digest
    assert edit.apply(BAKERY).digest != before
    assert BAKERY.digest == before


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.op)
def test_an_edit_survives_json(edit: Edit) -> None:
    assert edit_from_data(json.loads(json.dumps(edit_to_data(edit)))) == edit


@given(st.lists(st.sampled_from(EDITS), unique=True, max_size=5))
def test_the_difference_of_two_models_leads_from_one_to_the_other(edits: list[Edit]) -> None:
    try:
        after = apply_all(BAKERY, edits)
    except ModelError:
        return  # some edits contradict each other, such as a dropped row and its new right-hand side
    again = apply_all(BAKERY, difference(BAKERY, after))
    assert sorted(row_text(row) for row in again.rows) == sorted(row_text(row) for row in after.rows)
    assert again.columns == after.columns
    assert len(difference(BAKERY, after)) <= len(edits) + sum(isinstance(edit, Relax) for edit in edits)


def test_a_missing_term_put_back_gives_the_same_bytes() -> None:
    broken = SetCoef("r1", "x2", 0.0).apply(BAKERY)
    assert SetCoef("r1", "x2", 2.0).apply(broken).digest == BAKERY.digest


def test_a_type_and_its_bounds_are_one_edit() -> None:
    broken = SetType("x3", "binary").apply(BAKERY)
    assert difference(broken, BAKERY) == (SetType("x3", "integer", (0.0, 10.0)),)


def test_relaxing_an_equation_opens_both_sides() -> None:
    row = Relax("r3", 2.0).apply(SetSense("r3", "=").apply(BAKERY)).row("r3")
    assert (row.lower, row.upper) == (8.0, 12.0)


def test_relaxing_never_narrows() -> None:
    with pytest.raises(ModelError, match="0 or more"):
        Relax("r1", -1.0).apply(BAKERY)


def test_a_model_survives_json() -> None:
    assert LinearProgram.from_data(json.loads(json.dumps(BAKERY.to_data()))) == BAKERY


def test_whole_numbers_and_floats_make_the_same_digest() -> None:
    row = LinearRow("r", (("x", 3),), "<=", -0.0)
    as_int = LinearProgram("m", (Column("x"),), (row,))
    assert LinearProgram.from_data(json.loads(json.dumps(as_int.to_data()))).digest == as_int.digest


def test_the_name_of_a_model_is_not_its_content() -> None:
    assert LinearProgram("other", BAKERY.columns, BAKERY.rows, True).digest == BAKERY.digest


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_not_finite_are_refused(bad: float) -> None:
    with pytest.raises(ModelError, match="finite"):
        SetCoef("r1", "x1", bad).apply(BAKERY)
    with pytest.raises(ModelError, match="finite"):
        SetRhs("r1", bad).apply(BAKERY)


def test_a_missing_row_is_named_with_the_nearest() -> None:
    with pytest.raises(ModelError, match=r"no constraint 'r11'.*r1"):
        SetRhs("r11", 1.0).apply(BAKERY)


def test_a_missing_column_is_named() -> None:
    with pytest.raises(ModelError, match="no variable 'y'"):
        SetCoef("r1", "y", 1.0).apply(BAKERY)


def test_a_binary_column_keeps_its_bounds() -> None:
    with pytest.raises(ModelError, match="binary"):
        SetBounds("x3", 0.0, 5.0).apply(SetType("x3", "binary").apply(BAKERY))


def test_two_rows_of_one_name_are_refused() -> None:
    with pytest.raises(ModelError, match="already"):
        AddRow("r1", (("x1", 1.0),), "<=", 1.0).apply(BAKERY)


def test_edits_name_what_they_touch() -> None:
    assert [element(edit) for edit in (SetRhs("r1", 0.0), SetBounds("x1", 0.0, 1.0))] == ["row:r1", "column:x1"]


def test_violations_name_rows_bounds_and_types() -> None:
    point = {"x1": 41.0, "x2": 0.0, "x3": 0.5}
    assert violations(BAKERY, point) == ["x1", "x3", "r2", "r4"]


def test_the_algebra_shows_every_element() -> None:
    text = algebra(BAKERY)
    assert "maximize 3 x1 + 2 x2 + 5 x3" in text
    assert "  r1: x1 + 2 x2 + 3 x3 <= 60" in text
    assert "  0 <= x3 <= 10, integer" in text


def test_signs_and_ones_are_written_as_people_do() -> None:
    assert linear([("a", -1.0), ("b", 2.5), ("c", -3.0)]) == "-a + 2.5 b - 3 c"
