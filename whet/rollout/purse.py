"""The purse of a run: what a call may cost at most is reserved before it is sent.

A call that does not fit waits while others are under way, since most use less than they reserved; when none is, the
budget is reached.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import dataclass

from whet.errors import BudgetReached, WhetError
from whet.models.base import Price, Request
from whet.rollout.prompt_size import most_prompt_tokens
from whet.types import Usage


@dataclass(frozen=True, slots=True)
class PurseLimits:
    """What a run may spend, over all its sessions; None: no limit."""

    usd: float | None = None
    tokens: int | None = None
    calls: int | None = None
    seconds: float | None = None

    @property
    def metered(self) -> bool:
        return self.usd is not None or self.tokens is not None


@dataclass(frozen=True, slots=True)
class Reservation:
    """The most that one call can cost."""

    tokens: int = 0
    usd: float = 0.0


class Purse:
    """Meters one run. Belongs to one event loop."""

    def __init__(self, limits: PurseLimits = PurseLimits(), spent: Usage = Usage(), seconds: float = 0.0) -> None:
        self.limits = limits
        self.spent = spent
        self._before = seconds
        self._began = time.monotonic()
        self._reserved = Reservation()
        self._under_way = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    def reservation(self, request: Request, price: Price | None) -> Reservation:
        """The most that the call can cost; nothing where no limit is on tokens or dollars."""
        if not self.limits.metered:
            return Reservation()
        prompt = most_prompt_tokens(request)
        completion = request.sampling.max_tokens
        if self.limits.usd is None:
            return Reservation(prompt + completion)
        if price is None:
            raise WhetError(
                "a budget in dollars needs a price, and none is known for this model; "
                "set it with --set control.target.price='[in, out]' (dollars for a million tokens)"
            )
        return Reservation(prompt + completion, price.of(Usage(1, prompt, completion)))

    async def reserve(self, reservation: Reservation) -> None:
        """Returns when `reservation` fits; raises `BudgetReached` when it never will."""
        while (short := self._short(reservation)) is not None:
            if self._under_way == 0 or short.what == "seconds":
                raise short
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            await turn
        self._under_way += 1
        self._reserved = Reservation(self._reserved.tokens + reservation.tokens, self._reserved.usd + reservation.usd)

    def settle(self, reservation: Reservation, used: Usage) -> None:
        """The call is over: what it reserved is replaced by what it used."""
        self._under_way -= 1
        self._reserved = Reservation(
            self._reserved.tokens - reservation.tokens, max(0.0, self._reserved.usd - reservation.usd)
        )
        self.spent += used
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)

    @property
    def seconds(self) -> float:
        """Wall time of this run, earlier sessions included."""
        return self._before + time.monotonic() - self._began

    def _short(self, reservation: Reservation) -> BudgetReached | None:
        limits, spent = self.limits, self.spent
        if limits.calls is not None and spent.calls + self._under_way + 1 > limits.calls:
            return BudgetReached("calls", limits.calls, spent.calls)
        if limits.tokens is not None and spent.tokens + self._reserved.tokens + reservation.tokens > limits.tokens:
            return BudgetReached("tokens", limits.tokens, spent.tokens)
        used = spent.usd or 0.0
        if limits.usd is not None and used + self._reserved.usd + reservation.usd > limits.usd + 1e-12:
            return BudgetReached("dollars", limits.usd, used)
        if limits.seconds is not None and self.seconds > limits.seconds:
            return BudgetReached("seconds", limits.seconds, round(self.seconds, 1))
        return None
