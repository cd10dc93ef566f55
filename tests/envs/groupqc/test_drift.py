"""Two sets of counts: how far apart, and whether chance explains it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.envs.groupqc.drift.shift import compare_counts, stability

COUNTS = st.dictionaries(st.sampled_from("abcde"), st.integers(0, 60), max_size=5)


def test_equal_shares_are_not_apart() -> None:
    found = compare_counts({"pass": 80, "fail": 20}, {"pass": 800, "fail": 200})
    assert found.p > 0.9
    assert found.psi < 0.001


def test_the_index_has_its_textbook_value() -> None:
    before, after = [9000, 1000], [7000, 3000]
    assert stability(before, after) == pytest.approx(-0.2 * math.log(7 / 9) + 0.2 * math.log(3), abs=1e-3)


def test_the_statistic_is_pearsons() -> None:
    from scipy.stats import chi2_contingency

    found = compare_counts({"a": 40, "b": 30, "c": 30}, {"a": 60, "b": 20, "c": 20})
    statistic, p, freedom, _ = chi2_contingency([[40, 30, 30], [60, 20, 20]], correction=False)
    assert (found.chi_square, found.p, found.freedom) == (pytest.approx(statistic), pytest.approx(p), freedom)


def test_few_counts_are_tested_exactly() -> None:
    from scipy.stats import fisher_exact

    found = compare_counts({"a": 1, "b": 11}, {"a": 6, "b": 4})
    assert found.test == "exact"
    assert found.p == pytest.approx(fisher_exact([[1, 11], [6, 4]])[1])


def test_an_outcome_never_seen_before_keeps_the_index_finite() -> None:
    assert 0.1 < compare_counts({"valid": 300}, {"valid": 240, "invalid": 60}).psi < 5.0


def test_where_one_side_is_empty_nothing_is_said() -> None:
    found = compare_counts({}, {"a": 5})
    assert (found.test, found.p, found.psi) == ("none", 1.0, 0.0)


@given(COUNTS, COUNTS)
def test_any_counts_give_a_probability_and_an_index(reference: dict[str, int], new: dict[str, int]) -> None:
    found = compare_counts(reference, new)
    assert 0.0 <= found.p <= 1.0
    assert found.psi >= -1e-12


@given(COUNTS, COUNTS)
def test_the_sides_can_be_exchanged(reference: dict[str, int], new: dict[str, int]) -> None:
    one, other = compare_counts(reference, new), compare_counts(new, reference)
    assert (one.psi, one.p) == (pytest.approx(other.psi), pytest.approx(other.p))
