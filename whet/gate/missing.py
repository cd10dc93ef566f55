"""What a comparison lacks: draws that faults took away are no random sample, so with many nothing is decided."""

from __future__ import annotations

from collections.abc import Iterable
from math import comb

from whet.gate.evidence import Arm, Bank, Reading, Taken

LIMIT = 0.02
"""The largest share of draws that may be missing on either side."""
UNEQUAL = 0.01
"""Missingness that falls on the sides this unevenly with at most this chance counts as unequal."""


def count_missing(arm: Arm, bank: Bank, draws: Taken) -> tuple[int, int]:
    """How many draws of an arm read nothing, of how many."""
    readings: list[Reading] = [reading for draw, reading in draws if draw.arm == arm]
    if arm == "incumbent":
        readings += [reading for row in bank.readings for reading in row]
    return _nothing(readings), len(readings)


def why_missing(bank: Bank, draws: Taken) -> str:
    """Why too much is missing to decide; empty when it is not."""
    sides = {arm: count_missing(arm, bank, draws) for arm in ("incumbent", "candidate")}
    said = ", ".join(f"{lacking} of {total} of the {arm}" for arm, (lacking, total) in sides.items())
    (a, n_a), (b, n_b) = sides.values()
    if any(total and lacking > LIMIT * total for lacking, total in sides.values()):
        return f"missing draws: {said}; at most {100 * LIMIT:g} % may be missing, redo the faults"
    if a + b and _chance(a, n_a, b, n_b) < UNEQUAL:
        return f"missing draws: {said}; that is too unequal to be chance, redo the faults"
    return ""


def _nothing(readings: Iterable[Reading]) -> int:
    return sum(reading is None or reading[0] is None for reading in readings)


def _chance(a: int, n_a: int, b: int, n_b: int) -> float:
    """The chance that the missing draws fall on the sides at least this unevenly (Fisher's exact test)."""
    ways = [comb(n_a, i) * comb(n_b, a + b - i) for i in range(a + b + 1)]
    return sum(way for way in ways if way <= ways[a]) / sum(ways)
