"""What so many tasks can show, before anything is run."""

from __future__ import annotations

import math
from statistics import NormalDist

FLIPS = 0.25
"""Share of tasks on which two policies of about the same skill come out differently; more of them show less."""


def showable_gain(tasks: int, alpha: float = 0.05, power: float = 0.8) -> float:
    """The gain in solve rate that a paired comparison on so many tasks shows four times in five, roughly; at most 1."""
    needed = NormalDist().inv_cdf(1.0 - alpha) + NormalDist().inv_cdf(power)
    return min(1.0, needed * math.sqrt(FLIPS / max(1, tasks)))


def tasks_for(gain: float, alpha: float = 0.05, power: float = 0.8) -> int:
    """How many tasks show a gain of this size four times in five, roughly."""
    needed = NormalDist().inv_cdf(1.0 - alpha) + NormalDist().inv_cdf(power)
    return math.ceil(FLIPS * (needed / gain) ** 2)
