"""From GEPA, which is synchronous and runs in a thread of its own, to the event loop that a run lives on.

What ends the run (a budget that is spent, a service that gave out, Ctrl-C) must end GEPA too, which catches every
`Exception` and goes on. So it travels through GEPA as a `RunEnd`, which is none, and is itself again on the other side.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

Result = TypeVar("Result")


class RunEnd(BaseException):
    """The run has ended while GEPA waited for it; `why` is how."""

    def __init__(self, why: Exception) -> None:
        super().__init__(str(why))
        self.why = why


class ThreadBridge:
    """Asks the loop on behalf of a thread, one thing at a time."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: Future[Any] | None = None
        self._closed = False

    def ask(self, asked: Coroutine[Any, Any, Result]) -> Result:
        """In the thread: what the loop makes of it."""
        if self._closed:
            asked.close()
            raise RunEnd(RuntimeError("the run has ended"))
        waiting = asyncio.run_coroutine_threadsafe(asked, self._loop)
        self._waiting = waiting
        try:
            return waiting.result()
        except Exception as why:
            raise RunEnd(why) from why

    async def run(self, work: Callable[[], Result]) -> Result:
        """In the loop: `work` in a thread, to its end; where this is cancelled, whatever it waits for is too."""
        try:
            return await asyncio.to_thread(work)
        except RunEnd as ended:
            raise ended.why from None
        finally:
            self._closed = True
            if self._waiting is not None:
                self._waiting.cancel()
