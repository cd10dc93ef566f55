"""The numbers of the paired gate: per-task differences, how much of each is noise, and what they add up to.

The statistic is a self-normalised sum over tasks, so tasks count as a sample: what a candidate does to other tasks of
the same kind may differ, and that spread stands in the denominator beside the noise of single draws.
"""

from __future__ import annotations

from dataclasses import dataclass, field
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
"""Stands in the denominator, in squared flips: many tiny differences of one sign are no evidence, since where the
incumbent nearly always solves a task, nearly every candidate seems a little better."""
EARLY = 1.15
"""How much higher the bar stands at a prefix that is not the last."""


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


def threshold(alpha: float, tasks: int, last: bool = True, binary: bool = True, bar: float = 0.73) -> float:
    """From where the statistic accepts a candidate.

    Below the normal quantile, because a candidate reaches the last look only past the futility bounds, and because few
    whole flips leave few values for the statistic; less so for a metric with shades. `bar` is the share of the quantile
    that goes with the pace: above 1 where nothing drops a candidate early. Higher for very few tasks and at early
    looks. Calibrated by simulation over many worlds: see `docs/decisions/0002-the-gate.md`.
    """
    share = 12.0 / tasks**2 + (bar if binary else max(bar, 1.0))
    return NormalDist().inv_cdf(1.0 - alpha) * share * (1.0 if last else EARLY)


def reachable(headroom: Floats) -> float:
    """The largest statistic that a candidate could reach if it used up the headroom of any set of tasks."""
    room = np.sort(headroom[headroom > 0.0])[::-1]
    if not room.size:
        return 0.0
    return float((np.cumsum(room) / np.sqrt(np.cumsum(room * room))).max())


def prefixes(tasks: int) -> tuple[int, ...]:
    """The sizes of the parts of the plan at which the gate looks: all at once up to 100 tasks, 40 first beyond."""
    sizes: list[int] = []
    size = 40.0
    while tasks > 100 and size < 0.75 * tasks:
        sizes.append(int(size))
        size *= 2.5
    return (*sizes, tasks)
