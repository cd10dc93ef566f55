"""Tests of a paired difference: under the null, which side of a task is which is a coin flip.

With as many draws on both sides of a task, whole sides change places. With unequal draws they cannot: a mean of one
draw is no stand-in for a mean of four. There single draws change places within their task, and the larger p counts.

numpy is loaded where it counts flips, so that showing a table does not wait for it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PairedTest = Literal[
    "exact McNemar", "exact sign flips", "sampled sign flips", "exact exchange of draws", "sampled exchange of draws"
]

DrawPair = tuple[Sequence[float], Sequence[float]]
"""What the draws of one task read, on either side."""

FLIPS = 20_000
"""Sign flips drawn where they cannot all be counted."""

ALL_FLIPS = 14
"""Up to this many tasks that differ, every sign flip is counted."""

LATTICE = 50_000_000
"""Up to this many steps, the sums of differences that lie on a lattice are counted exactly."""


@dataclass(frozen=True, slots=True)
class PValue:
    """A two-sided p-value and the test it comes from."""

    p: float
    test: PairedTest


def paired_test(differences: Sequence[float], steps: int | None, seed: int) -> PValue:
    """How often chance flips of the signs give a sum as large as the one seen.

    With `steps`, differences are multiples of 1/steps and the count is exact; single binary draws are McNemar's test.
    """
    changed = [difference for difference in differences if difference != 0.0]
    if steps is not None:
        counts = [round(difference * steps) for difference in changed]
        if steps == 1:
            return PValue(
                mcnemar_p(sum(count > 0 for count in counts), sum(count < 0 for count in counts)), "exact McNemar"
            )
        sizes = [abs(count) for count in counts]
        if len(sizes) * sum(sizes) <= LATTICE:
            return PValue(_lattice_p(sizes, abs(sum(counts))), "exact sign flips")
    if len(changed) <= ALL_FLIPS:
        return PValue(_enumerated_p(changed), "exact sign flips")
    return PValue(_sampled_p(changed, seed), "sampled sign flips")


def exchange_test(pairs: Sequence[DrawPair], steps: int | None, seed: int) -> PValue:
    """How often draws that change places within their tasks give a difference as large as the one seen.

    Exact for one policy drawn twice, whatever the numbers of draws. With `steps`, values are 0 or 1 and every
    difference of means is a multiple of 1/steps, so that all exchanges are counted.
    """
    changed = [(a, b) for a, b in pairs if len({*a, *b}) > 1]
    if steps is not None and len(changed) ** 2 * steps <= LATTICE:
        return PValue(_hypergeometric_p(changed, steps), "exact exchange of draws")
    return PValue(_exchanged_p(changed, seed), "sampled exchange of draws")


def _hypergeometric_p(pairs: Sequence[DrawPair], steps: int) -> float:
    """The distribution of the sum over tasks of what b has more than a, in steps, all exchanges being alike."""
    import numpy as np

    seen, total = 0, len(pairs) * steps
    chances = np.zeros(2 * total + 1)
    chances[total] = 1.0
    for a, b in pairs:
        solved_a, solved_b = round(sum(a)), round(sum(b))
        solved, draws = solved_a + solved_b, len(a) + len(b)
        seen += _step(solved_b, solved_a, a, b, steps)
        after = np.zeros_like(chances)
        for held in range(max(0, solved - len(a)), min(solved, len(b)) + 1):
            ways = math.comb(solved, held) * math.comb(draws - solved, len(b) - held) / math.comb(draws, len(b))
            after += ways * np.roll(chances, _step(held, solved - held, a, b, steps))
        chances = after
    sums = np.abs(np.arange(-total, total + 1))
    return min(1.0, float(chances[sums >= abs(seen)].sum()))


def _step(solved_b: int, solved_a: int, a: Sequence[float], b: Sequence[float], steps: int) -> int:
    return solved_b * (steps // len(b)) - solved_a * (steps // len(a))


def _exchanged_p(pairs: Sequence[DrawPair], seed: int) -> float:
    """Counts the order that was seen among those drawn, as `_sampled_p` does."""
    import numpy as np

    rng = np.random.default_rng(seed)
    sums, seen, size = np.zeros(FLIPS), 0.0, 0.0
    for a, b in pairs:
        values = np.array([*a, *b])
        seen += float(np.mean(b) - np.mean(a))
        size += float(np.abs(values).sum())
        mixed = rng.permuted(np.broadcast_to(values, (FLIPS, values.size)), axis=1)
        sums += mixed[:, len(a) :].mean(axis=1) - mixed[:, : len(a)].mean(axis=1)
    return (int(np.count_nonzero(np.abs(sums) >= abs(seen) - 1e-9 * size)) + 1) / (FLIPS + 1)


def mcnemar_p(gained: int, lost: int) -> float:
    """McNemar's exact test: the tasks that changed are as likely to have changed either way."""
    changed, fewer = gained + lost, min(gained, lost)
    tail = sum(math.comb(changed, k) for k in range(fewer + 1))
    return min(1.0, 2 * tail / (1 << changed))


def _lattice_p(counts: Sequence[int], seen: int) -> float:
    """The distribution of the signed sum of whole numbers, one flip after the other."""
    import numpy as np

    total = sum(counts)
    chances = np.zeros(2 * total + 1)
    chances[total] = 1.0
    for count in counts:
        flipped = np.zeros_like(chances)
        flipped[count:] += chances[: chances.size - count]
        flipped[: chances.size - count] += chances[count:]
        chances = flipped / 2.0
    sums = np.abs(np.arange(-total, total + 1))
    return min(1.0, float(chances[sums >= seen].sum()))


def _enumerated_p(changed: Sequence[float]) -> float:
    import numpy as np

    size = len(changed)
    flips = (np.arange(1 << size)[:, None] >> np.arange(size)) & 1
    return _reaching(flips, changed) / (1 << size)


def _sampled_p(changed: Sequence[float], seed: int) -> float:
    """Counts the flip that was seen among those drawn, so that p is never 0 and the test keeps its level."""
    import numpy as np

    rng = np.random.default_rng(seed)
    size, rows = len(changed), 1000
    reached = 0
    for _ in range(FLIPS // rows):
        bits = np.unpackbits(np.frombuffer(rng.bytes(rows * (size + 7) // 8), np.uint8), count=rows * size)
        reached += _reaching(bits.reshape(rows, size), changed)
    return (reached + 1) / (FLIPS + 1)


def _reaching(flips: NDArray[np.integer[Any]], changed: Sequence[float]) -> int:
    """How many flips reach the sum that was seen; a hair below counts, for sums that differ by rounding alone."""
    import numpy as np

    values = np.asarray(changed)
    hair = 1e-9 * float(np.abs(values).sum())
    sums = values.sum() - 2.0 * (flips.astype(np.float64) @ values)
    return int(np.count_nonzero(np.abs(sums) >= abs(math.fsum(changed)) - hair))


def holm(ps: Sequence[float]) -> tuple[float, ...]:
    """Holm's adjustment: with these, claims about several kinds are wrong together no more often than one would be."""
    order = sorted(range(len(ps)), key=lambda position: (ps[position], position))
    adjusted = [0.0] * len(ps)
    worst = 0.0
    for rank, position in enumerate(order):
        worst = max(worst, min(1.0, (len(ps) - rank) * ps[position]))
        adjusted[position] = worst
    return tuple(adjusted)
