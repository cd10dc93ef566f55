"""The bootstrap schedule: four stages, left at 10, 30, 50 and 65 percent."""

from __future__ import annotations

import pytest
from envs.soup1.first_soups import soup
from hypothesis import given
from hypothesis import strategies as st

from whet.envs.soup1.schedules import SCHEDULES, stage_after, stage_args


def test_the_bootstrap_has_four_stages_with_their_marks() -> None:
    stages = SCHEDULES["bootstrap"]
    assert [stage.leave_at for stage in stages] == [0.10, 0.30, 0.50, 0.65]
    assert [stage_args("bootstrap", number) for number in (1, 2, 3, 4)] == [
        {"mode": "bootstrap", "difficulty": "primer"},
        {"mode": "bootstrap"},
        {"mode": "tiered"},
        {"mode": "all"},
    ]


@pytest.mark.parametrize(
    ("rates", "stage"),
    [([], 1), ([0.05, 0.09], 1), ([0.10], 2), ([0.9], 2), ([0.1, 0.2, 0.3, 0.4, 0.5], 4), ([0.9] * 4, 5)],
)
def test_a_stage_is_left_when_its_mark_is_reached(rates: list[float], stage: int) -> None:
    assert stage_after("bootstrap", rates) == stage


@given(st.lists(st.floats(0, 1), max_size=20), st.integers(0, 20))
def test_no_measurement_leads_back(rates: list[float], cut: int) -> None:
    assert stage_after("bootstrap", rates[:cut]) <= stage_after("bootstrap", rates)


def test_a_stage_is_an_environment_with_those_arguments() -> None:
    staged = soup(schedule="bootstrap", stage=1)
    assert {staged.label("train", index).difficulty for index in range(50)} == {"primer"}
    assert staged.fingerprint == soup(mode="bootstrap", difficulty="primer").fingerprint
    assert staged.settings.rewards.process
    assert not soup(schedule="bootstrap", stage=3).settings.rewards.process
