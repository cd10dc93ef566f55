"""What a check costs where it can be killed: a user's function and a pattern, in process, in a thread and in a worker.

python bench/checks.py [--quick] [--json FILE]

CPU time of this process and its workers is what counts; a clock would measure who else uses the machine.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from rows import Row, arguments, report

from whet.envs.base import killable
from whet.envs.data.checks.patterns import found, search
from whet.envs.data.checks.python import apply, code_digest
from whet.rollout.works import Works
from whet.types import Work

CHECK = "def right(reply, row):\n    return reply.strip() == row['answer']\n"
APPLY = "whet.envs.data.checks.python:apply"
PATTERN, REPLY = r"\bT-\d{3}\b", "The ticket that you asked for is T-042, as far as I can see. " * 20


def seconds() -> float:
    """CPU time of this process and of the children it has buried."""
    told = os.times()
    return told.user + told.system + told.children_user + told.children_system


async def performed(job: Work, times: int) -> tuple[float, float]:
    """CPU and wall time of one, in microseconds, its worker warm and buried at the end."""
    works = Works()
    await works.perform(job)
    began_cpu, began = seconds(), time.perf_counter()
    for _ in range(times):
        result = await works.perform(job)
        assert not result.error, result
    taken = time.perf_counter() - began
    await works.close()
    return (seconds() - began_cpu) / times * 1e6, taken / times * 1e6


def rows(quick: bool) -> Iterator[Row]:
    times = 500 if quick else 3000
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "checks.py")
        file.write_text(CHECK)
        address = f"{file}:right"
        given = {"function": address, "code": code_digest(address), "reply": "yes", "row": {"answer": "yes"}}
        began = time.process_time()
        for _ in range(times):
            apply(**given)
        plain = (time.process_time() - began) / times * 1e6
        in_thread, _ = asyncio.run(
            performed(Work("call", {"function": APPLY, "arguments": given, "pool": "thread"}), times)
        )
        in_worker, wall = asyncio.run(
            performed(Work("killable", {"function": APPLY, "arguments": given, "seconds": 30.0}), times)
        )
    start = "; one start of a worker is spread over all calls"
    yield Row(
        "python_check_in_worker", in_worker, "us", None, None, "in process", plain, in_worker / plain, f"CPU{start}"
    )
    yield Row(
        "python_check_in_thread",
        in_thread,
        "us",
        None,
        None,
        "in process",
        plain,
        in_thread / plain,
        "CPU; cannot be killed",
    )
    yield Row("python_check_round_trip", wall, "us", None, None, condition="wall time of one check after the other")
    began = time.process_time()
    for _ in range(times):
        search(PATTERN, False, REPLY)
    backtracking = (time.process_time() - began) / times * 1e6
    began = time.process_time()
    for _ in range(times):
        found(PATTERN, False, REPLY)
    linear = (time.process_time() - began) / times * 1e6
    yield Row(
        "regex_linear",
        linear,
        "us",
        None,
        None,
        "re in process",
        backtracking,
        linear / backtracking,
        "1,200 characters",
    )
    job = killable("whet.envs.data.checks.patterns:search", seconds=5.0, pattern=PATTERN, ignore_case=False, text=REPLY)
    searched, _ = asyncio.run(performed(job, times))
    yield Row(
        "regex_in_worker",
        searched,
        "us",
        None,
        None,
        "re in process",
        backtracking,
        searched / backtracking,
        f"CPU{start}",
    )


if __name__ == "__main__":
    options = arguments(__doc__)
    report(rows(options.quick), options.json)
