"""How far two sets of counts lie apart: the population stability index, and a test of whether chance explains it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Counts = Mapping[str, int]
"""How often each outcome of one thing was seen."""

DriftTest = Literal["chi-square", "exact", "none"]

SMALL = 5.0
"""Below this many expected in a cell the chi-square distribution is not to be trusted."""


@dataclass(frozen=True, slots=True)
class CountShift:
    """How far the counts of one thing moved from the reference to the new set.

    `p` is the probability that chance alone moves them at least as far.
    """

    reference: Counts
    new: Counts
    psi: float
    chi_square: float
    freedom: int
    p: float
    test: DriftTest


def compare_counts(reference: Counts, new: Counts) -> CountShift:
    """Compare the shares of two sets of counts. Nothing on a side: nothing can be said, and p is 1."""
    outcomes = [outcome for outcome in {**reference, **new} if reference.get(outcome, 0) + new.get(outcome, 0) > 0]
    before = [reference.get(outcome, 0) for outcome in outcomes]
    after = [new.get(outcome, 0) for outcome in outcomes]
    if not sum(before) or not sum(after):
        return CountShift(reference, new, 0.0, 0.0, 0, 1.0, "none")
    statistic, freedom, expected = _chi_square(before, after)
    if not freedom:
        return CountShift(reference, new, 0.0, 0.0, 0, 1.0, "none")
    index = stability(before, after)
    if freedom == 1 and expected < SMALL:
        return CountShift(reference, new, index, statistic, 1, _exact(before, after), "exact")
    return CountShift(reference, new, index, statistic, freedom, _tail(statistic, freedom), "chi-square")


def stability(before: list[int], after: list[int]) -> float:
    """The population stability index; half a count is added to each cell, so that an empty one stays finite."""
    cells = len(before)
    total_before, total_after = sum(before) + cells / 2, sum(after) + cells / 2
    terms = []
    for earlier, other in zip(before, after, strict=True):
        p, q = (earlier + 0.5) / total_before, (other + 0.5) / total_after
        terms.append((q - p) * math.log(q / p))
    return math.fsum(terms)


def _chi_square(before: list[int], after: list[int]) -> tuple[float, int, float]:
    """Pearson's statistic of the 2 x k table, its degrees of freedom, and the smallest expected count."""
    n_before, n_after = sum(before), sum(after)
    total = n_before + n_after
    terms, smallest = [], math.inf
    for earlier, other in zip(before, after, strict=True):
        for seen, size in ((earlier, n_before), (other, n_after)):
            expected = (earlier + other) * size / total
            smallest = min(smallest, expected)
            terms.append((seen - expected) ** 2 / expected)
    return math.fsum(terms), len(before) - 1, smallest


def _tail(statistic: float, freedom: int) -> float:
    # Loaded here: a comparison is rare, and scipy takes half a second.
    from scipy.special import chdtrc

    return float(chdtrc(freedom, statistic))


def _exact(before: list[int], after: list[int]) -> float:
    """Fisher's test, two-sided: tables with the same margins that are no more likely than the one seen."""
    first, n_before, n_after = before[0] + after[0], sum(before), sum(after)

    def log_likelihood(part: int) -> float:
        return _log_choose(n_before, part) + _log_choose(n_after, first - part)

    low, high = max(0, first - n_after), min(first, n_before)
    logs = [log_likelihood(part) for part in range(low, high + 1)]
    whole = _log_choose(n_before + n_after, first)
    seen = logs[before[0] - low]
    return min(1.0, math.fsum(math.exp(log - whole) for log in logs if log <= seen + 1e-9))


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
