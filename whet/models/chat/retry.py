"""Trying again: what is worth another attempt, how long to wait for it, and when to stop."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from random import Random
from typing import TypeVar

from whet.errors import FaultError, Unreachable
from whet.keys import seed_for
from whet.models.base import Meter
from whet.models.options import ModelOptions
from whet.types import Fault

Result = TypeVar("Result")
Sleep = Callable[[float], Awaitable[None]]
Clock = Callable[[], float]


class Trouble(Exception):
    """One attempt failed in a way that a later one may not. `wait`: seconds that the server asks for.

    `sent` is False where no connection was made, so that nothing can have been billed.
    """

    def __init__(self, kind: str, message: str, wait: float | None = None, *, sent: bool = True) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.wait = wait
        self.sent = sent


@dataclass(frozen=True, slots=True)
class Patience:
    """How long one call is worth trying: `attempts`, and `deadline` seconds for all of them with their waits."""

    attempts: int = 6
    deadline: float = 900.0
    base: float = 1.0
    cap: float = 60.0

    def wait(self, failed: int, asked: float | None, random: Random) -> float:
        """Seconds to wait after `failed` attempts: full jitter, on top of what the server asks for."""
        jitter = random.uniform(0.0, min(self.cap, self.base * 2.0 ** (failed - 1)))
        return jitter if asked is None else asked + min(jitter, self.base)


async def persist(
    attempt: Callable[[], Awaitable[Result]],
    patience: Patience,
    *,
    where: str,
    random: Random,
    meter: Meter | None = None,
    sleep: Sleep = asyncio.sleep,
    clock: Clock = time.monotonic,
) -> Result:
    """The result of the first attempt that succeeds; `FaultError` when patience ends. Other errors pass through.

    Every attempt but the first is paid for by `meter` before it is made.
    """
    begun = clock()
    failed = 0
    while True:
        try:
            return await attempt()
        except Unreachable as gone:
            if meter is not None:
                meter.fail(sent=gone.sent)
            raise
        except FaultError as error:
            raise FaultError(replace(error.fault, attempts=failed + 1)) from error
        except Trouble as trouble:
            failed += 1
            if meter is not None:
                meter.fail(sent=trouble.sent)
            if failed >= patience.attempts:
                raise FaultError(Fault(trouble.kind, where, trouble.message, failed)) from trouble
            wait = patience.wait(failed, trouble.wait, random)
            left = patience.deadline - (clock() - begun)
            if wait >= left:
                message = f"{trouble.message} (the next attempt in {wait:.3g} s would pass the deadline)"
                raise FaultError(Fault(trouble.kind, where, message, failed)) from trouble
        await sleep(wait)
        if meter is not None:
            await meter.again()


@dataclass(frozen=True, slots=True)
class Persistence:
    """How one model tries again: with which patience, by whose chance and clock."""

    where: str
    patience: Patience
    random: Random
    sleep: Sleep = asyncio.sleep
    clock: Clock = time.monotonic

    @classmethod
    def of(cls, model: str, where: str, options: ModelOptions) -> Persistence:
        """Processes that call the same model do not wait in step: each has a chance of its own."""
        return cls(where, Patience(options.attempts, options.deadline), Random(seed_for("backoff", model, os.getpid())))

    async def run(self, attempt: Callable[[], Awaitable[Result]], meter: Meter | None = None) -> Result:
        return await persist(
            attempt,
            self.patience,
            where=self.where,
            random=self.random,
            meter=meter,
            sleep=self.sleep,
            clock=self.clock,
        )


def asked_wait(headers: Mapping[str, str], clock: Clock = time.time) -> float | None:
    """The seconds that a server asks to wait (`retry-after-ms`, or `Retry-After` as seconds or a date), else None."""
    try:
        if (milliseconds := headers.get("retry-after-ms")) is not None:
            return _sane(float(milliseconds) / 1000.0)
        if (after := headers.get("Retry-After")) is None:
            return None
        if after.strip().replace(".", "", 1).isdigit():
            return _sane(float(after))
        # Against the server's own clock where it tells it: ours may be off.
        now = parsedate_to_datetime(headers["Date"]).timestamp() if "Date" in headers else clock()
        return _sane(parsedate_to_datetime(after).timestamp() - now)
    except (TypeError, ValueError, OverflowError):
        return None


def _sane(seconds: float) -> float | None:
    """No wait below zero; what is not a number asks for nothing."""
    return max(0.0, seconds) if seconds < float("inf") else None
