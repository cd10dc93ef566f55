"""What a learner works with: rollouts on train tasks, an optimiser to consult, a gate to ask. Each is remembered.

Every effect has a key made of its purpose, so a learner holds no state that must survive: started again, it asks for
the same effects in the same order and gets the remembered answers until it comes to the first that is missing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from whet import wire
from whet.envs.base import Environment
from whet.errors import BudgetReached, FaultError, LimitReached
from whet.gate.base import Gate
from whet.gate.decide import Contest, Planned, decide
from whet.gate.decision import Decision
from whet.gate.evidence import Bank
from whet.gate.paired import PairedGate
from whet.keys import digest, policy_digest, rollout_key
from whet.learn.coach import CoachedEnvironment
from whet.learn.leaks import LeakWatch
from whet.learn.prompt_text import OptimizerPrompts
from whet.learn.sealed import SealedEnvironment
from whet.learn.usage import stage_of
from whet.ledger.store import CONSULTED
from whet.models.base import Request
from whet.rollout.session import Halted, Session
from whet.types import Message, Outcome, Playbook, Policy, Reply, Rollout, Split, Ticket

if TYPE_CHECKING:
    from whet.ledger.writer import LedgerWriter

SELECT = "select"
"""The purpose of rollouts that a gate asked for: shared by all decisions, so an incumbent's draws are taken once."""

THOROUGH = "patient"
"""The pace at which both sides get every task."""

TIMED = "timed"

LEAK = "leak"
"""The kind of effect that says which candidate was dropped for text of held-out tasks, and why a decision was made."""

TRAIN_FAULTS, SELECT_FAULTS = 0.2, 0.02
"""Shares of a plan that may be missing from a batch to learn from and from a sealed test. A gate bounds its own."""

Result = TypeVar("Result")


class Spent(Exception):
    """Learning has taken the rollouts it was given; the run goes on to its end."""


