"""Alpha across a run: each further candidate gets a smaller share of a total that bounds the run's false accepts."""

from __future__ import annotations

import math
from dataclasses import dataclass

from whet.errors import WhetError


@dataclass(frozen=True, slots=True)
class AlphaBudget:
    """The alphas of a run add up to at most `total`: the first `even` candidates get equal shares of half of it."""

    total: float
    even: int = 10

    def __post_init__(self) -> None:
        if not 0.0 < self.total < 1.0 or self.even < 1:
            raise WhetError(
                f"spending: total lies between 0 and 1 and even is at least 1, not {self.total!r}, {self.even!r}"
            )

    def alpha_for(self, number: int, most: float) -> float:
        """The alpha of candidate `number` (0, 1, …), never above `most`."""
        half = self.total / 2.0
        if number < self.even:
            return min(most, half / self.even)
        rest = number - self.even + 1
        return min(most, half * 6.0 / (math.pi**2 * rest**2))
