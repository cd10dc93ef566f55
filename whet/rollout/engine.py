"""The async driver: thousands of plays on one loop, each remembered in the ledger as soon as it is graded."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whet.envs.base import Environment
from whet.errors import BudgetReached, Unreachable
from whet.keys import rollout_key
from whet.rollout.attempts import AttemptMaker
from whet.rollout.conversation import AttemptLimits
from whet.rollout.player import Seat
from whet.rollout.progress import Progress, Tally
from whet.rollout.purse import Purse
from whet.rollout.works import Works
from whet.types import Fault, Role, Rollout, Ticket

if TYPE_CHECKING:
    from whet.ledger.writer import LedgerWriter


class Engine:
    """Works off plans of rollouts for one environment and the policy in the target's seat."""

    def __init__(
        self,
        env: Environment,
        seats: Mapping[Role, Seat],
        ledger: LedgerWriter,
        purse: Purse,
        works: Works,
        *,
        limits: AttemptLimits = AttemptLimits(),
        concurrency: int = 64,
        patience: int = 25,
    ) -> None:
        self.env = env
        self.seats = seats
        self.ledger = ledger
        self.purse = purse
        self.works = works
        self.limits = limits
        self.concurrency = concurrency
        self.patience = patience
        """Faults in a row, with no rollout finished between them, after which the plan is given up; 0: never."""
        self.attempts = AttemptMaker(env, seats, purse, works, limits, ledger.add_policy(seats["target"].policy))

    async def run(
        self, plan: Sequence[Ticket], *, progress: Progress, what: str = "rollouts", retry_faults: bool = False
    ) -> Tally:
        """Work off `plan`. What the ledger has is not asked again; what is finished is kept whatever happens."""
        settled = frozenset() if retry_faults else self.ledger.faulted()
        shift = EngineShift(self, Tally(len(plan)), progress, settled)
        progress.began(len(plan), what)
        try:
            await self.work_off(shift, plan)
        finally:
            self.ledger.journal.flush()
            progress.ended()
        return shift.tally

    async def work_off(self, shift: EngineShift, plan: Sequence[Ticket]) -> None:
        """Every ticket of the plan, or as far as the shift goes: here, by tasks of this loop."""
        tickets = iter(plan)
        if len(plan) == 1:  # a ticket that was handed in alone needs nobody beside it
            await shift.work(tickets)
            return
        workers = [asyncio.create_task(shift.work(tickets)) for _ in range(min(self.concurrency, len(plan)))]
        await _all_or_first_error(workers)

    def key(self, ticket: Ticket) -> str:
        return rollout_key(ticket, self.env.fingerprint, self.attempts.policy)


@dataclass(slots=True)
class EngineShift:
    """One run of the engine over one plan: the workers share it."""

    engine: Engine
    tally: Tally
    progress: Progress
    settled: frozenset[str]
    """Keys of faults that are left as they are."""
    faults_in_a_row: int = 0

    async def work(self, tickets: Iterator[Ticket]) -> None:
        """One worker: takes tickets until there are none or the shift is stopped."""
        for ticket in tickets:
            if self.tally.stopped:
                return
            rollout = await self._rollout(ticket)
            if rollout is not None:
                self.keep(rollout)
            # A model that answers without waiting, or a long replay, must hold up neither the journal nor Ctrl-C.
            await asyncio.sleep(0)

    async def _rollout(self, ticket: Ticket) -> Rollout | None:
        """The rollout of `ticket`; None when it is remembered already or the budget is reached."""
        engine = self.engine
        key = engine.key(ticket)
        opened = engine.attempts.open(ticket, key)
        if isinstance(opened, Fault):
            return self.broken(ticket, key, opened)
        conversation, request = opened
        answered = engine.ledger.has_rollout(key, request, f"{ticket.split}/{ticket.index} draw {ticket.draw}")
        if answered or key in self.settled:
            conversation.close()
            self.replayed(ticket)
            return None
        try:
            return await engine.attempts.rollout(ticket, request, conversation)
        except (BudgetReached, Unreachable) as reached:
            self.tally.stopped, self.tally.failed = str(reached), isinstance(reached, Unreachable)
            return None

    def broken(self, ticket: Ticket, key: str, fault: Fault) -> Rollout | None:
        """A task that cannot be played at all: a fault once, and from then on one that is left as it is."""
        if key in self.settled or self.engine.ledger.rollout(key) is not None:
            self.replayed(ticket)
            return None
        return self.engine.attempts.broken(ticket, key, fault)

    def replayed(self, ticket: Ticket) -> None:
        self.tally.replayed += 1
        self.progress.replayed(ticket)

    def keep(self, rollout: Rollout) -> None:
        self.engine.ledger.journal.add(rollout)
        self.count(rollout)

    def count(self, rollout: Rollout) -> None:
        """A rollout is kept: whoever watches is told, and too many faults in a row stop the shift."""
        self.progress.finished(rollout)
        if not isinstance(rollout.outcome, Fault):
            self.tally.done += 1
            self.faults_in_a_row = 0
            return
        self.tally.faults += 1
        self.faults_in_a_row += 1
        if self.faults_in_a_row == self.engine.patience:
            self.tally.failed = True
            self.tally.stopped = f"{self.engine.patience} faults in a row, the last: {rollout.outcome}"


async def _all_or_first_error(workers: Sequence[asyncio.Task[None]]) -> None:
    """Wait for all; on the first error, or when cancelled ourselves, cancel the rest and wait for them to let go."""
    try:
        await asyncio.gather(*workers)
    except BaseException:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
        raise
