from __future__ import annotations

import math
from random import Random
from statistics import stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from whet.errors import WhetError
from whet.evals.estimate import (
    Interval,
    clustered_estimate,
    clustered_share,
    difference_estimate,
    mean_estimate,
    normal_estimate,
    ranged,
    wilson,
)

units = st.floats(0, 1) | st.sampled_from([0.0, 1.0])
changes = st.floats(-1, 1) | st.sampled_from([-1.0, 0.0, 1.0])


@pytest.mark.parametrize(("successes", "n"), [(0, 1), (1, 1), (0, 10), (3, 10), (10, 10), (97, 100), (500, 1000)])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_wilson_is_the_interval_that_scipy_gives(successes: int, n: int, level: float) -> None:
    theirs = binomtest(successes, n).proportion_ci(level, method="wilson")
    assert wilson(successes, n, level) == Interval(
        pytest.approx(theirs.low, abs=1e-12), pytest.approx(theirs.high, abs=1e-12), level
    )


def test_nothing_observed_has_no_interval() -> None:
    assert wilson(0, 0) is None
    assert mean_estimate([]) is None
    assert difference_estimate([]) is None


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0])
def test_a_level_outside_0_and_1_is_refused(level: float) -> None:
    with pytest.raises(WhetError, match="level"):
        wilson(1, 2, level)


def test_more_successes_than_trials_are_refused() -> None:
    with pytest.raises(WhetError, match="3 successes of 2"):
        wilson(3, 2)


@given(st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=60))
def test_a_mean_of_zeros_and_ones_gets_an_interval_that_holds_wilsons(values: list[float]) -> None:
    found = mean_estimate(values)
    assert found is not None
    expected = wilson(int(sum(values)), len(values))
    assert expected is not None
    assert found.interval.low <= expected.low + 1e-12
    assert found.interval.high >= expected.high - 1e-12


@pytest.mark.parametrize("n", [10, 12, 15, 20, 35, 50, 100, 200])
def test_single_draws_are_covered_at_every_rate(n: int) -> None:
    """Exact, at rates from .02 to .98 in steps of .002: Wilson's interval falls to .89 at ten tasks."""
    intervals = [mean_estimate([1.0] * solved + [0.0] * (n - solved)) for solved in range(n + 1)]
    for step in range(10, 491):
        rate = step / 500
        held = math.fsum(
            math.comb(n, solved) * rate**solved * (1 - rate) ** (n - solved)
            for solved, found in enumerate(intervals)
            if found is not None and found.interval.low <= rate <= found.interval.high
        )
        assert held >= 0.92, (n, rate, held)


