"""Requests for one model that come from many tasks: whoever comes joins those that are under way."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")
Asked = TypeVar("Asked", contravariant=True)
Told = TypeVar("Told", covariant=True)

LINGER = 0.01
"""Seconds for which the first that comes waits for others to join it."""


class QueueClosed(Exception):
    """The queue was closed before this job was done."""


class ReplyEngine(Protocol[Asked, Told]):
    """Whoever works jobs off: some at once, as far as a step goes. Used from one thread."""

    @property
    def busy(self) -> bool:
        """Whether anything is left to do."""
        ...

    def submit(self, job: Asked) -> int:
        """Take a job on; the number under which `step` will tell what came of it."""
        ...

    def step(self, given_up: Callable[[int], bool]) -> Sequence[tuple[int, Told | Exception]]:
        """Go on: what was done meanwhile. Whether anyone still waits for a job, `given_up` says by its number."""
        ...


@dataclass(slots=True)
class _PendingJob(Generic[Job, Result]):
    job: Job
    future: Future[Result] = field(default_factory=Future)


class Queue(Generic[Job, Result]):
    """Hands jobs to an engine as they come, on a thread of its own. `open_engine` is called there, by the first.

    A job that the engine does not take, or whose result is an exception, fails alone; what a step raises fails all
    that is under way.
    """

    def __init__(self, open_engine: Callable[[], ReplyEngine[Job, Result]], width: int) -> None:
        self._open = open_engine
        self._width = width
        self._engine: ReplyEngine[Job, Result] | None = None
        self._pool = ThreadPoolExecutor(1, "whet-hf")
        self._state = threading.Condition()
        self._waiting: deque[_PendingJob[Job, Result]] = deque()
        self._under_way: dict[int, _PendingJob[Job, Result]] = {}
        self._draining = False
        self._closing = False

    def put(self, job: Job) -> Future[Result]:
        """The future result of a job. Cancelling it takes the job out, also one that is under way."""
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
            _settle(pending, QueueClosed())
        self._pool.shutdown(wait=wait)

    def _drain(self) -> None:
        """Work until nothing waits and nothing is under way."""
        while True:
            arrived = self._arrived()
            if not arrived and not self._under_way:
                return
            self._admit(arrived)
            self._advance()

    def _arrived(self) -> list[_PendingJob[Job, Result]]:
        """What has come; where the engine is idle, a moment is given to those who come together."""
        with self._state:
            if not self._under_way:
                self._state.wait_for(lambda: self._closing or len(self._waiting) >= self._width, LINGER)
            arrived = list(self._waiting)
            self._waiting.clear()
            if not arrived and not self._under_way:
                self._draining = False
        return arrived

    def _admit(self, arrived: Sequence[_PendingJob[Job, Result]]) -> None:
        for pending in arrived:
            if pending.future.cancelled():
                continue
            try:
                if self._engine is None:
                    self._engine = self._open()
                ticket = self._engine.submit(pending.job)
            except Exception as error:  # noqa: BLE001 - whatever the library raises belongs to whoever awaits the job
                _settle(pending, QueueClosed() if self._closing else error)
            else:
                self._under_way[ticket] = pending

    def _advance(self) -> None:
        if self._engine is None or not self._under_way:
            return
        try:
            told = self._engine.step(self._given_up)
        except Exception as error:  # noqa: BLE001 - likewise
            told = [(ticket, error) for ticket in self._under_way]
        if self._closing:
            told = [(ticket, QueueClosed()) for ticket in self._under_way]
        for ticket, result in told:
            _settle(self._under_way.pop(ticket), result)
        for ticket in [ticket for ticket, pending in self._under_way.items() if pending.future.cancelled()]:
            del self._under_way[ticket]

    def _given_up(self, ticket: int) -> bool:
        pending = self._under_way.get(ticket)
        return self._closing or pending is None or pending.future.cancelled()


def _settle(pending: _PendingJob[Job, Result], result: Result | Exception) -> None:
    if not pending.future.set_running_or_notify_cancel():
        return
    if isinstance(result, Exception):
        pending.future.set_exception(result)
    else:
        pending.future.set_result(result)
