"""Laws of candidates that are no better: what the incumbent is like, and what a candidate changes without being better.

The laws stand in two halves. The constants of the gate were chosen on the tuned half; the held-out half was looked at
only afterwards. Nothing may move from the second to the first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Chances = NDArray[np.float64]
Start = Callable[[int, np.random.Generator], Chances]
Change = Callable[[Chances, np.random.Generator], Chances]
Half = Literal["tuned", "held_out"]

LOW, HIGH = 0.3, 0.7
"""Tasks below and above these chances can be won and lost for sure."""


@dataclass(frozen=True, slots=True)
class NullLaw:
    """Chances of an incumbent on n tasks, and of a candidate whose mean is the same or lower."""

    name: str
    half: Half
    start: Start
    change: Change
    shades: float | None = None
    """None: solved or not. Else a metric with shades, each draw spread evenly around its task's mean by this share."""


# ----------------------------------------------------------------------------------------------------- incumbents


def flat(chance: float) -> Start:
    return lambda tasks, rng: np.full(tasks, chance)


def beta(a: float, b: float) -> Start:
    return lambda tasks, rng: rng.beta(a, b, tasks)


def mix(*parts: tuple[float, float]) -> Start:
    """Shares of tasks with their chances."""
    shares, chances = (np.array(column) for column in zip(*parts, strict=True))
    return lambda tasks, rng: chances[rng.choice(len(chances), size=tasks, p=shares / shares.sum())]


SURE = mix((0.5, 0.0), (0.5, 1.0))
WORLD = mix((0.4, 0.97), (0.4, 0.03), (0.2, 0.5))


# ----------------------------------------------------------------------------------------------------- candidates


def same(chances: Chances, rng: np.random.Generator) -> Chances:
    """The same policy once more."""
    return chances


def worse(by: float) -> Change:
    return lambda chances, rng: np.maximum(chances - by, 0.0)


def shuffled(chances: Chances, rng: np.random.Generator) -> Chances:
    """The chances change places: draws of one policy on one task are correlated, and the mean stays."""
    return rng.permutation(chances)


def flips(expected: float) -> Change:
    """About `expected` failed tasks are solved for sure, and as much is lost on solved ones."""

    def change(chances: Chances, rng: np.random.Generator) -> Chances:
        low, high = chances < LOW, chances > HIGH
        if not low.any() or not high.any():
            return chances
        up = min(1.0, expected / low.sum())
        lost = up * float((1.0 - chances[low]).sum()) / float(chances[high].sum())
        up, down = (up / lost, 1.0) if lost > 1.0 else (up, lost)
        toss = rng.random(len(chances))
        return np.where(low & (toss < up), 1.0, np.where(high & (toss < down), 0.0, chances))

    return change


def gains_few(expected: float) -> Change:
    """About `expected` failed tasks are solved for sure; all the others lose a little, together as much."""

    def change(chances: Chances, rng: np.random.Generator) -> Chances:
        low = chances < LOW
        up = min(1.0, expected / max(1, int(low.sum())))
        gained = up * float((1.0 - chances[low]).sum())
        rest = float(chances[~low].sum())
        if not low.any() or rest <= 0.0:
            return chances
        share = gained / rest
        up, share = (up / share, 1.0) if share > 1.0 else (up, share)
        won = low & (rng.random(len(chances)) < up)
        return np.where(won, 1.0, np.where(low, chances, chances * (1.0 - share)))

    return change


def losses_few(expected: float) -> Change:
    """All tasks gain a little, but about `expected` solved ones are lost for sure, together as much."""
    mirrored = gains_few(expected)
    return lambda chances, rng: 1.0 - mirrored(1.0 - chances, rng)


# ----------------------------------------------------------------------------------------------------- the two halves


