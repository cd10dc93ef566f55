"""Bounds on harm among the tickets concerned, a cap on regressions, the price of errors, and what noise hides."""

from __future__ import annotations

import random

import pytest

from whet.errors import WhetError
from whet.evals.metric import Metric
from whet.gate import Decision, Draw, Guard, NeedDraws, PairedGate, Reading, answer
from whet.gate.guard import upper_bound
from whet.learn.rules.noise import detectable, noise_floor
from whet.types import Score

RELEASES = Guard(Metric("false_release"), 0.05, "down", 0.9, "failing", True)


def decide(gate: PairedGate, tasks: int, reads: object) -> Decision:
    bank, taken = gate.open(tasks), dict[Draw, Reading]()
    while isinstance(said := answer(gate, bank, taken), NeedDraws):
        taken |= {draw: gate.read(reads(draw)) for draw in said.draws}  # type: ignore[operator]
    return said


def scored(right: bool, failing: bool) -> Score:
    released = failing and not right
    parts = {"false_release": float(released), "failing": float(failing), "passing": float(not failing)}
    return Score(int(right), float(right), float(right), parts)


def test_a_bound_is_held_against_the_tickets_concerned_and_not_against_all() -> None:
    """40 of 200 tickets fail; the candidate mends 40 false blocks and releases 4, a tenth of those concerned."""

    def reads(draw: Draw) -> Score:
        failing = draw.task < 40
        if failing:
            return scored(not (draw.arm == "candidate" and draw.task < 4), True)
        return scored(draw.arm == "candidate" or draw.task >= 80, False)

    gate = PairedGate(pace="patient", guards=(RELEASES,))
    rejected = decide(gate, 200, reads)
    assert (rejected.verdict, rejected.reason) == ("reject", "guard")
    assert rejected.guards[0].tasks == 40
    assert rejected.guards[0].difference == pytest.approx(0.1)
    over_all = Guard(Metric("false_release"), 0.05, "down")
    assert decide(PairedGate(pace="patient", guards=(over_all,)), 200, reads).accepted


def test_a_shown_gain_waits_until_harm_is_ruled_out() -> None:
    """At the first look a dozen tickets rule nothing out; with all of them the bound holds."""

    def reads(draw: Draw) -> Score:
        failing = draw.task % 2 == 0
        return scored(failing or draw.arm == "candidate", failing)

    decision = decide(PairedGate(pace="patient", guards=(RELEASES,)), 120, reads)
    assert decision.accepted
    assert decision.guards[0].harm <= 0.05
    assert decision.seen > 12


def test_an_optional_guard_is_passed_over_where_nothing_reports_it_and_another_is_not() -> None:
    def reads(draw: Draw) -> Score:
        return Score(int(draw.arm == "candidate"), 1.0, 1.0)

    assert decide(PairedGate(pace="patient", guards=(RELEASES,)), 30, reads).accepted
    needed = Guard(Metric("false_release"), 0.05, "down")
    assert decide(PairedGate(pace="patient", guards=(needed,)), 30, reads).reason == "unreported"


def test_regressions_are_capped_and_churn_is_not() -> None:
    def reads(lost: int) -> object:
        def read(draw: Draw) -> Score:
            if draw.task < lost:
                return scored(draw.arm == "incumbent", False)
            return scored(draw.arm == "candidate" or draw.task >= 60, False)

        return read

    gate = PairedGate(pace="patient", max_regressions=0.05)
    assert decide(gate, 100, reads(2)).accepted, "58 tickets change for the better"
    assert decide(gate, 100, reads(10)).reason == "regressions"
    with pytest.raises(WhetError, match="max_regressions"):
        PairedGate(max_regressions=1.5)


@pytest.mark.parametrize("harm", [0.0, 0.02, 0.1])
def test_the_upper_bound_covers_as_often_as_its_level_says(harm: float) -> None:
    rng = random.Random(f"bound {harm}")
    covered = 0
    for _ in range(600):
        moved = [
            (-1.0 if rng.random() < 0.05 else 0.0) + (1.0 if rng.random() < 0.05 + harm else 0.0) for _ in range(80)
        ]
        covered += upper_bound(moved, 0.9) >= harm
    assert covered / 600 >= 0.86


def test_few_tickets_without_a_difference_prove_little() -> None:
    assert upper_bound([0.0] * 10, 0.9) > 0.05 > upper_bound([0.0] * 60, 0.9)


def test_a_utility_prices_errors_and_is_plain_where_none_is_reported() -> None:
    metric = Metric("utility(false_release=2,false_block=1)")
    assert metric.of(Score(0, 0.0, 0.0, {"false_release": 1.0, "false_block": 0.0})) == 0.0
    assert metric.of(Score(0, 0.0, 0.0, {"false_release": 0.0, "false_block": 1.0})) == 0.5
    assert metric.of(Score(1, 1.0, 1.0, {"false_release": 0.0, "false_block": 0.0})) == 1.0
    assert metric.of(Score(1, 1.0, 1.0)) == 1.0
    for bad in ("utility()", "utility(a)", "utility(a=-1)", "utility(a=0)"):
        with pytest.raises(WhetError, match="utility"):
            Metric(bad)


def test_noise_raises_the_least_gain_that_shows_and_tickets_lower_it() -> None:
    assert detectable(100, 0.0, 0.05) < detectable(100, 0.1, 0.05) < detectable(50, 0.1, 0.05)
    assert detectable(0, 0.0, 0.05) == 1.0
    floor = noise_floor([(1, 1), (1, 0), (0, 0), (0, 1)], 0.05)
    assert (floor.flips, floor.right) == (0.5, 0.5)
