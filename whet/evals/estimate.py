"""Estimates with intervals that keep their promise when tasks are few and most of them are solved, or none.

An estimate is a mean over tasks, or over simulated runs. `docs/evals.md` says why these intervals, `bench/intervals.py`
measures how often they cover the truth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from whet.errors import WhetError

LEVEL = 0.95

_QUANTILE = 1.959963984540054
"""The normal quantile of `LEVEL` to its last digit, which the standard library misses."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Where the truth lies, found by a procedure that is right `level` of the time."""

    low: float
    high: float
    level: float = LEVEL


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over `tasks` tasks (of a simulation: runs) and how far it can be trusted."""

    value: float
    interval: Interval
    tasks: int


def quantile(level: float) -> float:
    """The normal quantile of a two-sided interval."""
    if not 0.0 < level < 1.0:
        raise WhetError(f"level {level:g} is not between 0 and 1: use 0.95 for intervals that hold 95 % of the time")
    return _QUANTILE if level == LEVEL else NormalDist().inv_cdf((1.0 + level) / 2.0)


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
    return Interval(*_score_interval(successes / n, quantile(level) ** 2, n), level)


def exact_upper(successes: int, n: int, confidence: float = LEVEL) -> float:
    """Clopper and Pearson's upper bound of a share, one-sided: below it with at least this confidence, at any n."""
    if not 0 <= successes <= n:
        raise WhetError(f"{successes} successes of {n}: not a share")
    if successes == n:
        return 1.0
    # Loaded here, as above.
    from scipy.special import betaincinv

    return float(betaincinv(successes + 1, n - successes, confidence))


def share_interval(successes: int, n: int, level: float = LEVEL) -> Interval | None:
    """The interval of a share of `n` tasks as `mean_estimate` gives it; None without tasks."""
    found = mean_estimate([1.0] * successes + [0.0] * (n - successes), level=level)
    return None if found is None else found.interval


def mean_estimate(
    values: Sequence[float], *, span: tuple[float, float] = (0.0, 1.0), level: float = LEVEL
) -> Estimate | None:
    """The mean of one value per task, each inside `span`; None without tasks.

    Values of 0 and 1 give the interval of Agresti and Coull. In between, the same with the spread that was seen in
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


SMALLEST = 0.25
"""Differences are judged on a scale of at least this share of the largest: where only small ones were seen, by chance,
rarer and larger ones may be due.
"""


def difference_estimate(
    differences: Sequence[float], *, largest: float = 1.0, draw: float = 0.0, level: float = LEVEL
) -> Estimate | None:
    """The mean of one difference per task; `largest` is how big one could be, and matters where few or small ones were.

    Gains and losses are estimated apart and put together by squaring and adding, so that the interval stays honest
    when few tasks changed, and does not vanish when none did. `draw` is how far one more draw could move a difference:
    where one side has fewer draws, a loss of that size may be due that no task has shown yet.
    """
    if not differences:
        return None
    n = len(differences)
    mean = math.fsum(differences) / n
    seen = max(abs(difference) for difference in differences) or largest
    scale = max(seen, draw, SMALLEST * largest)
    gains = [max(difference, 0.0) / scale for difference in differences]
    losses = [max(-difference, 0.0) / scale for difference in differences]
    gain, loss = math.fsum(gains) / n, math.fsum(losses) / n
    gain_low, gain_high = _unit_interval(gains, level)
    loss_low, loss_high = _unit_interval(losses, level)
    overlap = _correlation(gains, losses, gain, loss)
    below = scale * _added(gain - gain_low, loss_high - loss, overlap)
    above = scale * _added(gain_high - gain, loss - loss_low, overlap)
    return Estimate(mean, Interval(mean - below, mean + above, level), n)


def normal_estimate(values: Sequence[float], *, level: float = LEVEL) -> Estimate | None:
    """The mean of independent values on a scale without ends, many enough for the normal interval; None without any."""
    # Loaded here, as in `whet.evals.paired`: showing a table does not wait for it.
    import numpy as np

    if not values:
        return None
    mean, n = float(np.mean(values)), len(values)
    half = quantile(level) * float(np.std(values, ddof=1)) / math.sqrt(n) if n > 1 else math.inf
    return Estimate(mean, Interval(mean - half, mean + half, level), n)


def clustered_estimate(clusters: Sequence[Sequence[float]], *, level: float = LEVEL) -> Estimate | None:
    """The mean over all values; the interval counts clusters, because values of one cluster are not independent."""
    count, n = sum(len(cluster) for cluster in clusters), len(clusters)
    if not count:
        return None
    mean = sum(sum(cluster) for cluster in clusters) / count
    off = sum((sum(cluster) - mean * len(cluster)) ** 2 for cluster in clusters) * n / max(n - 1, 1)
    half = quantile(level) * math.sqrt(off) / count
    return Estimate(mean, Interval(mean - half, mean + half, level), n)


def clustered_share(clusters: Sequence[Sequence[bool]], *, level: float = LEVEL) -> Estimate | None:
    """A share, as `clustered_estimate`, inside [0, 1]; where all values agree, Wilson's interval."""
    share = clustered_estimate([[float(value) for value in cluster] for cluster in clusters], level=level)
    if share is None:
        return None
    low, high = max(share.interval.low, 0.0), min(share.interval.high, 1.0)
    if share.value in (0.0, 1.0):
        count = sum(len(cluster) for cluster in clusters)
        low, high = _score_interval(share.value, quantile(level) ** 2, count)
    return Estimate(share.value, Interval(low, high, level), share.tasks)


