"""Run a coroutine to its end from plain code, also where a loop is running already (a notebook, an async test)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


def finish(start: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    """The result of `start()`. Ctrl-C cancels it, waits until it has let go, and is then raised here."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(start())
    return _beside(start)


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
