"""Whether a server is there at all, as all calls to it together see it.

An attempt is *unanswered* when no connection came about, or it was closed before a status: nothing of the server was
seen. Any status, an error's too, is an answer; so is none within the time limit, since whoever is slow is there.

* The first call of all knocks, and the others wait for it: a server that was never started costs one attempt.
* After `DOUBT` unanswered attempts in a row attempts go one at a time, each after a longer pause than the one before;
  the other calls wait, which costs them none of their own attempts. One answer, to whomever, and all go on as before.
* A server is given up after `STRANGER` unanswered attempts one after the other where it never answered, after
  `ACQUAINTANCE` where it did, which takes 4 and 16 seconds. What is under way when it dies counts once together.

So a server that fails now and then, that is full, or that restarts within seconds is not taken for dead.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from whet.errors import FaultError, Unreachable
from whet.models.chat.retry import Clock, Sleep, Trouble
from whet.types import Fault

Result = TypeVar("Result")

DOUBT = 3
STRANGER = 5
ACQUAINTANCE = 8
FIRST_PAUSE, LONGEST_PAUSE = 0.25, 4.0

MEMORY = 5.0
"""Seconds for which a server that was given up is not tried again."""


class NoAnswer(Trouble):
    """An attempt of which nothing came back at all."""


class Reach:
    """The way to one server. Belongs to one event loop."""

    def __init__(
        self,
        where: str,
        knock: Callable[[], Awaitable[None]],
        sleep: Sleep = asyncio.sleep,
        clock: Clock = time.monotonic,
    ) -> None:
        self._where = where
        self._knock = knock
        self._sleep = sleep
        self._clock = clock
        self._turn = asyncio.Lock()
        self._known = False
        """Whether a first knock was answered."""
        self._answered = False
        self._row = 0
        """NoAnswer attempts since the last answer."""
        self._tries = 0
        """Those of them that were made one after the other."""
        self._last = 0.0
        self._gone: tuple[float, Fault] | None = None

    async def attempt(self, send: Callable[[], Awaitable[Result]]) -> Result:
        """What `send` gives, when it is its turn. `NoAnswer` where nothing came, `Unreachable` when that is final."""
        self._refuse_gone()
        if self._known and self._row < DOUBT:
            return await self._sent(send, alone=False)
        async with self._turn:
            self._refuse_gone()
            if not self._known:
                await self._sent(self._knock, alone=True)
                self._known = True
            elif self._row >= DOUBT:
                await self._sleep(max(0.0, self._last + self._pause() - self._clock()))
                if self._row >= DOUBT:  # nobody who was still under way has been answered meanwhile
                    return await self._sent(send, alone=True)
        return await self._sent(send, alone=False)

    def _pause(self) -> float:
        return float(min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** max(0, self._tries - 1)))

    async def _sent(self, send: Callable[[], Awaitable[Result]], *, alone: bool) -> Result:
        try:
            result = await send()
        except NoAnswer as trouble:
            self._count(trouble, alone)
            raise
        except (Trouble, FaultError):
            self._answer()
            raise
        if send is not self._knock:
            self._answer()
        return result

    def _answer(self) -> None:
        self._known = self._answered = True
        self._row = self._tries = 0

    def _count(self, trouble: NoAnswer, alone: bool) -> None:
        self._row += 1
        self._last = self._clock()
        if not self._known:
            self._row, self._known = DOUBT, True  # from here on one at a time
        if alone or self._row == DOUBT:
            self._tries += 1
        if self._tries >= (ACQUAINTANCE if self._answered else STRANGER):
            told = f"{trouble.message} ({self._tries} attempts one after the other, and no answer)"
            self._gone = (self._last, Fault(trouble.kind, self._where, told, self._tries))
            self._row = self._tries = 0
            self._known = False
            self._refuse_gone(sent=trouble.sent)

    def _refuse_gone(self, *, sent: bool = False) -> None:
        if self._gone is not None:
            if self._clock() - self._gone[0] < MEMORY:
                raise Unreachable(self._gone[1], sent=sent)
            self._gone = None
