"""The families: sound problems of the size asked for, in which whatever a fault looks like occurs as a sound form."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.envs.ordebug.families import FAMILIES, HELD_OUT, SEEN, ProblemDraft, draw
from whet.envs.ordebug.solver import solve

NAMES = sorted(FAMILIES)


def draft(family: str, rows: int = 12, columns: int = 8, seed: int = 1) -> ProblemDraft:
    return draw(random.Random(seed), FAMILIES[family], rows, columns)


def drafts(count: int = 20) -> list[ProblemDraft]:
    return [draft(family, seed=seed) for family in NAMES for seed in range(count)]


def test_two_of_at_least_nine_families_are_held_out() -> None:
    assert len(FAMILIES) >= 9
    assert len(HELD_OUT) == 2
    assert set(SEEN).isdisjoint(HELD_OUT)
    assert set(SEEN) | set(HELD_OUT) == set(FAMILIES)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(NAMES), st.integers(3, 50), st.integers(0, 10**6))
def test_every_draft_is_feasible_and_bounded(family: str, rows: int, seed: int) -> None:
    assert solve(draft(family, rows, max(3, rows * 2 // 3), seed).model).status == "optimal"


@pytest.mark.parametrize("family", NAMES)
def test_a_draft_has_as_many_rows_as_asked_for(family: str) -> None:
    assert [len(draft(family, rows).model.rows) for rows in (3, 9, 40)] == [3, 9, 40]


@pytest.mark.parametrize("family", NAMES)
def test_the_same_seed_gives_the_same_draft(family: str) -> None:
    assert draft(family) == draft(family)


@pytest.mark.parametrize("family", NAMES)
def test_names_are_neutral_and_everything_has_a_meaning(family: str) -> None:
    made = draft(family)
    assert [column.name for column in made.model.columns] == list(made.model.column_index)
    assert {column.name for column in made.model.columns} == set(made.items)
    assert {row.name for row in made.model.rows} == set(made.meanings)
    assert all(row.name == f"r{place}" for place, row in enumerate(made.model.rows, start=1))


def test_columns_start_below_at_and_above_zero() -> None:
    lowers = [column.lower for made in drafts() for column in made.model.columns]
    assert sum(low > 0 for low in lowers) > 0.3 * len(lowers)
    assert sum(low == 0 for low in lowers) > 0.2 * len(lowers)
    assert any(low < 0 for low in lowers)


@pytest.mark.parametrize("family", NAMES)
def test_every_family_has_every_sense_and_decimals_and_negative_terms(family: str) -> None:
    rows = [row for seed in range(20) for row in draft(family, seed=seed).model.rows]
    assert {row.sense for row in rows} == {"<=", ">=", "="}
    assert any(row.rhs != round(row.rhs) for row in rows)
    assert any(value < 0 for row in rows for _, value in row.terms)


def test_one_kind_of_requirement_occurs_with_every_sense_in_one_model() -> None:
    mixed = 0
    for made in drafts(6):
        senses: dict[str, set[str]] = {}
        for row in made.model.rows:
            senses.setdefault(made.meanings[row.name].kind, set()).add(row.sense)
        mixed += any(len(found) > 1 for found in senses.values())
    assert mixed > 0.8 * len(drafts(6))


def test_some_requirements_differ_from_another_in_sense_or_figure_alone() -> None:
    pairs = sum(
        count > 1
        for made in drafts(6)
        for count in Counter(tuple(sorted(row.terms)) for row in made.model.rows).values()
    )
    assert pairs > 10