@given(st.lists(units, min_size=1, max_size=40), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_the_interval_of_a_mean_holds_it_and_stays_in_its_span(values: list[float], level: float) -> None:
    found = mean_estimate(values, level=level)
    assert found is not None
    assert 0.0 <= found.interval.low <= found.value <= found.interval.high <= 1.0
    assert found.interval.high > found.interval.low


@given(st.lists(units, min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_the_order_of_the_values_does_not_change_a_bit(values: list[float], luck: Random) -> None:
    shuffled = list(values)
    luck.shuffle(shuffled)
    assert mean_estimate(shuffled) == mean_estimate(values)
    assert difference_estimate(shuffled) == difference_estimate(values)


def test_values_close_together_give_a_narrower_interval_than_zeros_and_ones() -> None:
    close, apart = mean_estimate([0.4, 0.5, 0.6] * 10), mean_estimate([0.0, 1.0] * 15)
    assert close is not None
    assert apart is not None
    assert close.interval.high - close.interval.low < 0.35 * (apart.interval.high - apart.interval.low)


def test_equal_credit_everywhere_is_not_certainty() -> None:
    found = mean_estimate([0.7] * 10)
    assert found is not None
    assert found.interval.low < 0.6
    assert found.interval.high > 0.8


def test_a_mean_on_another_span_is_the_same_mean_stretched() -> None:
    unit, wide = mean_estimate([0.2, 0.9, 0.4]), mean_estimate([-30.0, 40.0, -10.0], span=(-50.0, 50.0))
    assert unit is not None
    assert wide is not None
    assert wide.interval.low == pytest.approx(100 * unit.interval.low - 50)
    assert wide.interval.high == pytest.approx(100 * unit.interval.high - 50)


def test_a_span_without_width_is_refused() -> None:
    with pytest.raises(WhetError, match="span"):
        mean_estimate([1.0], span=(1.0, 1.0))


@given(st.lists(changes, min_size=1, max_size=40))
def test_the_interval_of_a_difference_holds_it_and_stays_among_the_possible(differences: list[float]) -> None:
    found = difference_estimate(differences)
    assert found is not None
    assert -1.0 - 1e-9 <= found.interval.low <= found.value <= found.interval.high <= 1.0 + 1e-9


@given(st.lists(changes, min_size=1, max_size=40))
def test_exchanging_the_sides_negates_the_difference_exactly(differences: list[float]) -> None:
    there, back = difference_estimate(differences), difference_estimate([-one for one in differences])
    assert there is not None
    assert back is not None
    assert (back.value, back.interval.low, back.interval.high) == (
        -there.value,
        -there.interval.high,
        -there.interval.low,
    )


def test_no_change_at_all_leaves_room_for_rare_changes() -> None:
    found = difference_estimate([0.0] * 50)
    unseen = mean_estimate([0.0] * 50)
    assert found is not None
    assert unseen is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((-unseen.interval.high, unseen.interval.high))


def test_many_even_differences_give_nearly_students_interval() -> None:
    differences = [0.5 * ((7 * k) % 21 - 10) / 10 + 0.1 for k in range(210)]
    found = difference_estimate(differences)
    assert found is not None
    mean = math.fsum(differences) / 210
    half = 1.971 * math.sqrt(math.fsum((one - mean) ** 2 for one in differences) / 209 / 210)
    assert found.interval.high - mean == pytest.approx(half, rel=0.05)
    assert mean - found.interval.low == pytest.approx(half, rel=0.05)


@pytest.mark.parametrize("solved", [0.5, 0.9])
def test_twenty_single_draws_are_covered_at_the_level(solved: float) -> None:
    """Exact: every number of solved tasks, weighed by its chance."""
    covered = 0.0
    for successes in range(21):
        chance = math.comb(20, successes) * solved**successes * (1 - solved) ** (20 - successes)
        found = mean_estimate([1.0] * successes + [0.0] * (20 - successes))
        assert found is not None
        covered += chance * (found.interval.low <= solved <= found.interval.high)
    assert 0.94 < covered < 0.98


def test_twenty_tasks_with_four_draws_are_covered_at_about_the_level() -> None:
    luck, covered = Random(7), 0
    for _ in range(500):
        rates = [luck.random() for _ in range(20)]
        found = mean_estimate([sum(luck.random() < rate for _ in range(4)) / 4 for rate in rates])
        assert found is not None
        covered += found.interval.low <= 0.5 <= found.interval.high
    assert 0.92 < covered / 500 < 0.99


def test_sparse_differences_of_twenty_tasks_are_covered_at_about_the_level() -> None:
    luck, covered = Random(7), 0
    for _ in range(500):
        found = difference_estimate([luck.random() if luck.random() < 0.1 else 0.0 for _ in range(20)])
        assert found is not None
        covered += found.interval.low <= 0.05 <= found.interval.high
    assert covered / 500 > 0.92


def test_values_without_a_scale_get_the_normal_interval() -> None:
    found = normal_estimate([1.0, 2.0, 3.0, 6.0])
    assert found is not None
    half = 1.959963984540054 * stdev([1.0, 2.0, 3.0, 6.0]) / 2.0
    assert (found.value, found.tasks) == (3.0, 4)
    assert (found.interval.low, found.interval.high) == pytest.approx((3.0 - half, 3.0 + half))
    assert normal_estimate([]) is None


def test_a_cluster_counts_once_for_the_interval_and_with_all_its_values_for_the_mean() -> None:
    """Ten equal values of a run say no more about other runs than one of them."""
    once, tenfold = clustered_estimate([[0.0], [1.0], [1.0]]), clustered_estimate([[0.0] * 10, [1.0] * 10, [1.0] * 10])
    assert once is not None
    assert tenfold is not None
    assert tenfold.interval == once.interval
    assert clustered_estimate([[0.0], [1.0, 1.0, 1.0]]).value == 0.75  # type: ignore[union-attr]
    assert clustered_estimate([[], []]) is None


def test_a_share_on_which_all_agree_has_wilsons_interval() -> None:
    nobody, everybody = clustered_share([[False] * 5, [False] * 7]), clustered_share([[True] * 12])
    assert nobody is not None
    assert everybody is not None
    assert nobody.interval == wilson(0, 12)
    assert everybody.interval == wilson(12, 12)


def test_an_estimate_is_told_with_its_interval_and_none_with_a_dash() -> None:
    assert ranged(mean_estimate([1.0, 0.0, 1.0, 0.0]), 2) == "0.50 [0.15, 0.85]"
    assert ranged(None, 2) == "-"
