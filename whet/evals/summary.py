"""What the rollouts of one policy add up to: rates with intervals, overall, by kind and by difficulty."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from whet.evals.advice import advise
from whet.evals.attempts import Attempts, by_task, in_order, repeats, span_of, with_scores
from whet.evals.estimate import LEVEL, Estimate, mean_estimate
from whet.evals.metric import HARD, REWARD, SOFT, Metric, as_metric
from whet.evals.passk import PassK, pass_ladder
from whet.types import Outcome, Usage


@dataclass(frozen=True, slots=True)
class Figures:
    """The numbers of a set of rollouts. Estimates are means over tasks, and None where no rollout has a score."""

    tasks: int
    """With at least one score."""
    rollouts: int
    """With a score: faults are not in any denominator."""
    faults: int
    pass_rate: Estimate | None
    mean_reward: Estimate | None
    perfect_rate: Estimate | None
    mean_soft: Estimate | None
    mean_metric: Estimate | None
    """On the metric of the summary: the pass rate, where that is `hard`."""


@dataclass(frozen=True, slots=True)
class Summary:
    """An evaluation in numbers: a pure function of its outcomes. `seconds` is the time rollouts took, added up."""

    overall: Figures
    by_kind: Mapping[str, Figures]
    by_difficulty: Mapping[str, Figures]
    repeats: int
    passes: tuple[PassK, ...]
    usage: Usage
    seconds: float
    reasons: Mapping[str, int]
    truncated: int
    malformed: Mapping[str, int]
    """Broken calls by kind; a rollout may have several."""
    malformed_rollouts: int
    faults: Mapping[str, int]
    advice: tuple[str, ...]
    level: float = LEVEL
    metric: Metric = HARD

    @property
    def missing(self) -> float:
        """The share of rollouts that faults took away."""
        planned = self.overall.rollouts + self.overall.faults
        return self.overall.faults / planned if planned else 0.0


def summarize(
    outcomes: Sequence[Outcome], *, metric: Metric | str = HARD, level: float = LEVEL, max_tokens: int | None = None
) -> Summary:
    """Add up the rollouts of one policy. `metric` is the one that a claim is about, estimated besides the usual ones;
    `max_tokens` is the limit they ran under, for the advice.
    """
    ordered = in_order(outcomes)
    scored = [outcome for outcome in ordered if not outcome.fault]
    attempts = by_task(ordered)
    scale = _Scale(as_metric(metric), level, attempts)
    return Summary(
        overall=scale.figures(attempts),
        by_kind=scale.grouped(attempts, lambda tried: tried.label.kind),
        by_difficulty=scale.grouped(attempts, lambda tried: tried.label.difficulty),
        repeats=repeats(attempts),
        passes=pass_ladder(attempts, level),
        usage=total_usage(ordered),
        seconds=math.fsum(outcome.seconds for outcome in ordered),
        reasons=_counted(outcome.reason for outcome in scored),
        truncated=sum(outcome.truncated for outcome in scored),
        malformed=_counted(kind for outcome in scored for kind in outcome.malformed),
        malformed_rollouts=sum(bool(outcome.malformed) for outcome in scored),
        faults=_counted(outcome.fault for outcome in ordered if outcome.fault),
        advice=advise(scored, len(ordered) - len(scored), max_tokens),
        level=level,
        metric=scale.metric,
    )


def total_usage(outcomes: Iterable[Outcome]) -> Usage:
    """What all of them cost, faults included; dollars are None as soon as one price is unknown."""
    used = [outcome.usage for outcome in outcomes]
    prices = [usage.usd for usage in used if usage.usd is not None]
    return Usage(
        sum(usage.calls for usage in used),
        sum(usage.prompt_tokens for usage in used),
        sum(usage.completion_tokens for usage in used),
        sum(usage.cached_tokens for usage in used),
        math.fsum(prices) if len(prices) == len(used) else None,
    )


class _Scale:
    """What the rates of one summary are estimated with. Groups share the range that all rollouts span."""

    def __init__(self, metric: Metric, level: float, attempts: Sequence[Attempts]) -> None:
        self.metric = metric
        self.level = level
        self.spans = {known: span_of(known, attempts) for known in {HARD, REWARD, SOFT, metric}}

    def figures(self, attempts: Sequence[Attempts]) -> Figures:
        tried = with_scores(attempts)
        pass_rate = self._mean(tried, HARD)
        return Figures(
            tasks=len(tried),
            rollouts=sum(len(task.scored) for task in tried),
            faults=sum(task.faults for task in attempts),
            pass_rate=pass_rate,
            mean_reward=self._mean(tried, REWARD),
            perfect_rate=mean_estimate([task.perfect for task in tried], level=self.level),
            mean_soft=self._mean(tried, SOFT),
            mean_metric=pass_rate if self.metric == HARD else self._mean(tried, self.metric),
        )

    def grouped(self, attempts: Sequence[Attempts], name: Callable[[Attempts], str]) -> dict[str, Figures]:
        groups: dict[str, list[Attempts]] = {}
        for tried in attempts:
            groups.setdefault(name(tried), []).append(tried)
        return {group: self.figures(groups[group]) for group in sorted(groups, key=in_scale)}

    def _mean(self, attempts: Sequence[Attempts], metric: Metric) -> Estimate | None:
        means = [tried.mean(metric) for tried in attempts if tried.values(metric)]
        return mean_estimate(means, span=self.spans[metric], level=self.level)


def _counted(words: Iterable[str]) -> dict[str, int]:
    """Counts, the most frequent first."""
    counts = Counter(words)
    return {word: counts[word] for word in sorted(counts, key=lambda word: (-counts[word], word))}


_SCALE = ("trivial", "primer", "easy", "medium", "hard", "expert")


def in_scale(name: str) -> tuple[int, list[tuple[int, str]]]:
    """Easy before hard and 2 before 10, where a name says so; otherwise by the alphabet."""
    known = _SCALE.index(name) if name in _SCALE else len(_SCALE)
    parts = re.findall(r"\d+|\D+", name)
    return known, [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]
