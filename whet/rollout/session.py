"""A run at work: its folder claimed, its players at their seats, its purse, its clock. Every kind of run is made of it.

    async with Session.open(start, progress) as session:
        tally = await session.work_off(policy, tickets, "votes")

Nothing else opens a ledger for writing, holds a purse or builds an engine, so budgets, sessions' times, judges and what
is closed at the end are the same for all.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from whet.config.schema import EndpointSection, PolicyConfig, SandboxSection
from whet.envs.base import Environment
from whet.errors import WhetError
from whet.keys import digest, policy_digest, rollout_key
from whet.ledger.lock import WriterLock
from whet.ledger.store import FILE, Ledger
from whet.ledger.writer import LedgerWriter
from whet.models.base import Request
from whet.open_files import calls_at_once
from whet.rollout.cast import (
    open_model,
    refuse_other_judge,
    refuse_other_votes,
    refuse_unpriced,
    refuse_votes,
    sampling_of,
)
from whet.rollout.claim import RunStart, claim
from whet.rollout.conversation import AttemptLimits
from whet.rollout.engine import Engine
from whet.rollout.player import Players, Seat
from whet.rollout.progress import Progress, Tally
from whet.rollout.purse import Purse, PurseLimits
from whet.rollout.sources import Sources
from whet.rollout.votes import Election, single
from whet.rollout.works import Works
from whet.sandbox.base import Sandbox
from whet.sandbox.isolation import open_gvisor, open_sandbox
from whet.types import Outcome, Policy, Reply, Role, Rollout, Ticket, Usage

if TYPE_CHECKING:
    from whet.rollout.fleet.fleet import Fleet
    from whet.rollout.mcp import McpServer

SESSION, ENDED = "session", "ended"
"""Events: a session began, and ended after so many seconds, for a reason."""

SETTLED = "settled"
"""The kind of effect that says which faults a run has put up with."""

DONE = "done"

BEAT = 5.0
"""Seconds without a commit after which a session says that it is still there."""

PURSE_LOCK = "purse.lock"


class Halted(Exception):
    """The run cannot go on now: a budget is reached, or a service gave out. Started again, it continues."""


@dataclass(frozen=True, slots=True)
class Settlement:
    """A plan that was worked off: the keys of its tickets in their order, and those that no answer came for."""

    keys: tuple[str, ...]
    missing: frozenset[str]


@dataclass(slots=True)
class Clock:
    """How long the sessions of a run have taken together.

    The end of a session is an event. One that was killed has none, and took until its last commit; while nothing else
    is committed, a beat is (`BEAT`), so that a kill loses no more than that.
    """

    before: float
    began: float = field(default_factory=time.monotonic)
    ended: bool = False

    @property
    def seconds(self) -> float:
        return self.before + time.monotonic() - self.began


@dataclass(slots=True)
class Session:
    """One sitting of a run. Ends are recorded, whatever happens; what was opened is closed."""

    folder: Path
    env: Environment
    ledger: LedgerWriter
    players: Players
    purse: Purse
    works: Works
    limits: AttemptLimits
    config: PolicyConfig
    progress: Progress
    clock: Clock
    policy: Policy
    """The target's, without a playbook."""
    judge: Seat | None = None
    optimizer: Seat | None = None
    fleet: Fleet | None = None
    """Who makes the attempts where it is not this process."""

    @classmethod
    @asynccontextmanager
    async def open(cls, start: RunStart, progress: Progress) -> AsyncIterator[Session]:
        """Claim the run and have everybody at work; on leaving, record how the session ended and close all of it."""
        refuse_votes(start.config.target, start.env)
        refuse_other_votes(start.config)
        if start.config.control.shard is not None and start.kind != "eval":
            raise WhetError("control.shard: decisions need a whole plan, so only evaluations have shards; leave it out")
        fleet = _fleet(start)
        players = Players()
        target = players.add(start.model, start.config.control.target.width)
        try:
            judge, optimizer = _judge(start, players), _optimizer(start, players)
            for role, seat in (("judge", judge), ("optimizer", optimizer)):
                if seat is not None:
                    refuse_unpriced(start.config, role, seat.player.model)
            refuse_unpriced(start.config, "target", start.model)
            with claim(start) as ledger, _sharers(start) as sharers:
                clock = Clock(seconds_of(ledger))
                ledger.close_lost()
                limits, spent = purse_limits(start.config), ledger.account().spent
                session = cls(
                    start.folder,
                    start.env,
                    ledger,
                    players,
                    Purse(limits, spent + sharers.spent, clock.before + sharers.seconds, ledger.journal),
                    works_of(start.config),
                    attempt_limits(start.config),
                    start.config,
                    progress,
                    clock,
                    Policy(target.model.fingerprint, sampling_of(start.config.target.sampling)),
                    judge,
                    optimizer,
                    fleet,
                )
                ledger.add_event(SESSION, planned=start.planned)
                heart = asyncio.create_task(_beats(ledger))
                try:
                    yield session
                    session.end(DONE)
                except BaseException as error:
                    session.end(type(error).__name__)
                    raise
                finally:
                    heart.cancel()
                    await session.works.close()
        finally:
            if fleet is not None:
                fleet.close()
            await players.close()

    def end(self, why: str) -> float:
        """Record how the session ended, once, and say how long the run has taken over all its sessions."""
        if not self.clock.ended:
            self.clock.ended = True
            self.ledger.add_event(ENDED, seconds=time.monotonic() - self.clock.began, why=why)
        return seconds_of(self.ledger)

    def within(self, env: Environment) -> Session:
        """The same session on another view of its environment, such as one without test tasks."""
        return replace(self, env=env)

    # ------------------------------------------------------------------------------------------- rollouts

    def key(self, policy: Policy, ticket: Ticket) -> str:
        """The name under which the rollout of a ticket is remembered."""
        return rollout_key(ticket, self.env.fingerprint, policy_digest(policy))

    async def work_off(
        self,
        policy: Policy,
        tickets: Sequence[Ticket],
        what: str,
        *,
        retry_faults: bool = False,
        progress: Progress | None = None,
    ) -> Tally:
        """Have `policy` attempt every ticket that is not answered yet, by the player of its model."""
        engine = self._engine(single(policy))
        if policy.sampling.votes == 1:
            return await engine.run(tickets, progress=progress or self.progress, what=what, retry_faults=retry_faults)
        election = Election(self.env, self.ledger, policy)
        tally, again = Tally(0), retry_faults
        wave = [*election.known(tickets), *election.wave(tickets, again=again)]
        while wave and not tally.stopped:
            tally = await engine.run(wave, progress=progress or self.progress, what=what, retry_faults=again)
            again = False  # within one call a fault is tried again once
            wave = election.wave(tickets)
        return election.count(tickets, tally, again=retry_faults)

    def draws(self, policy: Policy, ticket: Ticket) -> tuple[Rollout | None, ...]:
        """The draws that the answer to a ticket was made of, one where a policy does not vote; None: not answered."""
        if policy.sampling.votes == 1:
            return (self.ledger.rollout(self.key(policy, ticket)),)
        return Election(self.env, self.ledger, policy).drawn(ticket)

    def calls(self, policy: Policy, ticket: Ticket) -> tuple[str | None, ...]:
        """The verdicts that the answer to a ticket rests on, in the order of their draws; None: one has none."""
        task = self.env.task(ticket.split, ticket.index)
        drawn = self.draws(policy, ticket)
        return tuple(self.env.verdict(task, rollout) for rollout in drawn if rollout is not None)

    async def settle(self, policy: Policy, tickets: Sequence[Ticket], what: str, faults: float) -> Settlement:
        """Works off a plan. More than a share of `faults` halts the run.

        Until a plan is settled its faults are tried again whenever the run is. From then on what is missing from it
        stays missing, also where a later plan has its ticket answered: what followed from it must follow again.
        """
        own = policy_digest(policy)
        keys = tuple(rollout_key(ticket, self.env.fingerprint, own) for ticket in tickets)
        plan = digest(SETTLED, keys)
        known = self.ledger.effect(plan, "", what)
        tally = await self.work_off(policy, tickets, what, retry_faults=known is None)
        if tally.stopped:
            raise Halted(tally.stopped)
        if known is not None:
            return Settlement(keys, frozenset(known["missing"]))
        answered = {outcome.key for outcome in self.ledger.outcomes_of(keys)}
        missing = [key for key in keys if key not in answered]
        if len(missing) > faults * len(keys):
            last = self.ledger.open_fault(tickets[0].purpose)
            raise Halted(f"{what}: {len(missing)} of {len(keys)} rollouts met a fault, the last: {last}")
        if missing:
            self.ledger.add_effect(plan, SETTLED, what, "", {"missing": missing})
        return Settlement(keys, frozenset(missing))

    async def roll(
        self, policy: Policy, tickets: Sequence[Ticket], what: str, faults: float
    ) -> tuple[Rollout | None, ...]:
        """The rollouts of a plan, in its order; None where the service gave out."""
        plan = await self.settle(policy, tickets, what, faults)
        return tuple(None if key in plan.missing else self.ledger.rollout(key) for key in plan.keys)

    def outcomes(self, purpose: str, keys: Sequence[str]) -> tuple[Outcome, ...]:
        """What is on record under `keys` of a purpose, open faults included, in the order of the keys."""
        found = {outcome.key: outcome for outcome in self.ledger.outcomes(purpose)}
        return tuple(found[key] for key in keys if key in found)

    async def ask(self, seat: Seat, request: Request) -> Reply:
        """One reply outside of any play, paid from the run's purse."""
        return await seat.player.reply(request, self.purse, self.limits.call_timeout)

    def _engine(self, policy: Policy) -> Engine:
        target = self.players.seat(policy)
        seats: dict[Role, Seat] = {"target": target}
        if self.judge is not None:
            seats["judge"] = self.judge
        control = self.config.control
        usual = target.player.model.width or 64
        make: Callable[..., Engine] = Engine
        if self.fleet is not None:
            usual, make = self.fleet.usual(target.player), self.fleet.engine
        return make(
            self.env,
            seats,
            self.ledger,
            self.purse,
            self.works,
            limits=self.limits,
            concurrency=calls_at_once(control.concurrency or control.target.width or usual),
            patience=control.patience,
        )


