"""Two policies on the same tasks: how much better one is, how sure that is, and which tasks changed hands."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Literal

from whet.errors import WhetError, nearest
from whet.evals.attempts import Attempts, TaskId, by_task, span_of
from whet.evals.estimate import LEVEL, Estimate, difference_estimate, mean_estimate, quantile
from whet.evals.metric import HARD, Metric, as_metric
from whet.evals.missing import Shortfall, missing_from, refuse_if_missing
from whet.evals.paired import PairedTest, holm, paired_test
from whet.keys import seed_for
from whet.types import Outcome, Split

ComparisonVerdict = Literal["better", "worse", "unclear"]

POWER = 0.8
"""A difference counts as detectable when a comparison would show it this often."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """b against a on a set of tasks; `difference` is b - a."""

    tasks: int
    a: Estimate
    b: Estimate
    difference: Estimate
    p: float
    test: PairedTest
    adjusted: float
    """p after Holm's adjustment, where the contrast is one of several."""
    detectable: float | None
    """The difference that would have been shown four times in five; None: too few tasks to show any."""

    @property
    def verdict(self) -> ComparisonVerdict:
        """Better or worse only where the test and the interval agree."""
        interval = self.difference.interval
        if self.adjusted <= 1.0 - interval.level + 1e-12:
            if interval.low > 0.0:
                return "better"
            if interval.high < 0.0:
                return "worse"
        return "unclear"


@dataclass(frozen=True, slots=True)
class Flip:
    """A task that only one of the policies solves, in most of its draws."""

    split: Split
    index: int
    kind: str
    a: float
    b: float
    reason_a: str
    reason_b: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """What `compare` found. `gained` are the tasks that only b solves, `lost` those that only a solves."""

    metric: Metric
    overall: Contrast
    by_kind: Mapping[str, Contrast]
    hard: Contrast
    """Solved or not, on the same tasks: what stands beside a verdict on another metric."""
    gained: tuple[Flip, ...]
    lost: tuple[Flip, ...]
    missing_a: Shortfall
    missing_b: Shortfall

    @property
    def verdict(self) -> ComparisonVerdict:
        return self.overall.verdict

    def words(self, a: str = "A", b: str = "B") -> str:
        """The result as a sentence, which names the metric where it is not `hard`."""
        found = self.overall
        on = "" if self.metric == HARD else f" on {self.metric}"
        numbers = f"{signed(found.difference)}, {p_words(found.p)} ({found.tasks} tasks, {found.test})"
        if found.verdict != "unclear":
            return f"{b} is {found.verdict} than {a}{on}: {numbers}"
        if found.detectable is None:
            return f"no difference shown{on}: {numbers}; {found.tasks} tasks are too few to show any"
        seen = f"a difference of {found.detectable:.2g} would have been shown four times in five"
        return f"no difference shown{on}: {numbers}; {seen}"

    def hard_words(self) -> str:
        """The same on `hard`, for the line below a verdict on another metric; empty where it is the metric itself."""
        if self.metric == HARD:
            return ""
        return f"solved (hard): {signed(self.hard.difference)}, {p_words(self.hard.p)}"


@dataclass(frozen=True, slots=True)
class TaskPair:
    """A task as both sides tried it."""

    a: Attempts
    b: Attempts


def compare(
    a: Sequence[Outcome],
    b: Sequence[Outcome],
    *,
    metric: Metric | str = HARD,
    level: float = LEVEL,
    tasks: Collection[TaskId] | None = None,
) -> Comparison:
    """Compare two policies task by task. Draws of a task are averaged first, so a task counts once.

    `tasks` are those that both were meant to attempt; by default, all that either did. Refused where the sides share no
    task, or where more than 2 % of the rollouts is missing on a side, or clearly more on one than on the other. A score
    that does not report the metric counts as missing.
    """
    metric = as_metric(metric)
    side_a, side_b = ({attempts.task: attempts for attempts in by_task(side)} for side in (a, b))
    meant = sorted(side_a.keys() | side_b.keys() if tasks is None else set(tasks))
    both = [task for task in meant if task in side_a and task in side_b]
    if not both:
        raise WhetError("not compared: the two have no task in common; evaluate both on the same split and sample")
    for task in both:
        _refuse_other_label(side_a[task], side_b[task])
    _refuse_unreported(metric, a, b)
    missing_a, missing_b = (
        missing_from(side, other, meant, metric) for side, other in ((side_a, side_b), (side_b, side_a))
    )
    refuse_if_missing(missing_a, missing_b)
    pairs = [
        TaskPair(side_a[task], side_b[task])
        for task in both
        if side_a[task].values(metric) and side_b[task].values(metric)
    ]
    yardstick = Yardstick(metric, level, span_of(metric, (*side_a.values(), *side_b.values())))
    overall = yardstick.contrast(pairs)
    return Comparison(
        metric,
        overall,
        yardstick.by_kind(pairs),
        overall if metric == HARD else Yardstick(HARD, level).contrast(pairs),
        tuple(flip for pair in pairs if (flip := _flip(pair)) and flip.b > flip.a),
        tuple(flip for pair in pairs if (flip := _flip(pair)) and flip.b < flip.a),
        missing_a,
        missing_b,
    )


