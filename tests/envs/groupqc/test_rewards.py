"""What a verdict earns: a false release costs most, whatever the scheme, and no policy without skill lives on it."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.envs.groupqc import GroupQc
from whet.envs.groupqc.pack.file import load_packs
from whet.envs.groupqc.pack.schema import Mission, VerdictRewards
from whet.envs.groupqc.verdict.lines import VerdictReading
from whet.envs.groupqc.verdict.rewards import Scheme, VerdictCosts, score
from whet.rollout.drive import drive

WEIGHTS = VerdictRewards()
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)
RELEASED, BLOCKED = VerdictReading("pass", "x"), VerdictReading("fail", "x")
INVALID = VerdictReading(None, code="too_many_lines")
MISSIONS = [mission for pack in load_packs() for mission in pack.missions]
by_scheme = pytest.mark.parametrize("scheme", SCHEMES)


def test_the_label_earns_one_and_the_form_a_fifth() -> None:
    costs = VerdictCosts.of(WEIGHTS)
    assert score(RELEASED, "pass", costs).reward == pytest.approx(1.2)
    assert score(BLOCKED, "pass", costs).reward == pytest.approx(0.2)
    assert score(RELEASED, "fail", costs).reward == pytest.approx(0.2 - 2.0)


@by_scheme
@given(st.floats(0, 1))
def test_a_false_release_costs_more_than_a_false_block_and_an_invalid_reply_more_than_either(
    scheme: Scheme, pass_share: float
) -> None:
    costs = VerdictCosts.of(WEIGHTS, scheme, pass_share)
    release = score(RELEASED, "fail", costs).reward
    block = score(BLOCKED, "pass", costs).reward
    assert score(INVALID, "pass", costs).reward < release < block < score(BLOCKED, "fail", costs).reward


def test_a_false_block_costs_in_the_asymmetric_scheme_alone() -> None:
    asymmetric = VerdictCosts.of(WEIGHTS, "asymmetric")
    assert score(BLOCKED, "pass", asymmetric).reward == pytest.approx(0.2 - 1.0)


@by_scheme
def test_a_right_verdict_is_solved_whatever_the_scheme(scheme: Scheme) -> None:
    assert score(BLOCKED, "fail", VerdictCosts.of(WEIGHTS, scheme)).hard == 1


def test_the_parts_tell_the_errors_apart() -> None:
    parts = score(RELEASED, "fail", VerdictCosts.of(WEIGHTS)).parts
    assert (parts["false_release"], parts["false_block"], parts["invalid"]) == (1.0, 0.0, 0.0)


def test_grounds_are_rewarded_only_when_asked_for_and_only_for_valid_replies() -> None:
    costs = VerdictCosts.of(WEIGHTS)
    assert score(RELEASED, "pass", costs, grounded=1.0).reward == pytest.approx(1.4)
    assert score(INVALID, "pass", costs, grounded=1.0).reward == score(INVALID, "pass", costs).reward


@by_scheme
@pytest.mark.parametrize("conventions", [0, "none"])
@pytest.mark.parametrize("mission", MISSIONS, ids=[mission.code for mission in MISSIONS])
def test_no_policy_without_skill_earns_by_passing(mission: Mission, conventions: int | str, scheme: Scheme) -> None:
    """On the mix of every bundled mission always failing out-earns always passing, and invalid replies earn least."""
    env = GroupQc("", {"mission": mission.name, "reward": scheme, "conventions": conventions, "grounded": True})
    replies = {
        "pass": "Verdict: pass\nReason: Image1: ok; Image2: ok",
        "fail": "Verdict: fail\nReason: Image1: ok",
        "invalid": "pass",
    }
    earned = dict.fromkeys(replies, 0.0)
    for index in range(60):
        task = env.task("test", index)
        for name, text in replies.items():
            result = drive(env.play(task), lambda said, asked, text=text: text).score
            earned[name] += result.reward
            assert result.parts["grounded"] == 0.0
    assert earned["fail"] > earned["pass"] > earned["invalid"]
