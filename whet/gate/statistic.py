"""The numbers of the paired gate: per-task differences, what they add up to, and from where they accept.

Tasks count as a sample: what a candidate does to other tasks of the same kind may differ, and that spread stands in the
denominator of every statistic beside the noise of single draws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from whet.evals.metric import HARD, Metric
from whet.gate.evidence import Bank, Reading

Floats = NDArray[np.float64]

NOISE_WEIGHT = 0.5
"""How strongly a difference is shrunk by its noise: 0 would count a flip of a coin-flip task as a whole flip."""
PRIOR_VARIANCE = 0.1
"""The variance of one solved-or-not draw before its task was seen: a fifth coin flips, the rest nearly certain."""
LEAST_SQUARE = 0.05
"""Stands in the denominator, in squared flips: many tiny differences of one sign are no evidence."""
HEAVY = 0.55
"""A loss above this share of the scale is a task that broke, not the noise of one that is solved now and then."""


@dataclass(frozen=True, slots=True)
class ArmContrast:
    """Candidate against incumbent on the tasks where both were drawn."""

    difference: Floats
    """Mean of the candidate minus mean of the incumbent, by task; 0 where either is missing."""
    weighed: Floats
    """The same, shrunk by its noise: near the difference on reliable tasks, near 0 on coin-flip tasks."""
    seen: int
    total: float
    statistic: float
    effect: float

    @property
    def better(self) -> int:
        return int((self.difference > 0).sum())

    @property
    def worse(self) -> int:
        return int((self.difference < 0).sum())


@dataclass(slots=True)
class DrawTally:
    """Draws of both arms, by task: row 0 the incumbent, row 1 the candidate."""

    tasks: int
    span: float | None = 1.0
    binary: bool = True
    count: Floats = field(init=False)
    sums: Floats = field(init=False)
    squares: Floats = field(init=False)
    low: float = field(init=False, default=np.inf)
    high: float = field(init=False, default=-np.inf)

    def __post_init__(self) -> None:
        self.count, self.sums, self.squares = (np.zeros((2, self.tasks)) for _ in range(3))

    def add(self, arm: int, task: int, value: float) -> None:
        self.count[arm, task] += 1.0
        self.sums[arm, task] += value
        self.squares[arm, task] += value * value
        self.low, self.high = min(self.low, value), max(self.high, value)

    def read(self, arm: int, task: int, reading: Reading) -> None:
        """Add what a draw read, if it read anything."""
        if reading is not None and reading[0] is not None:
            self.add(arm, task, reading[0])

    def means(self) -> Floats:
        return self.sums / np.maximum(self.count, 1.0)

    def scale(self) -> float:
        """The width of the metric: known, or as wide as what was seen."""
        return self.span if self.span is not None else max(self.high - self.low, 0.0)

    def worst(self, arm: int) -> float:
        """What a missing draw counts as: the value least favourable to an acceptance."""
        if self.span is not None:
            return self.span if arm == 0 else 0.0
        return self.high if arm == 0 else self.low

    def settled(self, tolerance: float) -> NDArray[np.bool_]:
        """Tasks on which all draws of both arms agree (within `tolerance`, a share of the scale)."""
        if self.binary:
            drawn, solved = self.count.sum(axis=0), self.sums.sum(axis=0)
            agreed: NDArray[np.bool_] = (solved == 0.0) | (solved == drawn)
            return agreed
        means = self.means()
        both = (self.count > 0).all(axis=0)
        close: NDArray[np.bool_] = np.abs(means[1] - means[0]) <= tolerance * self.scale()
        return ~both | close

    def _prior(self, spread: Floats, freedom: Floats) -> float:
        if self.binary:
            return PRIOR_VARIANCE
        return float((spread.sum() + PRIOR_VARIANCE * self.scale() ** 2) / (freedom.sum() + 1.0))

    def contrast(self, min_effect: float = 0.0) -> ArmContrast:
        """What the draws say so far. `min_effect` is the mean effect that counts as none."""
        count = np.maximum(self.count, 1.0)
        means = self.sums / count
        both = (self.count > 0).all(axis=0)
        difference = np.where(both, means[1] - means[0], 0.0)
        spread = np.maximum(self.squares - self.sums * means, 0.0).sum(axis=0)
        freedom = (count - 1.0).sum(axis=0)
        noise = (spread + self._prior(spread, freedom)) / (freedom + 1.0) * (1.0 / count).sum(axis=0)
        square = difference * difference
        weighed = difference * square / (square + NOISE_WEIGHT * noise + 1e-12)
        seen = int(both.sum())
        total = float(weighed.sum()) - min_effect * seen
        flip = 1.0 if self.binary else float(np.abs(difference).max(initial=0.0))
        root = float(np.sqrt((weighed * weighed).sum() + LEAST_SQUARE * flip * flip))
        effect = float(difference.sum()) / seen if seen else 0.0
        return ArmContrast(difference, weighed, seen, total, total / root if root > 1e-9 else 0.0, effect)


def stocked(metric: Metric, bank: Bank) -> DrawTally:
    """A tally that holds the incumbent's draws."""
    tally = DrawTally(bank.tasks, metric.span, metric == HARD)
    for task, row in enumerate(bank.readings):
        for reading in row:
            tally.read(0, task, reading)
    return tally


