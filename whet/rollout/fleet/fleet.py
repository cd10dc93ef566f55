"""The driver's side: members of a fleet are hired, given tickets, paid for, listened to, and given up when they hang.

A plan is worked off by pull. Whatever a member says of what it does not hold is not heard, so what was taken from one
that was given up, and given to another, counts once.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from whet.envs.base import Environment
from whet.errors import BudgetReached, WhetError
from whet.ledger.account import AttemptReserve
from whet.rollout.engine import Engine, EngineShift
from whet.rollout.fleet.carry import carried
from whet.rollout.fleet.messages import (
    AttemptDone,
    AttemptEnd,
    AttemptWish,
    Denial,
    GradedRow,
    Grant,
    Lack,
    LinkLost,
    PlayEnd,
    PlayHalt,
    PlayOrder,
    SeatOrder,
    StationAssignment,
    StationLink,
)
from whet.rollout.player import Player
from whet.types import Fault, Ticket, Usage

SUSPECT = 2
"""Losses that a ticket was there at before it is played alone; one more, and it is a fault."""

GIVEN_UP = 6
"""Members lost with no ticket finished between them, after which the plan is given up."""

ACTOR_LOST = "actor_lost"


@dataclass(frozen=True, slots=True)
class FleetSize:
    """How many members there are, and how long each may take."""

    workers: int
    silence: float = 60.0
    """Seconds without a sign of life after which a member is given up."""
    start: float = 180.0
    """Seconds until one must be ready to play."""


@dataclass(slots=True, eq=False)
class Errand:
    """A ticket on its way."""

    number: int
    ticket: Ticket
    key: str
    known: bool
    losses: int = 0


@dataclass(slots=True, eq=False)
class FleetMember:
    """A station as the driver sees it."""

    link: StationLink
    held: dict[int, Errand] = field(default_factory=dict)
    """What it was given and has not returned."""
    paid: dict[int, tuple[AttemptReserve, asyncio.Semaphore | None]] = field(default_factory=dict)
    """Attempts at calls that are under way: what is reserved for them, and the width that they have a place in."""
    paying: set[asyncio.Task[None]] = field(default_factory=set)
    assignment: StationAssignment | None = None
    listening: asyncio.Future[Sequence[Any]] | None = None
    """What it will say next. Kept from plan to plan, so that nothing is said to nobody."""

    @property
    def alone(self) -> bool:
        """Whether it is at a ticket that takes others with it."""
        return any(errand.losses >= SUSPECT for errand in self.held.values())

    async def heard(self, silence: float) -> Sequence[Any]:
        """What it says; raises `LinkLost` where it says nothing for too long."""
        if self.listening is None:
            self.listening = asyncio.ensure_future(self.link.collect())
        done, _ = await asyncio.wait({self.listening}, timeout=silence)
        if not done:
            raise LinkLost(f"no sign of life for {silence:g} s")
        heard, self.listening = self.listening, None
        return heard.result()

    def end(self) -> None:
        for task in self.paying:
            task.cancel()
        if self.listening is not None:
            self.listening.cancel()
        self.link.kill()


class Fleet:
    """The members of one session. They are hired for the first plan and stay for the others, which come in turn."""

    def __init__(
        self,
        hire: Callable[[], Awaitable[StationLink]],
        size: FleetSize,
        env: Environment,
        widths: Mapping[str, int] | None = None,
        release: Callable[[], None] = lambda: None,
    ) -> None:
        self.size = size
        self.widths = {role: asyncio.Semaphore(width) for role, width in (widths or {}).items()}
        """Calls at once to a role's server, over all members, where the config says how many."""
        self.engine = partial(FleetEngine, self)
        self.env = env
        """The environment of the config, which stations make from its name."""
        self._hire = hire
        self._release = release
        self._members: dict[int, FleetMember] = {}
        self._turn = asyncio.Lock()
        self._bodies: dict[str, bytes] = {}
        """What could not be made from its name, as it is sent instead."""

    async def work_off(self, shift: FleetShift) -> None:
        """All of a plan. Whatever ends it before its end ends the members, and with them what they are at."""
        async with self._turn:
            posts = [asyncio.create_task(self._man(place, shift)) for place in range(self.size.workers)]
            over = asyncio.create_task(shift.over.wait())
            try:
                while not over.done():
                    done, _ = await asyncio.wait({over, *posts}, return_when=asyncio.FIRST_COMPLETED)
                    for task in done - {over}:
                        task.result()
            except BaseException:
                self.dismiss(shift)
                raise
            finally:
                for task in (over, *posts):
                    task.cancel()
                await asyncio.gather(over, *posts, return_exceptions=True)
            if shift.problem is not None:
                self.dismiss(shift)
                raise shift.problem

    def usual(self, player: Player) -> int:
        """Attempts at once where nobody says how many: a width is that of one replica, and each member has one."""
        width = player.model.width
        return 64 if width is None else width * self.size.workers

    def close(self) -> None:
        """End all members, and give back what they were hired from."""
        self.dismiss()
        self._release()

    def dismiss(self, shift: FleetShift | None = None) -> None:
        """End all members; what they had under way is settled by the shift."""
        for place in list(self._members):
            member = self._members.pop(place)
            if shift is not None:
                shift.settle(member)
            member.end()

    async def _man(self, place: int, shift: FleetShift) -> None:
        """Keep one place filled until the plan is over."""
        while not shift.over.is_set():
            try:
                if place not in self._members:
                    self._members[place] = FleetMember(await self._hire())
                member = self._members[place]
                await self._assigned(member, shift)
                await shift.serve(member, self.size.silence)
            except LinkLost as lost:
                if place in self._members:
                    member = self._members.pop(place)
                    shift.lose(member, str(lost))
                    member.end()
                else:
                    shift.missed(str(lost))

    async def _assigned(self, member: FleetMember, shift: FleetShift) -> None:
        """Have a member ready for the plan. What it cannot make from a name it is sent."""
        for _ in range(3):
            assignment = shift.assignment(self.env, self._bodies)
            if member.assignment == assignment:
                return
            try:
                async with asyncio.timeout(self.size.start):
                    lacks = await member.link.assign(assignment)
            except TimeoutError:
                raise LinkLost(f"not ready within {self.size.start:g} s") from None
            if not lacks:
                member.assignment = assignment
                return
            for lack in lacks:
                self._bodies[lack.what] = self._body(lack, shift)
        raise LinkLost(f"{lacks[0].what[:24]} cannot be had there: {lacks[0].why}")

    def _body(self, lack: Lack, shift: FleetShift) -> bytes:
        if lack.what in self._bodies or lack.what == "whet":
            raise WhetError(f"{lack.what[:24]}: cannot be had in an actor ({lack.why}); install the same on all nodes")
        if lack.what == "env":
            return carried(f"{self.env.name} ({lack.why})", self.env)
        model = next(seat.player.model for seat in shift.engine.seats.values() if seat.policy.model == lack.what)
        return carried(f"{model.name} ({lack.why})", model, without=self.env)


