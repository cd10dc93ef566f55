"""Rollouts gathered by task. A task is the unit of evidence: its draws are averaged before anything is estimated."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from whet.errors import WhetError
from whet.evals.metric import Metric
from whet.types import Label, Outcome, Split

TaskId = tuple[Split, int]


@dataclass(frozen=True, slots=True)
class Attempts:
    """What was tried on one task: the rollouts with a score, and how many ended in a fault."""

    split: Split
    index: int
    label: Label
    scored: tuple[Outcome, ...]
    faults: int

    @property
    def task(self) -> TaskId:
        return (self.split, self.index)

    @property
    def planned(self) -> int:
        return len(self.scored) + self.faults

    @property
    def solved(self) -> int:
        return sum(outcome.hard for outcome in self.scored)

    @property
    def perfect(self) -> float:
        """The share of the rollouts with full credit."""
        return sum(outcome.soft == 1.0 for outcome in self.scored) / len(self.scored)

    def values(self, metric: Metric) -> list[float]:
        """What the rollouts read on a metric, those that report it."""
        read = (metric.of(outcome) for outcome in self.scored)
        return [value for value in read if value is not None and math.isfinite(value)]

    def unreported(self, metric: Metric) -> int:
        return len(self.scored) - len(self.values(metric))

    def mean(self, metric: Metric) -> float:
        """The mean over the rollouts that report the metric: at least one has to."""
        values = self.values(metric)
        return math.fsum(values) / len(values)


def in_order(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """By task, then purpose and draw: whatever is computed from here on does not depend on who finished first."""
    return sorted(outcomes, key=_place)


def _place(outcome: Outcome) -> tuple[Split, int, str, int, str]:
    ticket = outcome.ticket
    return ticket.split, ticket.index, ticket.purpose, ticket.draw, outcome.key


def by_task(outcomes: Sequence[Outcome]) -> tuple[Attempts, ...]:
    """The outcomes of one policy, gathered by task and sorted."""
    gathered: dict[TaskId, list[Outcome]] = {}
    before = None
    for outcome in in_order(outcomes):
        ticket = outcome.ticket
        if ticket == before:
            raise WhetError(
                f"{ticket.split}/{ticket.index} has two outcomes for draw {ticket.draw} of {ticket.purpose!r}: "
                "give the rollouts of one policy at a time"
            )
        _check(outcome)
        before = ticket
        gathered.setdefault((ticket.split, ticket.index), []).append(outcome)
    return tuple(_attempts(task, rollouts) for task, rollouts in gathered.items())


def _check(outcome: Outcome) -> None:
    """Scores as `Score` promises them: an average over anything else would mislead."""
    if outcome.hard in (0, 1) and 0.0 <= outcome.soft <= 1.0 and math.isfinite(outcome.reward):
        return
    raise WhetError(
        f"{outcome.ticket.split}/{outcome.ticket.index} was graded hard {outcome.hard}, soft {outcome.soft:g}, reward "
        f"{outcome.reward:g}: hard must be 0 or 1, soft in [0, 1], reward finite; mend the environment's grader"
    )


def _attempts(task: TaskId, rollouts: Sequence[Outcome]) -> Attempts:
    scored = tuple(outcome for outcome in rollouts if not outcome.fault)
    return Attempts(*task, rollouts[0].label, scored, len(rollouts) - len(scored))


def with_scores(attempts: Iterable[Attempts]) -> tuple[Attempts, ...]:
    return tuple(tried for tried in attempts if tried.scored)


def repeats(attempts: Iterable[Attempts]) -> int:
    """How often a task was meant to be tried: the most common number of rollouts, the larger one of a tie."""
    counts = Counter(tried.planned for tried in attempts)
    return max(counts, key=lambda planned: (counts[planned], planned), default=0)


def span_of(metric: Metric, attempts: Iterable[Attempts]) -> tuple[float, float]:
    """The range of a metric: from 0 to 1, for rewards and parts stretched to whatever was seen outside it."""
    if metric.span is not None:
        return 0.0, 1.0
    seen = [value for tried in attempts for value in tried.values(metric)]
    return min((0.0, *seen)), max((1.0, *seen))
