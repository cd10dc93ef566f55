"""The decider: a champion at work on new tickets. A ticket is decided once, and on record before anybody is told.

    async with open_decider(champion, releases) as decider:
        decision = await decider.decide(line)

The policy is asked by a session as any other: its budget holds, its replies are remembered in the ledger of the
sitting, and what a kill left undecided is not paid for twice. What is decided stands in the trail alone.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whet.config.load import validate
from whet.config.schema import EvalConfig
from whet.errors import WhetError
from whet.keys import playbook_digest, policy_digest, rollout_key
from whet.models.base import Model
from whet.outside import shown_line
from whet.release.champion import RELEASES, Champion, Champions
from whet.release.decision import WorkDecision, decision_in
from whet.release.docket import Docket, WorkVote
from whet.release.intake import Intake, IntakeTasks, OpenWork, open_intake
from whet.release.terms import DecisionTerms, decision_terms
from whet.release.trail import Trail
from whet.rollout.cast import open_model
from whet.rollout.claim import Identity, RunStart
from whet.rollout.progress import Quiet
from whet.rollout.session import Session
from whet.rollout.votes import majority
from whet.types import Fault, Rollout, Ticket

if TYPE_CHECKING:
    from whet.rollout.purse import Purse

KIND = "decide"
PURPOSE = "decide"

SITTINGS = "sittings"
"""The folder of the ledgers of sittings: what was asked and replied. Nothing that was decided depends on them."""

CALIBRATE = "calibrate"
"""The door of a sitting that makes a threshold: it goes by none."""


class NoDecision(WhetError):
    """A ticket on which nothing was decided: the service gave out, or a budget is spent. Sent again, it is tried."""

    def __init__(self, told: str, *, budget: bool, broken: bool = False) -> None:
        super().__init__(told)
        self.budget = budget
        self.broken = broken
        """Whether nothing could be written: this decider decides no more, and another one must be opened."""


class RequesterGone(Exception):
    """Whoever asked first did not wait for the answer; others who wait for it ask anew."""


class _Said(Quiet):
    """Remembers what was said, so that it need not be read back."""

    rollout: Rollout | None = None

    def finished(self, rollout: Rollout) -> None:
        if not isinstance(rollout.outcome, Fault):
            self.rollout = rollout


@dataclass(slots=True)
class Decider:
    """A champion at work. Belongs to one event loop; any number of processes may decide beside it."""

    champion: Champion
    intake: Intake
    tasks: IntakeTasks
    session: Session
    docket: Docket
    champion_policy: str
    """The digest of the champion's policy, by which its rollouts are known."""
    _under_way: dict[str, asyncio.Future[WorkDecision]] = field(default_factory=dict)

    @property
    def trail(self) -> Trail:
        return self.docket.trail

    @property
    def notes(self) -> tuple[str, ...]:
        """What whoever starts it must know, a line each."""
        return self.docket.terms.notes

    async def decide(self, line: bytes) -> WorkDecision:
        """The decision on a ticket. A ticket that is under way is waited for; one that is decided is told again.

        A `WhetError` says what is wrong with the ticket; a `NoDecision`, why none was made on one that is right.
        """
        work = self.intake.read(line)
        try:
            return await self._settled(work)
        except NoDecision:
            raise
        except (WhetError, sqlite3.Error, OSError) as problem:
            raise NoDecision(str(problem), budget=False, broken=True) from None

    async def _settled(self, work: OpenWork) -> WorkDecision:
        while True:
            known = self.docket.known(work.key)
            if known is not None:
                return known
            waiting = self._under_way.get(work.key)
            if waiting is None:
                return await self._first(work)
            with suppress(RequesterGone):
                first = await asyncio.shield(waiting)
                return decision_in(self.trail.entry(first.entry), again=True)

    async def _first(self, work: OpenWork) -> WorkDecision:
        future: asyncio.Future[WorkDecision] = asyncio.get_running_loop().create_future()
        self._under_way[work.key] = future
        try:
            decision = await self._decided(work)
            future.set_result(decision)
            return decision
        except BaseException as error:
            future.set_exception(error if isinstance(error, Exception) else RequesterGone())
            future.exception()  # nobody need be waiting for it
            raise
        finally:
            del self._under_way[work.key]
            self.tasks.take_away(work)

    async def _decided(self, work: OpenWork) -> WorkDecision:
        self.docket.meanwhile(work)
        try:
            vote = await self.vote(work)
        finally:
            self.docket.leave(work)
        return await self.docket.enter(work, vote)

    async def vote(self, work: OpenWork) -> WorkVote:
        """What the policy says about a piece of work; nothing is decided yet."""
        self.tasks.put(work)
        policy, ticket = self.champion.policy, Ticket(PURPOSE, "test", work.index, 0)
        said = _Said()
        tally = await self.session.work_off(policy, [ticket], "tickets", retry_faults=True, progress=said)
        voting = policy.sampling.votes > 1
        standing = None if voting else said.rollout
        if standing is None:  # a vote stands under a key of its own, and so does what was replied before a kill
            standing = self.session.ledger.rollout(rollout_key(ticket, self.tasks.fingerprint, self.champion_policy))
        if standing is None:
            fault = self.session.ledger.open_fault(PURPOSE)
            told = tally.stopped or (f"the model did not answer: {fault}" if fault else "the model did not answer")
            raise NoDecision(shown_line(told, 400), budget=bool(tally.stopped and not tally.failed))
        calls = self.session.calls(policy, ticket) if voting else (self.intake.verdict(work.task, standing),)
        found = majority(calls, self.intake.tie)
        reason, cited = self.intake.reason(work, standing)
        share = round(found.votes / max(1, len(calls)) * found.agreement, 6)
        return WorkVote(found.verdict, share, reason if found.verdict else "", cited)


