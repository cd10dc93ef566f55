"""An environment that does not travel, and models that end or hang the process they are in, once for each task."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from pathlib import Path

from whet.envs.base import Environment, Play, ask
from whet.models.base import Request
from whet.types import Label, Split, Task, failed, solved, user


class Sums(Environment):
    """What is n + n?"""

    name = "sums"

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def size(self, split: Split) -> int | None:
        return 10_000

    def label(self, split: Split, index: int) -> Label:
        return Label("even" if index % 2 == 0 else "odd", "easy")

    def task(self, split: Split, index: int) -> Task:
        return Task(split, index, self.label(split, index), (user(f"What is {index} + {index}?"),), str(2 * index))

    def play(self, task: Task) -> Play:
        reply = yield from ask(task.messages)
        return solved() if reply.text == task.truth else failed("wrong")


def number(request: Request) -> int:
    return int(request.messages[-1].text.split()[2])


def answer(request: Request) -> str:
    return str(2 * number(request) + (number(request) % 7 == 0))


async def slow(request: Request) -> str:
    await asyncio.sleep(0.02)
    return answer(request)


def stormy(request: Request) -> str:
    """Ends its process at some tasks and hangs at one, when it is first asked in a fleet."""
    if "WHET_STORM" in os.environ and number(request) % 40 == 11 and _first("kill", number(request)):
        os.kill(os.getpid(), signal.SIGKILL)
    if "WHET_STORM" in os.environ and number(request) % 200 == 57 and _first("hang", number(request)):
        time.sleep(3600)
    return answer(request)


def _first(what: str, at: int) -> bool:
    try:
        (Path(os.environ["WHET_STORM"]) / f"{what}-{at}").touch(exist_ok=False)
    except FileExistsError:
        return False
    return True
