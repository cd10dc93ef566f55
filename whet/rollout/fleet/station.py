"""The other side of a fleet: a process that makes attempts, with its own environment, models, sandbox and solvers.

It keeps nothing. What it has to say waits in an outbox until the driver collects it, and a call to a model waits until
the driver has paid for it.
"""

from __future__ import annotations

import asyncio
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from whet.envs.base import Environment
from whet.envs.registry import load_environment
from whet.errors import BudgetReached, Unreachable, WhetError
from whet.ledger.account import AttemptReserve, How
from whet.ledger.rows import rollout_row, transcript_row
from whet.models.base import Model
from whet.rollout.attempts import AttemptMaker
from whet.rollout.cast import open_model
from whet.rollout.fleet.carry import received
from whet.rollout.fleet.messages import (
    AttemptDone,
    AttemptEnd,
    AttemptWish,
    Denial,
    GradedRow,
    Grant,
    Lack,
    PlayEnd,
    PlayHalt,
    PlayOrder,
    SeatOrder,
    StationAssignment,
    StationKit,
)
from whet.rollout.player import Player, Players, Seat
from whet.rollout.purse import Purse
from whet.rollout.session import attempt_limits, purse_limits, works_of
from whet.rollout.sources import Sources
from whet.types import Fault, Rollout, Usage

LINGER = 0.002
"""Seconds that what is urgent waits for others to go with it."""

HOLD = 0.1
"""Seconds that a finished rollout waits at most for others to go with it, while the station has more to do."""

PARTS = (Exception, SystemExit)
"""What making an environment or a model from a name may raise: all of it is a reason to be sent the thing itself."""


class FleetStation:
    """Plays what it is ordered to. Belongs to one event loop."""

    def __init__(self, kit: StationKit) -> None:
        self.kit = kit
        self._outbox: list[Any] = []
        self._ended = 0
        """Rollouts in the outbox."""
        self._news = asyncio.Event()
        self._under_way: set[asyncio.Task[None]] = set()
        self._env: Environment | None = None
        self._players = Players()
        self._known: dict[tuple[str, str], Player] = {}
        self._desk = PayDesk(self._say, _counted(kit))
        self._purse = StationPurse(kit, self._desk)
        config = kit.config
        self._works = works_of(config)
        self._attempts: AttemptMaker | None = None
        _settle_in(kit)

    # ------------------------------------------------------------------------------------------- calls of the driver

    async def assign(self, assignment: StationAssignment) -> Sequence[Lack]:
        """Take an assignment; says what is missing for it."""
        if self.kit.version != version("whet"):
            return [Lack("whet", f"its version there is {version('whet')}, and here {self.kit.version}")]
        lacks = [lack for lack in (self._have_env(assignment),) if lack]
        seats = {}
        if not lacks:
            for order in assignment.seats:
                try:
                    seats[order.role] = Seat(order.policy, self._player(order))
                except PARTS as error:
                    lacks.append(Lack(order.policy.model, _line(error)))
        if lacks:
            return lacks
        assert self._env is not None
        view = received(assignment.view, named=self._env)
        limits = attempt_limits(self.kit.config)
        self._attempts = AttemptMaker(view, seats, self._purse, self._works, limits, assignment.policy)
        return ()

    async def post(self, messages: Sequence[Any]) -> None:
        for message in messages:
            if isinstance(message, PlayOrder):
                task = asyncio.create_task(self._play(message))
                self._under_way.add(task)
                task.add_done_callback(self._under_way.discard)
            else:
                self._desk.answer(message)

    async def collect(self) -> Sequence[Any]:
        """Everything there is to say, as soon as there is something; nothing after a beat."""
        with suppress(TimeoutError):
            async with asyncio.timeout(HOLD if self._outbox else self.kit.beat):
                await self._news.wait()
        self._news.clear()
        await asyncio.sleep(LINGER)
        said, self._outbox, self._ended = self._outbox, [], 0
        return said

    async def close(self) -> None:
        for task in self._under_way:
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)
        await self._works.close()
        await self._players.close()

    # ------------------------------------------------------------------------------------------- attempts

    async def _play(self, order: PlayOrder) -> None:
        try:
            self._say(PlayEnd(order.number, await self._came(order)))
        except (BudgetReached, Unreachable) as reached:
            kind = "service" if isinstance(reached, Unreachable) else "budget"
            self._say(PlayHalt(order.number, str(reached), kind))
        except WhetError as error:
            self._say(PlayHalt(order.number, str(error), "user"))
        except Exception:  # noqa: BLE001 - ours: the driver raises it, with where it came about
            self._say(PlayHalt(order.number, traceback.format_exc(), "defect"))

    async def _came(self, order: PlayOrder) -> GradedRow | Rollout | Fault | str:
        assert self._attempts is not None, "an assignment comes before orders"
        opened = self._attempts.open(order.ticket, order.key)
        if isinstance(opened, Fault):
            return opened
        conversation, request = opened
        if order.known:
            conversation.close()
            return request
        rollout = await self._attempts.rollout(order.ticket, request, conversation)
        if isinstance(rollout.outcome, Fault):
            return rollout
        transcript = transcript_row(0, rollout)[1]
        return GradedRow(replace(rollout, turns=()), rollout_row(0, rollout), transcript)

    def _say(self, message: Any) -> None:
        """Leave a message. What somebody waits for goes at once; what is over goes in company, while there is more."""
        self._outbox.append(message)
        if isinstance(message, AttemptDone):
            return
        self._ended += isinstance(message, PlayEnd)
        if not isinstance(message, PlayEnd) or 2 * self._ended > len(self._under_way):
            self._news.set()
        elif self._ended == 1:
            asyncio.get_running_loop().call_later(HOLD, self._news.set)

    # ------------------------------------------------------------------------------------------- who and where

    def _have_env(self, assignment: StationAssignment) -> Lack | None:
        if self._env is None:
            try:
                self._env = received(assignment.env) if assignment.env else self._named_env()
            except PARTS as error:
                return Lack("env", _line(error))
        if self._env.fingerprint != assignment.fingerprint:
            other, self._env = self._env.fingerprint, None
            return Lack("env", f"made there from its name it has the fingerprint {other[:24]}")
        return None

    def _named_env(self) -> Environment:
        section = self.kit.config.env
        make = load_environment if self._sources is None else self._sources.environment
        return make(section.name, section.args)

    @property
    def _sources(self) -> Sources | None:
        return Sources.of(Path(self.kit.run))

    def _player(self, order: SeatOrder) -> Player:
        """The player of a seat: kept, because its connections and weights are."""
        name = (order.role, order.policy.model)
        if name not in self._known:
            model: Model = received(order.body, named=self._env) if order.body else self._named_model(order)
            if model.fingerprint != order.policy.model:
                raise WhetError(f"made there from its name it has the fingerprint {model.fingerprint[:12]}")
            self._known[name] = self._players.beside(model, free=order.free)
        return self._known[name]

    def _named_model(self, order: SeatOrder) -> Model:
        config = self.kit.config
        section = config.judge if order.role == "judge" else config.target
        endpoint = config.control.judge if order.role == "judge" else config.control.target
        assert section is not None
        assert self._env is not None
        named = section.model_copy(update={"model": order.model})
        return open_model(named, endpoint, self._env, self._sources)


