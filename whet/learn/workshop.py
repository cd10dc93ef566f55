"""What a learner works with: rollouts on train tasks, an optimiser to consult, a gate to ask. Each is remembered.

Every effect has a key made of its purpose, so a learner holds no state that must survive: started again, it asks for
the same effects in the same order and gets the remembered answers until it comes to the first that is missing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from whet import wire
from whet.envs.base import Environment
from whet.errors import BudgetReached, FaultError, LimitReached
from whet.gate.base import Gate, answer, refuse_identical
from whet.gate.decision import Decision
from whet.gate.evidence import Arm, Bank, Draw, Reading
from whet.gate.paired import PairedGate
from whet.keys import digest, policy_digest, rollout_key
from whet.learn.sealed import Sealed
from whet.ledger.store import CONSULTED, Ledger
from whet.models.base import Request
from whet.rollout.attempt import Bounds, Player
from whet.rollout.budget import Budget
from whet.rollout.engine import Engine, Progress
from whet.rollout.works import Works
from whet.types import Message, Playbook, Policy, Reply, Role, Rollout, Split, Ticket

SELECT = "select"
"""The purpose of rollouts that a gate asked for: shared by all decisions, so an incumbent's draws are taken once."""

DECISION = "decision"
TIMED = "timed"
SETTLED = "settled"
"""The kind of effect that says which faults a run has put up with."""

TRAIN_FAULTS, SELECT_FAULTS = 0.2, 0.02
"""Shares of a plan that may be missing: a batch to learn from bears more of it than a comparison."""

Result = TypeVar("Result")


class Halted(Exception):
    """The run cannot go on now: a budget is reached, or a service gave out. Started again, it continues."""


class Spent(Exception):
    """Learning has taken the rollouts it was given; the run goes on to its end."""


@dataclass(frozen=True, slots=True)
class Means:
    """What the rollouts of a run are made with."""

    env: Environment
    players: Mapping[Role, Player]
    ledger: Ledger
    budget: Budget
    bounds: Bounds
    works: Works
    concurrency: int
    patience: int
    progress: Progress

    def engine(self, policy: Policy) -> Engine:
        return Engine(
            self.env,
            policy,
            self.players,
            self.ledger,
            self.budget,
            bounds=self.bounds,
            works=self.works,
            concurrency=self.concurrency,
            patience=self.patience,
        )

    async def work_off(self, policy: Policy, tickets: Sequence[Ticket], what: str, faults: float) -> tuple[str, ...]:
        """Works off a plan and returns its keys. More than a share of `faults` halts the run.

        Until a plan is settled its faults are tried again whenever the run is; from then on they stay as they are, so
        that everything after it follows from what is remembered.
        """
        engine = self.engine(policy)
        keys = tuple(engine.key(ticket) for ticket in tickets)
        plan = digest(SETTLED, keys)
        settled = self.ledger.effect(plan, "", what) is not None
        tally = await engine.run(tickets, progress=self.progress, what=what, retry_faults=not settled)
        if tally.stopped:
            raise Halted(tally.stopped)
        if not settled:
            missing = len(keys) - len(self.ledger.outcomes_of(keys))
            if missing > faults * len(keys):
                last = self.ledger.open_fault(tickets[0].purpose)
                raise Halted(f"{what}: {missing} of {len(keys)} rollouts met a fault, the last: {last}")
            if missing:
                self.ledger.add_effect(plan, SETTLED, what, "", {"missing": missing})
        return keys

    async def roll(
        self, policy: Policy, tickets: Sequence[Ticket], what: str, faults: float
    ) -> tuple[Rollout | None, ...]:
        """The rollouts of a plan, in its order; None where the service gave out."""
        return tuple(self.ledger.rollout(key) for key in await self.work_off(policy, tickets, what, faults))


