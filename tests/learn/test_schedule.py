"""How many edits a step may make."""

from __future__ import annotations

import pytest

from whet.learn.reflact.schedule import budget_for


@pytest.mark.parametrize(
    ("scheduler", "budgets"),
    [
        ("constant", [4, 4, 4, 4, 4, 4, 4, 4]),
        ("linear", [4, 4, 3, 3, 3, 3, 2, 2]),
        ("cosine", [4, 4, 4, 3, 3, 2, 2, 2]),
    ],
)
def test_the_first_step_gets_the_most_and_the_last_the_fewest(scheduler: str, budgets: list[int]) -> None:
    assert [budget_for(scheduler, number, 8, 4, 2) for number in range(1, 9)] == budgets


def test_cosine_and_linear_are_two_schedules_also_over_four_steps() -> None:
    cosine, linear = ([budget_for(name, number, 4, 4, 2) for number in range(1, 5)] for name in ("cosine", "linear"))
    assert cosine != linear


@pytest.mark.parametrize("scheduler", ["autonomous", "none"])
def test_where_no_schedule_sets_it_there_is_no_budget(scheduler: str) -> None:
    assert budget_for(scheduler, 1, 4, 4, 2) is None


@pytest.mark.parametrize("scheduler", ["constant", "linear", "cosine"])
def test_zero_means_zero(scheduler: str) -> None:
    assert [budget_for(scheduler, number, 3, 0, 2) for number in (1, 2, 3)] == [0, 0, 0]


@pytest.mark.parametrize("scheduler", ["linear", "cosine"])
def test_a_run_of_one_step_gets_the_most(scheduler: str) -> None:
    assert budget_for(scheduler, 1, 1, 4, 2) == 4