def _laws() -> list[NullLaw]:
    tuned: Mapping[str, tuple[Start, Change]] = {
        "flat 0.5": (flat(0.5), same),
        "flat 0.8": (flat(0.8), same),
        "flat 0.95": (flat(0.95), same),
        "flat 0.1": (flat(0.1), same),
        "beta(8,1)": (beta(8, 1), same),
        "beta(1,1)": (beta(1, 1), same),
        "beta(0.5,0.5)": (beta(0.5, 0.5), same),
        "world": (WORLD, same),
        "sure, 1.2 flips": (SURE, flips(1.2)),
        "sure, 2.5 flips": (SURE, flips(2.5)),
        "sure, 5 flips": (SURE, flips(5.0)),
        "world, 2 flips": (WORLD, flips(2.0)),
        "shuffled beta(0.5,0.5)": (beta(0.5, 0.5), shuffled),
        "few gains 2, thin losses, reliable": (mix((0.3, 0.0), (0.7, 0.97)), gains_few(2.0)),
        "few gains 5, thin losses, coins": (mix((0.3, 0.0), (0.7, 0.5)), gains_few(5.0)),
        "few gains 10, thin losses, reliable": (mix((0.3, 0.0), (0.7, 0.95)), gains_few(10.0)),
        "few losses 2, thin gains, reliable": (mix((0.3, 1.0), (0.7, 0.03)), losses_few(2.0)),
        "few losses 5, thin gains, sure": (mix((0.3, 1.0), (0.7, 0.0)), losses_few(5.0)),
        "worse by 0.02, flat 0.9": (flat(0.9), worse(0.02)),
    }
    held_out: Mapping[str, tuple[Start, Change]] = {
        "flat 0.3": (flat(0.3), same),
        "flat 0.9": (flat(0.9), same),
        "flat 0.98": (flat(0.98), same),
        "flat 0.2": (flat(0.2), same),
        "beta(1,4)": (beta(1, 4), same),
        "beta(2,2)": (beta(2, 2), same),
        "coins and sure": (mix((0.2, 0.97), (0.2, 0.03), (0.6, 0.5)), same),
        "noisy": (mix((0.5, 0.8), (0.5, 0.2)), same),
        "sure, 0.8 flips": (SURE, flips(0.8)),
        "sure, 1.8 flips": (SURE, flips(1.8)),
        "sure, 3.5 flips": (SURE, flips(3.5)),
        "world, 1.3 flips": (WORLD, flips(1.3)),
        "noisy, 2 flips": (mix((0.5, 0.9), (0.5, 0.1)), flips(2.0)),
        "shuffled beta(0.9,0.1)": (beta(0.9, 0.1), shuffled),
        "few gains 3, thin losses, reliable": (mix((0.3, 0.03), (0.7, 0.9)), gains_few(3.0)),
        "few gains 8, thin losses, reliable": (mix((0.4, 0.0), (0.6, 0.97)), gains_few(8.0)),
        "few gains 3, thin losses, coins": (mix((0.3, 0.0), (0.7, 0.5)), gains_few(3.0)),
        "few losses 3, thin gains, coins": (mix((0.3, 1.0), (0.7, 0.5)), losses_few(3.0)),
        "few losses 8, thin gains, reliable": (mix((0.4, 1.0), (0.6, 0.05)), losses_few(8.0)),
        "worse by 0.02, coins": (flat(0.5), worse(0.02)),
    }
    shaded: Mapping[str, tuple[Half, Start, Change, float]] = {
        "soft, beta(2,2)": ("tuned", beta(2, 2), same, 0.5),
        "soft, flat 0.7, all noise": ("tuned", flat(0.7), same, 1.0),
        "soft, few losses 2": ("tuned", mix((0.3, 1.0), (0.7, 0.4)), losses_few(2.0), 0.1),
        "soft, shuffled": ("held_out", beta(2, 2), shuffled, 0.3),
        "soft, flat 0.5": ("held_out", flat(0.5), same, 0.8),
        "soft, few gains 3": ("held_out", mix((0.3, 0.1), (0.7, 0.8)), gains_few(3.0), 0.2),
    }
    laws = [NullLaw(name, "tuned", *law) for name, law in tuned.items()]
    laws += [NullLaw(name, "held_out", *law) for name, law in held_out.items()]
    return laws + [NullLaw(name, *law) for name, law in shaded.items()]


LAWS: tuple[NullLaw, ...] = tuple(_laws())
