"""The purse of a run: the most that an attempt can cost is reserved, and the reservation written, before it is sent.

An attempt that does not fit waits while others are under way, since most use less than they reserved; when none is, the
budget is reached. Every attempt is settled: at what the server says where that can be believed, else at all that was
reserved for it. A server that says it used more than was reserved is believed, for it may be billed.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from dataclasses import dataclass
from typing import Protocol

from whet.errors import BudgetReached, WhetError
from whet.ledger.account import AttemptReserve, How
from whet.models.base import Model, Price, Request
from whet.models.chat.usage import tokens
from whet.rollout.prompt_size import most_prompt_tokens
from whet.types import Reply, Usage


@dataclass(frozen=True, slots=True)
class PurseLimits:
    """What a run may spend, over all its sessions; None: no limit."""

    usd: float | None = None
    tokens: int | None = None
    calls: int | None = None
    seconds: float | None = None

    @property
    def any(self) -> bool:
        return (self.usd, self.tokens, self.calls, self.seconds) != (None, None, None, None)


class AttemptBook(Protocol):
    """Where attempts are on record before they are sent: a ledger's journal, or the way to one."""

    async def attempt(self, key: str, role: str, reserve: AttemptReserve) -> int: ...

    def settle(self, seq: int, how: How, reserve: AttemptReserve, used: Usage) -> None: ...


class Purse:
    """Meters one run. Belongs to one event loop. Without a journal nothing is written, and a kill forgets all of it."""

    def __init__(
        self,
        limits: PurseLimits = PurseLimits(),
        spent: Usage = Usage(),
        seconds: float = 0.0,
        journal: AttemptBook | None = None,
    ) -> None:
        if limits.usd is not None and spent.usd is None:
            raise WhetError(
                "a budget in dollars cannot be kept: calls of earlier sessions have no price on record; "
                "limit the tokens instead (control.budget.tokens), or begin another run"
            )
        self.limits = limits
        self.spent = spent
        self.journal = journal
        self._before = seconds
        self._began = time.monotonic()
        self._tokens = 0
        self._usd = 0.0
        self._under_way = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    def charge(self, request: Request, model: Model) -> Charge:
        """What a call costs, attempt by attempt; nothing is reserved yet."""
        prompt = most_prompt_tokens(request) + model.overhead(request)
        completion = request.sampling.max_tokens
        price = model.price
        if price is None and self.limits.usd is not None:
            raise WhetError(
                "a budget in dollars needs a price, and none is known for this model; "
                "set it with --set control.target.price='[in, out]' (dollars for a million tokens)"
            )
        most = None if price is None else (prompt * price.prompt + completion * price.completion) / 1e6
        reserve = AttemptReserve(prompt, completion, most)
        return Charge(self, reserve, price, request.attempt, request.role, tells_all=model.tells_all)

    async def reserve(self, reserve: AttemptReserve) -> None:
        """Returns when `reserve` fits; raises `BudgetReached` when it never will."""
        while (short := self._short(reserve)) is not None:
            if self._under_way == 0 or short.what == "seconds":
                raise short
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            await turn
        self._under_way += 1
        self._tokens += reserve.tokens
        self._usd += reserve.usd or 0.0

    def settle(self, reserve: AttemptReserve, used: Usage) -> None:
        """The attempt is over: what it reserved is replaced by what it used."""
        self._under_way -= 1
        self._tokens -= reserve.tokens
        self._usd = max(0.0, self._usd - (reserve.usd or 0.0)) if self._under_way else 0.0
        self.spent += used
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)

    @property
    def seconds(self) -> float:
        """Wall time of this run, earlier sessions included."""
        return self._before + time.monotonic() - self._began

    def _short(self, reserve: AttemptReserve) -> BudgetReached | None:
        limits, spent = self.limits, self.spent
        if limits.calls is not None and spent.calls + self._under_way + 1 > limits.calls:
            return BudgetReached("calls", limits.calls, spent.calls)
        if limits.tokens is not None and spent.tokens + self._tokens + reserve.tokens > limits.tokens:
            return BudgetReached("tokens", limits.tokens, spent.tokens)
        used = spent.usd or 0.0
        if limits.usd is not None and used + self._usd + (reserve.usd or 0.0) > limits.usd + 1e-12:
            return BudgetReached("dollars", limits.usd, used)
        if limits.seconds is not None and self.seconds > limits.seconds:
            return BudgetReached("seconds", limits.seconds, round(self.seconds, 1))
        return None


@dataclass(slots=True)
class Charge:
    """What one call costs. The model is handed it with the request, and says when it tries again."""

    purse: Purse
    reserve: AttemptReserve
    price: Price | None
    key: str
    role: str
    attempt: int = 0
    tells_all: bool = False
    """Whether a usage without tokens is believed."""
    open: bool = False
    """Whether an attempt is under way that has not been settled."""

    async def begin(self) -> None:
        """Returns when the attempt is paid for and on record; raises `BudgetReached` when it cannot be."""
        await self.purse.reserve(self.reserve)
        if self.purse.journal is not None:
            try:
                self.attempt = await self.purse.journal.attempt(self.key, self.role, self.reserve)
            except BaseException:
                self.purse.settle(self.reserve, Usage())
                raise
        self.open = True

    async def again(self) -> None:
        """The attempt came to nothing, and another is to be made: each is paid for."""
        self.fail()
        await self.begin()

    def fail(self, *, sent: bool = True) -> None:
        """The attempt came to nothing. What was sent may be billed, so it counts in full. Says so once."""
        if self.open:
            self._end("untold" if sent else "unsent", self.reserve.usage if sent else Usage())

    def end(self, reply: Reply) -> None:
        """The attempt has been answered, and the server tells what it used."""
        if self.tells_all or believable(reply):
            self._end("told", self._priced(reply.usage))
        else:
            self._end("untold", self.reserve.usage)

    def _priced(self, told: Usage) -> Usage:
        """One call at least; at the price on record where the server asks for less, which may be a part of it."""
        usd = told.usd
        if self.price is not None:
            usd = max(self.price.of(told), usd or 0.0)
        return Usage(max(1, told.calls), told.prompt_tokens, told.completion_tokens, told.cached_tokens, usd)

    def _end(self, how: How, used: Usage) -> None:
        self.open = False
        self.purse.settle(self.reserve, used)
        if self.purse.journal is not None:
            self.purse.journal.settle(self.attempt, how, self.reserve, used)


def believable(reply: Reply) -> bool:
    """Whether the usage of a reply can be so. No prompt has no tokens: a usage that says it has none was not told."""
    told = reply.usage
    prompt, completion, cached = (
        tokens(told.prompt_tokens),
        tokens(told.completion_tokens),
        tokens(told.cached_tokens),
    )
    if not prompt or completion is None or cached is None or cached > prompt:
        return False
    if completion == 0 and (reply.text or reply.calls):
        return False
    return told.usd is None or 0 <= told.usd < math.inf
