"""What a verdict earns: for the label and the form, with a price on errors, and if wanted with credit for grounds.

The pack holds the weights. `label`: right 1, a false block 0. `asymmetric`: a false block costs as well. Under either a
false release costs so much that always failing out-earns always passing on the mission's own mix, and an invalid reply
costs more than any error, so that breaking the form never pays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from whet.envs.groupqc.pack.schema import TicketVerdict, VerdictRewards
from whet.envs.groupqc.verdict.lines import VerdictReading
from whet.types import Score

Scheme = Literal["label", "asymmetric"]

FEWER = 2 / 3
"""Failing tickets are taken to be so much rarer than the mission says: a sample may well have fewer of them."""

FEWEST = 0.02


@dataclass(frozen=True, slots=True)
class VerdictCosts:
    """What each outcome earns or costs in one mission."""

    label: float
    format: float
    grounded: float
    released: float
    blocked: float
    invalid: float

    @classmethod
    def of(cls, weights: VerdictRewards, scheme: Scheme = "label", pass_share: float = 0.5) -> VerdictCosts:
        """The costs where `pass_share` of the tickets pass: the more do, the more a false release costs.

        Always passing and always failing earn the same at a cost of odds * (label + blocked) - label, where the odds
        are those of a pass.
        """
        blocked = weights.false_block if scheme == "asymmetric" else 0.0
        fails = max(FEWER * (1.0 - pass_share), FEWEST)
        even = (1.0 - fails) / fails * (weights.label + blocked) - weights.label
        released = max(weights.false_release, even)
        return cls(weights.label, weights.format, weights.grounded, released, blocked, released + weights.label / 2)


def score(reading: VerdictReading, label: TicketVerdict, costs: VerdictCosts, grounded: float | None = None) -> Score:
    """The score of one reply. `grounded` is the share of its claims that the photos it cites bear out, if it counts."""
    right, valid = reading.call == label, reading.valid
    released = reading.call == "pass" and not right
    blocked = reading.call == "fail" and not right
    parts = {
        "label": float(right),
        "format": float(valid),
        "false_release": float(released),
        "false_block": float(blocked),
        "invalid": float(not valid),
        "failing": float(label == "fail"),
        "passing": float(label == "pass"),
    }
    reward = costs.format * valid + costs.label * right
    reward -= costs.released * released + costs.blocked * blocked + costs.invalid * (not valid)
    if grounded is not None:
        parts["grounded"] = grounded
        reward += costs.grounded * grounded * valid
    soft = (costs.label * right + costs.format * valid) / ((costs.label + costs.format) or 1.0)
    reason = "correct" if right else "false_release" if released else "false_block" if blocked else "invalid"
    return Score(int(right), soft, reward, parts, reason, reading.reason if valid else reading.code)
