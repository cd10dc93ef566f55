"""What `whet serve` adds to a request, and whether one is lost or answered twice: 1,000 requests, 64 at once.

A model on loopback that takes a quarter of a second for an answer, in a process of its own, is asked directly and
through a server of its champion, in turns, so that both meet the same machine. 64 clients begin one after the other
within that time and then ask without a pause. The added latency is the difference of the medians. Where the model
answers at once, 64 requests wait for processors instead of for the model: the latency there is the length of the queue,
and what says something is the CPU time of the server for a request.

python bench/serve.py [--quick] [--json FILE]
"""

from __future__ import annotations

import asyncio
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import aiohttp
import orjson
from rows import Row, arguments, report

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from promoted_champion import promoted  # noqa: E402

REQUESTS, AT_ONCE, DELAY, TURN, BAR = 1024, 64, 0.25, 256, 5.0


@contextmanager
def started(*words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process, and the first line that it prints."""
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


@contextmanager
def serving(folder: Path, delay: float) -> Iterator[tuple[str, str, subprocess.Popen[str]]]:
    """The address of a model, that of the server of its champion, and the process of the server."""
    with started(sys.executable, "tests/loopback.py", "--port", "0", "--latency", str(delay), "--remember") as (
        _,
        port,
    ):
        direct = f"http://127.0.0.1:{port}/v1"
        promoted(folder, endpoint={"base_url": direct})
        words = (sys.executable, "-m", "whet", "serve", "sums", "--port", "0", "--releases", str(folder))
        with started(*words) as (process, line):
            yield direct, line.partition(" at ")[2].partition(",")[0], process


async def asked(client: aiohttp.ClientSession, url: str, model: str, number: int) -> tuple[float, str]:
    body = {"model": model, "messages": [{"role": "user", "content": f"What is {number} + 1?"}]}
    began = time.perf_counter()
    async with client.post(f"{url}/chat/completions", json=body) as response:
        told = orjson.loads(await response.read())
    return time.perf_counter() - began, told["choices"][0]["message"]["content"]


async def turn(url: str, model: str, numbers: range, delay: float) -> dict[int, tuple[float, str]]:
    """Seconds and answer of every request: as many clients as there are at once, each with its share of them."""
    found: dict[int, tuple[float, str]] = {}

    async def ask_all(place: int) -> None:
        await asyncio.sleep(delay * place / AT_ONCE)
        for number in numbers[place::AT_ONCE]:
            found[number] = await asked(client, url, model, number)

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=AT_ONCE)) as client:
        await asyncio.gather(*(ask_all(place) for place in range(AT_ONCE)))
    return found


def cpu_seconds(process: subprocess.Popen[str]) -> float:
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def seen(direct: str) -> Counter[str]:
    """How often the model was asked each thing."""
    async with aiohttp.ClientSession() as client, client.get(f"{direct.removesuffix('/v1')}/_seen") as response:
        told = orjson.loads(await response.read())
    return Counter(request["body"]["messages"][-1]["content"] for request in told["seen"])


def measured(requests: int, delay: float) -> tuple[float, float, float, int, int]:
    """Medians of both ways in ms, CPU ms of the server for a request, requests lost, requests asked more than once."""
    with tempfile.TemporaryDirectory() as place, serving(Path(place) / "releases", delay) as (direct, url, server):
        asyncio.run(turn(url, "sums", range(-AT_ONCE, 0), delay))  # connections, imports
        through: dict[int, tuple[float, str]] = {}
        plain: list[float] = []
        spent = 0.0
        for first in range(0, requests, TURN):
            before = cpu_seconds(server)
            through |= asyncio.run(turn(url, "sums", range(first, first + TURN), delay))
            spent += 1000 * (cpu_seconds(server) - before) / requests
            apart = range(10**6 + first, 10**6 + first + TURN)
            plain += [seconds for seconds, _ in asyncio.run(turn(direct, "any", apart, delay)).values()]
        lost = sum(through.get(number, (0, ""))[1] != str(number + 1) for number in range(requests))
        times = asyncio.run(seen(direct))
        twice = sum(times[f"What is {number} + 1?"] != 1 for number in range(requests))
        both = (statistics.median(seconds for seconds, _ in through.values()), statistics.median(plain))
        return 1000 * both[0], 1000 * both[1], spent, lost, twice


def rows(quick: bool) -> Iterator[Row]:
    requests = 2 * TURN if quick else REQUESTS
    calm = os.getloadavg()[0] < (os.cpu_count() or 1) / 2  # else the latency is the other programs' queue
    through, direct, spent, lost, twice = measured(requests, DELAY)
    where = f"{requests} requests, {AT_ONCE} at once, a model that takes {1000 * DELAY:g} ms"
    yield Row("serve: requests lost", lost, "requests", 0, lost == 0, condition=where)
    yield Row("serve: not asked exactly once", twice, "requests", 0, twice == 0, condition=where)
    added = through - direct
    holds = added < BAR if calm else None
    yield Row("serve: added latency, median", added, "ms", BAR, holds, "direct, ms", direct, through / direct, where)
    yield Row("serve: CPU of the server", spent, "ms/request", condition=where)
    through, direct, spent, lost, twice = measured(requests, 0.0)
    where = f"{requests} requests, {AT_ONCE} at once, a model that answers at once: the processors are full"
    yield Row("serve, saturated: lost or twice", lost + twice, "requests", 0, lost + twice == 0, condition=where)
    yield Row("serve, saturated: latency", through, "ms", None, None, "direct, ms", direct, through / direct, where)
    yield Row("serve, saturated: CPU of the server", spent, "ms/request", condition=where)


if __name__ == "__main__":
    given = arguments(__doc__)
    report(rows(given.quick), given.json)
