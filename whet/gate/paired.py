"""The default gate: task by task, on evidence that is symmetric between the arms, looking at fixed prefixes of a plan.

At a racing pace (`whet.gate.race`) a trial looks first where the incumbent failed, draws both again where their draws
do not all agree, and drops a candidate as soon as it falls behind. In rounds (`whet.gate.rounds`) both get every task
equally often. No draw is taken, and none is left out, because of the sign of a difference.

The incumbent's draws accumulate and are used for every later candidate. When a candidate is accepted, its draws were
part of what it was chosen for: the new incumbent is measured afresh, after a race over many tasks only where it
differed from its predecessor. At the pace `brief` they all stand: what flatters an incumbent makes its successor wait.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from whet.errors import WhetError
from whet.evals.metric import HARD, Metric
from whet.gate.alpha import AlphaBudget
from whet.gate.decision import Decision
from whet.gate.evidence import Bank, Reading, Trial
from whet.gate.guard import Guard
from whet.gate.pace import PACES, Pace, RacePace, RoundsPace
from whet.gate.race import RaceTrial
from whet.gate.rounds import RoundsTrial
from whet.gate.statistic import prefixes, stocked
from whet.types import Score

SAME = 0.3
"""Two means of a task closer than this share of the scale count as equal: such draws of an accepted candidate stay."""

SMALL = 25
"""Up to so many tasks a whole new bank costs little, and draws kept because they agree flatter what comes next."""

LARGEST_ALPHA = 0.25
"""What a single task won and none lost comes to: nothing weaker is evidence."""


@dataclass(frozen=True, slots=True)
class PairedGate:
    """Accepts a candidate that is no better at most `alpha` of the time, at every decision (shown by simulation).

    `alpha`: by default what the pace is meant for, 0.10 for the races and 0.05 for `patient`. `min_effect`: a mean gain
    up to this counts as none. `max_rollouts`: the most that one decision may take, of both arms together. `guards`:
    metrics that may not get worse. `spending`: a bound on the whole run's false accepts. `deterministic`: both policies
    are declared to answer a task always in the same way; one draw a task then, after a check. `exclude`: tasks of the
    split that whoever drives the gate has left out for both arms, kept with every decision. `max_regressions`: the
    share of the tasks seen that the incumbent mostly solves and an accepted candidate mostly does not.
    """

    alpha: float | None = None
    metric: Metric = HARD
    min_effect: float = 0.0
    max_rollouts: int | None = None
    guards: tuple[Guard, ...] = ()
    spending: AlphaBudget | None = None
    pace: str = "eager"
    deterministic: bool = False
    exclude: tuple[int, ...] = ()
    max_regressions: float | None = None
    seed: int = 0
    name: str = "paired"

    def __post_init__(self) -> None:
        if self.pace not in PACES:
            raise WhetError(f"gate {self.name}: pace is {', '.join(PACES)}, not {self.pace!r}")
        if not 0.0 < self.promise <= LARGEST_ALPHA:
            raise WhetError(
                f"gate {self.name}: alpha is above 0 and at most {LARGEST_ALPHA:g}, not {self.alpha!r}; "
                "a rule without a promise is name = 'strict'"
            )
        if not 0.0 <= self.min_effect < 1.0:
            raise WhetError(f"gate {self.name}: min_effect lies between 0 and 1, not {self.min_effect!r}")
        if self.max_regressions is not None and not 0.0 <= self.max_regressions <= 1.0:
            raise WhetError(f"gate {self.name}: max_regressions is a share of the tasks, not {self.max_regressions!r}")
        if self.max_rollouts is not None and self.max_rollouts < 1:
            raise WhetError(f"gate {self.name}: max_rollouts must be at least 1, not {self.max_rollouts}")

    @property
    def rule(self) -> Pace:
        return PACES[self.pace]

    @property
    def promise(self) -> float:
        """How often a candidate that is no better may be accepted, before any budget over the run."""
        return self.rule.alpha if self.alpha is None else self.alpha

    def open(self, tasks: int) -> Bank:
        least = self.rule.least_tasks(self.promise)
        if tasks < least:
            raise WhetError(
                f"gate {self.name}: {tasks} select tasks show nothing at alpha {self.promise:g}, even if all flip; "
                f"use at least {least}"
            )
        return Bank.empty(tasks)

    def read(self, score: Score | None) -> Reading:
        if score is None or (value := self.metric.of(score)) is None:
            return None
        return (value, *(guard.read(score) for guard in self.guards))

    def alpha_for(self, number: int) -> float:
        """The alpha of the run's candidate `number` (0, 1, …)."""
        return self.spending.alpha_for(number, self.promise) if self.spending else self.promise

    def order(self, tasks: int) -> tuple[int, ...]:
        """The order of the tasks in every trial of a run."""
        return _order(self.seed, tasks)

    def trial(self, bank: Bank) -> Trial:
        rule = self.rule
        if isinstance(rule, RacePace):
            return RaceTrial(self, bank, rule).steps()
        return RoundsTrial(self, bank, rule).steps()

    def carry(self, bank: Bank, decision: Decision) -> Bank:
        grown = bank.extended(decision.draws)
        if not decision.accepted:
            return replace(grown, score=self._score(grown))
        kept = isinstance(self.rule, RoundsPace) and self.rule.keeps and bank.tasks > SMALL
        if not isinstance(self.rule, RacePace) or bank.tasks <= SMALL:
            return bank.succeeded(decision.draws, [kept] * bank.tasks, decision.candidate_score)
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
