"""A guard: a number beside the gate's metric that may not get worse, as its mean or as the upper bound of its mean."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

from whet.errors import WhetError
from whet.evals.metric import Metric
from whet.types import Score


@dataclass(frozen=True, slots=True)
class Guard:
    """A metric that an accepted candidate may worsen by at most `bound`, as the mean over the tasks seen.

    The bound holds for the observed mean difference. With a `level` it holds for the upper bound of the mean paired
    difference at that level: so much harm must be ruled out. `among` names a part of the score: only tasks on which it
    is above 0 are concerned, and the mean is theirs. An `optional` guard is passed over where no score reports it.
    """

    metric: Metric
    bound: float = 0.0
    better: Literal["up", "down"] = "up"
    level: float | None = None
    among: str = ""
    optional: bool = False

    def __post_init__(self) -> None:
        if self.better not in ("up", "down"):
            raise WhetError(f"guard {self.metric}: better is 'up' or 'down', not {self.better!r}")
        if not (math.isfinite(self.bound) and self.bound >= 0.0):
            raise WhetError(f"guard {self.metric}: the bound is a finite number of at least 0, not {self.bound!r}")

        if self.level is not None and not 0.5 <= self.level < 1.0:
            raise WhetError(f"guard {self.metric}: the level lies between 0.5 and 1, not {self.level!r}")

    def read(self, score: Score) -> float | None:
        """The number, or None where this score does not report it or its task is not concerned."""
        if self.among and not score.parts.get(self.among, 0.0) > 0.0:
            return None
        return self.metric.of(score)

    def worst(self, differences: Sequence[float]) -> float:
        """The harm that the bound is held against: the mean over tasks, or its upper bound at `level`."""
        harms = [self.harm(difference) for difference in differences]
        if not harms:
            return math.nan
        if self.level is None:
            return sum(harms) / len(harms)
        return upper_bound(harms, self.level)

    def harm(self, difference: float) -> float:
        """How much worse a difference (candidate minus incumbent) is; negative: better."""
        return -difference if self.better == "up" else difference


def upper_bound(harms: Sequence[float], level: float) -> float:
    """The one-sided upper bound of the mean of paired differences in [-1, 1], after Agresti and Min.

    Half a task is added to each of harmed, helped and to both cells of agreement, so that no difference among few tasks
    is not taken for proof that there is none.
    """
    n = len(harms) + 2.0
    mean = math.fsum(harms) / n
    square = (math.fsum(harm * harm for harm in harms) + 1.0) / n
    return mean + NormalDist().inv_cdf(level) * math.sqrt(max(0.0, square - mean * mean) / n)
