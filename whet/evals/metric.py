"""What is measured: a number read from a score. A gate decides on a metric, and a run claims on the same."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache

from whet.errors import WhetError
from whet.types import Outcome, Score

BOUNDED = ("hard", "soft")
_UTILITY = re.compile(r"utility\(([^)]*)\)")
_MIXED = re.compile(r"mixed\(([^)]*)\)")


@dataclass(frozen=True, slots=True)
class Metric:
    """`hard`, `soft`, `reward`, `mixed(w)` = (1-w)·hard + w·soft, or a part that the environment reports.

    `utility(a=2,b=1)` prices errors that are parts of the score: 1 less the price of those made over the highest
    price; where a score reports none of them, `hard`.
    """

    name: str = "hard"

    def __post_init__(self) -> None:
        if not self.name:
            raise WhetError("a metric needs a name: hard, soft, mixed(w), reward or a part of the score")
        if self.name.startswith("mixed") and not 0.0 <= self._weight() <= 1.0:
            raise WhetError(
                f"metric {self.name!r}: the weight of the soft score lies between 0 and 1, as in mixed(0.5)"
            )

        if self.name.startswith("utility(") and not self.prices:
            raise WhetError(f"metric {self.name!r}: write prices of errors above 0, as in utility(false_release=2)")

    @property
    def prices(self) -> dict[str, float]:
        """The prices in a utility; empty where they cannot be read."""
        return _prices(self.name)

    def _weight(self) -> float:
        match = _MIXED.fullmatch(self.name)
        try:
            return float(match.group(1)) if match else math.nan
        except ValueError:
            return math.nan

    @property
    def span(self) -> float | None:
        """The width of the scale where it is known: 1 for what lies in [0, 1]."""
        return 1.0 if self.name in BOUNDED or self.name.startswith(("mixed(", "utility(")) else None

    def of(self, score: Score | Outcome) -> float | None:
        """The number, or None where this score does not report it."""
        if self.name in ("hard", "soft", "reward"):
            return float(getattr(score, self.name))
        if self.name.startswith("mixed("):
            weight = self._weight()
            return (1.0 - weight) * score.hard + weight * score.soft
        if self.name.startswith("utility("):
            prices = self.prices
            made = {part: price * score.parts[part] for part, price in prices.items() if part in score.parts}
            return 1.0 - sum(made.values()) / max(prices.values()) if made else float(score.hard)
        value = score.parts.get(self.name)
        return None if value is None or math.isnan(value) else float(value)

    def __str__(self) -> str:
        return self.name


@lru_cache(maxsize=64)
def _prices(name: str) -> dict[str, float]:
    found = _UTILITY.fullmatch(name)
    pairs = [pair.partition("=") for pair in found.group(1).split(",")] if found else []
    try:
        prices = {part.strip(): float(price) for part, _, price in pairs}
    except ValueError:
        return {}
    sound = all(part and math.isfinite(price) and price >= 0.0 for part, price in prices.items())
    return prices if sound and any(prices.values()) else {}


HARD, SOFT, REWARD = Metric("hard"), Metric("soft"), Metric("reward")


def as_metric(metric: Metric | str) -> Metric:
    """A metric by its name."""
    return metric if isinstance(metric, Metric) else Metric(metric)
