"""Rewards: correct above wrong above malformed, and nothing to be had by stalling, flailing or dropping."""

from __future__ import annotations

import pytest
from envs.ordebug.puzzles import acts, crossed, doubled, flipped, played, twofold, typed
from hypothesis import given
from hypothesis import strategies as st

from whet.envs.ordebug.actions import editing
from whet.envs.ordebug.instance import Instance
from whet.envs.ordebug.play import OrDebugSettings
from whet.envs.ordebug.protocol import write_line
from whet.envs.ordebug.rewards import REWARDS, Facts, RewardName, composite_reward, repair_reward
from whet.envs.ordebug.works import RepairJudgement, Solution

BROKEN = {one.__name__: one() for one in (flipped, crossed, typed, doubled, twofold)}
BOTH = sorted(REWARDS)

elements = st.frozensets(st.sampled_from([f"row:r{place}" for place in range(6)]))


@st.composite
def facts(draw: st.DrawFn, repaired: bool | None = None, ended: str | None = None) -> Facts:
    steps = draw(st.integers(1, 20))
    malformed = draw(st.integers(0, steps))
    known = draw(st.booleans()) if repaired is None else repaired
    return Facts(
        ended=ended or draw(st.sampled_from(["submitted", "step_limit"])),
        judged=RepairJudgement(Solution("optimal", 1.0), known, "", 0),
        steps=steps,
        max_steps=20,
        malformed=malformed,
        refused=0,
        edits=0,
        drops=0,
        queries=0,
        edit_cost=draw(st.integers(0, 6)),
        min_edits=draw(st.integers(1, 3)),
        blamed=draw(elements),
        faults=draw(elements.filter(bool)),
        touched_rows=frozenset(),
        iis_rows=frozenset({"r1"}),
        original_objective=1.0,
        first_optimal=1,
    )


def rewarded(one: Instance, replies: list[str], reward: RewardName, max_steps: int = 20) -> float:
    return played(one, replies, OrDebugSettings(reward=reward, max_steps=max_steps)).score.reward


def repair_of(one: Instance) -> list[str]:
    return [write_line(editing(edit)) for edit in one.repair]


@pytest.mark.parametrize("reward", BOTH)
@pytest.mark.parametrize("name", BROKEN)
def test_correct_beats_wrong_beats_malformed(name: str, reward: RewardName) -> None:
    one = BROKEN[name]
    correct = rewarded(one, acts(*repair_of(one), "submit"), reward)
    dropped = rewarded(one, acts("drop r1", "drop r4", "submit"), reward)
    nothing = rewarded(one, acts("submit"), reward)
    malformed = rewarded(one, [], reward)
    assert correct > max(dropped, nothing)
    assert min(dropped, nothing) > malformed


@pytest.mark.parametrize("reward", BOTH)
@given(right=facts(repaired=True, ended="submitted"), wrong=facts(repaired=False))
def test_the_worst_repair_beats_the_best_failure(reward: RewardName, right: Facts, wrong: Facts) -> None:
    assert REWARDS[reward](right) > REWARDS[reward](wrong)


@given(facts())
def test_the_default_reward_lies_between_0_and_1(one: Facts) -> None:
    assert 0.0 <= repair_reward(one) <= 1.0


@given(facts())
def test_nothing_is_paid_without_a_submission(one: Facts) -> None:
    assert one.submitted or repair_reward(one) == 0.0


@pytest.mark.parametrize("reward", BOTH)
@pytest.mark.parametrize("idle", ["get_iis", "check_slack r1", "set_rhs nowhere 4", "relax nowhere 1", "diagnose r2"])
def test_stalling_never_pays(idle: str, reward: RewardName) -> None:
    ending = acts("set_sense r2 <=", "submit")
    at_once = rewarded(flipped(), ending, reward)
    later = [rewarded(flipped(), [*acts(*([idle] * count)), *ending], reward) for count in (1, 4, 8, 15)]
    assert all(one <= at_once for one in later)
    assert later == sorted(later, reverse=True)


@pytest.mark.parametrize("reward", BOTH)
def test_stalling_without_a_repair_never_pays_either(reward: RewardName) -> None:
    at_once = rewarded(flipped(), acts("submit"), reward)
    assert all(rewarded(flipped(), acts(*["get_iis"] * count, "submit"), reward) <= at_once for count in (1, 5, 10, 18))


@pytest.mark.parametrize("reward", BOTH)
def test_malformed_replies_before_a_repair_cost(reward: RewardName) -> None:
    ending = acts("set_sense r2 <=", "submit")
    assert rewarded(flipped(), ["hm", *ending], reward) < rewarded(flipped(), ending, reward)


def test_flailing_earns_less_than_nothing_done() -> None:
    """Editing everything touches the fault too, but with so little precision that it stays near the floor."""
    flailing = acts(*(f"relax r{place} 1000" for place in (1, 2, 3, 4)), "set_bounds x1 none none", "submit")
    assert rewarded(flipped(), flailing, "repair") <= 0.02 + 0.18 * 2 / 6 + 1e-9


def test_dropping_until_it_is_feasible_earns_at_most_a_fifth() -> None:
    assert rewarded(flipped(), acts("drop r2", "submit"), "repair") <= 0.2
    assert rewarded(flipped(), acts("drop r1", "drop r2", "drop r3", "drop r4", "submit"), "repair") < 0.1


def test_blaming_everything_earns_less_than_blaming_the_fault() -> None:
    everything = acts("diagnose r1 r2 r3 r4 x1 x2 x3", "submit")
    assert rewarded(flipped(), everything, "repair") < rewarded(flipped(), acts("diagnose r2", "submit"), "repair")


def test_fewer_edits_earn_more() -> None:
    roundabout = acts("drop r2", "add hours: 2 x1 + x2 <= 50", "submit")
    assert (
        0.7
        < rewarded(flipped(), roundabout, "repair")
        < rewarded(flipped(), acts("set_sense r2 <=", "submit"), "repair")
    )


def test_a_direct_repair_earns_everything() -> None:
    for one in BROKEN.values():
        assert rewarded(one, acts("get_iis", *repair_of(one), "submit"), "repair") == 1.0


def test_the_composite_has_the_constants_it_was_given() -> None:
    two_steps = acts("set_sense r2 <=", "submit")
    assert rewarded(flipped(), two_steps, "composite") == pytest.approx(0.5 * 100 + 0.3 * 20 + 0.2 * 10)
    assert rewarded(flipped(), acts(*["get_iis"] * 3, "submit"), "composite") == pytest.approx(0.5 * -50 + 0.2 * 5)
    assert rewarded(flipped(), acts(*["get_iis"] * 7, "submit"), "composite") == pytest.approx(-25 - 0.2 * 2 * 3)


@given(facts())
def test_there_is_no_noise_in_a_reward(one: Facts) -> None:
    assert composite_reward(one) == composite_reward(one)
    assert repair_reward(one) == repair_reward(one)


def test_the_objective_kept_is_relative_to_the_original() -> None:
    parts = played(flipped(), acts("drop r1", "submit")).score.parts
    assert 0.0 <= parts["op"] < 1.0
    assert played(flipped(), acts("set_sense r2 <=", "submit")).score.parts["op"] == 1.0


def test_published_diagnosis_counts_edited_rows_of_the_subsystem() -> None:
    parts = played(flipped(), acts("relax r3 1", "set_sense r2 <=", "submit")).score.parts
    assert (parts["da_hits"], parts["da_rows"]) == (1.0, 2.0)
