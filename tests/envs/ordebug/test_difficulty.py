"""Difficulty: bands of the measured search rate, far enough apart."""

from __future__ import annotations

import functools
import random
from dataclasses import replace
from itertools import pairwise

import pytest

from whet.envs.ordebug.difficulty import BANDS, measured, most_tries, rows_drawn, shape_drawn, within
from whet.envs.ordebug.instance import CELLS, DIFFICULTIES, Cell, Certificate
from whet.envs.ordebug.maker import make
from whet.envs.ordebug.search import BUDGETS, SearchResult


@functools.cache
def certificate(cell: Cell = CELLS[0]) -> Certificate:
    return make(cell, None, 2, seed=3).certificate


def test_the_bands_are_at_least_15_points_apart() -> None:
    ordered = [BANDS[difficulty] for difficulty in DIFFICULTIES]
    assert all(easier[0] - harder[1] >= 0.15 for easier, harder in pairwise(ordered))


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.name)
def test_an_instance_lies_in_the_band_of_its_cell(cell: Cell) -> None:
    assert measured(certificate(cell)) == cell.difficulty


def test_a_problem_that_dropping_repairs_is_not_hard() -> None:
    hard = replace(certificate(), search_rate=0.0, drop_first=False)
    assert measured(hard) == "hard"
    assert measured(replace(hard, drop_first=True)) is None


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_the_deciding_budget_is_the_last_that_lies_in_the_band(difficulty: str) -> None:
    budget = most_tries(difficulty)  # type: ignore[arg-type]
    edits = certificate() and ()
    assert budget in BUDGETS
    assert within(difficulty, SearchResult(edits, budget).rate)  # type: ignore[arg-type]
    assert difficulty == "hard" or not within(difficulty, SearchResult(edits, budget + 1).rate)  # type: ignore[arg-type]


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.name)
def test_sizes_stay_within_what_the_family_offers(cell: Cell) -> None:
    rng = random.Random(1)
    sizes = [rows_drawn(rng, shape_drawn(rng, cell), 60) for _ in range(200)]
    assert min(sizes) >= 5
    assert max(sizes) <= 60
