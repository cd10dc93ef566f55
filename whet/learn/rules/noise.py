"""How much the gate pool moves by itself: a book against itself, and the least gain that can be seen above it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from whet.learn.workshop import SELECT, Workshop
from whet.types import Policy, Ticket

POWER = 0.8


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """Two draws of one policy on the gate pool. `flips` is the share of tickets that only one of them got right."""

    tickets: int
    right: float
    flips: float
    alpha: float
    mde: float
    """The gain in the share that is right which one decision shows four times in five."""

    def as_data(self) -> dict[str, float]:
        return {
            "noise_tickets": self.tickets,
            "noise_right": self.right,
            "noise_floor": self.flips,
            "noise_alpha": self.alpha,
            "minimum_detectable_effect": self.mde,
        }

    def __str__(self) -> str:
        return (
            f"noise floor: the book against itself differs on {self.flips:.3f} of {self.tickets} gate tickets "
            f"({self.right:.3f} right); a gain of {self.mde:.3f} is shown four times in five at alpha {self.alpha:g}"
        )


async def measure_noise(shop: Workshop, policy: Policy, alpha: float) -> NoiseFloor:
    """Draws 0 and 1 of the incumbent on the gate's tasks: the very draws that a gate asks for first, taken once."""
    await shop.roll(SELECT, policy, shop.select, draws=2, split="select")
    tickets = [[Ticket(SELECT, "select", task, draw) for draw in (0, 1)] for task in shop.select]
    pairs = []
    for both in tickets:
        found = shop.ledger.outcomes_of(shop.session.key(policy, ticket) for ticket in both)
        right = [outcome.hard for outcome in found if not outcome.fault]
        if len(right) == 2:
            pairs.append(right)
    return noise_floor(pairs, alpha)


def noise_floor(pairs: Sequence[Sequence[int]], alpha: float) -> NoiseFloor:
    tickets = len(pairs)
    flips = sum(first != second for first, second in pairs) / tickets if tickets else 0.0
    right = sum(sum(pair) for pair in pairs) / (2 * tickets) if tickets else 0.0
    return NoiseFloor(tickets, right, flips, alpha, detectable(tickets, flips, alpha))


def detectable(tickets: int, flips: float, alpha: float) -> float:
    """The least gain d that shows: z * sqrt((flips + d) / tickets) = d, since what a rule mends differs too."""
    if not tickets:
        return 1.0
    z = NormalDist().inv_cdf(1.0 - alpha) + NormalDist().inv_cdf(POWER)
    c = z * z / tickets
    return min(1.0, (c + math.sqrt(c * c + 4.0 * c * flips)) / 2.0)
