"""Sums as a taskset of verifiers 0.4.0, for the overhead benchmark. Runs in the peer's own interpreter.

    python bench/vf_sums.py --url http://127.0.0.1:8000/v1 --path loop|null --rollouts N --concurrency C

Prints one JSON object: rollouts, wall seconds, CPU seconds of this process and of its children.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import sys
import time
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import verifiers.v1 as vf  # type: ignore[import-not-found]

__all__ = ["SumsTaskset"]


class SumData(vf.TaskData):  # type: ignore[misc]
    answer: str


class SumTask(vf.Task[SumData]):  # type: ignore[misc]
    @vf.reward  # type: ignore[misc]
    async def correct(self, trace: Any) -> float:
        return float((trace.last_reply or "").strip() == self.data.answer)


class SumsConfig(vf.TasksetConfig):  # type: ignore[misc]
    n: int = 100


class SumsTaskset(vf.Taskset[SumTask, SumsConfig]):  # type: ignore[misc]
    def load(self) -> Iterable[SumTask]:
        for k in range(self.config.n):
            data = SumData(idx=k, prompt=f"What is {k} + {k + 1}?", answer=str(2 * k + 1))
            yield SumTask(data, self.config.task)


async def by_hand(tasks: list[Any], url: str, concurrency: int) -> int:
    """Its tasks and its scoring in a hand-written aiohttp loop: the least that the library can cost."""
    import aiohttp

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        waiting = iter(tasks)

        async def worker() -> AsyncIterator[float]:
            for task in waiting:
                body = {"model": "m", "messages": [{"role": "user", "content": task.data.prompt}]}
                async with session.post(f"{url}/chat/completions", json=body) as answer:
                    text = (await answer.json())["choices"][0]["message"]["content"]
                trace = vf.Trace.model_validate(
                    {
                        "task": {"type": "SumTask", "data": task.data.model_dump()},
                        "agent": {"config": {"model": "m", "runtime": {"type": "subprocess"}}},
                        "nodes": [
                            {"message": {"role": "user", "content": task.data.prompt}},
                            {"parent": 0, "sampled": True, "message": {"role": "assistant", "content": text}},
                        ],
                    }
                )
                await task.score(trace)
                yield trace.reward

        async def total() -> int:
            return len([reward async for reward in worker()])

        return sum(await asyncio.gather(*(total() for _ in range(concurrency))))


async def with_harness(n: int, url: str, concurrency: int) -> int:
    """Its built-in chat harness, one process a rollout."""
    os.environ.setdefault("FAKE_KEY", "none")
    config = vf.resolve_env_config(
        {
            "taskset": {"id": "vf_sums", "n": n},
            "agent": {"harness": {"id": "null"}, "runtime": {"type": "subprocess"}},
        }
    )
    env = vf.load_environment(config)
    context = vf.ModelContext(
        model="m",
        client=vf.EvalClientConfig(base_url=url, api_key_var="FAKE_KEY"),
        sampling=vf.Sampling(temperature=0.0),
    )
    limit = asyncio.Semaphore(concurrency)
    async with env.serving():
        tasks = list(env.taskset.load())
        episodes = await asyncio.gather(*(env.run_slot(env.slots(task, 1)[0], context, limit) for task in tasks))
    if not all(episode.ok for episode in episodes):
        sys.exit(f"verifiers: {next(episode.errors for episode in episodes if not episode.ok)}")
    return len(episodes)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    parser.add_argument("--path", choices=("loop", "null"), required=True)
    parser.add_argument("--rollouts", type=int, required=True)
    parser.add_argument("--concurrency", type=int, required=True)
    options = parser.parse_args()
    sys.path.insert(0, str(Path(__file__).parent))
    tasks = list(SumsTaskset(SumsConfig(n=options.rollouts)).load())
    before = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    began = time.perf_counter()
    if options.path == "loop":
        done = asyncio.run(by_hand(tasks, options.url, options.concurrency))
    else:
        done = asyncio.run(with_harness(options.rollouts, options.url, options.concurrency))
    wall = time.perf_counter() - began
    after = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    own, children = (
        (late.ru_utime + late.ru_stime) - (early.ru_utime + early.ru_stime)
        for early, late in zip(before, after, strict=True)
    )
    print(json.dumps({"rollouts": done, "wall": wall, "own": own, "children": children}))


if __name__ == "__main__":
    main()
