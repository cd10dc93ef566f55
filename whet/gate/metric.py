"""What a gate measures: one number read from a score, and the guards, numbers that may not get worse."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

from whet.errors import WhetError
from whet.types import Score

BOUNDED = ("hard", "soft")
_MIXED = re.compile(r"mixed\(([^)]*)\)")


@dataclass(frozen=True, slots=True)
class Metric:
    """`hard`, `soft`, `reward`, `mixed(w)` = (1-w)·hard + w·soft, or a part that the environment reports."""

    name: str = "hard"

    def __post_init__(self) -> None:
        if not self.name:
            raise WhetError("a metric needs a name: hard, soft, mixed(w), reward or a part of the score")
        if self.name.startswith("mixed") and not 0.0 <= self._weight() <= 1.0:
            raise WhetError(
                f"metric {self.name!r}: the weight of the soft score lies between 0 and 1, as in mixed(0.5)"
            )

    def _weight(self) -> float:
        match = _MIXED.fullmatch(self.name)
        try:
            return float(match.group(1)) if match else math.nan
        except ValueError:
            return math.nan

    @property
    def span(self) -> float | None:
        """The width of the scale where it is known: 1 for what lies in [0, 1]."""
        return 1.0 if self.name in BOUNDED or self.name.startswith("mixed(") else None

    def of(self, score: Score) -> float | None:
        """The number, or None where this score does not report it."""
        if self.name in ("hard", "soft", "reward"):
            return float(getattr(score, self.name))
        if self.name.startswith("mixed("):
            weight = self._weight()
            return (1.0 - weight) * score.hard + weight * score.soft
        value = score.parts.get(self.name)
        return None if value is None or math.isnan(value) else float(value)

    def __str__(self) -> str:
        return self.name


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