class FleetShift(EngineShift):
    """One plan on its way: what is to be handed out, what came back, what it cost."""

    def __init__(self, shift: EngineShift, engine: FleetEngine, plan: Sequence[Ticket]) -> None:
        super().__init__(engine, shift.tally, shift.progress, shift.settled)
        self.over = asyncio.Event()
        self.problem: BaseException | None = None
        self._fleet = engine
        keys = [engine.key(ticket) for ticket in plan]
        known = self.settled | {outcome.key for outcome in engine.ledger.outcomes_of(keys)}
        self._queue = deque(
            Errand(number, ticket, key, key in known)
            for number, (ticket, key) in enumerate(zip(plan, keys, strict=True))
        )
        self._suspects: deque[Errand] = deque()
        self._out = 0
        self._losses = 0
        self._moved = asyncio.Event()
        self._look()

    # ------------------------------------------------------------------------------------------- handing out

    async def serve(self, member: FleetMember, silence: float) -> None:
        """Give, listen and keep, until the plan is over."""
        while not self.over.is_set():
            self._give(member)
            if not member.held:
                self._moved.clear()
                await self._moved.wait()
                continue
            for message in await member.heard(silence):
                self._take(member, message)
            self._look()

    def _give(self, member: FleetMember) -> None:
        """As much as its window has room for, and no more than its share of what is left."""
        if self.tally.stopped or member.alone:
            return
        errands: list[Errand] = []
        if self._queue:
            room = self._fleet.window - len(member.held)
            share = -(-len(self._queue) // self._fleet.fleet.size.workers)
            errands = [self._queue.popleft() for _ in range(min(room, share))]
        elif self._suspects and not member.held:
            errands = [self._suspects.popleft()]
        self._out += len(errands)
        for errand in errands:
            member.held[errand.number] = errand
        if errands:
            orders = [PlayOrder(errand.number, errand.ticket, errand.key, errand.known) for errand in errands]
            member.link.post(orders)

    def _look(self) -> None:
        """Whether it is over; whoever waits for a ticket looks again."""
        left = bool(self._queue or self._suspects) and not self.tally.stopped
        if self.problem is not None or (not left and not self._out):
            self.over.set()
        self._moved.set()

    # ------------------------------------------------------------------------------------------- what comes back

    def _take(self, member: FleetMember, message: Any) -> None:
        if isinstance(message, AttemptWish):
            task = asyncio.create_task(self._pay(member, message))
            member.paying.add(task)
            task.add_done_callback(member.paying.discard)
        elif isinstance(message, AttemptEnd):
            self._paid(member, message)
        elif isinstance(message, AttemptDone):
            self.engine.purse.spent += message.used
            self.engine.ledger.journal.add_attempt(
                message.key, message.role, message.reserve, message.how, message.used
            )
        elif isinstance(message, PlayEnd | PlayHalt):
            errand = member.held.pop(message.number, None)
            if errand is None:
                return
            self._out -= 1
            self._losses = 0
            if isinstance(message, PlayEnd):
                self._ended(errand, message)
            else:
                self._halted(message)

    def _ended(self, errand: Errand, message: PlayEnd) -> None:
        ticket, came = errand.ticket, message.came
        if isinstance(came, str):
            where = f"{ticket.split}/{ticket.index} draw {ticket.draw}"
            self.engine.ledger.has_rollout(errand.key, came, where)  # stops the run where the request is another
            self.replayed(ticket)
            return
        if isinstance(came, GradedRow):
            self.engine.ledger.journal.add_graded(came.row, came.transcript)
            self.count(came.rollout)
            return
        rollout = self.broken(ticket, errand.key, came) if isinstance(came, Fault) else came
        if rollout is not None:
            self.keep(rollout)

    def _halted(self, message: PlayHalt) -> None:
        if message.kind in ("user", "defect"):
            raise WhetError(message.why) if message.kind == "user" else RuntimeError(message.why)
        self.tally.stopped, self.tally.failed = message.why, message.kind == "service"

    # ------------------------------------------------------------------------------------------- paying

    async def _pay(self, member: FleetMember, wish: AttemptWish) -> None:
        """Reserve what an attempt may cost and have it on record; only then it may be made."""
        purse, journal = self.engine.purse, self.engine.ledger.journal
        width = self._fleet.fleet.widths.get(wish.role)
        try:
            if width is not None:
                await width.acquire()
            try:
                await purse.reserve(wish.reserve)
                try:
                    attempt = await journal.attempt(wish.key, wish.role, wish.reserve)
                except BaseException:
                    purse.settle(wish.reserve, Usage())
                    raise
            except BaseException:
                if width is not None:
                    width.release()
                raise
            member.paid[attempt] = (wish.reserve, width)
            member.link.post([Grant(wish.wish, attempt)])
        except BudgetReached as reached:
            member.link.post([Denial(wish.wish, reached.what, reached.limit, reached.spent)])
        except Exception as error:  # noqa: BLE001 - raised by whoever waits for the plan
            self.problem = error
            self._look()

    def _paid(self, member: FleetMember, end: AttemptEnd) -> None:
        if end.attempt not in member.paid:
            return
        reserve, width = member.paid.pop(end.attempt)
        self.engine.purse.settle(reserve, end.used)
        self.engine.ledger.journal.settle(end.attempt, end.how, reserve, end.used)
        if width is not None:
            width.release()

    # ------------------------------------------------------------------------------------------- losses

    def settle(self, member: FleetMember) -> None:
        """What a member that is gone had under way may have been paid: it counts in full."""
        for attempt, (reserve, _) in list(member.paid.items()):
            self._paid(member, AttemptEnd(attempt, "lost", reserve.usage))

    def lose(self, member: FleetMember, why: str) -> None:
        """A member is gone. What it held goes to others; what was lost once too often is a fault."""
        self.settle(member)
        self._out -= len(member.held)
        for errand in reversed(member.held.values()):
            errand.losses += 1
            if errand.losses > SUSPECT:
                fault = Fault(ACTOR_LOST, "ray", f"{errand.losses} actors were lost over it, the last: {why}")
                rollout = self.broken(errand.ticket, errand.key, fault)
                self._losses = 0
                if rollout is not None:
                    self.keep(rollout)
            elif errand.losses == SUSPECT:
                self._suspects.append(errand)
            else:
                self._queue.appendleft(errand)
        member.held.clear()
        self.missed(why)

    def missed(self, why: str) -> None:
        """A place is empty."""
        self._losses += 1
        if self._losses >= GIVEN_UP and not self.tally.stopped:
            self.tally.failed = True
            self.tally.stopped = f"{self._losses} actors lost in a row, the last: {why}"
        self._look()

    # ------------------------------------------------------------------------------------------- who plays

    def assignment(self, env: Environment, bodies: Mapping[str, bytes]) -> StationAssignment:
        seats = tuple(
            SeatOrder(role, seat.policy, seat.player.model.name, seat.player.free, bodies.get(seat.policy.model, b""))
            for role, seat in self.engine.seats.items()
        )
        return StationAssignment(
            env.fingerprint, self._fleet.view(env), seats, self.engine.attempts.policy, bodies.get("env", b"")
        )


class FleetEngine(Engine):
    """The engine whose attempts a fleet makes. Everything that is kept is kept here."""

    def __init__(self, fleet: Fleet, *parts: Any, **options: Any) -> None:
        super().__init__(*parts, **options)
        self.fleet = fleet
        self._view = b""

    @property
    def window(self) -> int:
        """Tickets that a member holds at once."""
        return -(-self.concurrency // self.fleet.size.workers)

    def view(self, env: Environment) -> bytes:
        """The environment that this plan sees, without the one that stations make themselves."""
        self._view = self._view or carried(f"{self.env.name} as this plan sees it", self.env, without=env)
        return self._view

    async def work_off(self, shift: EngineShift, plan: Sequence[Ticket]) -> None:
        await self.fleet.work_off(FleetShift(shift, self, plan))
