"""Figures over tickets: the matrix of three verdicts by two labels, and what is made of it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.envs.groupqc.pack.schema import TicketVerdict
from whet.envs.groupqc.verdict.metrics import (
    Confusion,
    VotedTicket,
    area_under_risk,
    calibration,
    confusion,
    risk_coverage,
    shares,
    within_budget,
)
from whet.envs.groupqc.verdict.votes import Votes

CELLS = st.integers(0, 40)


def judged(label: TicketVerdict, *calls: TicketVerdict | None) -> VotedTicket:
    return VotedTicket(f"G::{label}", label, Votes(calls))


def test_the_matrix_has_invalid_as_a_verdict_of_its_own() -> None:
    tickets = [
        judged("pass", "pass"),
        judged("pass", "fail"),
        judged("pass", None),
        judged("fail", "pass"),
        judged("fail", "fail", "pass"),
        judged("fail", None, None),
    ]
    assert confusion(tickets).cells == (1, 1, 1, 1, 1, 1)


def test_false_releases_are_a_share_of_the_truly_failing() -> None:
    rate = shares(Confusion(tp=50, fn=10, fp=3, tn=27, fail_invalid=10))["false_release_rate"]
    assert (rate.part, rate.whole) == (3, 40)


def test_release_precision_is_a_share_of_what_was_released() -> None:
    rate = shares(Confusion(tp=50, fn=10, fp=3, tn=27))["release_precision"]
    assert (rate.part, rate.whole) == (50, 53)


def test_an_invalid_verdict_blocks_nothing_and_releases_nothing() -> None:
    found = shares(Confusion(pass_invalid=5, fail_invalid=5))
    assert (found["false_release_rate"].part, found["false_block_rate"].part) == (0, 0)
    assert found["invalid_rate"].value == 1.0


def test_a_rate_of_nothing_has_no_value() -> None:
    assert shares(Confusion(tp=3))["false_release_rate"].value is None


def test_matthews_and_kappa_agree_with_their_two_class_formulas() -> None:
    matrix = Confusion(tp=40, fn=10, fp=5, tn=45)
    mcc = (40 * 45 - 5 * 10) / math.sqrt(45 * 50 * 50 * 55)
    expected = (45 * 50 + 55 * 50) / 100**2
    assert matrix.mcc == pytest.approx(mcc)
    assert matrix.kappa == pytest.approx((0.85 - expected) / (1 - expected))


def test_with_one_label_only_nothing_is_correlated() -> None:
    matrix = Confusion(tp=4, fn=1)
    assert (matrix.mcc, matrix.balanced_accuracy) == (None, None)


def test_always_passing_earns_half_the_balanced_accuracy_and_no_kappa() -> None:
    matrix = Confusion(tp=80, fp=20)
    assert (matrix.balanced_accuracy, matrix.kappa, matrix.mcc) == (0.5, 0.0, None)


@given(CELLS, CELLS, CELLS, CELLS, CELLS, CELLS)
def test_correlations_stay_in_their_range(tp: int, fn: int, pi: int, fp: int, tn: int, fi: int) -> None:
    matrix = Confusion(tp, fn, pi, fp, tn, fi)
    for value in (matrix.mcc, matrix.kappa):
        assert value is None or -1.0 - 1e-9 <= value <= 1.0 + 1e-9


@given(CELLS, CELLS, CELLS, CELLS, CELLS, CELLS)
def test_only_proportions_matter(tp: int, fn: int, pi: int, fp: int, tn: int, fi: int) -> None:
    one, ten = Confusion(tp, fn, pi, fp, tn, fi), Confusion(*(10 * c for c in (tp, fn, pi, fp, tn, fi)))
    assert (one.mcc, one.balanced_accuracy) == (pytest.approx(ten.mcc), pytest.approx(ten.balanced_accuracy))


def test_calibration_compares_confidence_with_the_share_that_is_right() -> None:
    found = calibration([judged("pass", "pass", "pass"), judged("fail", "pass", "pass"), judged("fail", None)])
    assert found is not None
    assert [(level.confidence, level.decided.part, level.decided.whole) for level in found.levels] == [(1.0, 1, 2)]
    assert (found.expected_error, found.brier) == (0.5, 0.5)


def test_nothing_decided_has_no_calibration() -> None:
    assert calibration([judged("fail", None)]) is None


def test_handing_over_unsure_tickets_lowers_the_risk() -> None:
    tickets = [
        judged("fail", "fail", "fail", "fail"),
        judged("pass", "pass", "pass", "pass"),
        judged("fail", "pass", "pass", "fail"),
        judged("pass", None, None, None),
    ]
    sure, all_decided = risk_coverage(tickets)
    assert (sure.covered.part, sure.wrong.part, sure.false_releases.part) == (2, 0, 0)
    assert (all_decided.covered.part, all_decided.wrong.part, all_decided.false_releases.part) == (3, 1, 1)


def test_the_budget_of_false_releases_chooses_the_widest_cut_that_keeps_it() -> None:
    tickets = [judged("fail", "fail", "fail", "fail"), judged("fail", "pass", "pass", "fail")]
    cuts = risk_coverage(tickets)
    assert [one.threshold if (one := within_budget(cuts, b)) else None for b in (0.0, 0.5)] == [1.0, 2 / 3]


def test_without_failing_tickets_no_cut_is_known_to_keep_the_budget() -> None:
    assert within_budget(risk_coverage([judged("pass", "pass")]), 0.05) is None


def test_the_area_is_nought_when_every_decision_is_right() -> None:
    assert area_under_risk(risk_coverage([judged("pass", "pass"), judged("fail", "fail")])) == 0.0
