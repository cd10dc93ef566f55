from __future__ import annotations

import random
from dataclasses import replace

import pytest
from evals.outcomes import evaluations, outcome, pattern, repeated
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import fisher_exact

from whet.errors import WhetError
from whet.evals.compare import Comparison, compare
from whet.evals.missing import Shortfall, chance_of_split
from whet.types import Label, Outcome


def numbers(comparison: Comparison) -> tuple[float, ...]:
    found = comparison.overall
    return (found.difference.value, found.difference.interval.low, found.difference.interval.high, found.p)


def test_the_difference_is_b_minus_a_on_the_same_tasks() -> None:
    found = compare(pattern("1100"), pattern("1111")).overall
    assert (found.tasks, found.a.value, found.b.value, found.difference.value) == (4, 0.5, 1.0, 0.5)


def test_a_clear_gain_is_told_as_better() -> None:
    found = compare(pattern("0" * 12 + "1" * 28), pattern("1" * 40))
    assert found.verdict == "better"
    assert (
        found.words("old", "new") == "new is better than old: +0.30 [+0.14, +0.46], p < 0.001 (40 tasks, exact McNemar)"
    )


def test_a_clear_loss_is_told_as_worse() -> None:
    assert compare(pattern("1" * 40), pattern("0" * 12 + "1" * 28)).verdict == "worse"


def test_what_is_unclear_says_how_much_would_have_been_seen() -> None:
    words = compare(pattern("10" * 50), pattern("01" + "10" * 49)).words()
    assert words.startswith("no difference shown: +0.00 [")
    assert words.endswith("would have been shown four times in five")


def test_too_few_tasks_to_show_anything_are_named_as_that() -> None:
    found = compare(pattern("00000"), pattern("11111"))
    assert found.overall.p == 0.0625
    assert found.overall.detectable is None
    assert found.words().endswith("5 tasks are too few to show any")


def test_the_detectable_difference_is_shown_about_four_times_in_five() -> None:
    even = compare(pattern("1" * 10 + "0" * 90), pattern("0" * 10 + "1" * 10 + "0" * 80)).overall
    assert even.detectable is not None
    luck, shown = random.Random(5), 0
    for _ in range(300):
        gained = [luck.random() < 0.1 + even.detectable / 2 for _ in range(100)]
        lost = [luck.random() < 0.1 - even.detectable / 2 for _ in range(100)]
        a = pattern("".join("1" if down and not up else "0" for up, down in zip(gained, lost, strict=True)))
        b = pattern("".join("1" if up and not down else "0" for up, down in zip(gained, lost, strict=True)))
        shown += compare(a, b).verdict == "better"
    assert 0.65 < shown / 300 < 0.95


def test_draws_of_a_task_are_averaged_before_tasks_are_paired() -> None:
    found = compare(repeated([1, 2, 4], 4), repeated([2, 2, 4], 4)).overall
    assert (found.tasks, found.test) == (3, "exact sign flips")
    assert found.difference.value == pytest.approx(1 / 12)


def test_sides_may_have_drawn_different_numbers_of_times() -> None:
    assert compare(repeated([1, 2], 4), pattern("11")).overall.difference.value == pytest.approx(0.625)


def test_flips_name_the_task_and_both_reasons() -> None:
    found = compare(pattern("110"), pattern("101"))
    assert [(one.index, one.reason_a, one.reason_b) for one in found.gained] == [(2, "wrong", "correct")]
    assert [(one.index, one.reason_a, one.reason_b) for one in found.lost] == [(1, "correct", "wrong")]


def test_with_repeats_a_task_flips_when_most_of_its_draws_do() -> None:
    found = compare(repeated([2, 1, 4], 4), repeated([3, 2, 4], 4))
    assert [(one.index, one.a, one.b, one.reason_a, one.reason_b) for one in found.gained] == [
        (0, 0.5, 0.75, "wrong", "correct")
    ]
    assert found.lost == ()


def test_kinds_are_tested_apart_with_holms_adjustment() -> None:
    a = [outcome(index, 0, kind="moved" if index < 10 else "still") for index in range(20)]
    b = [outcome(index, int(index < 10), kind="moved" if index < 10 else "still") for index in range(20)]
    found = compare(a, b).by_kind
    assert (found["moved"].p, found["moved"].adjusted) == (2 / 1024, 4 / 1024)
    assert (found["moved"].verdict, found["still"].verdict) == ("better", "unclear")


@pytest.mark.parametrize(
    ("metric", "difference"), [("hard", 0.0), ("soft", 0.5), ("reward", 2.0), ("mixed(0.5)", 0.25), ("edge", -4.0)]
)
def test_the_metric_says_what_is_compared(metric: str, difference: float) -> None:
    a = [outcome(index, 0, soft=0.25, reward=1.0, parts={"edge": 9.0}) for index in range(8)]
    b = [outcome(index, 0, soft=0.75, reward=3.0, parts={"edge": 5.0}) for index in range(8)]
    found = compare(a, b, metric=metric).overall.difference
    assert found.value == difference
    assert found.interval.low < found.interval.high