def ranged(estimate: Estimate | None, digits: int) -> str:
    """An estimate for a person to read: 0.42 [0.31, 0.53]; a dash where there is none."""
    if estimate is None:
        return "-"
    low, high = estimate.interval.low, estimate.interval.high
    return f"{estimate.value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


UNSEEN = 1.0
"""How many failures (of the rarer outcome) the spread is taken to be binomial for, beside what was seen of it."""


def _unit_interval(values: Sequence[float], level: float) -> tuple[float, float]:
    """The interval of the mean of values in [0, 1].

    A spread is known from the rarer outcome: ten tasks that all came close to 1 may hide the one in ten that fails.
    So the spread that was seen counts by how often the rarer outcome was met, and the binomial one, the largest that
    the mean allows, counts `UNSEEN` times. Without any spread it is the binomial one alone.
    """
    n = len(values)
    mean = math.fsum(values) / n
    seen = _squares(values, mean)
    if n < 2 or seen <= 1e-18 * n or all(value in (0.0, 1.0) for value in values):
        square = quantile(level) ** 2
    else:
        share = min(seen / ((n - 1) * mean * (1.0 - mean)), 1.0)
        rarer = n * min(mean, 1.0 - mean)
        square = _student(n - 1, level) ** 2 * (share * rarer + UNSEEN) / (rarer + UNSEEN)
    low, high = _widened_interval(mean, square, n)
    return min(low, mean), max(high, mean)


def _widened_interval(mean: float, square: float, n: int) -> tuple[float, float]:
    """Agresti and Coull's interval: as many pseudo-tasks, half of them solved, as the square of the quantile says.

    It holds the score interval, whose coverage falls below nine in ten at some rates.
    """
    weight = n + square
    centre = (n * mean + square / 2.0) / weight
    half = math.sqrt(square * centre * (1.0 - centre) / weight)
    return max(centre - half, 0.0), min(centre + half, 1.0)


def _score_interval(mean: float, square: float, n: int) -> tuple[float, float]:
    """The solutions m of n (mean - m)^2 = square m (1 - m); `square` is that of the quantile."""
    return 1.0 - _score_bound(1.0 - mean, square, n), _score_bound(mean, square, n)


def _score_bound(mean: float, square: float, n: int) -> float:
    """The upper solution; the lower one is that of the opposite share."""
    half = math.sqrt(square * n * mean * (1.0 - mean) + square * square / 4.0)
    return 1.0 if mean >= 1.0 else min((n * mean + square / 2.0 + half) / (n + square), 1.0)


def _squares(values: Sequence[float], mean: float) -> float:
    return math.fsum((value - mean) ** 2 for value in values)


def _correlation(gains: Sequence[float], losses: Sequence[float], gain: float, loss: float) -> float:
    """A task that gained did not lose: the two are never positively correlated."""
    spread = math.sqrt(_squares(gains, gain) * _squares(losses, loss))
    return max(-len(gains) * (gain * loss) / spread, -1.0) if spread > 0.0 else 0.0


def _added(gain: float, loss: float, correlation: float) -> float:
    return math.sqrt(max(gain * gain + loss * loss - 2.0 * correlation * (gain * loss), 0.0))
