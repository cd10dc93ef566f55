"""The async engine: thousands of plays on one loop, each remembered in the ledger as soon as it is graded."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from whet.envs.base import Environment
from whet.errors import BudgetReached, WhetError
from whet.keys import rollout_key
from whet.ledger.store import Ledger
from whet.rollout.attempt import Attempt, Bounds, Player, defect
from whet.rollout.budget import Budget
from whet.rollout.works import Works
from whet.types import Fault, Policy, Role, Rollout, Ticket


class Progress(Protocol):
    """Whoever shows how far a plan is. Called on the loop: be quick."""

    def began(self, total: int, what: str) -> None: ...

    def replayed(self, ticket: Ticket) -> None:
        """A ticket was answered in an earlier session."""

    def finished(self, rollout: Rollout) -> None: ...

    def ended(self) -> None: ...


class Quiet:
    """Shows nothing."""

    def began(self, total: int, what: str) -> None: ...

    def replayed(self, ticket: Ticket) -> None: ...

    def finished(self, rollout: Rollout) -> None: ...

    def ended(self) -> None: ...


@dataclass(slots=True)
class Tally:
    """What became of a plan."""

    planned: int
    replayed: int = 0
    done: int = 0
    faults: int = 0
    stopped: str = ""
    """Why the plan was not worked off to its end; '' when it was."""


class Scribe:
    """Writes what was finished during one turn of the loop in one transaction."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._pending: list[Rollout] = []
        self._error: BaseException | None = None

    def add(self, rollout: Rollout) -> None:
        if self._error is not None:
            raise self._error
        if not self._pending:
            asyncio.get_running_loop().call_soon(self._flush)
        self._pending.append(rollout)

    def _flush(self) -> None:
        pending, self._pending = self._pending, []
        if not pending:
            return
        try:
            self._ledger.add_rollouts(pending)
        except BaseException as error:  # noqa: BLE001 - raised again at the next `add` or at `close`
            self._error = error

    def close(self) -> None:
        self._flush()
        if self._error is not None:
            raise self._error


class Engine:
    """Works off plans of rollouts for one environment and one policy."""

    def __init__(
        self,
        env: Environment,
        policy: Policy,
        players: Mapping[Role, Player],
        ledger: Ledger,
        budget: Budget,
        *,
        bounds: Bounds = Bounds(),
        works: Works | None = None,
        concurrency: int = 64,
        patience: int = 25,
    ) -> None:
        self.env = env
        self.policy = policy
        self.players = players
        self.ledger = ledger
        self.budget = budget
        self.bounds = bounds
        self.works = works or Works()
        self.concurrency = concurrency
        self.patience = patience
        """Faults in a row, with no rollout finished between them, after which the plan is given up; 0: never."""
        self._digest = ledger.add_policy(policy)

    async def run(
        self, plan: Sequence[Ticket], *, progress: Progress, what: str = "rollouts", retry_faults: bool = False
    ) -> Tally:
        """Work off `plan`. What the ledger has is not asked again; what is finished is kept whatever happens."""
        settled = frozenset() if retry_faults else self.ledger.faulted()
        shift = _Shift(self, Tally(len(plan)), Scribe(self.ledger), progress, settled)
        progress.began(len(plan), what)
        tickets = iter(plan)
        workers = [asyncio.create_task(shift.work(tickets)) for _ in range(min(self.concurrency, len(plan)))]
        try:
            await _all_or_first_error(workers)
        finally:
            shift.scribe.close()
            progress.ended()
        return shift.tally

    def key(self, ticket: Ticket) -> str:
        return rollout_key(ticket, self.env.fingerprint, self._digest)

    def begin(self, ticket: Ticket) -> Attempt | Fault:
        """The attempt up to its first request, or the fault when the environment's own code breaks."""
        try:
            task = self.env.task(ticket.split, ticket.index)
            return Attempt.begin(task, self.env.play(task), self.policy.playbook, self.players, self.env.blob)
        except WhetError:
            raise
        except Exception as error:  # noqa: BLE001 - the environment's own code: recorded as its defect
            return defect(error)

    async def attempt(self, ticket: Ticket, key: str, request: str, attempt: Attempt) -> Rollout:
        began = time.perf_counter()
        outcome = await attempt.finish(key, self.bounds, self.budget, self.works)
        seconds = time.perf_counter() - began
        turns, label = tuple(attempt.turns), attempt.task.label
        return Rollout(ticket, label, key, request, self._digest, turns, outcome, attempt.usage, seconds)

    def broken(self, ticket: Ticket, key: str, fault: Fault) -> Rollout:
        label = self.env.label(ticket.split, ticket.index)
        return Rollout(ticket, label, key, "", self._digest, (), fault)


@dataclass(slots=True)
class _Shift:
    """One run of the engine over one plan: the workers share it."""

    engine: Engine
    tally: Tally
    scribe: Scribe
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
            # A model that answers without waiting, or a long replay, must hold up neither the scribe nor Ctrl-C.
            await asyncio.sleep(0)

    async def _rollout(self, ticket: Ticket) -> Rollout | None:
        """The rollout of `ticket`; None when it is remembered already or the budget is reached."""
        engine = self.engine
        key = engine.key(ticket)
        begun = engine.begin(ticket)
        if isinstance(begun, Fault):
            return engine.broken(ticket, key, begun)
        request = begun.request_hash()
        answered = engine.ledger.has_rollout(key, request, f"{ticket.split}/{ticket.index} draw {ticket.draw}")
        if answered or key in self.settled:
            begun.play.close()
            self._replayed(ticket)
            return None
        try:
            return await engine.attempt(ticket, key, request, begun)
        except BudgetReached as reached:
            self.tally.stopped = str(reached)
            self._abandoned(key, begun)
            return None
        except asyncio.CancelledError:
            self._abandoned(key, begun)
            raise

    def _abandoned(self, key: str, attempt: Attempt) -> None:
        """An attempt that was cut off has no outcome, but what it spent counts."""
        if attempt.usage.calls:
            self.engine.ledger.add_event("abandoned", key=key, usage=attempt.usage)

    def _replayed(self, ticket: Ticket) -> None:
        self.tally.replayed += 1
        self.progress.replayed(ticket)

    def _keep(self, rollout: Rollout) -> None:
        self.scribe.add(rollout)
        self.progress.finished(rollout)
        if not isinstance(rollout.outcome, Fault):
            self.tally.done += 1
            self.faults_in_a_row = 0
            return
        self.tally.faults += 1
        self.faults_in_a_row += 1
        if self.faults_in_a_row == self.engine.patience:
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
