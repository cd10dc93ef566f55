"""What a comparison lacks. Attempts that faults took away are not a random sample: with many, nothing is compared."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from whet.errors import WhetError
from whet.evals.attempts import Attempts, TaskId, repeats

LIMIT = 0.02
"""The largest share that may be missing on either side."""

UNEQUAL = 0.01
"""Missingness this unlikely to fall on the sides by chance is not equal (Fisher's exact test)."""


@dataclass(frozen=True, slots=True)
class Missing:
    """What one side lacks of the rollouts planned for the tasks that are compared."""

    planned: int
    faults: int
    absent: int

    @property
    def count(self) -> int:
        return self.faults + self.absent

    @property
    def share(self) -> float:
        return self.count / self.planned if self.planned else 0.0

    def __str__(self) -> str:
        return f"{100 * self.share:.1f} % ({self.faults} faults, {self.absent} absent of {self.planned} rollouts)"


def missing_from(side: Mapping[TaskId, Attempts], other: Mapping[TaskId, Attempts], tasks: Iterable[TaskId]) -> Missing:
    """What `side` lacks of `tasks`, each planned as often as is usual on that side, or as often as both tried it."""
    planned = faults = absent = 0
    usual = repeats(side.values())
    for task in tasks:
        had, had_other = (one[task].planned if task in one else 0 for one in (side, other))
        meant = had if had == had_other else max(usual, had)
        planned += meant
        faults += side[task].faults if task in side else 0
        absent += meant - had
    return Missing(planned, faults, absent)


def refuse_if_missing(a: Missing, b: Missing) -> None:
    """Refuse a comparison that missing rollouts could decide."""
    said = f"missing from the first: {a}, from the second: {b}"
    mend = "finish both runs on the same tasks, with --retry-faults where there are faults"
    if max(a.share, b.share) > LIMIT:
        raise WhetError(f"not compared: {said}; at most {100 * LIMIT:g} % may be missing: {mend}")
    if a.count != b.count and chance_of_split(a, b) < UNEQUAL:
        raise WhetError(f"not compared: {said}; that is too unequal to be chance: {mend}")


def chance_of_split(a: Missing, b: Missing) -> float:
    """Fisher's exact test, two-sided: how likely the missing ones fall on the sides at least this unequally."""
    lost = a.count + b.count
    whole = _log_ways(a.planned + b.planned, lost)
    splits = range(max(0, lost - b.planned), min(lost, a.planned) + 1)
    chances = {k: math.exp(_log_ways(a.planned, k) + _log_ways(b.planned, lost - k) - whole) for k in splits}
    # Chances that are equal but for rounding count as equal.
    return min(1.0, math.fsum(chance for chance in chances.values() if chance <= chances[a.count] * (1 + 1e-7)))


def _log_ways(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
