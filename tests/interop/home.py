"""Plays an environment in its home harness, in the interpreter that has verifiers, against a server on loopback.

    PYTHON tests/interop/home.py v0|v1 MODULE URL TASKS CONCURRENCY [harness|score]

Prints one JSON object: for each task its reward and whether it was scored, and what the harness took. For v1,
`harness` is the built-in chat harness, `score` the library's own offline scoring of a trace.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

os.environ["HOME_KEY"] = "none"

SECONDS: list[float] = []
"""What the attempts took, loading and a first attempt apart, where that was measured."""


def v0(module: str, url: str, tasks: int, concurrency: int) -> list[dict[str, Any]]:
    import verifiers as vf
    from verifiers.types import ClientConfig

    env = vf.load_environment(module)
    ran = asyncio.run(
        env.evaluate(
            ClientConfig(api_base_url=url, api_key_var="HOME_KEY"),
            "m",
            num_examples=tasks,
            max_concurrent=concurrency,
            on_start=lambda *_: None,
            on_progress=lambda *_: None,
        )
    )
    outputs = sorted(ran["outputs"], key=lambda output: output["example_id"])
    return [{"reward": float(output["reward"]), "ok": output.get("error") is None} for output in outputs]


def v1(module: str, url: str, tasks: int, concurrency: int, how: str) -> list[dict[str, Any]]:
    import verifiers.v1 as vf

    agent = {"harness": {"id": "null"}, "runtime": {"type": "subprocess"}}
    env = vf.load_environment(vf.resolve_env_config({"taskset": {"id": module}, "agent": agent}))
    chosen = list(env.taskset.take(tasks))
    context = vf.ModelContext(
        model="m", client=vf.EvalClientConfig(base_url=url, api_key_var="HOME_KEY"), sampling=vf.Sampling()
    )

    async def by_harness() -> list[dict[str, Any]]:
        limit = asyncio.Semaphore(concurrency)
        async with env.serving():
            await env.run_slot(env.slots(chosen[0], 1)[0], context, limit)  # what is made once is made here
            began = time.perf_counter()
            episodes = await asyncio.gather(*(env.run_slot(env.slots(task, 1)[0], context, limit) for task in chosen))
            SECONDS.append(time.perf_counter() - began)
        return [
            {
                "reward": float(episode.traces[0].reward) if episode.traces else 0.0,
                "ok": bool(episode.ok),
                "errors": [f"{e.type}: {e.message}"[:200] for trace in episode.traces for e in trace.errors],
            }
            for episode in episodes
        ]

    async def by_score() -> list[dict[str, Any]]:
        scores = []
        for task in chosen:
            said = [{"role": "system", "content": task.data.system_prompt}] if task.data.system_prompt else []
            prompt = task.data.prompt
            said += (
                [{"role": "user", "content": prompt}] if isinstance(prompt, str) else [m.model_dump() for m in prompt]
            )
            body = json.dumps({"model": "m", "messages": said}).encode()
            with urllib.request.urlopen(urllib.request.Request(f"{url}/chat/completions", body)) as answer:
                said.append(json.load(answer)["choices"][0]["message"])
            nodes = [{"parent": at - 1 if at else None, "message": m} for at, m in enumerate(said)]
            nodes[-1]["sampled"] = True
            trace = vf.Trace.model_validate(
                {
                    "task": {"type": type(task).__name__, "data": task.data.model_dump()},
                    "agent": {"config": {"model": "m", "runtime": {"type": "subprocess"}}},
                    "nodes": nodes,
                }
            )
            try:
                await task.score(trace)
                scores.append({"reward": float(trace.reward), "ok": True})
            except vf.TaskError as error:
                scores.append({"reward": 0.0, "ok": False, "errors": [str(error)]})
        return scores

    return asyncio.run(by_harness() if how == "harness" else by_score())


def main() -> None:
    line, module, url, tasks, concurrency, *how = sys.argv[1:]
    sys.path.insert(0, str(Path.cwd()))
    os.environ["PYTHONPATH"] = str(Path.cwd())  # for its servers of tools, which are started elsewhere
    if line == "v0":
        scores = v0(module, url, int(tasks), int(concurrency))
    else:
        scores = v1(module, url, int(tasks), int(concurrency), how[0] if how else "harness")
    sys.stdout.write(json.dumps({"scores": scores, "seconds": sum(SECONDS)}) + "\n")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
