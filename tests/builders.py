"""Builders that the tests share: a small environment, a model from a function, a rollout record."""

from __future__ import annotations

import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any

from whet.envs.base import Environment, Play, ask
from whet.models.base import FREE, Model, Request
from whet.types import Label, Reply, Rollout, Score, Split, Task, Ticket, Turn, Usage, failed, solved, user


class Doubles(Environment):
    """Say twice the number: as small as an environment can be."""

    name = "doubles"
    fingerprint = "doubles-1"

    def size(self, split: Split) -> int | None:
        return 1000

    def label(self, split: Split, index: int) -> Label:
        return Label("even" if index % 2 == 0 else "odd", "hard" if index % 5 == 0 else "easy")

    def task(self, split: Split, index: int) -> Task:
        number = {"train": 10_000, "select": 20_000, "test": 30_000}[split] + index
        question = f"Say twice {number}, the number alone."
        return Task(split, index, self.label(split, index), (user(question),), str(2 * number))

    def play(self, task: Task) -> Play:
        reply = yield from ask(task.messages)
        return solved() if reply.text.strip() == task.truth else failed("wrong")


class FromFunction(Model):
    """A model whose reply is what `answer` returns (or awaits)."""

    name = "test:function"
    fingerprint = "test-function-1"
    price = FREE

    def __init__(self, answer: Callable[[Request], Any]) -> None:
        self.answer = answer
        self.requests: list[Request] = []

    async def complete(self, request: Request) -> Reply:
        self.requests.append(request)
        answered = self.answer(request)
        if isinstance(answered, Awaitable):
            answered = await answered
        if isinstance(answered, str):
            answered = Reply(answered, usage=Usage(1, 10, 5, 0, 0.0))
        assert isinstance(answered, Reply)
        return answered


def doubled(request: Request) -> str:
    """The right answer to a task of `Doubles`, read off the prompt."""
    number = int(request.messages[-1].text.split()[2].strip(","))
    return str(2 * number)


def rollout(index: int = 0, *, draw: int = 0, outcome: Score | None = None, purpose: str = "eval") -> Rollout:
    key = f"{purpose}-{index}-{draw}"
    turn = Turn("target", (user(f"question {index}"),), Reply("answer", usage=Usage(1, 10, 5, 0, 0.001)))
    scored = outcome or solved()
    return Rollout(
        Ticket(purpose, "select", index, draw),
        Label("even", "easy"),
        key,
        f"request-{index}",
        "policy",
        (turn,),
        scored,
    )


def nap() -> None:
    """A work that takes a while."""
    time.sleep(0.1)


_MEETINGS: dict[int, threading.Barrier] = {}


def meet(parties: int) -> None:
    """Returns only when `parties` works run at the same time."""
    with _LOCK:
        meeting = _MEETINGS.setdefault(parties, threading.Barrier(parties))
    meeting.wait(timeout=20)


_LOCK = threading.Lock()

GATE = threading.Event()


def wait_at_gate() -> None:
    """A work that is not done before the gate opens."""
    GATE.wait(timeout=60)
