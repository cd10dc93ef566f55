"""The sealed test, opened once at the end: no playbook, the initial, the best and the final, on the same tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from whet.errors import WhetError
from whet.evals.compare import Comparison, compare
from whet.evals.floor import Floor, floor_of
from whet.evals.metric import Metric
from whet.evals.summary import Summary, summarize
from whet.learn.judge import Judge
from whet.rollout.session import Session
from whet.run.caveats import Caveats, note_caveats
from whet.run.floor import FLOOR, REFERENCE, play_floor, played_for
from whet.types import Outcome, Playbook, Policy, Split, Ticket

TEST: Split = "test"

TEST_FAULTS = 0.2
"""The share of a policy's test rollouts that may be missing, or the draws of one task if they are more. What is missing
is bounded in the claim; where more is, a service has given out, and the run waits to be continued.
"""
NONE, INITIAL, BEST, FINAL = "no playbook", "initial", "best", "final"
KEPT = "the initial playbook was kept"


@dataclass(frozen=True, slots=True)
class SealedResult:
    """What the sealed test showed, by the name of the policy; two names may share one policy and its rollouts."""

    outcomes: Mapping[str, tuple[Outcome, ...]]
    summaries: Mapping[str, Summary]
    gains: Mapping[str, Comparison | str]
    """Best and final against the initial policy, on the gate's metric; where two are one policy, or too much is
    missing, the reason.
    """
    floor: Floor | None
    caveats: Caveats = Caveats()
    """Which opening of the test it was, and what else its figures must be read with."""


@dataclass(frozen=True, slots=True)
class SealedTest:
    """The tasks that the claim is made on, how often each is drawn, and the metric of the claim: the gate's."""

    tasks: tuple[int, ...]
    repeats: int
    metric: Metric

    def tickets(self) -> list[Ticket]:
        return [Ticket(TEST, TEST, task, draw) for draw in range(self.repeats) for task in self.tasks]

    async def open(self, session: Session, judge: Judge, run: str) -> SealedResult:
        """Play the sealed tasks. The session has the whole environment: the learner is done.

        That this run, by its identity, opens them is on record before the first is asked.
        """
        caveats = note_caveats(session, run, TEST, self.tasks)
        policies = {
            NONE: replace(judge.initial, playbook=Playbook()),
            INITIAL: judge.initial,
            BEST: judge.best.policy,
            FINAL: judge.current.policy,
        }
        outcomes: dict[str, tuple[Outcome, ...]] = {}
        for name, policy in policies.items():
            plan = await session.settle(policy, self.tickets(), f"test, {name}", self.faults)
            outcomes[name] = session.outcomes(TEST, plan.keys)
        if session.judge is None:
            await play_floor(session, TEST, self.tasks)
        played = list(session.ledger.outcomes())
        floor = floor_of(
            played_for(played, FLOOR), played_for(played, REFERENCE), metric=self.metric, level=caveats.level
        )
        return self.fold(policies, outcomes, floor, caveats)

    @property
    def faults(self) -> float:
        """The share of a policy's rollouts that may be missing."""
        return max(TEST_FAULTS, 1 / len(self.tasks))

    def fold(
        self,
        policies: Mapping[str, Policy],
        outcomes: Mapping[str, tuple[Outcome, ...]],
        floor: Floor | None,
        caveats: Caveats = Caveats(),
    ) -> SealedResult:
        meant = {(TEST, task) for task in self.tasks}
        level = caveats.level
        gains: dict[str, Comparison | str] = {}
        for name in (BEST, FINAL):
            if policies[name] == policies[INITIAL]:
                gains[name] = KEPT
                continue
            try:
                gains[name] = compare(outcomes[INITIAL], outcomes[name], metric=self.metric, tasks=meant, level=level)
            except WhetError as refused:
                gains[name] = str(refused)
        summaries = {name: summarize(rollouts, metric=self.metric, level=level) for name, rollouts in outcomes.items()}
        return SealedResult(outcomes, summaries, gains, floor, caveats)
