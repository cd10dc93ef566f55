"""Two policies on the same tasks: how much better one is, how sure that is, and which tasks changed hands."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Literal

from whet.errors import WhetError
from whet.evals.attempts import Attempts, Metric, TaskId, by_task, measured, reward_span
from whet.evals.intervals import LEVEL, Estimate, difference_estimate, mean_estimate, quantile
from whet.evals.missing import Missing, missing_from, refuse_if_missing
from whet.evals.paired import Test, holm, paired_test
from whet.keys import seed_for
from whet.types import Outcome, Split

Verdict = Literal["better", "worse", "unclear"]

POWER = 0.8
"""What could have been seen is what would have been seen this often."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """b against a on a set of tasks; `difference` is b - a."""

    tasks: int
    a: Estimate
    b: Estimate
    difference: Estimate
    p: float
    test: Test
    adjusted: float
    """p after Holm's adjustment, where the contrast is one of several."""
    detectable: float | None
    """The difference that would have been shown four times in five; None: too few tasks to show any."""

    @property
    def verdict(self) -> Verdict:
        """One way or the other only where the test and the interval agree."""
        interval = self.difference.interval
        if self.adjusted <= 1.0 - interval.level + 1e-12:
            if interval.low > 0.0:
                return "better"
            if interval.high < 0.0:
                return "worse"
        return "unclear"


@dataclass(frozen=True, slots=True)
class Flip:
    """A task that one policy solves (in most of its draws) and the other does not."""

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
    gained: tuple[Flip, ...]
    lost: tuple[Flip, ...]
    missing_a: Missing
    missing_b: Missing

    @property
    def verdict(self) -> Verdict:
        return self.overall.verdict

    def words(self, a: str = "A", b: str = "B") -> str:
        """The result as a sentence."""
        found = self.overall
        numbers = f"{signed(found.difference)}, {p_words(found.p)} ({found.tasks} tasks, {found.test})"
        if found.verdict != "unclear":
            return f"{b} is {found.verdict} than {a}: {numbers}"
        if found.detectable is None:
            return f"no difference shown: {numbers}; {found.tasks} tasks are too few to show any"
        seen = f"a difference of {found.detectable:.2g} would have been shown four times in five"
        return f"no difference shown: {numbers}; {seen}"


@dataclass(frozen=True, slots=True)
class Pair:
    """One task as both sides tried it."""

    a: Attempts
    b: Attempts


def compare(
    a: Sequence[Outcome],
    b: Sequence[Outcome],
    *,
    metric: Metric = "hard",
    level: float = LEVEL,
    tasks: Collection[TaskId] | None = None,
) -> Comparison:
    """Compare two policies task by task. Draws of a task are averaged first, so a task counts once.

    `tasks` are those that both were meant to attempt; by default, all that either did. Refused where the sides share no
    task, or where more than 2 % of the rollouts is missing on a side, or clearly more on one than on the other.
    """
    side_a, side_b = ({one.task: one for one in by_task(side)} for side in (a, b))
    meant = sorted(side_a.keys() | side_b.keys() if tasks is None else set(tasks))
    both = [task for task in meant if task in side_a and task in side_b]
    if not both:
        raise WhetError("not compared: the two have no task in common; evaluate both on the same split and sample")
    for task in both:
        _refuse_other_label(side_a[task], side_b[task])
    missing_a, missing_b = missing_from(side_a, side_b, meant), missing_from(side_b, side_a, meant)
    refuse_if_missing(missing_a, missing_b)
    pairs = [Pair(side_a[task], side_b[task]) for task in both if side_a[task].scored and side_b[task].scored]
    low, high = reward_span((*a, *b)) if metric == "reward" else (0.0, 1.0)
    contrast = Contrasting(metric, level, (low, high))
    return Comparison(
        metric,
        contrast.of(pairs),
        contrast.by_kind(pairs),
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


@dataclass(frozen=True, slots=True)
class Contrasting:
    """How contrasts are made in one comparison."""

    metric: Metric
    level: float
    span: tuple[float, float]

    def by_kind(self, pairs: Sequence[Pair]) -> dict[str, Contrast]:
        kinds: dict[str, list[Pair]] = {}
        for pair in pairs:
            kinds.setdefault(pair.a.label.kind, []).append(pair)
        found = [self.of(kinds[kind]) for kind in sorted(kinds)]
        adjusted = holm([one.p for one in found])
        return {kind: replace(one, adjusted=p) for kind, one, p in zip(sorted(kinds), found, adjusted, strict=True)}

    def of(self, pairs: Sequence[Pair]) -> Contrast:
        value = measured(self.metric)
        a = [pair.a.mean(value) for pair in pairs]
        b = [pair.b.mean(value) for pair in pairs]
        differences = [after - before for before, after in zip(a, b, strict=True)]
        # The seed knows the tasks but not the sides, so that exchanging them gives the same p.
        seed = seed_for("compare", self.metric, *(f"{pair.a.split}/{pair.a.index}" for pair in pairs))
        tested = paired_test(differences, _steps(pairs) if self.metric == "hard" else None, seed)
        span = self.span
        mean_a, mean_b = (mean_estimate(side, span=span, level=self.level) for side in (a, b))
        difference = difference_estimate(differences, largest=span[1] - span[0], level=self.level)
        if mean_a is None or mean_b is None or difference is None:
            raise WhetError("not compared: no task has a score on both sides; redo the faults with --retry-faults")
        seen = _detectable(difference)
        return Contrast(len(pairs), mean_a, mean_b, difference, tested.p, tested.test, tested.p, seen)


def _steps(pairs: Sequence[Pair]) -> int:
    """Shares of c in n draws differ by multiples of one over this."""
    return math.lcm(*(len(side.scored) for pair in pairs for side in (pair.a, pair.b)))


def _detectable(difference: Estimate) -> float | None:
    interval = difference.interval
    if 2.0 ** (1 - difference.tasks) > 1.0 - interval.level:
        return None
    z = quantile(interval.level)
    half = (interval.high - interval.low) / 2.0
    return half * (1.0 + NormalDist().inv_cdf(POWER) / z)


def _flip(pair: Pair) -> Flip | None:
    share = measured("hard")
    a, b = pair.a.mean(share), pair.b.mean(share)
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