def _refuse_other_label(a: Attempts, b: Attempts) -> None:
    if a.label != b.label:
        raise WhetError(
            f"not compared: {a.split}/{a.index} is {a.label.kind!r} ({a.label.difficulty}) in the first and "
            f"{b.label.kind!r} ({b.label.difficulty}) in the second; the environments differ"
        )


def _refuse_unreported(metric: Metric, a: Sequence[Outcome], b: Sequence[Outcome]) -> None:
    """Refuse a metric that no rollout of a side reports: most likely a part of the score with its name misspelt."""
    for which, side in (("first", a), ("second", b)):
        scored = [outcome for outcome in side if not outcome.fault]
        if scored and all(metric.of(outcome) is None for outcome in scored):
            known = ["hard", "soft", "reward", *sorted({part for outcome in scored for part in outcome.parts})]
            raise WhetError(
                f"not compared: no rollout of the {which} reports {metric.name!r}.{nearest(metric.name, known)} "
                f"Reported: {', '.join(known)}."
            )


@dataclass(frozen=True, slots=True)
class Yardstick:
    """What the contrasts of one comparison are measured with."""

    metric: Metric
    level: float
    span: tuple[float, float] = (0.0, 1.0)

    def by_kind(self, pairs: Sequence[TaskPair]) -> dict[str, Contrast]:
        kinds: dict[str, list[TaskPair]] = {}
        for pair in pairs:
            kinds.setdefault(pair.a.label.kind, []).append(pair)
        found = {kind: self.contrast(kinds[kind]) for kind in sorted(kinds)}
        adjusted = holm([contrast.p for contrast in found.values()])
        return {kind: replace(found[kind], adjusted=p) for kind, p in zip(found, adjusted, strict=True)}

    def contrast(self, pairs: Sequence[TaskPair]) -> Contrast:
        a = [pair.a.mean(self.metric) for pair in pairs]
        b = [pair.b.mean(self.metric) for pair in pairs]
        differences = [after - before for before, after in zip(a, b, strict=True)]
        # The seed knows the tasks but not the sides, so that exchanging them gives the same p.
        seed = seed_for("compare", self.metric.name, *(f"{pair.a.split}/{pair.a.index}" for pair in pairs))
        chance = paired_test(differences, _steps(pairs) if self.metric == HARD else None, seed)
        span = self.span
        mean_a, mean_b = (mean_estimate(side, span=span, level=self.level) for side in (a, b))
        difference = difference_estimate(differences, largest=span[1] - span[0], level=self.level)
        if mean_a is None or mean_b is None or difference is None:
            raise WhetError("not compared: no task has a score on both sides; redo the faults with --retry-faults")
        seen = _detectable(difference)
        return Contrast(len(pairs), mean_a, mean_b, difference, chance.p, chance.test, chance.p, seen)


def _steps(pairs: Sequence[TaskPair]) -> int:
    """The steps in a unit: every difference between shares of solved draws is a multiple of 1 / steps."""
    return math.lcm(*(len(side.scored) for pair in pairs for side in (pair.a, pair.b)))


def _detectable(difference: Estimate) -> float | None:
    """The difference that an interval of this width would show with `POWER`; None where so few tasks show nothing."""
    interval = difference.interval
    if 2.0 ** (1 - difference.tasks) > 1.0 - interval.level:
        return None
    z = quantile(interval.level)
    half = (interval.high - interval.low) / 2.0
    return half * (1.0 + NormalDist().inv_cdf(POWER) / z)


def _flip(pair: TaskPair) -> Flip | None:
    a, b = pair.a.mean(HARD), pair.b.mean(HARD)
    if (a > 0.5) == (b > 0.5):
        return None
    reasons = _usual_reason(pair.a, a > 0.5), _usual_reason(pair.b, b > 0.5)
    return Flip(pair.a.split, pair.a.index, pair.a.label.kind, a, b, *reasons)


def _usual_reason(attempts: Attempts, solved: bool) -> str:
    """The most common reason among the draws that made the task count as solved, or not."""
    counts = Counter(outcome.reason for outcome in attempts.scored if outcome.hard == solved)
    return min(counts, key=lambda reason: (-counts[reason], reason))


def signed(estimate: Estimate) -> str:
    """A difference for a person to read: +0.12 [+0.05, +0.19]."""
    low, high = estimate.interval.low, estimate.interval.high
    digits = 2 if high - low >= 0.06 else 3
    return f"{estimate.value:+.{digits}f} [{low:+.{digits}f}, {high:+.{digits}f}]"


def p_words(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"