class PayDesk:
    """Where attempts are paid for: the driver's ledger, by messages. Stands where a journal does.

    An attempt that costs nothing, in a role whose calls are not `counted`, cannot be lost: it waits for nobody, and is
    on record with what it was settled at.
    """

    def __init__(self, say: Any, counted: frozenset[str]) -> None:
        self._say = say
        self._counted = counted
        self._free: dict[int, tuple[str, str]] = {}
        self._wishes: dict[int, asyncio.Future[int]] = {}
        self._count = 0

    async def attempt(self, key: str, role: str, reserve: AttemptReserve) -> int:
        """Returns when the attempt is paid for and on record; raises `BudgetReached` when it cannot be."""
        self._count += 1
        wish = self._count
        if reserve.usd == 0.0 and role not in self._counted:
            self._free[-wish] = (key, role)
            return -wish
        self._wishes[wish] = asyncio.get_running_loop().create_future()
        self._say(AttemptWish(wish, key, role, reserve))
        try:
            return await self._wishes[wish]
        finally:
            del self._wishes[wish]

    def settle(self, seq: int, how: How, reserve: AttemptReserve, used: Usage) -> None:
        if seq in self._free:
            self._say(AttemptDone(*self._free.pop(seq), reserve, how, used))
        else:
            self._say(AttemptEnd(seq, how, used))

    def answer(self, message: Grant | Denial) -> None:
        waiting = self._wishes.get(message.wish)
        if waiting is None or waiting.done():  # it was given up meanwhile, unsent
            if isinstance(message, Grant):
                self._say(AttemptEnd(message.attempt, "unsent", Usage()))
        elif isinstance(message, Grant):
            waiting.set_result(message.attempt)
        else:
            waiting.set_exception(BudgetReached(message.what, message.limit, message.spent))


class StationPurse(Purse):
    """Reckons what a call may cost; whether there is as much, the driver's purse says."""

    def __init__(self, kit: StationKit, desk: PayDesk) -> None:
        super().__init__(purse_limits(kit.config), journal=desk)

    async def reserve(self, reserve: AttemptReserve) -> None:
        """The desk does."""

    def settle(self, reserve: AttemptReserve, used: Usage) -> None:
        """The desk does."""


def _counted(kit: StationKit) -> frozenset[str]:
    """The roles whose calls the driver counts: all where there is a budget, else those with a width over all."""
    control = kit.config.control
    widths = {"target": control.target.width, "judge": control.judge.width}
    return frozenset(role for role, width in widths.items() if width is not None or purse_limits(kit.config).any)


def _settle_in(kit: StationKit) -> None:
    """Names of files and modules mean here what they mean at the driver's, where that has them."""
    if Path(kit.home).is_dir():
        os.chdir(kit.home)
    sys.path.extend(place for place in kit.path if place not in sys.path)


def _line(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0][:300]
