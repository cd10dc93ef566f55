"""A bench that is closed leaves nothing open, also what was still being opened."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any

from whet.rollout.workbench import Workbench
from whet.rollout.works import Works
from whet.sandbox.base import Sandbox, Walls
from whet.types import Work, WorkResult

JOB = Work("sandbox", {"python": "pass"}, 0.05)


class SlowSandbox:
    """One that takes longer to open than a work may take."""

    def __init__(self) -> None:
        time.sleep(0.4)
        self.closed = False

    async def run(self, payload: Mapping[str, Any]) -> WorkResult:
        return WorkResult(payload)

    def walls(self) -> Walls:
        return Walls("none", ())

    async def close(self) -> None:
        self.closed = True


def bench_of(opener: Callable[[], Sandbox]) -> Workbench:
    bench = Workbench()
    bench.works = Works(opener)
    return bench


def test_a_sandbox_that_opens_too_late_is_closed_all_the_same() -> None:
    opened: list[SlowSandbox] = []

    def slow() -> SlowSandbox:
        opened.append(SlowSandbox())
        return opened[-1]

    with bench_of(slow) as bench:
        assert bench(JOB).error == "deadline"
    assert [sandbox.closed for sandbox in opened] == [True]


def test_so_it_is_where_the_loop_that_asked_for_it_ends() -> None:
    opened: list[SlowSandbox] = []

    def slow() -> SlowSandbox:
        opened.append(SlowSandbox())
        return opened[-1]

    async def story() -> WorkResult:
        works = Works(slow)
        try:
            return await works.perform(JOB)
        finally:
            await works.close()

    assert asyncio.run(story()).error == "deadline"
    assert [sandbox.closed for sandbox in opened] == [True]


def test_one_that_cannot_be_opened_does_not_keep_a_bench_from_closing() -> None:
    def broken() -> Sandbox:
        time.sleep(0.2)
        raise OSError("no room")

    with bench_of(broken) as bench:
        assert bench(JOB).error == "deadline"
