"""Hard budgets: what a call may cost at most is reserved before it is sent, so a limit is never passed.

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
from whet.types import Usage

MESSAGE_OVERHEAD = 16
"""Tokens that a chat template may add to a message, generously."""

IMAGE_TOKENS = 4096
"""Tokens that an image may take, generously."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may spend, over all its sessions; None: no limit."""

    usd: float | None = None
    tokens: int | None = None
    calls: int | None = None
    seconds: float | None = None

    @property
    def metered(self) -> bool:
        return self.usd is not None or self.tokens is not None


@dataclass(frozen=True, slots=True)
class Claim:
    """The most that one call can cost."""

    tokens: int = 0
    usd: float = 0.0


class Budget:
    """Meters one run. Belongs to one event loop."""

    def __init__(self, limits: Limits = Limits(), spent: Usage = Usage(), seconds: float = 0.0) -> None:
        self.limits = limits
        self.spent = spent
        self._before = seconds
        self._began = time.monotonic()
        self._reserved = Claim()
        self._under_way = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    def claim(self, request: Request, price: Price | None) -> Claim:
        """An upper bound: a byte-level tokeniser makes at most one token of a byte."""
        if not self.limits.metered:
            return Claim()
        prompt = sum(
            len(message.text.encode("utf-8", "replace"))
            + MESSAGE_OVERHEAD
            + (0 if isinstance(message.content, str) else IMAGE_TOKENS * len(message.content))
            for message in request.messages
        )
        prompt += sum(len(str(tool.parameters)) + len(tool.description) + MESSAGE_OVERHEAD for tool in request.tools)
        completion = request.sampling.max_tokens
        if self.limits.usd is None:
            return Claim(prompt + completion)
        if price is None:
            raise WhetError(
                "a budget in dollars needs a price, and none is known for this model; "
                "set it with --set control.target.price='[in, out]' (dollars for a million tokens)"
            )
        return Claim(prompt + completion, price.of(Usage(1, prompt, completion)))

    async def reserve(self, claim: Claim) -> None:
        """Returns when `claim` fits; raises `BudgetReached` when it never will."""
        while (short := self._short(claim)) is not None:
            if self._under_way == 0 or short.what == "seconds":
                raise short
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            await turn
        self._under_way += 1
        self._reserved = Claim(self._reserved.tokens + claim.tokens, self._reserved.usd + claim.usd)

    def settle(self, claim: Claim, used: Usage) -> None:
        """The call is over: what it reserved is replaced by what it used."""
        self._under_way -= 1
        self._reserved = Claim(self._reserved.tokens - claim.tokens, max(0.0, self._reserved.usd - claim.usd))
        self.spent += used
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)

    @property
    def seconds(self) -> float:
        """Wall time of this run, earlier sessions included."""
        return self._before + time.monotonic() - self._began

    def _short(self, claim: Claim) -> BudgetReached | None:
        limits, spent = self.limits, self.spent
        if limits.calls is not None and spent.calls + self._under_way + 1 > limits.calls:
            return BudgetReached("calls", limits.calls, spent.calls)
        if limits.tokens is not None and spent.tokens + self._reserved.tokens + claim.tokens > limits.tokens:
            return BudgetReached("tokens", limits.tokens, spent.tokens)
        used = spent.usd or 0.0
        if limits.usd is not None and used + self._reserved.usd + claim.usd > limits.usd + 1e-12:
            return BudgetReached("dollars", limits.usd, used)
        if limits.seconds is not None and self.seconds > limits.seconds:
            return BudgetReached("seconds", limits.seconds, round(self.seconds, 1))
        return None
