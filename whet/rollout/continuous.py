"""The driver of a trainer whose generator refills: every play goes on as soon as it can, whatever the others do.

A play that waits for a work holds up nobody: works run beside the decoding, and what they bring is asked for at the
next step. Unlike in lock step, who stands beside whom depends on which work ended first; a generator whose rows draw by
their own seeds gives the same replies all the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, Protocol

from whet.errors import FaultError, LimitReached, WhetError
from whet.models.base import Request
from whet.rollout.conversation import Conversation
from whet.rollout.lockstep import Generate, work_answer
from whet.rollout.workbench import Workbench
from whet.types import Fault, Reply, Score, Work

Aside = Callable[[Request], Future[Reply]]
"""Has a request answered by somebody else, meanwhile."""


class Generator(Protocol):
    """Answers requests in its own time. `submit` gives the number under which a `step` tells what came."""

    @property
    def busy(self) -> bool: ...

    def submit(self, request: Request) -> int: ...

    def step(self) -> Sequence[tuple[int, Reply | LimitReached | Fault]]: ...


class BatchGenerator:
    """A function that answers a batch, as a generator: each step answers all that has been submitted."""

    def __init__(self, generate: Generate) -> None:
        self._generate = generate
        self._requests: dict[int, Request] = {}
        self._next = 0

    @property
    def busy(self) -> bool:
        return bool(self._requests)

    def submit(self, request: Request) -> int:
        self._next += 1
        self._requests[self._next] = request
        return self._next

    def step(self) -> list[tuple[int, Reply | LimitReached | Fault]]:
        asked, self._requests = self._requests, {}
        return list(zip(asked, self._generate(list(asked.values())), strict=True)) if asked else []


def play_side_by_side(
    conversations: Sequence[Conversation],
    generator: Generator,
    bench: Workbench,
    beside: Generate | None = None,
    aside: Aside | None = None,
) -> list[Score | Fault]:
    """Drive all to their ends and return how each ended. `beside` answers whom a play asks besides the target.

    So does `aside`, in its own time, as works are done: while a judge thinks, the target speaks.
    """
    floor = _Floor(generator, bench, None if beside is None else BatchGenerator(beside), aside)
    try:
        for talk in conversations:
            floor.move(talk)
        while floor.turn():
            pass
        return [step for talk in conversations if isinstance(step := talk.next(), Score | Fault)]
    finally:
        for talk in conversations:
            talk.close()


def reply_answer(future: Future[Reply]) -> Reply | LimitReached | Fault:
    """What a reply that came aside brings to its play."""
    try:
        return future.result()
    except FaultError as error:
        return error.fault
    except LimitReached as limit:
        return limit


class _Floor:
    """Who waits for what: for a reply by its number, or for a work."""

    def __init__(
        self, generator: Generator, bench: Workbench, beside: Generator | None, aside: Aside | None = None
    ) -> None:
        self._generator, self._bench, self._beside, self._aside = generator, bench, beside, aside
        self._asking: dict[int, Conversation] = {}
        self._asking_beside: dict[int, Conversation] = {}
        self._working: dict[Future[Any], tuple[Conversation, float | None]] = {}
        """Works, with when each was begun; and replies that come aside, whose time is nobody's."""
        self._to_begin: list[tuple[Conversation, Work]] = []

    def move(self, talk: Conversation) -> None:
        """Have brought what a conversation needs now, if it has not ended."""
        step = talk.next()
        if isinstance(step, Work):
            self._to_begin.append((talk, step))
        elif isinstance(step, Request) and step.role == "target":
            self._asking[self._generator.submit(step)] = talk
        elif isinstance(step, Request) and self._aside is not None:
            self._working[self._aside(step)] = (talk, None)
        elif isinstance(step, Request):
            if self._beside is None:
                raise WhetError(f"a play asks for a {step.role}, and nobody here answers for it")
            self._asking_beside[self._beside.submit(step)] = talk

    def turn(self) -> bool:
        """Bring what has come, waiting for a work only where nothing else is to be done. False when all is over."""
        self._begin()
        if not (self._asking or self._asking_beside or self._working):
            return False
        self._gather(patiently=not (self._asking or self._asking_beside))
        self._begin()
        self._step(self._generator, self._asking)
        if self._beside is not None:
            self._step(self._beside, self._asking_beside)
        return True

    def _begin(self) -> None:
        """Hand over the works that have come up, all at once: each time, the bench's thread takes the interpreter."""
        waiting, self._to_begin = self._to_begin, []
        if waiting:
            begun = self._bench.start_all([job for _, job in waiting])
            now = time.monotonic()
            self._working.update({future: (talk, now) for (talk, _), future in zip(waiting, begun, strict=True)})

    def _gather(self, *, patiently: bool) -> None:
        """Works that have ended; those that end together go on in the order in which they were begun."""
        if not self._working:
            return
        if patiently:
            wait(self._working, None, FIRST_COMPLETED)
        for future in [future for future in self._working if future.done()]:
            talk, began = self._working.pop(future)
            if began is None:
                talk.answer(reply_answer(future))
            else:
                talk.answer(work_answer(future), time.monotonic() - began)
            self.move(talk)

    def _step(self, generator: Generator, asking: dict[int, Conversation]) -> None:
        if not asking:
            return
        for ticket, came in generator.step():
            talk = asking.pop(ticket)
            talk.answer(came)
            self.move(talk)
