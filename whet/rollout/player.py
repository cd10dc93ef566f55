"""Who answers: a model at work, and the seat it takes in a conversation for one policy."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whet.errors import FaultError, WhetError
from whet.models.base import Model, Request
from whet.outside import KEYS
from whet.types import Fault, Policy, Reply

if TYPE_CHECKING:
    from whet.rollout.purse import Purse


@dataclass(slots=True)
class Player:
    """A model at work. `width` bounds its calls at once; nothing is counted for a `free` one, a program of ours."""

    model: Model
    width: asyncio.Semaphore | None = None
    free: bool = False

    async def reply(self, request: Request, purse: Purse, patience: float) -> Reply:
        """The reply, paid from `purse`: each attempt is on record there before it is made."""
        if self.free:
            return await self._complete(request, patience)
        if self.width is None:
            return await self._paid(request, purse, patience)
        async with self.width:
            return await self._paid(request, purse, patience)

    async def _paid(self, request: Request, purse: Purse, patience: float) -> Reply:
        charge = purse.charge(request, self.model)
        await charge.begin()
        try:
            reply = await self._complete(request.metered(charge), patience)
        except BaseException:
            charge.fail()
            raise
        charge.end(reply)
        return reply

    async def _complete(self, request: Request, patience: float) -> Reply:
        try:
            async with asyncio.timeout(patience) as clock:
                reply = await self.model.complete(request)
        except TimeoutError as error:
            why = f"no reply within {patience:g} s" if clock.expired() else f"the model gave up ({error})"
            raise FaultError(Fault("timeout", self.model.name, why)) from None
        if not isinstance(reply, Reply):
            raise WhetError(f"{self.model.name} answered with a {type(reply).__name__}; a model must return a Reply")
        return KEYS.hide_in_reply(reply)


@dataclass(frozen=True, slots=True)
class Seat:
    """A policy and the player that answers for it: never one policy's name over another model's answers."""

    policy: Policy
    player: Player

    def __post_init__(self) -> None:
        if self.policy.model != self.player.model.fingerprint:
            raise WhetError(
                f"{self.player.model.name} (fingerprint {self.player.model.fingerprint[:12]}) cannot answer for a "
                f"policy of the model {self.policy.model[:12]}: its rollouts would stand under another model's name"
            )


class Players:
    """The models at work in a session. A policy's model is looked up by its fingerprint; all are closed together."""

    def __init__(self) -> None:
        self._all: list[Player] = []
        self._by_fingerprint: dict[str, Player] = {}

    def add(self, model: Model, width: int | None = None, *, free: bool = False) -> Player:
        """Have `model` answer for every policy that names its fingerprint."""
        player = self._by_fingerprint.get(model.fingerprint)
        if player is None or player.model is not model:
            player = self._by_fingerprint[model.fingerprint] = self.beside(model, width, free=free)
        return player

    def beside(self, model: Model, width: int | None = None, *, free: bool = False) -> Player:
        """Have `model` work for a role of its own, a judge or an optimiser, and for no policy under study."""
        bounds = [bound for bound in (width or model.width, model.connections) if bound]
        player = Player(model, asyncio.Semaphore(min(bounds)) if bounds else None, free or model.unpaid)
        self._all.append(player)
        return player

    def seat(self, policy: Policy) -> Seat:
        player = self._by_fingerprint.get(policy.model)
        if player is None:
            raise WhetError(f"no model with the fingerprint {policy.model[:12]} is at work here to answer for a policy")
        return Seat(policy, player)

    async def close(self) -> None:
        """Close every model, also where one fails to; the first failure is raised when all are closed."""
        closed = await asyncio.gather(*(player.model.close() for player in self._all), return_exceptions=True)
        for failure in closed:
            if failure is not None:
                raise failure
