"""Two policies on the same tasks: how much better one is, how sure that is, and which tasks changed hands."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Literal

from whet.errors import WhetError, nearest
from whet.evals.attempts import Attempts, TaskId, by_task, repeats, span_of
from whet.evals.estimate import LEVEL, Estimate, Interval, difference_estimate, mean_estimate, quantile
from whet.evals.metric import HARD, Metric, as_metric
from whet.evals.missing import Shortfall, meant_draws, missing_from, refuse_if_open
from whet.evals.paired import DrawPair, PairedTest, PValue, exchange_test, holm, paired_test
from whet.keys import seed_for
from whet.types import Outcome, Split

ComparisonVerdict = Literal["better", "worse", "unclear"]

DROPPED_SHOWN = 5

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
    bounded: int = 0
    """Rollouts that are missing: `difference` and `p` hold whatever they would have scored."""

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
    dropped: tuple[TaskId, ...] = ()
    """Tasks without a score on either side: left out for both, on record."""
    notes: tuple[str, ...] = ()
    """What whoever reads it must know about the two sides."""

    @property
    def verdict(self) -> ComparisonVerdict:
        return self.overall.verdict

    def words(self, a: str = "A", b: str = "B") -> str:
        """The result as a sentence, which names the metric where it is not `hard`."""
        found = self.overall
        on = "" if self.metric == HARD else f" on {self.metric}"
        at = level_words(found.difference.interval.level)
        numbers = f"{signed(found.difference)}{at}, {p_words(found.p)} ({found.tasks} tasks, {found.test})"
        if found.verdict != "unclear":
            return f"{b} is {found.verdict} than {a}{on}: {numbers}"
        if found.detectable is None:
            return f"no difference shown{on}: {numbers}; {found.tasks} tasks are too few to show any"
        seen = f"a difference of {found.detectable:.2g} would have been shown four times in five"
        return f"no difference shown{on}: {numbers}; {seen}"

    def __repr__(self) -> str:
        return f"Comparison({self.words()!r})"

    def _repr_html_(self) -> str:
        from whet.evals.table import comparison_table
        from whet.screen import html_of

        return html_of(comparison_table(self))

    def hard_words(self) -> str:
        """The same on `hard`, for the line below a verdict on another metric; empty where it is the metric itself."""
        if self.metric == HARD:
            return ""
        return f"solved (hard): {signed(self.hard.difference)}, {p_words(self.hard.p)}"

    def missing_words(self, a: str = "A", b: str = "B") -> tuple[str, ...]:
        """What is missing and what was done about it, a line each; none where nothing is."""
        lines = [f"{name}: {lack}" for name, lack in ((a, self.missing_a), (b, self.missing_b)) if lack.count]
        if self.dropped:
            named = ", ".join(f"{split}/{index}" for split, index in self.dropped[:DROPPED_SHOWN])
            more = f" and {len(self.dropped) - DROPPED_SHOWN} more" if len(self.dropped) > DROPPED_SHOWN else ""
            lines.append(f"left out for both, no score on either side: {named}{more}")
        if self.bounded:
            lines.append(
                f"{self.bounded} missing rollouts are bounded: interval and p hold whatever they would have scored"
            )
        return tuple(lines)

    @property
    def bounded(self) -> int:
        """Missing rollouts of the tasks that are compared."""
        return self.overall.bounded


@dataclass(frozen=True, slots=True)
class TaskPair:
    """A task as both sides tried it, and how often each was to."""

    a: Attempts
    b: Attempts
    meant_a: int
    meant_b: int

    def values(self, metric: Metric, fill: tuple[float, float] | None = None) -> DrawPair:
        """What the draws of both sides read; with `fill`, those that are missing read that on a and that on b."""
        a, b = self.a.values(metric), self.b.values(metric)
        if fill is not None:
            a += [fill[0]] * (self.meant_a - len(a))
            b += [fill[1]] * (self.meant_b - len(b))
        return a, b

    def lacks(self, metric: Metric) -> int:
        a, b = self.values(metric)
        return self.meant_a - len(a) + self.meant_b - len(b)


def compare(
    a: Sequence[Outcome],
    b: Sequence[Outcome],
    *,
    metric: Metric | str = HARD,
    level: float = LEVEL,
    tasks: Collection[TaskId] | None = None,
) -> Comparison:
    """Compare two policies task by task. Draws of a task are averaged first, so a task counts once.

    `tasks` are those that both were meant to attempt; by default, all that either did. What is missing is bounded by
    the worst case; a task without a score on either side is left out for both. Refused where the sides share no task,
    or where what is missing leaves nothing to compare. A score that does not report the metric counts as missing.
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
    pairs = _pairs(side_a, side_b, meant, metric)
    kept = {(pair.a.split, pair.a.index) for pair in pairs}
    missing_a, missing_b = (
        missing_from(side, other, meant, metric) for side, other in ((side_a, side_b), (side_b, side_a))
    )
    yardstick = Yardstick(metric, level, span_of(metric, (*side_a.values(), *side_b.values())))
    refuse_if_open(missing_a, missing_b, yardstick.moved(pairs))
    overall = yardstick.contrast(pairs)
    solved = [pair for pair in pairs if pair.a.scored and pair.b.scored]
    return Comparison(
        metric,
        overall,
        yardstick.by_kind(pairs),
        overall if metric == HARD else Yardstick(HARD, level).contrast(pairs),
        tuple(flip for pair in solved if (flip := _flip(pair)) and flip.b > flip.a),
        tuple(flip for pair in solved if (flip := _flip(pair)) and flip.b < flip.a),
        missing_a,
        missing_b,
        tuple(task for task in meant if task not in kept),
    )


