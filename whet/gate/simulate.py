"""Whole runs under a gate in a world where the truth is known: what it gains, what it lets through, what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whet.errors import WhetError
from whet.gate.base import Gate
from whet.gate.decision import Decision
from whet.gate.evidence import Bank, Draw, Reading
from whet.gate.report import DecisionRecord, RunRecord, SimulationReport, summarise
from whet.gate.world import Chances, SimulatedWorld

POOL = 4096
"""Uniform numbers drawn at a time."""


class _Coins:
    """Uniform numbers, drawn in bulk: one at a time costs more than the gate does."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._pool: list[float] = []

    def next(self) -> float:
        if not self._pool:
            self._pool = self._rng.random(POOL).tolist()
        return self._pool.pop()


@dataclass(slots=True)
class _Calls:
    """The target calls of a run, answered by the world; the budget is hard."""

    budget: int
    coins: _Coins
    spent: int = 0

    def answer(self, batch: Sequence[Draw], incumbent: list[float], candidate: list[float]) -> list[Reading] | None:
        """What the draws read (solved or not), or None when the budget has no room for all of them."""
        if self.spent + len(batch) > self.budget:
            return None
        self.spent += len(batch)
        chances = {"incumbent": incumbent, "candidate": candidate}
        toss = self.coins.next
        return [(1.0,) if toss() < chances[draw.arm][draw.task] else (0.0,) for draw in batch]


def simulate(world: SimulatedWorld, gates: Sequence[Gate], runs: int = 200, seed: int = 0) -> SimulationReport:
    """Run each gate `runs` times; the same seed gives the same report. Run r starts every gate from the same tasks."""
    if runs < 2:
        raise WhetError(f"a simulation needs at least 2 runs for its intervals, not {runs}")
    if len({gate.name for gate in gates}) != len(gates):
        raise WhetError("a simulation names each gate once")
    rows = [summarise(gate.name, [run_once(world, gate, seed, run) for run in range(runs)]) for gate in gates]
    return SimulationReport(world, runs, seed, tuple(rows))


def run_once(world: SimulatedWorld, gate: Gate, seed: int, run: int) -> RunRecord:
    """One run: proposals relative to the incumbent of the moment, until the budget is spent.

    A trial that the budget cuts short decides nothing. A decision that took no call ends the run, because the gate
    would answer every further proposal in the same way.
    """
    truth, proposals, tosses = (np.random.default_rng((seed, run, stream)) for stream in range(3))
    incumbent = world.population_drawn(truth)
    start = float(incumbent.mean())
    bank = gate.open(world.select)
    calls = _Calls(world.budget, _Coins(tosses))
    shares = np.array([proposal.share for proposal in world.candidates])
    records: list[DecisionRecord] = []
    while True:
        proposal = world.candidates[int(proposals.choice(len(shares), p=shares / shares.sum()))]
        candidate = world.proposed(incumbent, proposal, proposals)
        calls.spent += world.proposal
        before = calls.spent
        decision = _run_trial(gate, bank, calls, incumbent, candidate, world.select)
        if decision is None:
            break
        bank = gate.carry(bank, decision)
        effect = float(candidate.mean() - incumbent.mean())
        accepted = decision.accepted
        records.append(DecisionRecord(proposal.kind, accepted, calls.spent - before, effect, decision.alpha))
        if accepted:
            incumbent = candidate
        if calls.spent == before:
            break
    return RunRecord(tuple(records), start, float(incumbent.mean()), bank.score, min(calls.spent, world.budget))


def _run_trial(
    gate: Gate, bank: Bank, calls: _Calls, incumbent: Chances, candidate: Chances, select: int
) -> Decision | None:
    """Drive a trial to its decision; None when the budget ends it."""
    old, new = incumbent[:select].tolist(), candidate[:select].tolist()
    trial = gate.trial(bank)
    try:
        batch = next(trial)
        while True:
            readings = calls.answer(batch, old, new)
            if readings is None:
                trial.close()
                return None
            batch = trial.send(readings)
    except StopIteration as end:
        decision: Decision = end.value
        return decision