# --------------------------------------------------------------------------------------------- the clock


def seconds_of(ledger: Ledger) -> float:
    """The seconds that the sessions of a run took together; a session that was killed took until its last commit."""
    total, began = 0.0, 0.0
    for event in ledger.events():
        if event.name == ENDED:
            total, began = total + event.body["seconds"], 0.0
        elif event.name == SESSION:
            if began:
                total += max(0.0, ledger.last_commit(event.at) - began)
            began = event.at
    return total + (max(0.0, ledger.last_commit() - began) if began else 0.0)


async def _beats(ledger: LedgerWriter) -> None:
    """A commit now and then while nothing else is committed."""
    while True:
        link = ledger.head.link
        await asyncio.sleep(BEAT)
        if ledger.head.link == link:
            with suppress(WhetError):  # what cannot be written now is told by whoever has something to write
                ledger.add_event("beat")


# --------------------------------------------------------------------------------------------- the purse


@dataclass(frozen=True, slots=True)
class PurseShare:
    """What runs that are paid from the same purse have spent: a run, and the gates that were held for it."""

    spent: Usage = Usage()
    seconds: float = 0.0


@contextmanager
def _sharers(start: RunStart) -> Iterator[PurseShare]:
    """The others of the purse. Where there is a limit, one of them spends at a time."""
    root = start.shares or start.folder
    if not purse_limits(start.config).any:
        yield PurseShare()
        return
    with WriterLock(root / PURSE_LOCK):
        spent, seconds = Usage(), 0.0
        for file in sorted({root / FILE, *root.rglob(FILE)}):
            if file.parent != start.folder and file.is_file():
                with Ledger.read(file.parent) as ledger:
                    spent += ledger.account().spent
                    seconds += seconds_of(ledger)
        yield PurseShare(spent, seconds)


