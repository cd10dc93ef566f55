"""The families: feasible problems of the size asked for, with a text that tells everything the model says."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.envs.ordebug.algebra import number
from whet.envs.ordebug.families import FAMILIES
from whet.envs.ordebug.families.story import MAX_ROWS, MIN_ROWS, ProblemDraft
from whet.envs.ordebug.solver import solve


def draft(family: str, rows: int = 14, seed: int = 1) -> ProblemDraft:
    return FAMILIES[family].draw(random.Random(seed), rows)


NAMES = sorted(FAMILIES)


def test_there_are_at_least_six_families_linear_and_mixed() -> None:
    assert len(FAMILIES) >= 6
    assert {family.mixed for family in FAMILIES.values()} == {True, False}


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(NAMES), st.integers(MIN_ROWS, 60), st.integers(0, 10**6))
def test_every_draft_is_feasible_and_bounded(family: str, rows: int, seed: int) -> None:
    made = draft(family, min(rows, FAMILIES[family].most), seed)
    assert solve(made.model).status == "optimal"


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(NAMES), st.floats(0.0, 1.0), st.integers(0, 10**6))
def test_every_draft_has_between_5_and_200_rows(family: str, share: float, seed: int) -> None:
    rows = MIN_ROWS + int(share * (FAMILIES[family].most - MIN_ROWS))
    assert MIN_ROWS <= len(draft(family, rows, seed).model.rows) <= MAX_ROWS


@pytest.mark.parametrize("family", NAMES)
def test_the_smallest_problems_have_5_rows_whatever_the_seed(family: str) -> None:
    assert min(len(draft(family, rows, seed).model.rows) for rows in (5, 6, 7) for seed in range(150)) >= MIN_ROWS


@pytest.mark.parametrize("family", NAMES)
def test_a_larger_size_gives_more_rows(family: str) -> None:
    small, large = len(draft(family, 8).model.rows), len(draft(family, FAMILIES[family].most).model.rows)
    assert small < 20 < large


@pytest.mark.parametrize("family", NAMES)
def test_the_same_seed_gives_the_same_draft(family: str) -> None:
    assert draft(family) == draft(family)


@pytest.mark.parametrize("family", NAMES)
def test_names_are_neutral(family: str) -> None:
    model = draft(family).model
    assert [column.name for column in model.columns] == [f"x{n}" for n in range(1, len(model.columns) + 1)]
    assert [row.name for row in model.rows] == [f"r{n}" for n in range(1, len(model.rows) + 1)]


@pytest.mark.parametrize("family", NAMES)
def test_the_text_declares_type_and_bounds_of_every_column(family: str) -> None:
    made = draft(family)
    lines = {line.split(":")[0].strip(): line for line in made.specification.splitlines() if line.startswith("  x")}
    for column in made.model.columns:
        line = lines[column.name]
        assert ("0 or 1" in line) == (column.kind == "binary")
        assert ("whole number" in line) == (column.kind == "integer")
        if column.kind != "binary":
            assert f"from {number(column.lower)}" in line
            assert (f"to {number(column.upper)};" in line) == (column.upper < float("inf"))


@pytest.mark.parametrize("family", [name for name in NAMES if name != "lots"])
@pytest.mark.parametrize("seed", range(3))
def test_the_text_holds_the_figure_of_every_requirement(family: str, seed: int) -> None:
    made = draft(family, 20, seed)
    requirements = made.specification.split("Requirements:")[1]
    told = {float(figure) for figure in re.findall(r"\d+(?:\.\d+)?", requirements)}
    assert {row.rhs for row in made.model.rows} - {0.0, 1.0} <= told


@pytest.mark.parametrize("seed", range(3))
def test_the_text_of_lot_sizing_gives_the_demand_that_a_balance_is_about(seed: int) -> None:
    made = draft("lots", 20, seed)
    told = {float(figure) for figure in re.findall(r"(?<== )\d+(?:\.\d+)?", made.specification)}
    stock = {
        float(v) for v in re.findall(r"= (\d+)", made.specification.split("Stock before period 1:")[1].split(".")[0])
    }
    for row in made.model.rows:
        if row.sense == "=":
            assert row.rhs in told or any(row.rhs + first in told for first in stock)


@pytest.mark.parametrize("family", NAMES)
def test_terms_stand_in_column_order_and_are_not_zero(family: str) -> None:
    model = draft(family, 30).model
    for row in model.rows:
        places = [model.column_index[name] for name, _ in row.terms]
        assert places == sorted(places)
        assert all(value for _, value in row.terms)
