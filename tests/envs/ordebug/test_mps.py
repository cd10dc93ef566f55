"""MPS files: what foreign tools write is read, what is written is read back exactly."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from envs.ordebug.puzzles import BAKERY
from hypothesis import given
from hypothesis import strategies as st

from whet.envs.ordebug.edits import Relax, SetBounds, SetSense, SetType, apply_all
from whet.envs.ordebug.model import INF, Column, LinearProgram, LinearRow, ModelError
from whet.envs.ordebug.mps import parse_mps, read_mps, write_mps
from whet.envs.ordebug.solver import library, solve

FREE = """\
* what Gurobi writes
NAME mip_7
OBJSENSE MAX
ROWS
 N  OBJ
 L  c0
 G  c_key_lower
 E  link
COLUMNS
    MARKER    'MARKER'                 'INTORG'
    x0        OBJ       1.5e+00
    x0        c0        2   c_key_lower  1
    MARKER    'MARKER'                 'INTEND'
    x1        c0        1.25
    x1        link      1
    _aux      link      -1
RHS
    RHS1      c0        40   c_key_lower  3
BOUNDS
 UP BND1      x0        15
 BV BND1      x1
 FR BND1      _aux
ENDATA
"""

FIXED = """\
NAME          TINY
ROWS
 N  COST
 L  LIM1
 E  MYEQN
COLUMNS
    XONE      COST                 1   LIM1                 1
    YTWO      COST                 2   MYEQN               -1
RHS
    RHS       LIM1                 4   MYEQN                7
    RHS       COST               -10
RANGES
    RNG       LIM1                 3   MYEQN               -2
BOUNDS
 MI BND       XONE
 UP BND       XONE                 4
 LO BND       YTWO                -1
ENDATA
"""


def test_a_free_file_with_one_line_objsense_is_read() -> None:
    model = parse_mps(FREE)
    assert model.maximize
    assert model.column("x0") == Column("x0", 0.0, 15.0, "integer", 1.5)
    assert model.column("x1") == Column("x1", 0.0, 1.0, "binary")
    assert model.column("_aux") == Column("_aux", -INF, INF)
    assert model.row("c0") == LinearRow("c0", (("x0", 2.0), ("x1", 1.25)), "<=", 40.0)
    assert model.row("link") == LinearRow("link", (("x1", 1.0), ("_aux", -1.0)), "=", 0.0)


def test_a_fixed_file_with_ranges_and_a_constant_is_read() -> None:
    model = parse_mps(FIXED)
    assert model.offset == 10.0
    assert (model.row("LIM1").lower, model.row("LIM1").upper) == (1.0, 4.0)
    assert (model.row("MYEQN").lower, model.row("MYEQN").upper) == (5.0, 7.0)
    assert model.column("XONE") == Column("XONE", -INF, 4.0, "continuous", 1.0)


def test_the_solver_reads_the_same_model_from_what_is_written(tmp_path: Path) -> None:
    model = apply_all(BAKERY, [SetType("x3", "binary"), Relax("r4", 1.0), SetBounds("x2", None, 20.0)])
    path = tmp_path / "model.mps"
    path.write_text(write_mps(model))
    machine = library().Highs()
    machine.setOptionValue("output_flag", False)
    machine.readModel(str(path))
    machine.run()
    assert machine.getInfo().objective_function_value == pytest.approx(solve(model).objective)


numbers = st.floats(-1e6, 1e6, allow_nan=False).map(lambda value: value + 0.0)
columns = st.builds(
    lambda low, high, kind, cost: Column("", *((0.0, 1.0) if kind == "binary" else (low, high)), kind, cost),
    st.one_of(numbers, st.just(-INF)),
    st.one_of(numbers, st.just(INF)),
    st.sampled_from(["continuous", "integer", "binary"]),
    numbers,
)


@st.composite
def models(draw: st.DrawFn) -> LinearProgram:
    made = draw(st.lists(columns, min_size=1, max_size=4))
    named = [replace(column, name=f"x{place}") for place, column in enumerate(made)]
    rows = []
    for number in range(draw(st.integers(0, 4))):
        terms = tuple((c.name, draw(numbers.filter(bool))) for c in named if draw(st.booleans()))
        sense = draw(st.sampled_from(["<=", ">=", "="]))
        span = draw(st.none() | st.floats(0, 1e3)) if sense != "=" else None
        rows.append(LinearRow(f"r{number}", terms, sense, draw(numbers), span))
    return LinearProgram("m", tuple(named), tuple(rows), draw(st.booleans()), draw(numbers))


@given(models())
def test_what_is_written_is_read_back_exactly_and_written_the_same(model: LinearProgram) -> None:
    text = write_mps(model)
    assert parse_mps(text).digest == model.digest
    assert write_mps(parse_mps(text)) == text


def test_a_narrowed_binary_column_is_written_for_readers_that_reset_bounds_at_bv() -> None:
    model = apply_all(BAKERY, [SetType("x3", "binary"), SetBounds("x3", 1.0, 1.0)])
    text = write_mps(model)
    assert " BV " not in text
    assert parse_mps(text) == model


def test_an_upper_bound_of_zero_stands_with_its_lower_one() -> None:
    text = write_mps(SetBounds("x1", 0.0, 0.0).apply(BAKERY))
    assert " LO BND  x1  0\n UP BND  x1  0\n" in text


def test_a_lower_bound_above_the_upper_survives() -> None:
    crossed = SetBounds("x1", 60.0, 40.0).apply(BAKERY)
    assert parse_mps(write_mps(crossed)) == crossed


def test_a_range_survives_a_flipped_sense() -> None:
    model = apply_all(BAKERY, [SetSense("r3", "="), Relax("r3", 2.0), SetSense("r3", ">=")])
    assert parse_mps(write_mps(model)) == model


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda text: text.replace("ENDATA", ""), "without ENDATA"),
        (lambda text: text.replace("1.25", "abc"), "line 14: 'abc' is not a number"),
        (lambda text: text.replace("1.25", "nan"), "'nan' is not a finite number"),
        (lambda text: text.replace("1.25", "inf"), "'inf' is not a finite number"),
        (lambda text: text.replace(" L  c0", " X  c0"), "not a type of row"),
        (lambda text: text.replace("x1        c0 ", "x1        c9 "), "'c9', which is not a row"),
        (lambda text: text.replace("UP BND1      x0", "UP BND1      x9"), "'x9', which is not a column"),
        (lambda text: text.replace("UP BND1", "SC BND1"), "'SC'"),
        (lambda text: text.replace("RHS\n", "QUADOBJ\n"), "'QUADOBJ'"),
        (lambda text: text.replace("OBJSENSE MAX", "OBJSENSE UPWARDS"), "OBJSENSE"),
        (lambda text: "", "without ENDATA"),
        (lambda text: "ENDATA\n", "no model"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(change: object, complaint: str) -> None:
    assert callable(change)
    with pytest.raises(ModelError, match=complaint):
        parse_mps(change(FREE), "bad.mps")


def test_a_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot read"):
        read_mps(tmp_path / "none.mps")


def test_a_binary_file_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "junk.mps"
    path.write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(ModelError, match="cannot read"):
        read_mps(path)