def test_a_metric_that_no_rollout_reports_is_refused_with_the_nearest_that_is() -> None:
    a, b = ([outcome(index, 1, parts={"edge": 1.0}) for index in range(4)] for _ in range(2))
    with pytest.raises(
        WhetError, match=r"first reports 'egde'. Did you mean 'edge'\? Reported: hard, soft, reward, edge"
    ):
        compare(a, b, metric="egde")


def test_a_score_that_does_not_report_the_metric_is_missing() -> None:
    a = [outcome(index, 1, parts={"edge": 1.0}) for index in range(40)]
    b = [outcome(index, 1, parts={"edge": 1.0} if index else {}) for index in range(40)]
    assert compare(a, b).missing_b == Shortfall(40)
    found = compare(a, b, metric="edge")
    assert str(found.missing_b) == "2.5 % (0 faults, 1 without the metric, 0 absent of 40 rollouts)"
    assert found.overall.bounded == 1
    assert found.hard.bounded == 0


def test_a_verdict_on_another_metric_names_it_and_has_hard_beside_it() -> None:
    a = [outcome(index, int(index < 20), soft=0.25) for index in range(40)]
    b = [outcome(index, int(index < 20), soft=0.75) for index in range(40)]
    found = compare(a, b, metric="soft")
    assert found.words("old", "new").startswith("new is better than old on soft: +0.50 [")
    assert (found.hard.difference.value, found.hard.test, found.hard.verdict) == (0.0, "exact McNemar", "unclear")
    assert found.hard_words().startswith("solved (hard): +0.00 [")
    assert compare(a, b).words().startswith("no difference shown: ")
    assert compare(a, b).hard == compare(a, b).overall
    assert compare(a, b).hard_words() == ""


# ------------------------------------------------------------------------------------------- what is refused


def test_no_task_in_common_is_refused() -> None:
    with pytest.raises(WhetError, match="no task in common"):
        compare(pattern("11.."), pattern("..11"))


def test_tasks_of_another_environment_are_refused() -> None:
    with pytest.raises(WhetError, match="the environments differ"):
        compare(pattern("11"), pattern("11", kind="product"))


def test_one_missing_of_forty_is_bounded_by_the_worst_case() -> None:
    whole = compare(pattern("0" * 20 + "1" * 20), pattern("1" * 40))
    found = compare(pattern("0" * 20 + "1" * 20), pattern("1" * 39 + "x"))
    lost = compare(pattern("0" * 20 + "1" * 20), pattern("1" * 39 + "0"))
    assert (found.verdict, found.overall.tasks, found.overall.bounded) == ("better", 40, 1)
    assert found.overall.difference.interval.low == lost.overall.difference.interval.low
    assert found.overall.difference.interval.high >= whole.overall.difference.interval.high
    assert found.overall.p == lost.overall.p
    assert found.missing_words() == (
        "B: 2.5 % (1 faults, 0 absent of 40 rollouts)",
        "1 missing rollouts are bounded: interval and p hold whatever they would have scored",
    )


def test_a_task_that_faults_on_both_sides_is_left_out_for_both_on_record() -> None:
    found = compare(pattern("0" * 20 + "1" * 19 + "x"), pattern("1" * 39 + "x"))
    assert (found.verdict, found.overall.tasks, found.overall.bounded) == ("better", 39, 0)
    assert found.dropped == (("test", 39),)
    assert found.missing_words()[-1] == "left out for both, no score on either side: test/39"


def test_what_is_missing_never_makes_a_verdict() -> None:
    """Eight wins of eight would be a gain; two missing rollouts that could be losses leave it open."""
    assert compare(pattern("0" * 8), pattern("1" * 8)).verdict == "better"
    assert compare(pattern("0" * 8 + "11"), pattern("1" * 8 + "xx")).verdict == "unclear"


def test_what_leaves_nothing_to_compare_is_refused_with_the_numbers() -> None:
    with pytest.raises(
        WhetError, match=r"second: 60\.0 % \(6 faults, 0 absent of 10 rollouts\).*by 0\.60.*--retry-fau"
    ):
        compare(pattern("1" * 10), pattern("1" * 4 + "x" * 6))


def test_tasks_that_one_side_never_attempted_are_missing_too() -> None:
    found = compare(pattern("1" * 97 + "..."), pattern("1" * 100))
    assert (str(found.missing_a), found.bounded) == ("3.0 % (0 faults, 3 absent of 100 rollouts)", 3)


def test_draws_that_are_usual_on_a_side_and_absent_are_missing() -> None:
    found = compare(pattern("1" * 50), repeated([4] * 50, 4)[:-6])
    assert (str(found.missing_b), found.bounded) == ("3.0 % (0 faults, 6 absent of 200 rollouts)", 6)


