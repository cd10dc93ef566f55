"""An environment of the v1 line (a taskset): scored from a reply where that is enough, else run by its own harness."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import itertools
import os
import shutil
from typing import Any

import verifiers.v1 as vf
from verifiers.v1.configs.agent import AgentConfig
from verifiers.v1.graph import MessageNode
from verifiers.v1.state import state_cls
from verifiers.v1.trace import AgentInfo, ModelCall, TraceTask
from verifiers.v1.utils.decorators import discover_decorated

from .attempts import Json, WorkerAttempt, WorkerRefusal, fault, plain, told
from .bridge import Bridge
from .source import source_digest

KEY = "WHET_WORKER_KEY"
"""The variable of the key that the library wants for an endpoint; ours asks for none."""

LOOP, HARNESS = "loop", "harness"


class Line1:
    """The environment, its tasks, and for each the way that it is played."""

    def __init__(self, settings: Json, version: str) -> None:
        self._version = version
        self._module = settings["module"]
        os.environ.setdefault(KEY, "none")
        agent = {"harness": {"id": settings["harness"] or "null"}, "runtime": {"type": settings["runtime"]}}
        config = vf.resolve_env_config({"taskset": {"id": self._module, **settings["args"]}, "agent": agent})
        self._env: Any = vf.load_environment(config)
        self._agent = AgentConfig.model_validate({"model": "whet", "runtime": {"type": "subprocess"}})
        self._tasks: list[Any] = list(itertools.islice(iter(self._env.taskset), settings["most"]))
        self._ways = [self._way(task) for task in self._tasks]
        if settings["harness"]:
            self._ways = [HARNESS] * len(self._tasks)
        if settings["runtime"] == "subprocess" and any(task.NEEDS_CONTAINER for task in self._tasks):
            raise WorkerRefusal(f"{self._module} needs a container: name its runtime, as in -a runtime=docker")
        if HARNESS in self._ways and shutil.which("uv") is None:
            raise WorkerRefusal(f"{self._module} needs a harness of verifiers, which needs uv: put it on the PATH")
        self._bridge = Bridge()
        self._serving: contextlib.AsyncExitStack | None = None
        self._opening = asyncio.Lock()

    def welcome(self) -> Json:
        tasks = [
            {
                "messages": _opening(task.data),
                "truth": _truth(task.data),
                "kind": type(task).__name__,
                "side": "",
                "way": way,
            }
            for task, way in zip(self._tasks, self._ways, strict=True)
        ]
        source = source_digest(self._module)
        return {"version": self._version, "source": source, "solved_at": 1.0, "tasks": tasks}

    def _way(self, task: Any) -> str:
        """Own loop where a reply is all that scoring needs."""
        kind = type(task)
        own = any(getattr(kind, hook) is not getattr(vf.Task, hook) for hook in ("setup", "finalize", "stage_verifier"))
        hooked = task.hooks("stop") or discover_decorated(task, "intercept")
        tools = kind.toolsets(task.config) or self._env.taskset.toolsets(self._env.taskset.config)
        if tools:
            raise WorkerRefusal(
                f"{self._module} brings tools, and servers of tools of this line are not played here yet"
            )
        signals = [*task.hooks("reward"), *task.hooks("metric"), *(judge.score for judge in task.plugged_judges())]
        runs = kind.NEEDS_CONTAINER or any(map(_needs_runtime, signals))
        plain_env = type(self._env).__name__ == "SingleAgentEnv"
        simple = plain_env and task.data.prompt is not None and not (own or hooked or runs or task.data.skills)
        return LOOP if simple else HARNESS

    async def score(self, number: int, reply: Json) -> Json:
        """A trace of the prompt and the reply, as the null harness would have left it, scored by the task."""
        task = self._tasks[number]
        messages = [*_opening(task.data), {"role": "assistant", "content": reply["content"]}]
        nodes = [
            MessageNode.model_validate({"parent": at - 1 if at else None, "message": message})
            for at, message in enumerate(messages)
        ]
        nodes[-1].sampled = True
        finish = "length" if reply["finish"] == "length" else "stop"
        trace: Any = vf.Trace(
            task=TraceTask(type=type(task).__name__, data=task.data, key=task.key, hash=task.hash),
            state=state_cls(type(task))(),
            agent=AgentInfo(config=self._agent),
            nodes=nodes,
            calls=[ModelCall(node=len(nodes) - 1, model="whet", finish_reason=finish)],
            is_completed=True,
            ok=True,
            stop_condition="agent_completed",
        )
        try:
            await task.score(trace)
        except vf.TaskError as error:
            return fault("grader_raised", told(error.__cause__ or error))
        return _end(trace)

    async def play(self, attempt: WorkerAttempt, number: int) -> Json:
        """The attempt in their own harness, which reaches us as an endpoint."""
        await self._serve()
        url = self._bridge.open(attempt)
        context = vf.ModelContext(
            model="whet",
            client=vf.EvalClientConfig(base_url=url, api_key_var=KEY),
            sampling=vf.Sampling(),
        )
        try:
            slot = self._env.slots(self._tasks[number], 1)[0]
            episode = await self._env.run_slot(slot, context, None)
        finally:
            self._bridge.close(attempt)
        errors = [*episode.errors, *(error for trace in episode.traces for error in trace.errors)]
        if not episode.ok or not episode.traces:
            said = f"{errors[-1].type}: {errors[-1].message}" if errors else "the episode did not end well"
            kind = "grader_raised" if errors and errors[-1].type == "TaskError" else "environment_error"
            return fault(kind, " ".join(said.split())[:2000])
        return _end(episode.traces[0])

    async def _serve(self) -> None:
        """Their servers, from the first attempt that needs them to the end of the worker."""
        async with self._opening:
            if self._serving is None:
                stack = contextlib.AsyncExitStack()
                await self._bridge.start()
                await stack.enter_async_context(self._env.serving())
                self._serving = stack


def _opening(data: Any) -> list[Json]:
    """What the null harness says first."""
    first = [{"role": "system", "content": data.system_prompt}] if data.system_prompt else []
    if data.prompt is None:
        return first
    if isinstance(data.prompt, str):
        return [*first, {"role": "user", "content": data.prompt}]
    return [*first, *(plain(message) for message in data.prompt)]


def _truth(data: Any) -> Any:
    """What a row holds beside what every row has: the scoring side of the task."""
    own = set(type(data).model_fields) - set(vf.TaskData.model_fields)
    return data.model_dump(mode="json", include=own) if own else None


def _needs_runtime(function: Any) -> bool:
    parameter = inspect.signature(function).parameters.get("runtime")
    return parameter is not None and parameter.default is inspect.Parameter.empty


def _end(trace: Any) -> Json:
    parts = {name: reward.score for name, reward in trace.rewards.items() if reward is not None}
    parts |= {name: value for name, value in trace.metrics.items() if value is not None and name not in parts}
    return {"end": {"reward": float(trace.reward), "parts": parts, "stop": trace.stop_condition or ""}}
