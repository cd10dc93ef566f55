"""What a rollout costs beyond the model: single-turn rollouts against an instant loopback server in its own process.

    python bench/rollout_overhead.py [--quick] [--json FILE] [--peer-python PYTHON]

Whet plays sums through its engine: task, request, HTTP, grading, key and ledger. Beside it stand the floor (a bare
aiohttp loop that posts the same bodies and parses the answers) and, where `--peer-python` names an interpreter with
verifiers 0.4.0, its built-in chat harness and its tasks in a hand-written loop. CPU time of the client process only;
each figure is the best of interleaved rounds, since another process can only add to it.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import aiohttp
import orjson
from rows import Row, arguments, report

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "examples"), str(HERE.parent / "tests")]

from sums import Sums  # noqa: E402

from whet.ledger.writer import LedgerWriter  # noqa: E402
from whet.models.load import load_model  # noqa: E402
from whet.models.options import ModelOptions  # noqa: E402
from whet.rollout.engine import Engine  # noqa: E402
from whet.rollout.player import Players, Seat  # noqa: E402
from whet.rollout.progress import Quiet  # noqa: E402
from whet.rollout.purse import Purse  # noqa: E402
from whet.rollout.works import Works  # noqa: E402
from whet.types import Policy, Ticket  # noqa: E402


async def floor(url: str, count: int, concurrency: int) -> None:
    """The least that an HTTP rollout can cost with these libraries."""
    env = Sums()
    bodies = iter(
        [
            orjson.dumps(
                {"model": "m", "messages": [{"role": "user", "content": env.task("train", k).messages[-1].text}]}
            )
            for k in range(count)
        ]
    )
    headers = {"Content-Type": "application/json"}
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def worker() -> None:
            for body in bodies:
                async with session.post(f"{url}/chat/completions", data=body, headers=headers) as answer:
                    orjson.loads(await answer.read())["choices"][0]["message"]["content"]

        await asyncio.gather(*(worker() for _ in range(concurrency)))


async def whet(url: str, count: int, concurrency: int) -> None:
    """The engine as an evaluation uses it."""
    model = load_model("openai:m", ModelOptions(base_url=url))
    with tempfile.TemporaryDirectory() as folder, LedgerWriter.create(Path(folder) / "run") as ledger:
        seat = Seat(Policy(model.fingerprint), Players().add(model))
        engine = Engine(
            Sums(), {"target": seat}, ledger, Purse(journal=ledger.journal), Works(), concurrency=concurrency
        )
        plan = [Ticket("eval", "train", index) for index in range(count)]
        tally = await engine.run(plan, progress=Quiet())
        assert tally.done == count, tally
    await model.close()


def cost(
    play: Callable[[str, int, int], Awaitable[None]], url: str, count: int, concurrency: int
) -> tuple[float, float]:
    """CPU milliseconds a rollout, and rollouts a second."""
    cpu, wall = time.process_time(), time.perf_counter()
    asyncio.run(play(url, count, concurrency))  # type: ignore[arg-type]
    return (time.process_time() - cpu) * 1000 / count, count / (time.perf_counter() - wall)


def peer(python: Path, url: str, path: str, count: int, concurrency: int) -> float:
    """CPU milliseconds a rollout of verifiers, its child processes included."""
    command = [str(python), str(HERE / "vf_sums.py"), "--url", url, "--path", path]
    command += ["--rollouts", str(count), "--concurrency", str(concurrency)]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    if said.returncode:
        sys.exit(f"{python}: verifiers did not run:\n{said.stderr[-2000:]}")
    found = json.loads(said.stdout.strip().splitlines()[-1])
    return float((found["own"] + found["children"]) * 1000 / found["rollouts"])


def rows(url: str, quick: bool, python: Path | None) -> Iterator[Row]:
    count, rounds = (2_000, 3) if quick else (6_000, 5)
    for concurrency in (1, 32, 512):
        mine, bare = [], []
        for _ in range(rounds):
            bare.append(cost(floor, url, count, concurrency))
            mine.append(cost(whet, url, count, concurrency))
        (ours, rate), (least, _) = min(mine), min(bare)
        ratio = ours / least
        at_32 = concurrency == 32
        condition = f"{count} rollouts x {rounds} rounds, {rate:.0f} rollouts/s"
        yield Row(
            f"cpu_ms_per_rollout_at_{concurrency}",
            ours,
            "ms",
            0.6 if at_32 else None,
            ours <= 0.6 if at_32 else None,
            "bare aiohttp loop",
            least,
            ratio,
            condition,
        )
        if at_32:
            yield Row("ratio_to_floor_at_32", ratio, "x", 3.0, ratio <= 3.0, condition=condition)
    if python is None:
        return
    ours = min(cost(whet, url, count, 32)[0] for _ in range(rounds))
    few = 8 if quick else 32
    for path, many, what in (("loop", 500, "its tasks in a hand-written loop"), ("null", few, "its chat harness")):
        theirs = peer(python, url, path, many, 32)
        named = f"verifiers 0.4.0, {what}"
        yield Row(f"against_verifiers_{path}", ours, "ms", None, None, named, theirs, theirs / ours, f"{many} rollouts")


def main() -> None:
    options = arguments(__doc__)
    from loopback import spawned

    with spawned() as url:
        report(rows(url, options.quick, options.peer_python), options.json)


if __name__ == "__main__":
    main()
