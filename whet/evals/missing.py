"""What a comparison lacks. Attempts that faults took away are not a random sample: they are bounded by the worst case.

A draw that is missing could have read anything on the scale. So a comparison is made twice more, with everything that
is missing at the end that favours one side and then the other, and says what holds in all three.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from whet.errors import WhetError
from whet.evals.attempts import Attempts, TaskId, repeats
from whet.evals.metric import HARD, Metric

LIMIT = 0.02
"""The largest share that may be missing on either side."""

UNEQUAL = 0.01
"""Missingness this unlikely to fall on the sides by chance is not equal (Fisher's exact test)."""


MOST_MOVED = 0.5
"""Where missing rollouts could move a difference by more of the scale than this, no comparison is left."""


@dataclass(frozen=True, slots=True)
class Shortfall:
    """What one side lacks of the rollouts planned for the tasks that are compared."""

    planned: int
    faults: int = 0
    absent: int = 0
    unreported: int = 0
    """With a score that does not hold the metric: a part of the score that the environment reports now and then."""

    @property
    def count(self) -> int:
        return self.faults + self.absent + self.unreported

    @property
    def share(self) -> float:
        return self.count / self.planned if self.planned else 0.0

    def __str__(self) -> str:
        silent = f"{self.unreported} without the metric, " if self.unreported else ""
        counts = f"{self.faults} faults, {silent}{self.absent} absent of {self.planned} rollouts"
        return f"{100 * self.share:.1f} % ({counts})"


def meant_draws(side: Mapping[TaskId, Attempts], other: Mapping[TaskId, Attempts], task: TaskId, usual: int) -> int:
    """How often `side` was to try a task: as often as is usual on it, or as often as both tried it."""
    had, had_other = (attempts[task].planned if task in attempts else 0 for attempts in (side, other))
    return had if had == had_other else max(usual, had)


def missing_from(
    side: Mapping[TaskId, Attempts], other: Mapping[TaskId, Attempts], tasks: Iterable[TaskId], metric: Metric = HARD
) -> Shortfall:
    """What `side` lacks of `tasks`."""
    planned = faults = absent = unreported = 0
    usual = repeats(side.values())
    for task in tasks:
        meant = meant_draws(side, other, task, usual)
        planned += meant
        absent += meant
        if task in side:
            faults += side[task].faults
            unreported += side[task].unreported(metric)
            absent -= side[task].planned
    return Shortfall(planned, faults, absent, unreported)


def why_refused(a: Shortfall, b: Shortfall) -> str:
    """Why what is missing could decide a comparison of the two sides; empty where it could not."""
    if max(a.share, b.share) > LIMIT:
        return f"at most {100 * LIMIT:g} % may be missing"
    if a.count + b.count and chance_of_split(a, b) < UNEQUAL:
        return "that is too unequal to be chance"
    return ""


def refuse_if_open(a: Shortfall, b: Shortfall, moved: float) -> None:
    """Refuse a comparison of which the missing rollouts leave nothing: they could move it by more than `MOST_MOVED`."""
    if moved > MOST_MOVED:
        mend = "finish both runs on the same tasks, with --retry-faults where there are faults"
        raise WhetError(
            f"not compared: missing from the first: {a}, from the second: {b}; what is missing could move the "
            f"difference by {moved:.2f} of the scale, and {MOST_MOVED:g} is the most that is bounded: {mend}"
        )


def chance_of_split(a: Shortfall, b: Shortfall) -> float:
    """Fisher's exact test, two-sided: how likely the missing ones fall on the sides at least this unequally."""
    lost = a.count + b.count
    whole = _log_ways(a.planned + b.planned, lost)
    splits = range(max(0, lost - b.planned), min(lost, a.planned) + 1)
    chances = {k: math.exp(_log_ways(a.planned, k) + _log_ways(b.planned, lost - k) - whole) for k in splits}
    # Chances that are equal but for rounding count as equal.
    return min(1.0, math.fsum(chance for chance in chances.values() if chance <= chances[a.count] * (1 + 1e-7)))


def _log_ways(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
