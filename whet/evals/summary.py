"""What the rollouts of one policy add up to: rates with intervals, overall, by kind and by difficulty."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from whet.evals.advice import advise
from whet.evals.attempts import Attempts, by_task, in_order, measured, repeats, reward_span, with_scores
from whet.evals.intervals import LEVEL, Estimate, mean_estimate
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

    @property
    def missing(self) -> float:
        """The share of rollouts that faults took away."""
        planned = self.overall.rollouts + self.overall.faults
        return self.overall.faults / planned if planned else 0.0


def summarize(outcomes: Sequence[Outcome], *, level: float = LEVEL, max_tokens: int | None = None) -> Summary:
    """Add up the rollouts of one policy. `max_tokens` is the limit they ran under, for the advice."""
    ordered = in_order(outcomes)
    scored = [outcome for outcome in ordered if not outcome.fault]
    attempts = by_task(ordered)
    span = reward_span(scored)
    return Summary(
        overall=_figures(attempts, span, level),
        by_kind=_grouped(attempts, lambda one: one.label.kind, span, level),
        by_difficulty=_grouped(attempts, lambda one: one.label.difficulty, span, level),
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
    )


def total_usage(outcomes: Iterable[Outcome]) -> Usage:
    """What all of them cost, faults included; dollars are None as soon as one price is unknown."""
    used = [outcome.usage for outcome in outcomes]
    prices = [one.usd for one in used if one.usd is not None]
    return Usage(
        sum(one.calls for one in used),
        sum(one.prompt_tokens for one in used),
        sum(one.completion_tokens for one in used),
        sum(one.cached_tokens for one in used),
        math.fsum(prices) if len(prices) == len(used) else None,
    )


def _figures(attempts: Sequence[Attempts], span: tuple[float, float], level: float) -> Figures:
    tried = with_scores(attempts)

    def rate(value: Callable[[Outcome], float], span: tuple[float, float] = (0.0, 1.0)) -> Estimate | None:
        return mean_estimate([one.mean(value) for one in tried], span=span, level=level)

    return Figures(
        tasks=len(tried),
        rollouts=sum(len(one.scored) for one in tried),
        faults=sum(one.faults for one in attempts),
        pass_rate=rate(measured("hard")),
        mean_reward=rate(measured("reward"), span),
        perfect_rate=rate(lambda outcome: float(outcome.soft == 1.0)),
        mean_soft=rate(measured("soft")),
    )


def _grouped(
    attempts: Sequence[Attempts], name: Callable[[Attempts], str], span: tuple[float, float], level: float
) -> dict[str, Figures]:
    groups: dict[str, list[Attempts]] = {}
    for one in attempts:
        groups.setdefault(name(one), []).append(one)
    return {group: _figures(groups[group], span, level) for group in sorted(groups, key=_rank)}


def _counted(words: Iterable[str]) -> dict[str, int]:
    """Counts, the most frequent first."""
    counts = Counter(words)
    return {word: counts[word] for word in sorted(counts, key=lambda word: (-counts[word], word))}


_SCALE = ("trivial", "primer", "easy", "medium", "hard", "expert")


def _rank(name: str) -> tuple[int, list[tuple[int, str]]]:
    """Easy before hard and 2 before 10, where a name says so; otherwise by the alphabet."""
    known = _SCALE.index(name) if name in _SCALE else len(_SCALE)
    parts = re.findall(r"\d+|\D+", name)
    return known, [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]
