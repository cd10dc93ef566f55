"""One attempt: drives a play to its end against the players of its roles, and says how it went."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from whet.envs.base import Play
from whet.errors import BudgetReached, FaultError, LimitReached, WhetError
from whet.keys import digest
from whet.models.base import Model, Request
from whet.rollout.budget import Budget
from whet.rollout.placing import place
from whet.rollout.works import Works
from whet.types import Ask, Fault, Message, Playbook, Reply, Role, Sampling, Score, Task, Turn, Usage, Work, failed


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of one attempt. Overrunning a limit on turns or tokens is the policy's doing, and a score."""

    turns: int = 64
    tokens: int | None = None
    deadline: float = 900.0
    call_timeout: float = 600.0
    """Seconds for one reply, the model's own retries included."""


@dataclass(slots=True)
class Player:
    """A role's model, how it samples, and how many calls it serves at once."""

    model: Model
    sampling: Sampling = Sampling()
    width: asyncio.Semaphore | None = None

    async def reply(self, request: Request, budget: Budget, patience: float) -> Reply:
        claim = budget.claim(request, self.model.price)
        await budget.reserve(claim)
        used = Usage(calls=1)
        try:
            if self.width is None:
                reply = await self._complete(request, patience)
            else:
                async with self.width:
                    reply = await self._complete(request, patience)
            used = reply.usage
        finally:
            budget.settle(claim, used)
        return reply

    async def _complete(self, request: Request, patience: float) -> Reply:
        try:
            async with asyncio.timeout(patience):
                return await self.model.complete(request)
        except TimeoutError:
            raise FaultError(Fault("timeout", self.model.name, f"no reply within {patience:g} s")) from None


@dataclass(slots=True)
class Attempt:
    """The state of one attempt while it is under way."""

    task: Task
    play: Play
    playbook: Playbook
    players: Mapping[Role, Player]
    blob: Callable[[str], bytes]
    first: Ask | Work
    turns: list[Turn] = field(default_factory=list)
    usage: Usage = Usage()
    _said: dict[Role, list[Message]] = field(default_factory=dict)
    _working: float = 0.0

    @classmethod
    def begin(
        cls,
        task: Task,
        play: Play,
        playbook: Playbook,
        players: Mapping[Role, Player],
        blob: Callable[[str], bytes],
    ) -> Attempt:
        """Runs the play up to what it first needs, which costs nothing and shows what would be asked."""
        return cls(task, play, playbook, players, blob, next(play))

    def request_hash(self) -> str:
        """What the first request would be: compared on replay, so that a changed prompt is noticed.

        A model that places the playbook itself gets the same content in another form, and so the same hash.
        """
        if isinstance(self.first, Work):
            return digest("work", self.first)
        opening = place(self.playbook, self.first.messages)
        return digest(opening, self.first.tools, dict(self.first.narrow), self.first.shape, self.first.must_call)

    async def finish(self, key: str, bounds: Bounds, budget: Budget, works: Works) -> Score | Fault:
        """The score of the attempt, or the fault that ended it. `BudgetReached` and `WhetError` pass through."""
        began = time.monotonic()
        try:
            async with asyncio.timeout(bounds.deadline):
                return await self._drive(key, bounds, budget, works)
        except TimeoutError:
            spent = time.monotonic() - began
            if self._working > spent / 2:
                return failed("deadline", f"{self._working:.1f} s of {spent:.1f} s in its own calls")
            return Fault("timeout", "attempt", f"not finished within {bounds.deadline:g} s")
        except FaultError as error:
            return error.fault
        finally:
            self.play.close()
            for player in self.players.values():
                await player.model.leave(key)

    async def _drive(self, key: str, bounds: Bounds, budget: Budget, works: Works) -> Score | Fault:
        step, limits_hit = self.first, 0
        while True:
            answer: Any = None
            limit: LimitReached | None = None
            if isinstance(step, Work):
                began = time.monotonic()
                answer = await works.perform(step)
                self._working += time.monotonic() - began
            else:
                try:
                    answer = await self._ask(step, key, bounds, budget)
                except LimitReached as reached:
                    limit, limits_hit = reached, limits_hit + 1
            try:
                if limit is None:
                    step = self.play.send(answer)
                elif limits_hit > 3:
                    return failed(limit.reason, limit.detail)
                else:
                    step = self.play.throw(limit)
            except StopIteration as end:
                return _graded(end.value)
            except LimitReached as uncaught:
                return failed(uncaught.reason, uncaught.detail)
            except (FaultError, BudgetReached, WhetError):
                raise
            except Exception as error:  # noqa: BLE001 - the environment's own code: its defect, never the policy's score
                return defect(error)

    async def _ask(self, ask: Ask, key: str, bounds: Bounds, budget: Budget) -> Reply:
        if len(self.turns) >= bounds.turns:
            raise LimitReached("turn_limit", f"{bounds.turns} turns")
        if bounds.tokens is not None and self.usage.completion_tokens >= bounds.tokens:
            raise LimitReached("token_limit", f"{bounds.tokens} tokens")
        player = self.players.get(ask.role)
        if player is None:
            raise WhetError(f"the environment asks for a {ask.role}; name its model with --set {ask.role}.model=...")
        said = self._said.setdefault(ask.role, [])
        own = ask.role == "target" and player.model.places_playbook
        opening = not said and ask.role == "target" and not own
        said.extend(place(self.playbook, ask.messages) if opening else ask.messages)
        request = Request(
            tuple(said),
            _sampling(player.sampling, ask.narrow, key, len(self.turns)),
            ask.tools,
            ask.shape,
            ask.must_call,
            self.blob,
            self.task if player.model.sees_task else None,
            self.playbook if own else None,
            key,
        )
        reply = await player.reply(request, budget, bounds.call_timeout)
        self.usage += reply.usage
        self.turns.append(Turn(ask.role, ask.messages, reply))
        said.append(reply.as_message())
        return reply


def _sampling(base: Sampling, narrow: Mapping[str, Any], key: str, turn: int) -> Sampling:
    """The sampling of one call: every draw and every turn has a seed of its own, fixed by the rollout's key."""
    seed = (int(key[:8], 16) + (base.seed or 0) + turn) & 0x7FFFFFFF
    return replace(base, **{**narrow, "seed": seed})


def _graded(value: Any) -> Score | Fault:
    if isinstance(value, Score):
        return value
    return Fault("environment_error", "play", f"a play must return a Score, this one returned {type(value).__name__}")


def defect(error: BaseException) -> Fault:
    """A defect of the environment's own code, named by the line that broke: never a score of the policy's."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else "play"
    return Fault("environment_error", where, f"{type(error).__name__}: {error}")
