"""One attempt from ticket to rollout, by whoever is at the seats. Knows no ledger: who keeps what came of it does."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass

from whet.envs.base import Environment
from whet.errors import FaultError, LimitReached, Unreachable, WhetError
from whet.models.base import Request
from whet.rollout.conversation import ENDS, Answer, AttemptLimits, Conversation, defect
from whet.rollout.player import Seat
from whet.rollout.purse import Purse
from whet.rollout.works import Works
from whet.types import Fault, Role, Rollout, Score, Ticket, Usage, Work


@dataclass(frozen=True, slots=True)
class AttemptMaker:
    """Makes attempts at the tasks of one environment for the policy in the target's seat."""

    env: Environment
    seats: Mapping[Role, Seat]
    purse: Purse
    works: Works
    limits: AttemptLimits
    policy: str
    """The digest of the policy, which stands in every rollout."""

    def open(self, ticket: Ticket, key: str) -> tuple[Conversation, str] | Fault:
        """The attempt up to its first request and the hash of that, or the fault that keeps it from being played."""
        conversation = self.begin(ticket, key)
        if isinstance(conversation, Fault):
            return conversation
        try:
            return conversation, conversation.request_hash()
        except TypeError as error:  # what the play asks for is not plain data, which has no content to hash
            conversation.close()
            return defect(error)

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
            ticket, label, conversation.key, request, self.policy, turns, outcome, conversation.usage, seconds
        )

    def broken(self, ticket: Ticket, key: str, fault: Fault) -> Rollout:
        label = self.env.label(ticket.split, ticket.index)
        return Rollout(ticket, label, key, "", self.policy, (), fault)

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
