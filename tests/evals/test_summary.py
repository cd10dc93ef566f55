from __future__ import annotations

from random import Random

import pytest
from evals.outcomes import evaluations, fault, outcome, pattern, repeated
from hypothesis import given
from hypothesis import strategies as st

from whet.errors import WhetError
from whet.evals.estimate import mean_estimate
from whet.evals.summary import summarize
from whet.types import Outcome, Usage


def test_single_draws_give_the_pass_rate_with_its_interval() -> None:
    rate = summarize(pattern("1101000110")).overall.pass_rate
    assert rate is not None
    assert (rate.value, rate.tasks) == (0.5, 10)
    assert rate == mean_estimate([1.0, 0.0] * 5)


def test_draws_of_a_task_are_no_independent_evidence() -> None:
    rate = summarize(repeated([8, 8, 8, 0, 0], 8)).overall.pass_rate
    assert rate is not None
    assert rate == mean_estimate([1.0, 1.0, 1.0, 0.0, 0.0])


def test_draws_that_vary_within_tasks_narrow_the_interval() -> None:
    once, often = (
        summarize(repeated([1, 0] * 10, 1)).overall.pass_rate,
        summarize(repeated([3, 5] * 10, 8)).overall.pass_rate,
    )
    assert once is not None
    assert often is not None
    assert once.value == often.value == 0.5
    assert often.interval.high < once.interval.high


def test_a_task_counts_once_however_many_of_its_draws_have_a_score() -> None:
    rollouts = [*repeated([2], 2), outcome(1, 0), fault(1, draw=1)]
    rate = summarize(rollouts).overall.pass_rate
    assert rate is not None
    assert rate.value == 0.5


def test_faults_are_counted_apart_and_in_no_denominator() -> None:
    summary = summarize([*pattern("110x"), fault(4, cause="refused"), fault(5)])
    assert (summary.overall.tasks, summary.overall.rollouts, summary.overall.faults) == (3, 3, 3)
    assert summary.overall.pass_rate is not None
    assert summary.overall.pass_rate.value == pytest.approx(2 / 3)
    assert (summary.faults, summary.missing) == ({"timeout": 2, "refused": 1}, 0.5)
    assert summary.reasons == {"correct": 2, "wrong": 1}


def test_perfect_is_full_credit_and_nothing_less() -> None:
    figures = summarize([outcome(0, 1, soft=1.0), outcome(1, 1, soft=0.999), outcome(2, 0, soft=0.5)]).overall
    assert figures.perfect_rate is not None
    assert figures.mean_soft is not None
    assert figures.perfect_rate.value == pytest.approx(1 / 3)
    assert figures.mean_soft.value == pytest.approx(2.499 / 3)


def test_kinds_and_difficulties_have_numbers_of_their_own() -> None:
    rollouts = [
        outcome(0, 1, kind="b"),
        outcome(1, 0, kind="a", difficulty="hard"),
        outcome(2, 1, kind="a", difficulty="medium"),
    ]
    summary = summarize(rollouts)
    assert {kind: (one.tasks, one.pass_rate and one.pass_rate.value) for kind, one in summary.by_kind.items()} == {
        "a": (2, 0.5),
        "b": (1, 1.0),
    }
    assert list(summary.by_difficulty) == ["easy", "medium", "hard"]


def test_levels_with_numbers_stand_in_their_order() -> None:
    rollouts = [outcome(level, difficulty=f"level {level}") for level in (10, 9, 1)]
    assert list(summarize(rollouts).by_difficulty) == ["level 1", "level 9", "level 10"]


def test_rewards_outside_0_to_1_stretch_their_span() -> None:
    reward = summarize([outcome(0, 1, reward=3.0), outcome(1, 0, reward=-1.0)]).overall.mean_reward
    assert reward is not None
    assert reward.value == 1.0
    assert -1.0 <= reward.interval.low < 1.0 < reward.interval.high <= 3.0


def test_usage_adds_up_and_an_unknown_price_stays_unknown() -> None:
    known = [outcome(0, usage=Usage(1, 10, 5, 2, 0.1)), fault(1)]
    assert summarize(known).usage == Usage(1, 10, 5, 2, 0.1)
    assert summarize([*known, outcome(2, usage=Usage(1, 10, 5, 0, None))]).usage == Usage(2, 20, 10, 2, None)


def test_an_evaluation_without_rollouts_has_no_numbers() -> None:
    summary = summarize([])
    assert summary.overall.pass_rate is None
    assert (summary.overall.tasks, summary.missing, summary.passes, summary.advice) == (0, 0.0, (), ())


def test_a_kind_that_faults_took_whole_has_no_numbers() -> None:
    assert summarize([*pattern("1"), fault(1, kind="gone")]).by_kind["gone"].pass_rate is None


def test_two_policies_at_once_are_refused() -> None:
    with pytest.raises(WhetError, match="one policy at a time"):
        summarize([*pattern("11"), *pattern("10")])


@pytest.mark.parametrize("score", [{"hard": 2}, {"soft": 1.5}, {"soft": float("nan")}, {"reward": float("inf")}])
def test_scores_that_break_their_promise_are_refused(score: dict[str, float]) -> None:
    with pytest.raises(WhetError, match=r"test/7 was graded .* mend the environment's grader"):
        summarize([outcome(7, **{"hard": 1, **score})])  # type: ignore[arg-type]


@given(evaluations(), st.randoms(use_true_random=False))
def test_the_order_in_which_rollouts_arrive_changes_nothing(rollouts: list[Outcome], luck: Random) -> None:
    shuffled = list(rollouts)
    luck.shuffle(shuffled)
    assert repr(summarize(shuffled, max_tokens=512)) == repr(summarize(rollouts, max_tokens=512))


@given(evaluations())
def test_every_estimate_lies_in_its_interval_and_pass_at_1_is_the_pass_rate(rollouts: list[Outcome]) -> None:
    summary = summarize(rollouts)
    for figures in (summary.overall, *summary.by_kind.values(), *summary.by_difficulty.values()):
        for one in (figures.pass_rate, figures.mean_reward, figures.perfect_rate, figures.mean_soft):
            assert one is None or one.interval.low <= one.value <= one.interval.high
    if summary.overall.pass_rate is not None:
        assert summary.passes[0].once.value == pytest.approx(summary.overall.pass_rate.value)


def test_the_metric_of_a_claim_is_estimated_beside_the_usual_ones() -> None:
    rollouts = [outcome(index, 0, soft=0.5, parts={"edge": float(index)} if index else {}) for index in range(5)]
    assert summarize(rollouts).overall.mean_metric == summarize(rollouts).overall.pass_rate
    assert summarize(rollouts, metric="soft").overall.mean_metric == summarize(rollouts).overall.mean_soft
    edge = summarize(rollouts, metric="edge").overall
    assert edge.mean_metric is not None
    assert (edge.mean_metric.value, edge.mean_metric.tasks, edge.tasks) == (2.5, 4, 5)
    assert summarize(rollouts, metric="mixed(0.5)").overall.mean_metric.value == 0.25  # type: ignore[union-attr]
    assert summarize(rollouts, metric="width").overall.mean_metric is None