def skewed_statistic(difference: Floats, scale: float, min_effect: float = 0.0) -> float:
    """The self-normalised sum of per-task differences, corrected where few heavy losses hide among many small gains.

    The correction is Johnson's for the t statistic of a skewed sample, applied only where it lowers the statistic: with
    losses rarer and larger than the gains, the sample mean is most often above the true one.
    """
    d = difference / scale - min_effect if scale > 0.0 else difference * 0.0
    total, square, cube = float(d.sum()), float((d * d).sum()), float((d * d * d).sum())
    if square <= 1e-12:
        return 0.0
    lowered = min(0.0, cube) * (1.0 / (6.0 * square) + total * total / (3.0 * square * square))
    return (total + lowered) / math.sqrt(square + LEAST_SQUARE)


def least_gain(alpha: float, lost: float) -> float:
    """The net gain, in whole tasks, that must be seen beside `lost` whole tasks of heavy losses.

    A candidate that helps every task a little and breaks a rare kind of task looks like a pure gain wherever the rare
    kind is not among the tasks. Losses of a rare kind are counted as a Poisson number: with a true mean loss as large
    as the gain seen, no more than `lost` of them would turn up with probability alpha at most. Without a loss that is a
    gain of ln(1/alpha) whole tasks: 3.0 at 0.05.
    """
    k = lost + 1.0
    z = NormalDist().inv_cdf(1.0 - alpha)
    return k * max(0.0, 1.0 - 1.0 / (9.0 * k) + z / (3.0 * math.sqrt(k))) ** 3 - lost


@lru_cache(maxsize=256)
def clean_wins(alpha: float) -> int:
    """How many tasks won and none lost show a gain at `alpha`.

    Where a candidate turns as many tasks up as down, the chance of k won and none lost depends on how many it turns;
    at its worst it is 0.25, 0.10, 0.045, 0.021, 0.010 … for k = 1, 2, 3, 4, 5 …
    """
    wins = 1
    while _worst_chance(wins) > 1.025 * alpha:
        wins += 1
    return wins


@lru_cache(maxsize=256)
def _worst_chance(wins: int) -> float:
    """The largest probability, over the rate, of at least `wins` wins and no loss, both Poisson with that rate."""
    rates = np.linspace(0.05, 3.0 * wins + 3.0, 1200)
    below = np.zeros_like(rates)
    term = np.exp(-rates)
    for k in range(wins):
        below += term
        term = term * rates / (k + 1)
    return float((np.exp(-rates) * (1.0 - below)).max())


def clean_statistic(wins: int) -> float:
    """The statistic of a race after `wins` confirmed wins (2 + 4 draws each) and no loss."""
    noise = PRIOR_VARIANCE / 5.0 * 0.75
    evidence = 1.0 / (1.0 + NOISE_WEIGHT * noise)
    return wins * evidence / math.sqrt(wins * evidence * evidence + LEAST_SQUARE)


def reachable(headroom: Floats) -> float:
    """The largest statistic that a candidate could reach if it used up the headroom of any set of tasks."""
    room = np.sort(headroom[headroom > 0.0])[::-1]
    if not room.size:
        return 0.0
    return float((np.cumsum(room) / np.sqrt(np.cumsum(room * room))).max())


def prefixes(tasks: int) -> tuple[int, ...]:
    """The sizes of the parts of the plan at which a race looks: all at once up to 100 tasks, 40 first beyond."""
    sizes: list[int] = []
    size = 40.0
    while tasks > 100 and size < 0.75 * tasks:
        sizes.append(int(size))
        size *= 2.5
    return (*sizes, tasks)
