"""Works for drivers that are not async: the same `Works`, on a loop in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeVar

from whet.rollout.works import Works
from whet.types import Work, WorkResult

Result = TypeVar("Result")


class Workbench:
    """Performs works one after the other (`bench(job)`) or many at once (`bench.start(job)`). Close it, or use `with`.

    The thread begins with the first work, so a bench that is not needed costs nothing.
    """

    def __init__(self, works: Works | None = None) -> None:
        self.works = works or Works()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def __enter__(self) -> Workbench:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __call__(self, job: Work) -> WorkResult:
        return self.start(job).result()

    def start(self, job: Work) -> Future[WorkResult]:
        return self.submit(self.works.perform(job))

    def start_all(self, jobs: Sequence[Work]) -> list[Future[WorkResult]]:
        """As `start` for each, at the cost of one: the thread is woken once."""
        begun: list[Future[WorkResult]] = [Future() for _ in jobs]
        with self._starting:
            self._opened().call_soon_threadsafe(self._start_here, jobs, begun)
        return begun

    def _start_here(self, jobs: Sequence[Work], begun: Sequence[Future[WorkResult]]) -> None:
        for job, future in zip(jobs, begun, strict=True):
            task = asyncio.get_running_loop().create_task(self.works.perform(job))
            task.add_done_callback(partial(_hand_over, future))

    def submit(self, effect: Coroutine[Any, Any, Result]) -> Future[Result]:
        """Have any coroutine run on the bench's loop."""
        with self._starting:
            return asyncio.run_coroutine_threadsafe(effect, self._opened())

    def _opened(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._loop.run_forever, name="whet-works", daemon=True)
            self._thread.start()
        return self._loop

    def close(self) -> None:
        """End what is under way and let go of the thread. A bench that is used again begins anew."""
        with self._starting:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is None or thread is None:
            return
        try:
            asyncio.run_coroutine_threadsafe(self._wind_up(), loop).result()
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    async def _wind_up(self) -> None:
        """Whoever still waits for a work hears that it was cancelled, and does not wait for ever."""
        waiting = asyncio.all_tasks() - {asyncio.current_task()}
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        await self.works.close()


def _hand_over(future: Future[WorkResult], task: asyncio.Task[WorkResult]) -> None:
    """What a work came to, to whoever waits for it in another thread."""
    if task.cancelled():
        future.cancel()
    if not future.set_running_or_notify_cancel():
        return
    error = task.exception()
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(task.result())
