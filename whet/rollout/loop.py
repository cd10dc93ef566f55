"""Run a coroutine to its end from plain code, also where a loop is running already (a notebook, an async test)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from typing import Any, TypeVar

Result = TypeVar("Result")


class StopButton:
    """Stops from another thread what `finish` is at: the task is cancelled, and lets go of what it holds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._at_work: tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]] | None = None
        self.pressed = False

    def press(self) -> bool:
        """Stop what is under way, or what would begin; whether something was."""
        with self._lock:
            self.pressed = True
            if self._at_work is None:
                return False
            loop, task = self._at_work
            loop.call_soon_threadsafe(task.cancel)
            return True

    async def watch(self, start: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        """Run a coroutine that the button stops."""
        task = asyncio.ensure_future(start())
        with self._lock:
            if self.pressed:
                task.cancel()
            self._at_work = asyncio.get_running_loop(), task
        try:
            return await task
        finally:
            with self._lock:
                self._at_work = None


STOP: ContextVar[StopButton | None] = ContextVar("whet_stop", default=None)
"""The button of whoever waits for this thread's work."""


async def awaited(work: Callable[[], Result]) -> Result:
    """What a blocking function returns, without blocking the loop: it works in a thread, with loops of its own.

    Cancelled, a run is stopped as Ctrl-C stops it, and this waits until it has let go. What is no run, such as a
    comparison, goes on to its end and is not waited for.
    """
    button = StopButton()
    token = STOP.set(button)
    try:
        thread = asyncio.ensure_future(asyncio.to_thread(work))
    finally:
        STOP.reset(token)
    try:
        return await asyncio.shield(thread)
    except asyncio.CancelledError:
        if button.press():
            await asyncio.wait([thread])
        thread.add_done_callback(lambda done: done.cancelled() or done.exception())  # heard, and of no use any more
        raise


def finish(start: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    """The result of `start()`. Ctrl-C cancels it, waits until it has let go, and is then raised here."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        button = STOP.get()
        return asyncio.run(_impatient(start if button is None else lambda: button.watch(start)))
    return _beside(start)


async def _impatient(start: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    """Further Ctrl-C, while the first is being heeded, end the work where it stands; that is no defect to report."""

    def heard(loop: asyncio.AbstractEventLoop, told: dict[str, Any]) -> None:
        if not isinstance(told.get("exception"), KeyboardInterrupt):
            loop.default_exception_handler(told)

    asyncio.get_running_loop().set_exception_handler(heard)
    return await start()


def _beside(start: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    """In a thread with a loop of its own: the caller's loop cannot be entered twice."""
    loop = asyncio.new_event_loop()
    box: list[Result] = []
    errors: list[BaseException] = []
    task: asyncio.Task[Result] | None = None

    def body() -> None:
        nonlocal task
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            task = loop.create_task(start())
            try:
                box.append(runner.run(_await(task)))
            except BaseException as error:  # noqa: BLE001 - handed to the caller's thread
                errors.append(error)

    thread = threading.Thread(target=body, name="whet-loop")
    thread.start()
    try:
        thread.join()
    except KeyboardInterrupt:
        if task is not None:
            loop.call_soon_threadsafe(task.cancel)
        thread.join()
        raise
    if errors:
        raise errors[0]
    return box[0]


async def _await(task: asyncio.Task[Result]) -> Result:
    return await task
