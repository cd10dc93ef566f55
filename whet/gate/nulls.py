"""How often a gate accepts a candidate that is no better: each law, the first decision and later ones, by simulation.

A trial is a chain: a null against a fresh bank; then, on the same tasks with a fresh bank again, a predecessor that the
law's incumbent beats, and nulls after it with whatever draws the gate carries over. So a later decision stands after
rejections, after acceptances of something better, and after accepted nulls.

A learner may judge every fifth candidate beside one playbook at another pace, on the bank that the first pace left and
goes on with. `relief_trials` is that sequence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from whet.evals.estimate import Estimate, wilson
from whet.gate.base import Gate
from whet.gate.decision import Decision
from whet.gate.evidence import Bank, Draw, Reading
from whet.gate.laws import Chances, NullLaw

POOL = 4096
"""Uniform numbers drawn at a time: one at a time costs more than the gate does."""


@dataclass(slots=True)
class LawDraws:
    """Draws of two policies of a law."""

    rng: np.random.Generator
    shades: float | None
    _pool: list[float] = field(default_factory=list)

    def read(self, batch: Sequence[Draw], incumbent: list[float], candidate: list[float]) -> list[Reading]:
        pool, shades = self._pool, self.shades
        readings: list[Reading] = []
        for draw in batch:
            if not pool:
                pool.extend(self.rng.random(POOL).tolist())
            chance = incumbent[draw.task] if draw.arm == "incumbent" else candidate[draw.task]
            toss = pool.pop()
            if shades is None:
                readings.append((1.0,) if toss < chance else (0.0,))
            else:
                readings.append((chance + (2.0 * toss - 1.0) * shades * min(chance, 1.0 - chance),))
        return readings


def run_trial(gate: Gate, bank: Bank, draws: LawDraws, incumbent: Chances, candidate: Chances) -> Decision:
    """Drive a trial to its decision."""
    old, new = incumbent.tolist(), candidate.tolist()
    trial = gate.trial(bank)
    try:
        batch = next(trial)
        while True:
            batch = trial.send(draws.read(batch, old, new))
    except StopIteration as end:
        decision: Decision = end.value
        return decision


@dataclass(slots=True)
class NullCount:
    """Nulls of one law at one number of tasks: decided about, accepted, and what the rejected ones cost."""

    decided: int = 0
    accepted: int = 0
    rollouts: int = 0

    def add(self, decision: Decision) -> None:
        self.decided += 1
        self.accepted += decision.accepted
        self.rollouts += decision.rollouts()

    @property
    def share(self) -> float:
        return self.accepted / self.decided if self.decided else 0.0

    def estimate(self) -> Estimate | None:
        interval = wilson(self.accepted, self.decided)
        return None if interval is None else Estimate(self.share, interval, self.decided)


STAGES = ("first", "after_rejections", "after_an_acceptance")


def null_trials(gate: Gate, law: NullLaw, tasks: int, trials: int, seed: int, chain: int = 4) -> dict[str, NullCount]:
    """Counts by stage. `chain` is how many nulls follow the predecessor; 0 leaves later stages out."""
    counts = {stage: NullCount() for stage in STAGES}
    for trial in range(trials):
        rng = np.random.default_rng((seed, trial))
        draws = LawDraws(rng, law.shades)
        incumbent = law.start(tasks, rng)
        counts["first"].add(run_trial(gate, gate.open(tasks), draws, incumbent, law.change(incumbent, rng)))
        if chain:
            _chain(gate, law, draws, incumbent, chain, counts)
    return counts


def _chain(
    gate: Gate, law: NullLaw, draws: LawDraws, incumbent: Chances, many: int, counts: dict[str, NullCount]
) -> None:
    rng = draws.rng
    current = np.where(rng.random(len(incumbent)) < 0.6, 0.03 * incumbent, incumbent)
    bank = gate.open(len(incumbent))
    candidate, null, accepted = incumbent, False, False
    for _ in range(many + 1):
        decision = run_trial(gate, bank, draws, current, candidate)
        if null:
            counts["after_an_acceptance" if accepted else "after_rejections"].add(decision)
        bank = gate.carry(bank, decision)
        if decision.accepted:
            current, accepted = candidate, True
        candidate, null = law.change(current, rng), True


RELIEF_STAGES = ("alone", "relief", "next", "after_an_acceptance", "handed_over", "later_relief")
"""Decisions of a sequence with two paces: the second on a fresh bank; the second after rejections by the first; the
first again after that; the second straight after something better was accepted, at either pace; the first there; the
second after the rejections that follow."""


def relief_trials(
    gate: Gate, relief: Gate, law: NullLaw, tasks: int, trials: int, seed: int, rejections: int = 4
) -> dict[str, NullCount]:
    """Counts by `RELIEF_STAGES`: `relief` judges the null after so many that `gate` rejected. The bank is `gate`'s."""
    counts = {stage: NullCount() for stage in RELIEF_STAGES}
    for trial in range(trials):
        rng = np.random.default_rng((seed, trial))
        draws = LawDraws(rng, law.shades)
        incumbent = law.start(tasks, rng)
        counts["alone"].add(run_trial(relief, gate.open(tasks), draws, incumbent, law.change(incumbent, rng)))
        fresh = _Beside(gate, law, draws, incumbent, gate.open(tasks))
        if all(fresh.rejects(gate) for _ in range(rejections)) and fresh.rejects(relief, counts["relief"]):
            fresh.rejects(gate, counts["next"])
        worse = np.where(rng.random(tasks) < 0.6, 0.03 * incumbent, incumbent)
        bank = gate.open(tasks)
        decision = run_trial((gate, relief)[trial % 2], bank, draws, worse, incumbent)
        if decision.accepted:
            bank = gate.carry(bank, decision)
            _Beside(gate, law, draws, incumbent, bank).rejects(relief, counts["after_an_acceptance"])
            later = _Beside(gate, law, draws, incumbent, bank)
            if later.rejects(gate, counts["handed_over"]) and all(later.rejects(gate) for _ in range(1, rejections)):
                later.rejects(relief, counts["later_relief"])
    return counts


class _Beside:
    """Nulls beside one incumbent, whose draws `gate` carries; another pace does not look at those it begins with."""

    def __init__(self, gate: Gate, law: NullLaw, draws: LawDraws, incumbent: Chances, bank: Bank) -> None:
        self.gate, self.law, self.draws, self.incumbent, self.bank = gate, law, draws, incumbent, bank
        self.chosen = bank.held

    def rejects(self, judge: Gate, count: NullCount | None = None) -> bool:
        """Whether `judge` rejects the next null; it is counted where there is a count."""
        bank = self.bank if judge is self.gate else self.bank.since(self.chosen)
        candidate = self.law.change(self.incumbent, self.draws.rng)
        decision = run_trial(judge, bank, self.draws, self.incumbent, candidate)
        if count is not None:
            count.add(decision)
        self.bank = self.gate.carry(self.bank, decision)
        return not decision.accepted