def _pairs(
    side_a: Mapping[TaskId, Attempts], side_b: Mapping[TaskId, Attempts], tasks: Sequence[TaskId], metric: Metric
) -> list[TaskPair]:
    """The tasks with a score on at least one side."""
    usual_a, usual_b = repeats(side_a.values()), repeats(side_b.values())
    pairs = []
    for task in tasks:
        a, b = side_a.get(task), side_b.get(task)
        tried = a or b
        if tried is None:
            continue
        pair = TaskPair(
            a or replace(tried, scored=(), faults=0),
            b or replace(tried, scored=(), faults=0),
            meant_draws(side_a, side_b, task, usual_a),
            meant_draws(side_b, side_a, task, usual_b),
        )
        if any(pair.values(metric)):
            pairs.append(pair)
    return pairs


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
        seen = [kind for kind in sorted(kinds) if any(all(pair.values(self.metric)) for pair in kinds[kind])]
        found = {kind: self.contrast(kinds[kind]) for kind in seen}
        adjusted = holm([contrast.p for contrast in found.values()])
        return {kind: replace(found[kind], adjusted=p) for kind, p in zip(found, adjusted, strict=True)}

    def contrast(self, pairs: Sequence[TaskPair]) -> Contrast:
        """What was seen, widened to what holds whatever the missing draws would have read."""
        low, high = self.span
        tried = [pair.values(self.metric) for pair in pairs]
        seen = self._sight([values for values in tried if all(values)], pairs)
        bounded = sum(pair.lacks(self.metric) for pair in pairs)
        if bounded:
            ends = [
                self._sight([pair.values(self.metric, fill) for pair in pairs], pairs)
                for fill in ((high, low), (low, high))
            ]
            seen = seen.widened(ends)
        detectable = _detectable(seen.difference)
        chance = seen.chance
        return Contrast(
            len(pairs), seen.a, seen.b, seen.difference, chance.p, chance.test, chance.p, detectable, bounded
        )

    def moved(self, pairs: Sequence[TaskPair]) -> float:
        """How far the missing draws could move the difference, as a share of the scale."""
        shares = [
            (pair.meant_a - len(a)) / pair.meant_a + (pair.meant_b - len(b)) / pair.meant_b
            for pair in pairs
            for a, b in (pair.values(self.metric),)
        ]
        return math.fsum(shares) / len(shares) if shares else 0.0

    def _sight(self, tried: Sequence[DrawPair], pairs: Sequence[TaskPair]) -> _Sight:
        span, level = self.span, self.level
        a, b = (
            ([math.fsum(side) / len(side) for side in sides] for sides in zip(*tried, strict=True))
            if tried
            else ([], [])
        )
        differences = [after - before for before, after in zip(a, b, strict=True)]
        mean_a, mean_b = (mean_estimate(side, span=span, level=level) for side in (a, b))
        draw = max((_one_draw(values) for values in tried), default=0.0)
        difference = difference_estimate(differences, largest=span[1] - span[0], draw=draw, level=level)
        if mean_a is None or mean_b is None or difference is None:
            raise WhetError("not compared: no task has a score on both sides; redo the faults with --retry-faults")
        # The seed knows the tasks but not the sides, so that exchanging them gives the same p.
        seed = seed_for("compare", self.metric.name, *(f"{pair.a.split}/{pair.a.index}" for pair in pairs))
        steps = _steps(tried) if self.metric == HARD else None
        chance = paired_test(differences, steps, seed)
        if any(len(before) != len(after) for before, after in tried):
            exchanged = exchange_test(tried, steps, seed)
            chance = PValue(max(chance.p, exchanged.p), exchanged.test)
        return _Sight(mean_a, mean_b, difference, chance)


@dataclass(frozen=True, slots=True)
class _Sight:
    """What one set of readings says."""

    a: Estimate
    b: Estimate
    difference: Estimate
    chance: PValue

    def widened(self, ends: Sequence[_Sight]) -> _Sight:
        """The same means with intervals and a p that hold at both ends too."""
        p = max(self.chance.p, *(end.chance.p for end in ends)) if _same_sign(ends) else 1.0
        return _Sight(
            _hull(self.a, [end.a for end in ends]),
            _hull(self.b, [end.b for end in ends]),
            _hull(self.difference, [end.difference for end in ends]),
            PValue(p, self.chance.test),
        )


def _same_sign(ends: Sequence[_Sight]) -> bool:
    return all(end.difference.value > 0.0 for end in ends) or all(end.difference.value < 0.0 for end in ends)


def _hull(seen: Estimate, ends: Sequence[Estimate]) -> Estimate:
    intervals = [seen.interval, *(end.interval for end in ends)]
    low, high = min(held.low for held in intervals), max(held.high for held in intervals)
    return Estimate(seen.value, Interval(low, high, seen.interval.level), ends[0].tasks)


def _one_draw(values: DrawPair) -> float:
    """How far one draw of a task could move its difference: as far as its draws lie apart, for the fewer of them."""
    a, b = values
    return (max(*a, *b) - min(*a, *b)) / min(len(a), len(b))


def _steps(tried: Sequence[DrawPair]) -> int:
    """The steps in a unit: every difference between shares of solved draws is a multiple of 1 / steps."""
    return math.lcm(*(len(side) for values in tried for side in values))


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


def level_words(level: float) -> str:
    """The level of an interval where it is not the usual one: ` (99.2 %)`."""
    return "" if level == LEVEL else f" ({100 * level:.3g} %)"


def p_words(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"
