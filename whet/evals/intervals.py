"""Estimates with intervals that keep their promise when tasks are few and most of them are solved, or none.

Everything is a mean over tasks. `docs/evals.md` says why these intervals, `bench/intervals.py` measures how often they
cover the truth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from whet.errors import WhetError

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """Where the truth lies, found by a procedure that is right `level` of the time."""

    low: float
    high: float
    level: float = LEVEL


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over `tasks` tasks and how far it can be trusted."""

    value: float
    interval: Interval
    tasks: int


def quantile(level: float) -> float:
    """The normal quantile of a two-sided interval."""
    if not 0.0 < level < 1.0:
        raise WhetError(f"level {level:g} is not between 0 and 1: use 0.95 for intervals that hold 95 % of the time")
    return NormalDist().inv_cdf((1.0 + level) / 2.0)


def _student(freedom: int, level: float) -> float:
    # Loaded here: half a second that an evaluation of single binary draws, and every import, can do without.
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1.0 + level) / 2.0))


def wilson(successes: int, n: int, level: float = LEVEL) -> Interval | None:
    """Wilson's score interval of a share; None without observations."""
    if not 0 <= successes <= n:
        raise WhetError(f"{successes} successes of {n}: not a share")
    if n == 0:
        return None
    return Interval(*_score_interval(successes / n, quantile(level) ** 2 / n), level)


def mean_estimate(
    values: Sequence[float], *, span: tuple[float, float] = (0.0, 1.0), level: float = LEVEL
) -> Estimate | None:
    """The mean of one value per task, each inside `span`; None without tasks.

    Values of 0 and 1 give Wilson's interval. In between, the same score interval with the spread that was seen in
    place of the binomial one, and Student's quantile for having estimated it.
    """
    if not values:
        return None
    low, high = span
    width = high - low
    mean = math.fsum(values) / len(values)
    if width <= 0.0:
        raise WhetError(f"a span from {low:g} to {high:g} holds no values")
    bottom, top = _unit_interval([(value - low) / width for value in values], level)
    interval = Interval(min(low + width * bottom, mean), max(low + width * top, mean), level)
    return Estimate(mean, interval, len(values))


def difference_estimate(differences: Sequence[float], *, largest: float = 1.0, level: float = LEVEL) -> Estimate | None:
    """The mean of one difference per task; `largest` is how big one could be, and matters only where none was seen.

    Gains and losses are estimated apart and put together by squaring and adding, so that the interval stays honest
    when few tasks changed, and does not vanish when none did.
    """
    if not differences:
        return None
    n = len(differences)
    mean = math.fsum(differences) / n
    scale = max(abs(one) for one in differences) or largest
    gains = [max(one, 0.0) / scale for one in differences]
    losses = [max(-one, 0.0) / scale for one in differences]
    gain, loss = math.fsum(gains) / n, math.fsum(losses) / n
    gain_low, gain_high = _unit_interval(gains, level)
    loss_low, loss_high = _unit_interval(losses, level)
    overlap = _correlation(gains, losses, gain, loss)
    below = scale * _added(gain - gain_low, loss_high - loss, overlap)
    above = scale * _added(gain_high - gain, loss - loss_low, overlap)
    return Estimate(mean, Interval(mean - below, mean + above, level), n)


def _unit_interval(values: Sequence[float], level: float) -> tuple[float, float]:
    """The interval of the mean of values in [0, 1]."""
    n = len(values)
    mean = math.fsum(values) / n
    z = quantile(level)
    binomial = mean * (1.0 - mean)
    seen = _squares(values, mean)
    if n < 2 or seen <= 1e-18 * n or all(value in (0.0, 1.0) for value in values):
        # Without spread nothing is known about it: the largest that the mean allows is assumed.
        low, high = _score_interval(mean, z * z / n)
    else:
        student = _student(n - 1, level)
        share = min(seen / ((n - 1) * binomial), 1.0)
        low, high = _score_interval(mean, student * student * share / n)
    return min(low, mean), max(high, mean)


def _score_interval(mean: float, k: float) -> tuple[float, float]:
    """The solutions m of (mean - m)^2 = k m (1 - m)."""
    centre = mean + k / 2.0
    half = math.sqrt(k * mean * (1.0 - mean) + k * k / 4.0)
    low = 0.0 if mean <= 0.0 else max((centre - half) / (1.0 + k), 0.0)
    high = 1.0 if mean >= 1.0 else min((centre + half) / (1.0 + k), 1.0)
    return low, high


def _squares(values: Sequence[float], mean: float) -> float:
    return math.fsum((value - mean) ** 2 for value in values)


def _correlation(gains: Sequence[float], losses: Sequence[float], gain: float, loss: float) -> float:
    """A task that gained did not lose: the two are never positively correlated."""
    spread = math.sqrt(_squares(gains, gain) * _squares(losses, loss))
    return max(-len(gains) * (gain * loss) / spread, -1.0) if spread > 0.0 else 0.0


def _added(one: float, other: float, correlation: float) -> float:
    return math.sqrt(max(one * one + other * other - 2.0 * correlation * (one * other), 0.0))
