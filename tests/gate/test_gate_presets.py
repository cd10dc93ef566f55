"""The published rules decide hand-made evidence as they are published."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from whet.errors import WhetError
from whet.gate import (
    Bank,
    Decision,
    Draw,
    Gate,
    GepaGate,
    NeedDraws,
    NoGate,
    Reading,
    RuleSearchGate,
    StrictGate,
    answer,
    expected_false_accepts,
    gate_named,
)

Reads = Callable[[Draw], Reading]


def decide(gate: Gate, bank: Bank, reads: Reads) -> Decision:
    taken: dict[Draw, Reading] = {}
    while isinstance(said := answer(gate, bank, taken), NeedDraws):
        taken |= {draw: reads(draw) for draw in said.draws}
    return said


def solves(incumbent: set[int], candidate: set[int]) -> Reads:
    sets = {"incumbent": incumbent, "candidate": candidate}
    return lambda draw: (float(draw.task in sets[draw.arm]),)


def test_strict_accepts_one_task_more() -> None:
    gate = StrictGate()
    assert decide(gate, gate.open(10), solves({0, 1, 2}, {5, 6, 7, 8})).accepted


def test_strict_rejects_a_tie() -> None:
    gate = StrictGate()
    assert not decide(gate, gate.open(10), solves({0, 1, 2}, {5, 6, 7})).accepted


def test_strict_holds_later_candidates_against_the_recorded_score() -> None:
    gate = StrictGate()
    first = decide(gate, gate.open(10), solves({0}, {0, 1, 2, 3}))
    bank = gate.carry(gate.open(10), first)
    second = decide(gate, bank, solves(set(), {0, 1, 2, 3}))
    assert bank.score == pytest.approx(0.4)
    assert (second.verdict, second.rollouts("incumbent")) == ("reject", 0)


def test_strict_takes_one_draw_a_task() -> None:
    gate = StrictGate()
    decision = decide(gate, gate.open(10), solves(set(), set()))
    assert (decision.rollouts("incumbent"), decision.rollouts("candidate")) == (10, 10)


def test_none_accepts_anything_and_measures_it() -> None:
    gate = NoGate()
    decision = decide(gate, gate.open(10), solves({0, 1}, set()))
    assert (decision.verdict, decision.reason, decision.candidate_score) == ("accept", "force_accept", 0.0)
    assert decision.rollouts("candidate") == 10


def test_gepa_stops_after_a_minibatch_of_three_that_is_not_better() -> None:
    gate = GepaGate()
    decision = decide(gate, gate.open(30), solves({0}, {0}))
    assert decision.reason == "minibatch"
    assert decision.rollouts("candidate") == 3


def test_gepa_measures_the_whole_split_after_a_better_minibatch() -> None:
    gate = GepaGate()
    decision = decide(gate, gate.open(30), solves(set(), set(range(30))))
    assert (decision.verdict, decision.reason) == ("accept", "best_mean")
    assert decision.rollouts("candidate") == 33


def test_gepa_keeps_the_best_mean_on_the_split() -> None:
    gate = GepaGate()
    better_on_the_minibatch_alone: Reads = lambda draw: (  # noqa: E731
        float(
            draw.arm == "incumbent" if draw.draw == (0 if draw.arm == "incumbent" else 1) else draw.arm == "candidate"
        ),
    )
    decision = decide(gate, gate.open(3), better_on_the_minibatch_alone)
    assert (decision.verdict, decision.reason) == ("reject", "not_best")


def test_gepa_takes_other_minibatches_for_other_candidates() -> None:
    gate = GepaGate()
    bank = gate.open(30)
    first = decide(gate, bank, solves({0}, set()))
    second = decide(gate, gate.carry(bank, first), solves({0}, set()))
    chosen = [{draw.task for draw, _ in one.draws if draw.arm == "candidate"} for one in (first, second)]
    assert chosen[0] != chosen[1]


ERRORS_40 = set(range(20, 100))


def test_rule_search_accepts_a_tenth_of_the_errors_gone_with_few_changes() -> None:
    gate = RuleSearchGate()
    decision = decide(gate, gate.open(100), solves(ERRORS_40, ERRORS_40 | {0, 1, 2, 3, 4}))
    assert decision.accepted


def test_rule_search_rejects_less_than_a_tenth() -> None:
    gate = RuleSearchGate()
    assert not decide(gate, gate.open(100), solves(ERRORS_40, ERRORS_40 | {0})).accepted


def test_rule_search_rejects_a_gain_that_changes_too_much() -> None:
    gate = RuleSearchGate()
    decision = decide(gate, gate.open(100), solves(ERRORS_40, set(range(100))))
    assert not decision.accepted
    assert "0.200 changed" in decision.detail


def test_rule_search_counts_a_task_by_the_majority_of_three() -> None:
    gate = RuleSearchGate()
    plain = solves(ERRORS_40, ERRORS_40 | {0, 1, 2, 3, 4})
    decision = decide(gate, gate.open(100), lambda draw: (1.0,) if draw.draw % 3 == 0 else plain(draw))
    assert decision.accepted


def test_rule_search_rejects_when_there_is_no_error_left() -> None:
    gate = RuleSearchGate()
    everything = set(range(100))
    assert not decide(gate, gate.open(100), solves(everything, everything)).accepted


@pytest.mark.parametrize("name", ["strict", "none", "gepa", "rule_search"])
def test_a_published_rule_bounds_no_false_accepts(name: str) -> None:
    gate = gate_named(name)
    assert expected_false_accepts([decide(gate, gate.open(10), solves({1}, {2}))]) is None


@pytest.mark.parametrize("name", ["paired", "strict", "none", "gepa", "rule_search"])
def test_every_gate_refuses_a_split_of_one_task(name: str) -> None:
    with pytest.raises(WhetError, match="1 "):
        gate_named(name).open(1)


@pytest.mark.parametrize("name", ["strict", "gepa", "rule_search"])
def test_a_published_rule_cannot_decide_with_missing_draws(name: str) -> None:
    gate = gate_named(name)
    decision = decide(gate, gate.open(10), lambda draw: None if draw.task == 3 else (float(draw.arm == "candidate"),))
    assert (decision.verdict, decision.reason) == ("cannot_decide", "missing")


def test_an_unknown_gate_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(WhetError, match="Did you mean 'paired'"):
        gate_named("pared")


def test_an_unknown_option_is_refused_by_name() -> None:
    with pytest.raises(WhetError, match="alhpa"):
        gate_named("paired", alhpa=0.1)