@dataclass(slots=True)
class Workshop:
    """A session without its test tasks. `select` are the gate's tasks."""

    session: Session
    gate: Gate
    select: tuple[int, ...]
    max_rollouts: int | None = None
    leaks: LeakWatch | None = None
    """Whoever knows whether a text holds parts of select or test tasks."""
    effort: Mapping[str, Any] = field(default_factory=dict)
    """Reasoning effort of the optimiser by stage, where it is another than the optimiser's own."""
    prompts: OptimizerPrompts = field(default_factory=OptimizerPrompts)
    """What a reply that cannot be read goes back with is among them, whoever asked."""
    _planned: set[str] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        self.session = self.session.within(SealedEnvironment(self.session.env))

    @property
    def env(self) -> Environment:
        return self.session.env

    @property
    def ledger(self) -> LedgerWriter:
        return self.session.ledger

    @property
    def consulting(self) -> bool:
        """Whether there is an optimiser to ask."""
        return self.session.optimizer is not None

    def with_playbook(self, playbook: Playbook) -> Policy:
        """The target with another playbook."""
        return replace(self.session.policy, playbook=playbook)

    # ------------------------------------------------------------------------------------------- rollouts

    async def roll(
        self,
        purpose: str,
        policy: Policy,
        tasks: Sequence[int],
        *,
        draws: int = 1,
        split: Split = "train",
        coach: bool = False,
        faults: float = TRAIN_FAULTS,
    ) -> tuple[Rollout, ...]:
        """Attempts at `tasks` in the order given, draw after draw; what met a fault is left out.

        With `coach`, the policy is told how its attempt was graded and tries once more (`whet.learn.coach`). A larger
        share than `faults` left out halts the run.
        """
        tickets = [Ticket(purpose, split, task, draw) for draw in range(draws) for task in tasks]
        self._plan([(policy, ticket) for ticket in tickets])
        session = self.session.within(CoachedEnvironment(self.env)) if coach else self.session
        rolled = await session.roll(policy, tickets, purpose, faults)
        return tuple(rollout for rollout in rolled if rollout is not None)

    def after(self, other: Workshop) -> None:
        """Goes on from what an earlier workshop of the same run has planned; a limit counts from here."""
        self._planned |= other._planned
        if self.max_rollouts is not None:
            self.max_rollouts += len(self._planned)

    def _plan(self, planned: Planned) -> None:
        """Counts every rollout of the plan once, remembered or not: a resumed run stops where the first would have."""
        policies = {id(policy): policy for policy, _ in planned}
        digests = {name: policy_digest(policy) for name, policy in policies.items()}
        new = {rollout_key(ticket, self.env.fingerprint, digests[id(policy)]) for policy, ticket in planned}
        new -= self._planned
        if self.max_rollouts is not None and len(self._planned) + len(new) > self.max_rollouts:
            raise Spent(f"{self.planned} of {self.max_rollouts} rollouts taken, the next {len(new)} do not fit")
        self._planned |= new

    @property
    def planned(self) -> int:
        """Rollouts that learning has planned so far."""
        return len(self._planned)

    def selected(self, policy: Policy) -> list[Outcome]:
        """First draws of a policy on the gate's tasks, as far as the gate asked for them."""
        tickets = [Ticket(SELECT, "select", task) for task in self.select]
        return self.ledger.outcomes_of(self.session.key(policy, ticket) for ticket in tickets)

    # ------------------------------------------------------------------------------------------- the optimiser

    async def consult(self, purpose: str, messages: Sequence[Message], max_tokens: int | None = None) -> Reply:
        """The optimiser's reply. `purpose` ends in the stage that asks, such as 'e1/s3/analyst/fail-000'."""
        seat = self.session.optimizer
        if seat is None:
            raise AssertionError(f"{purpose}: consulted without an optimiser")
        key = digest(CONSULTED, purpose)
        sampling = replace(seat.policy.sampling, seed=int(key[:8], 16) & 0x7FFFFFFF)
        if max_tokens is not None:
            sampling = replace(sampling, max_tokens=max_tokens)
        if (effort := self.effort.get(stage_of(purpose))) is not None:
            sampling = replace(sampling, effort=effort)
        asked = digest([wire.message_out(message) for message in messages], sampling, seat.policy.model)
        known = self.ledger.effect(key, asked, purpose)
        if known is not None:
            return wire.reply_in(known["reply"])
        request = Request(tuple(messages), sampling, blob=self.env.blob, attempt=key, role="optimizer")
        try:
            reply = await self.session.ask(seat, request)
        except (FaultError, BudgetReached) as gone:
            raise Halted(f"optimizer at {purpose}: {gone}") from None
        except LimitReached as limit:
            reply = Reply("", finish="length", reasoning=str(limit))
        self.ledger.add_effect(key, CONSULTED, purpose, asked, {"reply": wire.reply_out(reply)})
        return reply

    # ------------------------------------------------------------------------------------------- the gate

    def leak(self, purpose: str, incumbent: Policy, candidate: Policy) -> Decision | None:
        """A rejection where `candidate` holds text of select or test tasks that `incumbent` does not; on record."""
        found = self.leaks.find(candidate.playbook, incumbent.playbook) if self.leaks is not None else None
        if found is None:
            return None
        key = digest(LEAK, purpose, policy_digest(candidate))
        if self.ledger.effect(key, "", purpose) is None:
            self.ledger.add_effect(key, LEAK, purpose, "", {"span": found.span})
        detail = f"the candidate holds text of held-out tasks; nothing was run: {found.span!r}"
        return Decision("reject", self.gate.name, LEAK, detail, alpha=0.0)

    async def decide(
        self, purpose: str, bank: Bank, incumbent: Policy, candidate: Policy, share: float = 1.0, *, pace: str = ""
    ) -> Decision:
        """Brings `candidate` before the gate; the decision and its evidence are remembered.

        `pace` is another than that of the gate, at the same alpha; a gate without paces keeps to its rule.
        """
        gate = self.gate
        if isinstance(gate, PairedGate):
            gate = replace(gate, alpha=gate.promise * share, pace=pace or gate.pace)
        contest = Contest(purpose, incumbent, candidate, self.select, SELECT)
        return await decide(self.session, gate, bank, contest, self._plan)

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
