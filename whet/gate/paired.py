"""The default gate: task by task, aware of each task's noise, cheap on what is hopeless, looking at fixed prefixes.

A trial goes through the select tasks in the order of a plan. It looks first where there is something to gain (tasks
that the incumbent fails), then alternates with tasks where there is something to lose, draws again where candidate and
incumbent disagree, and drops the candidate as soon as its net gain falls behind. At the end of a prefix the statistic
(`whet.gate.statistic`) accepts, rejects, or lets the next prefix decide.

The incumbent's draws accumulate and are used for every later candidate. When a candidate is accepted, its draws become
the new incumbent's only on tasks where it did not differ from the old one: the others are what it was chosen for, and
would flatter it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from whet.errors import WhetError
from whet.evals.metric import HARD, Metric
from whet.gate.alpha import AlphaBudget
from whet.gate.decision import Decision
from whet.gate.evidence import Bank, Reading, Trial
from whet.gate.guard import Guard
from whet.gate.statistic import prefixes, stocked
from whet.gate.trial import PairedTrial
from whet.types import Score

SAME = 0.3
"""Two means of a task closer than this share of the scale count as equal: such draws of an accepted candidate stay."""


@dataclass(frozen=True, slots=True)
class Futility:
    """When a candidate is dropped before the end, and how the plan is cut.

    After `first` tasks with something to gain, then after every further `gain` of them and `risk` of the others, the
    net gain in whole flips must be at least `slope` for each task with something to gain, less `slack`; at the end of a
    prefix the statistic must be at least `floor`.
    """

    first: int = 4
    gain: int = 4
    risk: int = 6
    slope: float = 0.16
    slack: float = 0.2
    floor: float = 0.7
    bar: float = 0.73
    """The bar at the end as a share of the normal quantile: the sooner candidates are dropped, the lower it may be."""


STEADY = Futility(slope=0.04, slack=1.0, floor=0.0, bar=0.85)
"""A candidate may fall behind by a task before it is dropped: for a learner whose proposals each cost a train batch."""

PATIENT = Futility(
    first=1_000_000, gain=1_000_000, risk=1_000_000, slope=0.0, slack=math.inf, floor=-math.inf, bar=1.15
)
"""Nothing is dropped early: for the one candidate of a person, who has no other to try next."""

PACES: Mapping[str, Futility] = {"eager": Futility(), "steady": STEADY, "patient": PATIENT}


@dataclass(frozen=True, slots=True)
class PairedGate:
    """Accepts a candidate that is no better at most `alpha` of the time (shown by simulation, mixed nulls included).

    `min_effect`: a mean gain up to this counts as none. `max_rollouts`: the most that one decision may take, of both
    arms together. `guards`: metrics that may not get worse. `spending`: a bound on the whole run's false accepts.
    `stock`: incumbent draws per task before anything is compared; by default 2 up to 100 tasks, 1 beyond.
    """

    alpha: float = 0.05
    metric: Metric = HARD
    min_effect: float = 0.0
    max_rollouts: int | None = None
    guards: tuple[Guard, ...] = ()
    spending: AlphaBudget | None = None
    stock: int | None = None
    futility: Futility = Futility()
    seed: int = 0
    name: str = "paired"

    def __post_init__(self) -> None:
        if not 0.0 < self.alpha < 0.5:
            raise WhetError(
                f"gate {self.name}: alpha lies between 0 and 0.5, not {self.alpha!r}; 0 would accept nothing"
            )
        if not 0.0 <= self.min_effect < 1.0:
            raise WhetError(f"gate {self.name}: min_effect lies between 0 and 1, not {self.min_effect!r}")
        if self.max_rollouts is not None and self.max_rollouts < 1:
            raise WhetError(f"gate {self.name}: max_rollouts must be at least 1, not {self.max_rollouts}")
        if self.stock is not None and not 1 <= self.stock <= 10:
            raise WhetError(f"gate {self.name}: stock lies between 1 and 10 draws a task, not {self.stock}")

    def open(self, tasks: int) -> Bank:
        if tasks < 2 or 2.0**-tasks > self.alpha:
            raise WhetError(
                f"gate {self.name}: {tasks} select tasks show nothing at alpha {self.alpha:g}, even if all flip; "
                f"use at least {max(2, int(np.ceil(-np.log2(self.alpha))))}"
            )
        return Bank.empty(tasks)

    def read(self, score: Score | None) -> Reading:
        if score is None or (value := self.metric.of(score)) is None:
            return None
        return (value, *(guard.metric.of(score) for guard in self.guards))

    def alpha_for(self, number: int) -> float:
        """The alpha of the run's candidate `number` (0, 1, …)."""
        return self.spending.alpha_for(number, self.alpha) if self.spending else self.alpha

    def stock_for(self, tasks: int) -> int:
        return self.stock if self.stock is not None else 2 if tasks <= 100 else 1

    def order(self, tasks: int) -> tuple[int, ...]:
        """The order of the tasks in every trial of a run."""
        return _order(self.seed, tasks)

    def trial(self, bank: Bank) -> Trial:
        return PairedTrial(self, bank).steps()

    def carry(self, bank: Bank, decision: Decision) -> Bank:
        grown = bank.extended(decision.draws)
        if not decision.accepted:
            return replace(grown, score=self._score(grown))
        tally = stocked(self.metric, grown)
        for draw, reading in decision.draws:
            if draw.arm == "candidate":
                tally.read(1, draw.task, reading)
        same = np.abs(tally.contrast().difference) < SAME * tally.scale()
        return bank.succeeded(decision.draws, [bool(kept) for kept in same], decision.candidate_score)

    def _score(self, bank: Bank) -> float | None:
        """The incumbent's score on record: its mean over the first prefix once that is drawn, before that as it was."""
        first = list(self.order(bank.tasks)[: prefixes(bank.tasks)[0]])
        tally = stocked(self.metric, bank)
        if (tally.count[0, first] == 0).any():
            return bank.score
        return float(tally.means()[0][tally.count[0] > 0].mean())


@lru_cache(maxsize=64)
def _order(seed: int, tasks: int) -> tuple[int, ...]:
    return tuple(int(task) for task in np.random.default_rng(seed).permutation(tasks))
