"""The contract of a gate, and the one way to ask it: replay what is in and answer what follows from it.

A gate keeps nothing between calls. All it knows stands in the bank and in the readings it is given, so a decision can
be replayed from the ledger, and a driver may take the draws of a batch in any order and at any concurrency.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from whet.evals.metric import Metric
from whet.gate.decision import Answer, Decision, NeedDraws
from whet.gate.evidence import Bank, Draw, Reading, Trial
from whet.types import Score


class Gate(Protocol):
    """Compares a candidate with the incumbent on the select tasks."""

    @property
    def name(self) -> str: ...

    @property
    def metric(self) -> Metric:
        """What it decides on, and what a run claims at its end."""
        ...

    def open(self, tasks: int) -> Bank:
        """The bank of a run that starts. Refuses a split on which this gate cannot decide anything."""
        ...

    def read(self, score: Score | None) -> Reading:
        """What a rollout reads for this gate; None for a fault."""
        ...

    def trial(self, bank: Bank) -> Trial:
        """The comparison with the incumbent whose draws stand in `bank`."""
        ...

    def carry(self, bank: Bank, decision: Decision) -> Bank:
        """The bank for the next candidate."""
        ...


def answer(gate: Gate, bank: Bank, taken: Mapping[Draw, Reading]) -> Answer:
    """The decision, or the missing draws of the first batch of the plan that is not complete.

    Readings of later batches may already be there (a driver may run ahead); they are not looked at.
    """
    trial = gate.trial(bank)
    try:
        batch = next(trial)
        while True:
            missing = tuple(draw for draw in batch if draw not in taken)
            if missing:
                return NeedDraws(missing)
            batch = trial.send([taken[draw] for draw in batch])
    except StopIteration as end:
        decision: Decision = end.value
        return decision