@settings(max_examples=40)
@given(st.lists(st.sampled_from("01x"), min_size=6, max_size=30), st.data())
def test_a_bounded_verdict_holds_whatever_the_missing_would_have_scored(marks: list[str], data: st.DataObject) -> None:
    a = "".join(data.draw(st.sampled_from("01")) for _ in marks)
    if "".join(marks).strip("x") == "" or marks.count("x") > len(marks) / 2:
        return
    found = compare(pattern(a), pattern("".join(marks)))
    filled = "".join(data.draw(st.sampled_from("01")) if mark == "x" else mark for mark in marks)
    truth = compare(pattern(a), pattern(filled)).overall
    assert found.overall.difference.interval.low <= truth.difference.value <= found.overall.difference.interval.high
    assert found.verdict in ("unclear", truth.verdict)


def test_tasks_that_both_tried_more_often_than_others_lack_nothing() -> None:
    uneven = [*repeated([3, 3], 3), *(outcome(index) for index in (2, 3, 4))]
    assert compare(uneven, uneven).missing_a == Shortfall(9, 0, 0)


def test_a_plan_says_which_tasks_were_meant() -> None:
    small, large = pattern("1" * 20), pattern("1" * 50)
    with pytest.raises(WhetError, match="30 absent"):
        compare(small, large)  # three fifths of one side
    assert compare(small, large, tasks={("test", index) for index in range(20)}).overall.tasks == 20


@given(st.integers(1, 60), st.integers(1, 60), st.data())
def test_the_chance_of_unequal_missingness_is_fishers_test(a: int, b: int, data: st.DataObject) -> None:
    lost_a, lost_b = data.draw(st.integers(0, a)), data.draw(st.integers(0, b))
    expected = fisher_exact([[lost_a, a - lost_a], [lost_b, b - lost_b]]).pvalue
    assert chance_of_split(Shortfall(a, lost_a, 0), Shortfall(b, 0, lost_b)) == pytest.approx(expected, abs=1e-6)


# ------------------------------------------------------------------------------------------- what always holds


@st.composite
def sides(draw: st.DrawFn) -> tuple[list[Outcome], list[Outcome]]:
    """Two policies on the same tasks, without faults."""
    first = [one for one in draw(evaluations(tasks=20)) if not one.fault]
    second = [
        replace(one, soft=soft, hard=int(soft == 1.0))
        for one in first
        for soft in [draw(st.sampled_from([0.0, 0.4, 1.0]))]
    ]
    return (first, second) if first else ([outcome(0)], [outcome(0)])


@settings(max_examples=50)
@given(sides(), st.sampled_from(["hard", "soft", "reward"]))
def test_exchanging_the_sides_negates_everything(both: tuple[list[Outcome], list[Outcome]], metric: str) -> None:
    a, b = both
    there, back = compare(a, b, metric=metric), compare(b, a, metric=metric)
    value, low, high, p = numbers(there)
    assert numbers(back) == (-value, -high, -low, p)
    assert [one.index for one in back.gained] == [one.index for one in there.lost]
    assert {kind: one.adjusted for kind, one in back.by_kind.items()} == {
        kind: one.adjusted for kind, one in there.by_kind.items()
    }


@settings(max_examples=50)
@given(sides(), st.randoms(use_true_random=False))
def test_the_order_of_the_outcomes_changes_nothing(
    both: tuple[list[Outcome], list[Outcome]], luck: random.Random
) -> None:
    a, b = both
    shuffled = list(b)
    luck.shuffle(shuffled)
    assert repr(compare(a, shuffled, metric="soft")) == repr(compare(a, b, metric="soft"))


@given(evaluations())
def test_a_policy_is_never_told_apart_from_itself(rollouts: list[Outcome]) -> None:
    scored = [one for one in rollouts if not one.fault] or [outcome(0)]
    found = compare(scored, scored)
    assert (found.verdict, found.overall.difference.value, found.overall.p) == ("unclear", 0.0, 1.0)


def test_equal_labels_are_needed_only_on_common_tasks() -> None:
    a = pattern("1" * 60)
    b = [*pattern("1" * 59), replace(outcome(60), label=Label("other"))]
    assert compare(a, b).overall.tasks == 61


# ------------------------------------------------------------------------------------------- unequal repeats


def test_a_null_with_unequal_repeats_is_rarely_significant_and_covered() -> None:
    """Four draws against one at a rate of .9: flipping signs alone calls a tenth of such nulls significant."""
    luck, wrong, held = random.Random(11), 0, 0
    for _ in range(300):
        a = repeated([sum(luck.random() < 0.9 for _ in range(4)) for _ in range(20)], 4)
        found = compare(a, pattern("".join("01"[luck.random() < 0.9] for _ in range(20)))).overall
        wrong += found.p <= 0.05
        held += found.difference.interval.low <= 0.0 <= found.difference.interval.high
    assert wrong / 300 <= 0.05 + 3 * (0.05 * 0.95 / 300) ** 0.5
    assert held / 300 >= 0.92


def test_a_clear_gain_is_shown_with_unequal_repeats_too() -> None:
    found = compare(repeated([1] * 30, 4), pattern("1" * 30))
    assert (found.verdict, found.overall.test) == ("better", "exact exchange of draws")
