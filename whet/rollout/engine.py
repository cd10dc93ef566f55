"""The async driver: thousands of plays on one loop, each remembered in the ledger as soon as it is graded."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whet.envs.base import Environment
from whet.errors import BudgetReached, FaultError, LimitReached, Unreachable, WhetError
from whet.keys import rollout_key
from whet.models.base import Request
from whet.rollout.conversation import ENDS, Answer, AttemptLimits, Conversation, defect
from whet.rollout.player import Seat
from whet.rollout.progress import Progress, Tally
from whet.rollout.purse import Purse
from whet.rollout.works import Works
from whet.types import Fault, Role, Rollout, Score, Ticket, Usage, Work

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
        self._policy = ledger.add_policy(seats["target"].policy)

    async def run(
        self, plan: Sequence[Ticket], *, progress: Progress, what: str = "rollouts", retry_faults: bool = False
    ) -> Tally:
        """Work off `plan`. What the ledger has is not asked again; what is finished is kept whatever happens."""
        settled = frozenset() if retry_faults else self.ledger.faulted()
        shift = _Shift(self, Tally(len(plan)), progress, settled)
        progress.began(len(plan), what)
        tickets = iter(plan)
        workers = [asyncio.create_task(shift.work(tickets)) for _ in range(min(self.concurrency, len(plan)))]
        try:
            await _all_or_first_error(workers)
        finally:
            self.ledger.journal.flush()
            progress.ended()
        return shift.tally

    def key(self, ticket: Ticket) -> str:
        return rollout_key(ticket, self.env.fingerprint, self._policy)

    def begin(self, ticket: Ticket, key: str) -> Conversation | Fault:
        """The attempt up to its first request, or the fault when the environment's own code breaks."""
        try:
            task = self.env.task(ticket.split, ticket.index)
            play = self.env.play(task)
        except WhetError:
            raise
        except Exception as error:  # noqa: BLE001 - the environment's own code: recorded as its defect
            return defect(error)
        conversation = Conversation(task, play, self.seats, key, limits=self.limits, blob=self.env.blob)
        first = conversation.pending
        return first if isinstance(first, Fault) else conversation

    async def rollout(self, ticket: Ticket, request: str, conversation: Conversation) -> Rollout:
        began = time.perf_counter()
        outcome = await self._finish(conversation)
        seconds = time.perf_counter() - began
        assert conversation.task is not None
        turns, label = tuple(conversation.turns), conversation.task.label
        return Rollout(
            ticket, label, conversation.key, request, self._policy, turns, outcome, conversation.usage, seconds
        )

    def broken(self, ticket: Ticket, key: str, fault: Fault) -> Rollout:
        label = self.env.label(ticket.split, ticket.index)
        return Rollout(ticket, label, key, "", self._policy, (), fault)

    async def _finish(self, conversation: Conversation) -> Score | Fault:
        """The score of the attempt, or the fault that ended it.

        `BudgetReached`, `Unreachable` and `WhetError` pass through: they end the run and not the attempt.
        """
        began = time.monotonic()
        try:
            async with asyncio.timeout(self.limits.deadline):
                while True:
                    step = conversation.next()
                    if isinstance(step, ENDS):
                        return step
                    if isinstance(step, Work):
                        started = time.monotonic()
                        try:
                            result = await self.works.perform(step, conversation.key)
                        finally:
                            conversation.working += time.monotonic() - started
                        conversation.answer(result)
                    else:
                        conversation.answer(await self._reply(step, conversation))
        except TimeoutError:
            return conversation.out_of_time(time.monotonic() - began)
        except Unreachable:
            raise
        except FaultError as error:
            return error.fault
        finally:
            conversation.close()
            await self.works.leave(conversation.key)
            for seat in self.seats.values():
                await seat.player.model.leave(conversation.key)

    async def _reply(self, request: Request, conversation: Conversation) -> Answer:
        """What the role's player answers. A call that came to nothing was made all the same, and is counted."""
        player = self.seats[request.role].player
        try:
            return await player.reply(request, self.purse, self.limits.call_timeout)
        except Unreachable:
            raise
        except (LimitReached, FaultError) as failure:
            if not player.free:
                conversation.usage += Usage(calls=1)
            return failure if isinstance(failure, LimitReached) else failure.fault


@dataclass(slots=True)
class _Shift:
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
                self._keep(rollout)
            # A model that answers without waiting, or a long replay, must hold up neither the journal nor Ctrl-C.
            await asyncio.sleep(0)

    async def _rollout(self, ticket: Ticket) -> Rollout | None:
        """The rollout of `ticket`; None when it is remembered already or the budget is reached."""
        engine = self.engine
        key = engine.key(ticket)
        conversation = engine.begin(ticket, key)
        if isinstance(conversation, Fault):
            return self._broken(ticket, key, conversation)
        try:
            request = conversation.request_hash()
        except TypeError as error:  # what the play asks for is not plain data, which has no content to hash
            conversation.close()
            return self._broken(ticket, key, defect(error))
        answered = engine.ledger.has_rollout(key, request, f"{ticket.split}/{ticket.index} draw {ticket.draw}")
        if answered or key in self.settled:
            conversation.close()
            self._replayed(ticket)
            return None
        try:
            return await engine.rollout(ticket, request, conversation)
        except (BudgetReached, Unreachable) as reached:
            self.tally.stopped, self.tally.failed = str(reached), isinstance(reached, Unreachable)
            return None

    def _broken(self, ticket: Ticket, key: str, fault: Fault) -> Rollout | None:
        """A task that cannot be played at all: a fault once, and from then on one that is left as it is."""
        if key in self.settled or self.engine.ledger.rollout(key) is not None:
            self._replayed(ticket)
            return None
        return self.engine.broken(ticket, key, fault)

    def _replayed(self, ticket: Ticket) -> None:
        self.tally.replayed += 1
        self.progress.replayed(ticket)

    def _keep(self, rollout: Rollout) -> None:
        self.engine.ledger.journal.add(rollout)
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
