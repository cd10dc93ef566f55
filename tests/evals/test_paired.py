from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from whet.evals.paired import holm, mcnemar_p, paired_test


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_the_binomial_test_of_the_tasks_that_changed(gained: int, lost: int) -> None:
    expected = binomtest(gained, gained + lost).pvalue if gained + lost else 1.0
    assert mcnemar_p(gained, lost) == pytest.approx(expected)


def test_mcnemar_of_thousands_is_still_exact() -> None:
    assert mcnemar_p(2600, 2400) == pytest.approx(binomtest(2600, 5000).pvalue)


def flipped_by_hand(differences: list[float]) -> float:
    seen = abs(sum(differences))
    sums = [abs(sum(map(float.__mul__, signs, differences))) for signs in product((1.0, -1.0), repeat=len(differences))]
    return sum(one >= seen - 1e-9 for one in sums) / len(sums)


@given(st.lists(st.integers(-4, 4), max_size=9))
def test_shares_of_four_draws_are_tested_exactly(quarters: list[int]) -> None:
    differences = [one / 4 for one in quarters]
    tested = paired_test(differences, 4, 0)
    assert tested.test == "exact sign flips"
    assert tested.p == pytest.approx(flipped_by_hand(differences))


@given(st.lists(st.integers(-1000, 1000).map(lambda one: one / 1000), max_size=9))
def test_few_tasks_are_tested_by_every_flip(differences: list[float]) -> None:
    tested = paired_test(differences, None, 0)
    assert tested.test == "exact sign flips"
    assert tested.p == pytest.approx(flipped_by_hand(differences))


def test_many_tasks_are_tested_by_sampled_flips_close_to_the_exact_p() -> None:
    thirds = [((7 * k) % 13 - 5) / 3 for k in range(60)]
    sampled, exact = paired_test(thirds, None, 11), paired_test(thirds, 3, 11)
    assert (sampled.test, exact.test) == ("sampled sign flips", "exact sign flips")
    assert 0.02 < exact.p < 0.9
    assert sampled.p == pytest.approx(exact.p, abs=0.015)


def test_single_draws_are_mcnemars_test_and_agree_with_the_flips() -> None:
    differences = [1.0] * 9 + [-1.0] * 2 + [0.0] * 30
    tested = paired_test(differences, 1, 0)
    assert tested.test == "exact McNemar"
    assert tested.p == pytest.approx(paired_test(differences, None, 0).p)


def test_the_seed_alone_decides_the_flips() -> None:
    differences = [0.01 * k for k in range(-14, 20)]
    assert paired_test(differences, None, 5) == paired_test(differences, None, 5)
    assert paired_test(differences, None, 5) != paired_test(differences, None, 6)


def test_no_change_is_no_evidence() -> None:
    assert paired_test([0.0] * 40, None, 0).p == 1.0
    assert paired_test([0.0] * 40, 1, 0).p == 1.0


def test_holm_multiplies_the_smallest_most_and_never_falls() -> None:
    assert holm([0.04, 0.01, 0.03, 0.9]) == pytest.approx((0.09, 0.04, 0.09, 0.9))
    assert holm([]) == ()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_adjusted_ps_lie_between_p_and_bonferroni(ps: list[float]) -> None:
    for before, after in zip(ps, holm(ps), strict=True):
        assert before <= after <= 1.0
        assert min(ps) <= after
    assert min(holm(ps)) == pytest.approx(min(1.0, len(ps) * min(ps)))