# --------------------------------------------------------------------------------------------- who plays


def _fleet(start: RunStart) -> Fleet | None:
    """The fleet that the config asks for. Where it cannot be had, nothing has been made yet."""
    if start.config.control.engine == "local":
        return None
    from whet.rollout.fleet.on_ray import open_fleet

    return open_fleet(start)


def _judge(start: RunStart, players: Players) -> Seat | None:
    config = start.config
    refuse_other_judge(config, start.env)
    if config.judge is None:
        return None
    model = open_model(config.judge, config.control.judge, start.env, Sources.of(start.folder))
    policy = Policy(model.fingerprint, sampling_of(config.judge.sampling))
    return Seat(policy, players.beside(model, config.control.judge.width))


def _optimizer(start: RunStart, players: Players) -> Seat | None:
    if start.optimizer is None:
        return None
    section = getattr(start.config, "optimizer", None) or start.config.target
    endpoint: EndpointSection = start.config.control.optimizer
    policy = Policy(start.optimizer.fingerprint, sampling_of(section.sampling))
    return Seat(policy, players.beside(start.optimizer, endpoint.width))


def purse_limits(config: PolicyConfig) -> PurseLimits:
    budget = config.control.budget
    return PurseLimits(budget.usd, budget.tokens, budget.calls, budget.seconds)


def mcp_servers(config: PolicyConfig) -> list[McpServer]:
    if not config.tools.mcp:
        return []
    from whet.rollout.mcp import McpServer

    return [
        McpServer(name, section.command, section.show, section.start, section.memory)
        for name, section in sorted(config.tools.mcp.items())
    ]


def attempt_limits(config: PolicyConfig) -> AttemptLimits:
    return AttemptLimits(
        config.limits.turns, config.limits.tokens, config.control.deadline, config.control.call_timeout
    )


def works_of(config: PolicyConfig, processes: int = 0) -> Works:
    """Who does the works of plays under this config: its sandbox, its servers of tools, processes for plain calls.

    `processes` are as many as are best here, where the config does not say.
    """
    sandbox, asked = config.control.sandbox, config.control.processes
    processes = processes if asked is None else asked
    return Works(lambda: open_named_sandbox(sandbox), mcp=mcp_servers(config), processes=processes)


def open_named_sandbox(section: SandboxSection) -> Sandbox:
    """The sandbox that the config names; the local one cannot be given a network."""
    if section.kind == "prime":
        from whet.sandbox.prime import Machine, PrimeSandbox

        machine = Machine(network=section.network)
        return PrimeSandbox(replace(machine, image=section.image) if section.image else machine)
    if section.network or section.image:
        raise WhetError("control.sandbox: a network or an image needs a remote sandbox; set kind = 'prime'")
    if section.kind == "gvisor":
        return open_gvisor()
    return open_sandbox(allow_weak=section.allow_weak)
