"""A guard: a number beside the gate's metric that may not get worse."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from whet.errors import WhetError
from whet.evals.metric import Metric


@dataclass(frozen=True, slots=True)
class Guard:
    """A metric that an accepted candidate may worsen by at most `bound`, as the mean over the tasks seen.

    The bound holds for the observed mean difference: a guard refuses when in doubt rather than testing for harm.
    """

    metric: Metric
    bound: float = 0.0
    better: Literal["up", "down"] = "up"

    def __post_init__(self) -> None:
        if self.better not in ("up", "down"):
            raise WhetError(f"guard {self.metric}: better is 'up' or 'down', not {self.better!r}")
        if not (math.isfinite(self.bound) and self.bound >= 0.0):
            raise WhetError(f"guard {self.metric}: the bound is a finite number of at least 0, not {self.bound!r}")

    def harm(self, difference: float) -> float:
        """How much worse a difference (candidate minus incumbent) is; negative: better."""
        return -difference if self.better == "up" else difference
