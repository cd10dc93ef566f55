"""Requests that wait for a batch: what comes while one is under way goes together into the next."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")

LINGER = 0.01
"""Seconds that the first of a batch waits for others to join it."""


class QueueClosed(Exception):
    """The queue was closed before this job was done."""


@dataclass(slots=True)
class _PendingJob(Generic[Job, Result]):
    job: Job
    future: Future[Result] = field(default_factory=Future)


class Queue(Generic[Job, Result]):
    """Hands jobs to `serve` in batches of at most `width`, of one `kind` each, on a thread of its own.

    `serve` returns a result or an exception for each job. When it raises with more than one job, they are served one by
    one, so that a job which cannot be served fails alone.
    """

    def __init__(
        self,
        serve: Callable[[Sequence[Job], Callable[[], bool]], Sequence[Result | Exception]],
        kind: Callable[[Job], object],
        width: int,
    ) -> None:
        self._serve = serve
        self._kind = kind
        self._width = width
        self._pool = ThreadPoolExecutor(1, "whet-hf")
        self._state = threading.Condition()
        self._waiting: deque[_PendingJob[Job, Result]] = deque()
        self._draining = False
        self._closing = False

    def put(self, job: Job) -> Future[Result]:
        """The future result of a job. Cancelling it takes the job out, or ends its batch when all of it is."""
        pending = _PendingJob[Job, Result](job)
        with self._state:
            if self._closing:
                raise QueueClosed
            self._waiting.append(pending)
            self._state.notify_all()
            if not self._draining:
                self._draining = True
                self._pool.submit(self._drain)
        return pending.future

    def close(self, *, wait: bool = True) -> None:
        """End what is under way at its next token, fail what waits, and wait for the thread. Idempotent.

        Where the garbage collector calls, `wait` must be False: it may run within a lock that the thread needs to end.
        """
        with self._state:
            self._closing = True
            left = list(self._waiting)
            self._waiting.clear()
            self._state.notify_all()
        for pending in left:
            if pending.future.set_running_or_notify_cancel():
                pending.future.set_exception(QueueClosed())
        self._pool.shutdown(wait=wait)

    def _drain(self) -> None:
        while batch := self._next():
            self._settle(batch)

    def _next(self) -> list[_PendingJob[Job, Result]]:
        """The next batch; empty when nothing waits, and then the drain is over."""
        with self._state:
            self._state.wait_for(lambda: self._closing or len(self._waiting) >= self._width, LINGER)
            if not self._waiting:
                self._draining = False
                return []
            wanted = self._kind(self._waiting[0].job)
            batch = [pending for pending in self._waiting if self._kind(pending.job) == wanted][: self._width]
            for pending in batch:
                self._waiting.remove(pending)
        return batch

    def _settle(self, batch: Sequence[_PendingJob[Job, Result]]) -> None:
        live = [pending for pending in batch if not pending.future.cancelled()]
        if not live:
            return

        def given_up() -> bool:
            return self._closing or all(pending.future.cancelled() for pending in live)

        try:
            results = self._serve([pending.job for pending in live], given_up)
        except Exception as error:  # noqa: BLE001 - whatever the library raises belongs to whoever awaits the job
            if len(live) > 1 and not self._closing:
                for pending in live:
                    self._settle([pending])
                return
            results = [error]
        if self._closing:
            results = [QueueClosed() for _ in live]
        for pending, result in zip(live, results, strict=True):
            if not pending.future.set_running_or_notify_cancel():
                continue
            if isinstance(result, Exception):
                pending.future.set_exception(result)
            else:
                pending.future.set_result(result)
