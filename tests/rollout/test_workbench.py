"""A bench that is closed leaves nothing open, also what was still being opened; a process calls as a thread does."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import pytest

from whet.envs.base import call
from whet.errors import FaultError
from whet.rollout.workbench import Workbench
from whet.rollout.works import Works, elsewhere
from whet.sandbox.base import Sandbox, Walls
from whet.source import FILE_MODULE
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


def in_processes(count: int = 2) -> Workbench:
    bench = Workbench()
    bench.works = Works(processes=count)
    return bench


def test_a_call_in_a_process_brings_what_a_thread_would_bring() -> None:
    with in_processes() as beside, Workbench() as threads:
        assert beside(call("datetime:timedelta", days=3)).value == timedelta(days=3)
        for broken in (call("json:loads", s="{"), call("sys:exit"), call("json:none_such")):
            assert beside(broken) == threads(broken)
            assert beside(broken).error == "raised"
        assert beside(call("os:getpid")).value != os.getpid() == threads(call("os:getpid")).value


def test_one_that_ends_its_process_is_a_fault_and_the_next_is_served() -> None:
    with in_processes(1) as bench:
        with pytest.raises(FaultError) as told:
            bench(call("os:_exit", status=3))
        assert told.value.fault.kind == "work_lost"
        assert bench(call("datetime:timedelta", days=1)).ok


def test_one_that_outlasts_its_deadline_is_killed() -> None:
    """A thread would go on; here its process group ends with it."""
    with in_processes(1) as bench:
        number = bench(call("os:getpid")).value
        assert bench(call("subprocess:check_output", deadline=0.3, args=["sleep", "60"])).error == "deadline"
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)
        assert bench(call("os:getpid")).value != number


def test_functions_that_another_process_would_not_find_stay_in_threads() -> None:
    assert elsewhere("whet.envs.ordebug.works:judge")
    assert not elsewhere("__main__:judge")
    assert not elsewhere(f"{FILE_MODULE}abc:judge")


def test_what_cannot_be_handed_over_is_called_in_a_thread() -> None:
    """An environment that ran in threads runs beside a GPU too."""
    with in_processes(1) as bench:
        for _ in range(2):
            assert bench(call("_thread:allocate_lock")).ok
            assert bench(call("builtins:dict", given=lambda: 1)).value["given"]() == 1
        assert bench.works._bound == {"_thread:allocate_lock", "builtins:dict"}
