"""The sealed test, opened once at the end: no playbook, the initial, the best and the final, on the same tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from whet.errors import WhetError
from whet.evals.compare import Comparison, compare
from whet.evals.floor import Floor, floor_of
from whet.evals.metric import Metric
from whet.evals.summary import Summary, summarize
from whet.learn.judge import Judge
from whet.learn.workshop import SELECT_FAULTS
from whet.rollout.session import Session
from whet.run.floor import FLOOR, play_floor
from whet.types import Outcome, Playbook, Policy, Split, Ticket

TEST: Split = "test"
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


@dataclass(frozen=True, slots=True)
class SealedTest:
    """The tasks that the claim is made on, how often each is drawn, and the metric of the claim: the gate's."""

    tasks: tuple[int, ...]
    repeats: int
    metric: Metric

    def tickets(self) -> list[Ticket]:
        return [Ticket(TEST, TEST, task, draw) for draw in range(self.repeats) for task in self.tasks]

    async def open(self, session: Session, judge: Judge) -> SealedResult:
        """Play the sealed tasks. The session has the whole environment: the learner is done."""
        policies = {
            NONE: replace(judge.initial, playbook=Playbook()),
            INITIAL: judge.initial,
            BEST: judge.best.policy,
            FINAL: judge.current.policy,
        }
        outcomes: dict[str, tuple[Outcome, ...]] = {}
        for name, policy in policies.items():
            plan = await session.settle(policy, self.tickets(), f"test, {name}", SELECT_FAULTS)
            outcomes[name] = session.outcomes(TEST, plan.keys)
        if session.judge is None:
            await play_floor(session, TEST, self.tasks)
        return self.fold(policies, outcomes, _floors(session))

    def fold(
        self,
        policies: Mapping[str, Policy],
        outcomes: Mapping[str, tuple[Outcome, ...]],
        floors: Mapping[str, Sequence[Outcome]],
    ) -> SealedResult:
        meant = {(TEST, task) for task in self.tasks}
        gains: dict[str, Comparison | str] = {}
        for name in (BEST, FINAL):
            if policies[name] == policies[INITIAL]:
                gains[name] = KEPT
                continue
            try:
                gains[name] = compare(outcomes[INITIAL], outcomes[name], metric=self.metric, tasks=meant)
            except WhetError as refused:
                gains[name] = str(refused)
        summaries = {name: summarize(rollouts, metric=self.metric) for name, rollouts in outcomes.items()}
        return SealedResult(outcomes, summaries, gains, floor_of(floors, metric=self.metric))


def _floors(session: Session) -> dict[str, list[Outcome]]:
    found: dict[str, list[Outcome]] = {}
    for outcome in session.ledger.outcomes():
        if outcome.ticket.purpose.startswith(FLOOR):
            found.setdefault(outcome.ticket.purpose.removeprefix(FLOOR), []).append(outcome)
    return dict(sorted(found.items()))