@dataclass(slots=True)
class Workshop:
    """`means.env` is sealed on entry. `policy` is the target's, without a playbook; `select` the gate's tasks."""

    means: Means
    policy: Policy
    optimizer: Player | None
    gate: Gate
    select: tuple[int, ...]
    max_rollouts: int | None = None
    _taken: set[str] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        self.means = replace(self.means, env=Sealed(self.means.env))

    @property
    def env(self) -> Environment:
        return self.means.env

    @property
    def ledger(self) -> Ledger:
        return self.means.ledger

    def with_playbook(self, playbook: Playbook) -> Policy:
        return replace(self.policy, playbook=playbook)

    # ------------------------------------------------------------------------------------------- rollouts

    async def roll(
        self, purpose: str, playbook: Playbook, tasks: Sequence[int], *, draws: int = 1, split: Split = "train"
    ) -> tuple[Rollout, ...]:
        """Attempts at `tasks` in the order given, draw after draw; what met a fault is left out."""
        tickets = [Ticket(purpose, split, task, draw) for draw in range(draws) for task in tasks]
        policy = self.with_playbook(playbook)
        self._take([(policy, ticket) for ticket in tickets])
        rolled = await self.means.roll(policy, tickets, purpose, TRAIN_FAULTS)
        return tuple(one for one in rolled if one is not None)

    def _take(self, planned: Sequence[tuple[Policy, Ticket]]) -> None:
        """Counts every rollout of the plan once, remembered or not: a resumed run stops where the first would have."""
        digests = {id(policy): policy_digest(policy) for policy, _ in planned}
        new = {rollout_key(ticket, self.env.fingerprint, digests[id(policy)]) for policy, ticket in planned}
        new -= self._taken
        if self.max_rollouts is not None and len(self._taken) + len(new) > self.max_rollouts:
            raise Spent(f"{self.taken} of {self.max_rollouts} rollouts taken, the next {len(new)} do not fit")
        self._taken |= new

    @property
    def taken(self) -> int:
        """Rollouts that learning has planned so far."""
        return len(self._taken)

    # ------------------------------------------------------------------------------------------- the optimiser

    async def consult(self, purpose: str, messages: Sequence[Message], max_tokens: int | None = None) -> Reply:
        """The optimiser's reply. `purpose` ends in the stage that asks, such as 'e1/s3/analyst/fail-000'."""
        if self.optimizer is None:
            raise AssertionError(f"{purpose}: consulted without an optimiser")
        key = digest(CONSULTED, purpose)
        sampling = replace(self.optimizer.sampling, seed=int(key[:8], 16) & 0x7FFFFFFF)
        if max_tokens is not None:
            sampling = replace(sampling, max_tokens=max_tokens)
        asked = digest([wire.message_out(one) for one in messages], sampling, self.optimizer.model.fingerprint)
        known = self.ledger.effect(key, asked, purpose)
        if known is not None:
            return wire.reply_in(known["reply"])
        request = Request(tuple(messages), sampling, blob=self.env.blob, attempt=key)
        try:
            reply = await self.optimizer.reply(request, self.means.budget, self.means.bounds.call_timeout)
        except (FaultError, BudgetReached) as gone:
            raise Halted(f"optimizer at {purpose}: {gone}") from None
        except LimitReached as limit:
            reply = Reply("", finish="length", reasoning=str(limit))
        self.ledger.add_effect(key, CONSULTED, purpose, asked, {"reply": wire.reply_out(reply)})
        return reply

    # ------------------------------------------------------------------------------------------- the gate

    async def decide(
        self, purpose: str, bank: Bank, incumbent: Playbook, candidate: Playbook, share: float = 1.0
    ) -> Decision:
        """Brings `candidate` before the gate; the decision and its evidence are remembered.

        `share` is the part of the gate's alpha that this decision may use, where several come of one proposal.
        """
        gate = replace(self.gate, alpha=self.gate.alpha * share) if isinstance(self.gate, PairedGate) else self.gate
        same = refuse_identical(gate, incumbent, candidate)
        if same is not None:
            return same
        policies: dict[Arm, Policy] = {
            "incumbent": self.with_playbook(incumbent),
            "candidate": self.with_playbook(candidate),
        }
        taken: dict[Draw, Reading] = {}
        while not isinstance(found := answer(gate, bank, taken), Decision):
            planned = {draw: Ticket(SELECT, "select", self.select[draw.task], draw.draw) for draw in found.draws}
            self._take([(policies[draw.arm], ticket) for draw, ticket in planned.items()])
            for arm, policy in policies.items():
                part = {draw: ticket for draw, ticket in planned.items() if draw.arm == arm}
                taken.update(await self._draw(policy, part, f"{purpose} {arm}"))
        key = digest(DECISION, purpose)
        asked = digest(bank, share, *(policy_digest(policy) for policy in policies.values()))
        if self.ledger.effect(key, asked, purpose) is None:
            self.ledger.add_effect(key, DECISION, purpose, asked, found.as_data())
        return found

    async def _draw(self, policy: Policy, planned: Mapping[Draw, Ticket], what: str) -> dict[Draw, Reading]:
        if not planned:
            return {}
        rolled = await self.means.roll(policy, list(planned.values()), what, SELECT_FAULTS)
        scores = (None if rollout is None else rollout.score for rollout in rolled)
        return {draw: self.gate.read(score) for draw, score in zip(planned, scores, strict=True)}

    # ------------------------------------------------------------------------------------------- the clock

    async def timed(self, purpose: str, stage: Awaitable[Result]) -> Result:
        """Runs a stage and remembers how long it took the first time."""
        began = time.monotonic()
        result = await stage
        key = digest(TIMED, purpose)
        if self.ledger.effect(key, "", purpose) is None:
            self.ledger.add_effect(key, TIMED, purpose, "", {"seconds": round(time.monotonic() - began, 3)})
        return result

    def seconds(self, purpose: str) -> float:
        """What `timed` remembered; 0.0 for a stage that was not run."""
        known: Any = self.ledger.effect(digest(TIMED, purpose), "", purpose)
        return 0.0 if known is None else float(known["seconds"])


async def together(*stages: Awaitable[Result]) -> list[Result]:
    """All results in the order given; on the first error the rest is cancelled and awaited."""
    tasks = [asyncio.ensure_future(stage) for stage in stages]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