@asynccontextmanager
async def open_decider(
    champion: Champion,
    releases: Path = RELEASES,
    *,
    door: str = "batch",
    model: Model | None = None,
    control: Mapping[str, Any] | None = None,
    base_url: str = "",
    purse: Purse | None = None,
) -> AsyncIterator[Decider]:
    """Have a champion at work. `door` names the sitting: one process at a time works at each. `purse` pays for replies
    where others are paid from it too; else the sitting has its own, with the budget in `control`."""
    intake = open_intake(champion.environment, champion.arguments)
    tasks = IntakeTasks(intake)
    config = decision_config(champion, releases, control or {}, base_url)
    answering = model or open_model(config.target, config.control.target, tasks)
    identity = Identity(
        config.identity(), intake.fingerprint, answering.fingerprint, playbook_digest(champion.policy.playbook)
    )
    # A sitting of another identity, such as that of an older Whet, is another one: its replies are not this one's.
    folder = releases / SITTINGS / f"{champion.name}-v{champion.version}-{door}-{identity.digest[:8]}"
    start = RunStart(KIND, folder, config, identity, tasks, answering, champion.policy.playbook, takes_over=True)
    with Trail.of(releases) as trail:
        with trail.turn():  # refuses a trail that is not sound, before anything is asked
            pass
        kept = partial(decision_terms, champion, intake, trail, releases)
        renew = DecisionTerms if door == CALIBRATE else kept
        docket = Docket(champion, identity.playbook, intake.releases, trail, renew)
        async with Session.open(start, Quiet()) as session:
            session.purse = purse or session.purse
            yield Decider(champion, intake, tasks, session, docket, policy_digest(champion.policy))


def decision_config(champion: Champion, releases: Path, control: Mapping[str, Any], base_url: str = "") -> EvalConfig:
    """The config of a sitting: who answers and how it is reached, as the champion has it or where it is now."""
    address = champion.address(Champions(releases).place(champion))
    data = {
        "env": {"name": champion.environment, "args": dict(champion.arguments)},
        "target": {**champion.target, "model": address},
        "control": {**control, "target": {**champion.endpoint, **({"base_url": base_url} if base_url else {})}},
    }
    return validate(EvalConfig, data, champion.title)
