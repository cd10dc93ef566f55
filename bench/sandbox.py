"""What a call into the sandbox costs with every wall standing: latency, rate, and whether sleepers hold up others.

python bench/sandbox.py [--quick] [--json FILE]

The bars are for two cores of one's own, so how much of two cores the machine really gives is measured first and stands
in the condition of each row.

The peer is what a sandbox without a warm parent would start for each call: a plain Python, with no walls, that imports
the same libraries.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from rows import Row, arguments, report

from whet.errors import WhetError
from whet.sandbox.base import Sandbox
from whet.sandbox.isolation import open_sandbox
from whet.sandbox.jobs import run_python

NOOP = run_python("pass").payload
SLEEP = run_python("import time; time.sleep(1)").payload
LIBRARIES = [name for name in ("bs4", "lxml.html") if importlib.util.find_spec(name.partition(".")[0])]
PLAIN = f"python -c 'import {', '.join(LIBRARIES)}'" if LIBRARIES else "python -c pass"


SHARE = """
import time
began, used = time.perf_counter(), time.process_time()
while time.perf_counter() - began < 1.0: pass
print((time.process_time() - used) / (time.perf_counter() - began))
"""


def free_share() -> float:
    """The share of two cores that two busy processes get here and now: 1 on a machine that does nothing else."""
    busy = [subprocess.Popen([sys.executable, "-c", SHARE], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    return statistics.mean(float(one.communicate()[0]) for one in busy)


async def latency(sandbox: Sandbox, calls: int) -> float:
    """Median milliseconds of calls one after the other."""
    taken = []
    for _ in range(calls):
        began = time.perf_counter()
        done = await sandbox.run(NOOP)
        taken.append(time.perf_counter() - began)
        if done.error or done.value["exit_code"]:
            raise WhetError(f"a no-op call failed: {done}")
    return statistics.median(taken) * 1000


async def rate(sandbox: Sandbox, calls: int) -> float:
    """Calls a second, as many at once as the sandbox takes."""
    began = time.perf_counter()
    await asyncio.gather(*(sandbox.run(NOOP) for _ in range(calls)))
    return calls / (time.perf_counter() - began)


async def sleepers(sandbox: Sandbox) -> float:
    """Seconds for sixteen calls that sleep one second each."""
    began = time.perf_counter()
    await asyncio.gather(*(sandbox.run(SLEEP) for _ in range(16)))
    return time.perf_counter() - began


def plain_call() -> float:
    began = time.perf_counter()
    code = f"import {', '.join(LIBRARIES)}" if LIBRARIES else "pass"
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - began


def plain_rate(calls: int) -> float:
    began = time.perf_counter()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda _: plain_call(), range(calls)))
    return calls / (time.perf_counter() - began)


async def best(rounds: int, pick: Callable[..., float], measure: Callable[[], Awaitable[float]]) -> float:
    """The best of some rounds: what the code costs, not what else the machine is doing."""
    return pick([await measure() for _ in range(rounds)])


async def measured(sandbox: Sandbox, quick: bool) -> tuple[float, float, float]:
    rounds, calls = (5, 40) if quick else (20, 100)
    median = await best(rounds, min, lambda: latency(sandbox, calls))
    fastest = await best(rounds, max, lambda: rate(sandbox, 3 * calls))
    slept = await best(3, min, lambda: sleepers(sandbox))
    await sandbox.close()
    return median, fastest, slept


def rows(quick: bool) -> Iterator[Row]:
    share = free_share()
    began = time.perf_counter()
    sandbox = open_sandbox()
    opened = time.perf_counter() - began
    walls = sandbox.walls()
    median, fastest, slept = asyncio.run(measured(sandbox, quick))
    peer_calls = 8 if quick else 30
    peer_median = min(statistics.median(plain_call() for _ in range(peer_calls)) for _ in range(3)) * 1000
    peer_rate = max(plain_rate(2 * peer_calls) for _ in range(2))
    walls_up = f"{len(walls.walls) - len(walls.missing)} of {len(walls.walls)} walls ({walls.kind})"
    where = f"{walls_up}; two processes get {share:.0%} of two cores; best of several rounds"
    holds = median <= 15.0
    yield Row("sandbox_noop_latency", median, "ms", 15.0, holds, PLAIN, peer_median, peer_median / median, where)
    holds = fastest >= 120.0
    yield Row("sandbox_noop_rate", fastest, "calls/s", 120.0, holds, PLAIN, peer_rate, fastest / peer_rate, where)
    yield Row("sandbox_16_sleepers", slept, "s", 2.5, slept <= 2.5, condition="16 calls that each sleep 1 s")
    yield Row(
        "sandbox_opening", opened * 1000, "ms", None, None, condition="parent started, libraries loaded, walls probed"
    )


if __name__ == "__main__":
    options = arguments(__doc__)
    report(rows(options.quick), options.json)
