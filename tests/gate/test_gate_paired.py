"""The default gate on hand-made evidence: what it accepts, drops, refuses, and that only complete batches count."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.errors import WhetError
from whet.evals.metric import Metric
from whet.gate import (
    PACES,
    AlphaBudget,
    Bank,
    Decision,
    Draw,
    Gate,
    Guard,
    NeedDraws,
    PairedGate,
    Reading,
    answer,
    expected_false_accepts,
)
from whet.gate.decide import refuse_identical
from whet.types import Example, Playbook, Policy, Score

Reads = Callable[[Draw], Reading]


def decide(gate: Gate, tasks: int, reads: Reads, bank: Bank | None = None) -> Decision:
    """Drive a gate through `answer`, taking what it asks for."""
    bank = bank or gate.open(tasks)
    taken: dict[Draw, Reading] = {}
    while isinstance(said := answer(gate, bank, taken), NeedDraws):
        taken |= {draw: reads(draw) for draw in said.draws}
    return said


def solves(incumbent: set[int], candidate: set[int]) -> Reads:
    """Draws of two policies that always solve exactly these tasks."""
    sets = {"incumbent": incumbent, "candidate": candidate}
    return lambda draw: (float(draw.task in sets[draw.arm]),)


def noisy(seed: int, incumbent: float, candidate: float) -> Reads:
    """Draws that solve each task with a chance of its own, the same whenever they are asked for."""
    chances = {"incumbent": incumbent, "candidate": candidate}

    def read(draw: Draw) -> Reading:
        return (float(random.Random(f"{seed}/{draw}").random() < chances[draw.arm]),)

    return read


HALF = set(range(0, 40, 2))


def test_a_candidate_that_solves_much_more_is_accepted() -> None:
    decision = decide(PairedGate(), 40, solves(HALF, HALF | set(range(1, 30, 2))))
    assert decision.verdict == "accept"
    assert decision.reason == "gain_shown"


def test_a_candidate_that_changes_nothing_is_dropped_after_a_few_tasks() -> None:
    decision = decide(PairedGate(), 40, solves(HALF, HALF))
    assert decision.reason == "futile"
    assert decision.rollouts("candidate") <= 8


def test_a_candidate_that_helps_as_many_tasks_as_it_hurts_is_rejected() -> None:
    swapped = {task ^ 1 for task in HALF}
    assert decide(PairedGate(), 40, solves(HALF, swapped)).verdict == "reject"


def test_one_lucky_task_is_not_enough() -> None:
    assert decide(PairedGate(), 40, solves(HALF, HALF | {1})).verdict == "reject"


def test_more_gain_is_needed_at_a_smaller_alpha() -> None:
    reads = solves(HALF, HALF | set(PairedGate().order(40)[:8]))
    assert decide(PairedGate(alpha=0.05), 40, reads).accepted
    assert not decide(PairedGate(alpha=0.0005), 40, reads).accepted


def test_a_gain_up_to_min_effect_counts_as_none() -> None:
    reads = solves(HALF, HALF | set(PairedGate().order(40)[:8]))
    assert not decide(PairedGate(min_effect=0.3), 40, reads).accepted


def test_max_rollouts_ends_the_trial_undecided() -> None:
    decision = decide(PairedGate(max_rollouts=90), 40, solves(HALF, HALF | {1, 3, 5, 7, 9, 11}))
    assert decision.reason == "max_rollouts"
    assert decision.rollouts() <= 90


@pytest.mark.parametrize("pace", PACES)
def test_a_clear_gain_on_a_large_split_is_accepted_on_a_part_of_it(pace: str) -> None:
    decision = decide(PairedGate(pace=pace), 400, solves(set(), set(range(400))))
    assert decision.accepted
    assert decision.seen <= 40


@pytest.mark.parametrize(("tasks", "kept", "before"), [(30, 1, 170), (60, 0, 300)])
@pytest.mark.parametrize("pace", PACES)
def test_a_candidate_that_mends_everything_is_accepted_early(pace: str, tasks: int, kept: int, before: int) -> None:
    """`before`: what a gate without early acceptance took."""
    decision = decide(PairedGate(pace=pace), tasks, solves(set(range(kept)), set(range(tasks))))
    assert decision.accepted
    assert decision.rollouts() <= 0.4 * before


def test_a_hopeless_candidate_costs_fewer_rollouts_than_half_the_split() -> None:
    gate = PairedGate()
    bank = gate.carry(gate.open(40), decide(gate, 40, solves(HALF, HALF)))
    assert decide(gate, 40, solves(HALF, set()), bank).rollouts() < 10


# ------------------------------------------------------------------------------------------------- order and replay


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), shuffle=st.integers(0, 10_000), size=st.sampled_from([9, 24, 130]))
def test_the_order_of_completion_never_changes_a_decision(seed: int, shuffle: int, size: int) -> None:
    gate, reads = PairedGate(), noisy(seed, 0.4, 0.6)
    plain = decide(gate, size, reads)
    bank, taken, order = gate.open(size), dict[Draw, Reading](), random.Random(shuffle)
    while isinstance(said := answer(gate, bank, taken), NeedDraws):
        for draw in order.sample(said.draws, order.randint(1, len(said.draws))):
            taken[draw] = reads(draw)
    assert said.as_data() == plain.as_data()


def test_readings_that_run_ahead_of_the_plan_are_not_looked_at() -> None:
    gate, reads = PairedGate(), solves(HALF, HALF)
    ahead = {Draw("candidate", task, draw): (1.0,) for task in range(40) for draw in range(1, 4)}
    first = answer(gate, gate.open(40), {})
    assert answer(gate, gate.open(40), ahead) == first
    assert decide(gate, 40, reads).verdict == "reject"


def test_no_draw_is_asked_for_twice_over_a_run_with_an_accepted_candidate() -> None:
    gate = PairedGate()
    bank = gate.open(24)
    first = decide(gate, 24, solves(set(range(6)), set(range(24))), bank)
    assert first.accepted
    bank = gate.carry(bank, first)
    second = decide(gate, 24, solves(set(range(24)), set(range(24))), bank)
    used = {(draw.task, draw.draw) for draw, _ in first.draws if draw.arm == "candidate"}
    again = {(draw.task, draw.draw) for draw, _ in second.draws if draw.arm == "incumbent"}
    assert not used & again


def test_an_accepted_candidate_is_measured_afresh_where_it_differed() -> None:
    gate = PairedGate()
    bank = gate.open(40)
    decision = decide(gate, 40, solves(set(range(10)), set(range(40))), bank)
    after = gate.carry(bank, decision)
    drawn = {draw.task for draw, _ in decision.draws if draw.arm == "candidate"}
    assert decision.accepted
    assert not any(after.readings[task] for task in range(10, 40))
    assert all(after.readings[task] for task in drawn & set(range(10)))


@pytest.mark.parametrize("pace", PACES)
def test_on_few_tasks_an_accepted_candidate_is_measured_afresh_everywhere(pace: str) -> None:
    gate = PairedGate(pace=pace)
    bank = gate.open(24)
    after = gate.carry(bank, decide(gate, 24, solves(set(range(6)), set(range(24))), bank))
    assert not any(after.readings)
    assert max(after.taken) > 0


def test_at_the_pace_brief_the_draws_of_an_accepted_candidate_stand_for_the_next_incumbent() -> None:
    gate = PairedGate(pace="brief")
    bank = gate.open(60)
    first = decide(gate, 60, noisy(1, 0.2, 0.9), bank)
    assert first.accepted
    bank = gate.carry(bank, first)
    drawn = [draw for draw, _ in first.draws if draw.arm == "candidate"]
    assert sum(map(len, bank.readings)) == len(drawn)
    second = decide(gate, 60, noisy(2, 0.9, 0.9), bank)
    assert first.rollouts("candidate") + second.rollouts("incumbent") <= 60 * PACES["brief"].draws // 2


def test_what_was_chosen_for_its_draws_does_not_let_its_equal_in() -> None:
    """Its draws flatter an incumbent, so that a candidate as good as it is falls short rather than through."""
    gate = PairedGate(pace="brief")
    accepted = false = 0
    for seed in range(150):
        bank = gate.open(40)
        first = decide(gate, 40, noisy(seed, 0.5, 0.65), bank)
        if first.accepted:
            accepted += 1
            false += decide(gate, 40, noisy(seed + 1000, 0.65, 0.65), gate.carry(bank, first)).accepted
    assert accepted > 30
    assert false <= 0.05 * accepted


def test_the_draws_of_the_incumbent_accumulate_over_rejections() -> None:
    gate = PairedGate()
    bank = gate.open(40)
    first = decide(gate, 40, solves(HALF, HALF), bank)
    bank = gate.carry(bank, first)
    second = decide(gate, 40, solves(HALF, HALF), bank)
    assert first.rollouts("incumbent") == 40
    assert second.rollouts("incumbent") == 0


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), size=st.sampled_from([9, 24, 60]))
def test_in_rounds_both_arms_have_as_many_draws_on_every_task_at_every_look(seed: int, size: int) -> None:
    decision = decide(PairedGate(pace="patient"), size, noisy(seed, 0.4, 0.6))
    assert decision.looks
    for look in decision.looks:
        seen = [draw for draw, _ in decision.draws[: look.rollouts]]
        counts = {arm: Counter(draw.task for draw in seen if draw.arm == arm) for arm in ("incumbent", "candidate")}
        assert counts["incumbent"] == counts["candidate"]
        assert len(set(counts["candidate"].values())) == 1


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), size=st.sampled_from([9, 24]))
def test_a_race_draws_again_whichever_arm_is_ahead(seed: int, size: int) -> None:
    """On a task whose draws do not all agree both arms have what a confirmation takes, after a loss as after a gain."""
    decision = decide(PairedGate(pace="steady"), size, noisy(seed, 0.5, 0.5))
    drawn: dict[int, dict[str, list[float]]] = {}
    for draw, reading in decision.draws:
        assert reading is not None
        assert reading[0] is not None
        drawn.setdefault(draw.task, {"incumbent": [], "candidate": []})[draw.arm].append(reading[0])
    for arms in drawn.values():
        if arms["candidate"] and len({*arms["candidate"], *arms["incumbent"]}) > 1:
            assert len(arms["candidate"]) >= 2
            assert len(arms["incumbent"]) >= 4


def thinly_lost(won: set[int], sweep: int) -> Reads:
    """Won for sure on a few failed tasks; on each other solved task the candidate fails one draw, in this sweep."""

    def read(draw: Draw) -> Reading:
        if draw.arm == "candidate" and draw.task in HALF:
            return (float(draw.draw != sweep or draw.task % 8 != 0),)
        return (float(draw.task in HALF or (draw.arm == "candidate" and draw.task in won)),)

    return read


@pytest.mark.parametrize("pace", ["eager", "steady"])
def test_a_race_draws_every_task_again_before_it_accepts_on_two_wins(pace: str) -> None:
    failed = [task for task in PairedGate().order(40) if task not in HALF]
    won = {failed[0], failed[2]}
    clean = decide(PairedGate(pace=pace, alpha=0.1), 40, solves(HALF, HALF | won))
    assert clean.accepted
    lost = decide(PairedGate(pace=pace, alpha=0.1), 40, thinly_lost(won, sweep=0))
    assert not lost.accepted


def test_losses_that_only_a_second_sweep_shows_refuse_a_candidate() -> None:
    failed = [task for task in PairedGate().order(40) if task not in HALF]
    decision = decide(PairedGate(pace="steady"), 40, thinly_lost({failed[0], failed[2]}, sweep=1))
    assert (decision.verdict, decision.reason) == ("reject", "not_shown")
    assert any("second sweep" in look.at for look in decision.looks)
    swept = Counter(draw.task for draw, _ in decision.draws if draw.arm == "candidate")
    assert min(swept.values()) == 2
    assert len(swept) == 40


# ------------------------------------------------------------------------------------------------- metrics and guards


def score(hard: int, soft: float = 0.0, **parts: float) -> Score:
    return Score(hard, soft, -2.0, parts)


@pytest.mark.parametrize(
    ("name", "expected"), [("hard", 1.0), ("soft", 0.5), ("mixed(0.25)", 0.875), ("reward", -2.0), ("width", 3.0)]
)
def test_a_metric_reads_its_number(name: str, expected: float) -> None:
    assert PairedGate(metric=Metric(name)).read(score(1, 0.5, width=3.0)) == (expected,)


def test_a_fault_reads_nothing() -> None:
    assert PairedGate().read(None) is None


def test_a_soft_metric_accepts_a_gain_without_flips() -> None:
    def reads(draw: Draw) -> Reading:
        jitter = random.Random(str(draw)).uniform(-0.05, 0.05)
        return (0.4 + jitter + (0.2 if draw.arm == "candidate" else 0.0),)

    assert decide(PairedGate(metric=Metric("soft")), 30, reads).accepted


def guarded(harm: float) -> Decision:
    gate = PairedGate(guards=(Guard(Metric("false_release"), 0.1, "down"),))
    plain = solves(set(), set(range(40)))
    return decide(gate, 40, lambda draw: (*plain(draw), harm if draw.arm == "candidate" else 0.0))  # type: ignore[misc]


def test_a_guard_that_got_worse_than_its_bound_refuses_a_gain() -> None:
    assert guarded(0.2).reason == "guard"


def test_a_guard_within_its_bound_lets_a_gain_pass() -> None:
    assert guarded(0.05).accepted


def test_a_guard_that_nobody_reports_cannot_be_decided() -> None:
    gate = PairedGate(guards=(Guard(Metric("false_release")),))
    plain = solves(set(), set(range(40)))
    decision = decide(gate, 40, lambda draw: (*plain(draw), None))  # type: ignore[misc]
    assert (decision.verdict, decision.reason) == ("cannot_decide", "unreported")


# ------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize("alpha", [0.0, -0.1, 0.3, 1.0, float("nan")])
def test_an_alpha_out_of_range_is_refused(alpha: float) -> None:
    with pytest.raises(WhetError, match="alpha"):
        PairedGate(alpha=alpha)


@pytest.mark.parametrize("tasks", [0, 1, 4])
def test_a_split_too_small_for_alpha_is_refused(tasks: int) -> None:
    with pytest.raises(WhetError, match="use at least 5"):
        PairedGate(pace="patient").open(tasks)


def test_a_pace_that_does_not_exist_is_refused() -> None:
    with pytest.raises(WhetError, match="pace is eager, steady, patient"):
        PairedGate(pace="slow")


def test_each_pace_has_an_alpha_of_its_own() -> None:
    assert [PairedGate(pace=pace).promise for pace in ("eager", "steady", "patient")] == [0.1, 0.1, 0.05]


@pytest.mark.parametrize("name", ["", "mixed", "mixed(2)", "mixed(x)"])
def test_a_metric_that_makes_no_sense_is_refused(name: str) -> None:
    with pytest.raises(WhetError, match="metric"):
        Metric(name)


def test_when_the_incumbent_solves_everything_nothing_can_be_decided() -> None:
    everything = set(range(20))
    decision = decide(PairedGate(), 20, solves(everything, everything))
    assert (decision.verdict, decision.reason) == ("cannot_decide", "no_headroom")
    assert decision.rollouts("candidate") == 0


def test_when_both_fail_everything_nothing_can_be_decided() -> None:
    decision = decide(PairedGate(), 20, solves(set(), set()))
    assert (decision.verdict, decision.reason) == ("cannot_decide", "constant")


@pytest.mark.parametrize("name", ["soft", "reward", "width"])
def test_constant_scores_cannot_be_decided(name: str) -> None:
    decision = decide(PairedGate(metric=Metric(name)), 20, lambda draw: (0.4,))
    assert (decision.verdict, decision.reason) == ("cannot_decide", "constant")


@pytest.mark.parametrize("pace", PACES)
def test_too_many_missing_draws_cannot_be_decided(pace: str) -> None:
    plain = solves(set(), set(range(40)))
    decision = decide(PairedGate(pace=pace), 40, lambda draw: None if draw.task < 34 else plain(draw))
    assert (decision.verdict, decision.reason) == ("cannot_decide", "missing")


@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize("tasks", [12, 20, 40])
def test_a_task_that_always_faults_is_left_out_for_both_and_stops_nothing(pace: str, tasks: int) -> None:
    plain = solves(set(), set(range(tasks)))
    decision = decide(PairedGate(pace=pace), tasks, lambda draw: None if draw.task == 3 else plain(draw))
    assert decision.accepted
    assert 3 not in {draw.task for draw, _ in decision.draws if draw.arm == "candidate"}
    assert decision.left_out == ((3,) if decision.missing[0] else ())


@pytest.mark.parametrize("pace", PACES)
def test_a_draw_of_the_candidate_that_is_missing_counts_as_failed(pace: str) -> None:
    """Faults on exactly the tasks that it would have won: nothing is shown."""
    won = set(range(1, 12, 2))
    plain = solves(HALF, HALF | won)
    faulty = decide(PairedGate(pace=pace), 40, lambda d: None if d.arm == "candidate" and d.task in won else plain(d))
    assert not faulty.accepted


@pytest.mark.parametrize("pace", PACES)
def test_a_missing_draw_of_the_candidate_is_never_better_than_a_failed_one(pace: str) -> None:
    lost = set(PairedGate().order(40)[:3]) & HALF
    plain = solves(HALF, (HALF - lost) | set(range(1, 40, 4)))
    failed = decide(PairedGate(pace=pace), 40, plain)
    missing = decide(PairedGate(pace=pace), 40, lambda d: None if d.arm == "candidate" and d.task in lost else plain(d))
    assert missing.verdict == failed.verdict
    assert missing.statistic == pytest.approx(failed.statistic)


# ------------------------------------------------------------------------------------------------- deterministic


@pytest.mark.parametrize("pace", PACES)
def test_a_deterministic_policy_is_drawn_once_and_a_few_times_more_to_check_it(pace: str) -> None:
    gate = PairedGate(pace=pace, deterministic=True)
    decision = decide(gate, 40, solves(HALF, HALF | set(range(1, 20, 2))))
    assert decision.accepted
    assert 0 < sum(draw.draw > 0 for draw, _ in decision.draws) <= 6


@pytest.mark.parametrize("pace", PACES)
def test_a_policy_that_is_declared_deterministic_and_is_not_is_treated_as_noisy(pace: str) -> None:
    solved = HALF | {task for task in PairedGate().order(40) if task % 2} - set(PairedGate().order(40)[20:])

    def lucky_once(draw: Draw) -> Reading:
        sets = {"incumbent": HALF, "candidate": solved if draw.draw == 0 else set()}
        return (float(draw.task in sets[draw.arm]),)

    decision = decide(PairedGate(pace=pace, deterministic=True), 40, lucky_once)
    assert sum(draw.draw > 0 for draw, _ in decision.draws) > 6


def test_a_metric_nobody_reports_cannot_be_decided() -> None:
    decision = decide(PairedGate(metric=Metric("colour")), 20, lambda draw: None)
    assert (decision.verdict, decision.reason) == ("cannot_decide", "unreported")
    assert "colour" in decision.detail


# ------------------------------------------------------------------------------------------------- around a decision


def test_identical_playbooks_are_refused_before_any_rollout() -> None:
    same = Playbook("Think.\nAnswer.  \n", (Example("q", "a"),))
    before = Playbook("Think.\nAnswer.", (Example("q", "a"),))
    decision = refuse_identical(PairedGate(), Policy("m", playbook=before), Policy("m", playbook=same))
    assert decision is not None
    assert (decision.verdict, decision.rollouts()) == ("reject", 0)


def test_playbooks_that_differ_in_a_word_are_compared() -> None:
    before, after = (Policy("m", playbook=Playbook(text)) for text in ("Think.", "Think twice."))
    assert refuse_identical(PairedGate(), before, after) is None


def test_the_same_playbook_under_another_model_is_compared() -> None:
    """Two checkpoints with one playbook are two policies: refusing them would keep weights from ever being judged."""
    playbook = Playbook("Think.")
    assert refuse_identical(PairedGate(), Policy("a", playbook=playbook), Policy("b", playbook=playbook)) is None


def test_a_decision_says_in_one_line_what_it_rests_on_and_what_was_promised() -> None:
    said = str(decide(PairedGate(pace="patient"), 40, solves(HALF, HALF | set(range(1, 30, 2)))))
    assert "\n" not in said
    assert "hard 0.500 → 0.875 on 40 of 40 tasks (15 better, 0 worse)" in said
    assert "alpha 0.05: of candidates that are no better at most 5 % pass" in said
    assert said.endswith("40 + 40 rollouts")


def test_a_decision_as_data_holds_every_draw() -> None:
    decision = decide(PairedGate(), 40, solves(HALF, HALF))
    data = decision.as_data()
    assert len(data["draws"]) == decision.rollouts()
    assert data["draws"][0] == ["incumbent", PairedGate().order(40)[0], 0, [float(PairedGate().order(40)[0] in HALF)]]


def test_the_alphas_of_a_run_add_up_to_the_expected_false_accepts() -> None:
    decisions = [decide(PairedGate(alpha=0.05), 40, solves(HALF, HALF))] * 4
    assert expected_false_accepts(decisions) == pytest.approx(0.2)


@given(total=st.floats(0.01, 0.9), even=st.integers(1, 30))
def test_spending_never_gives_out_more_than_its_total(total: float, even: int) -> None:
    spending = AlphaBudget(total, even)
    assert sum(spending.alpha_for(number, 0.4) for number in range(500)) <= total + 1e-9


def test_spending_lowers_the_alpha_of_later_candidates() -> None:
    gate = PairedGate(spending=AlphaBudget(0.2, even=2))
    assert gate.alpha_for(0) == 0.05
    assert gate.alpha_for(9) < 0.01
