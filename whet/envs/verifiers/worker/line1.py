"""An environment of the v1 line (a taskset), each task in the way that it needs.

Scored from a reply where that is enough; in a loop of ours with its tools, where these can be called from this machine;
else run by its own harness.
"""

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
from verifiers.v1.dialects.chat import parse_message, parse_tools
from verifiers.v1.graph import MessageNode, prepare_turn
from verifiers.v1.state import state_cls
from verifiers.v1.trace import AgentInfo, ModelCall, TraceTask
from verifiers.v1.types import Response, Usage
from verifiers.v1.utils.decorators import discover_decorated

from .attempts import Json, WorkerAttempt, WorkerRefusal, fault, plain, told, tool
from .bridge import Bridge, chat_message
from .source import serves, source_digest
from .toolbox import ToolBox, ready

KEY = "WHET_WORKER_KEY"
"""The variable of the key that the library wants for an endpoint; ours asks for none."""

LOOP, TOOLS, HARNESS = "loop", "tools", "harness"

HERE = "subprocess"
"""The runtime that is this machine."""

PROGRAMS = {"docker": ("docker",), "podman": ("podman",), "apptainer": ("apptainer", "singularity")}
"""What a runtime of containers is run by."""

TOOL_SECONDS = 600.0
"""Seconds for a call to a server of tools, as in their harnesses."""


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
        self._shared = list(self._env.taskset.toolsets(self._env.taskset.config))
        self._ways = [HARNESS if settings["harness"] else self._way(task) for task in self._tasks]
        self._refuse(settings["runtime"])
        self._bridge = Bridge()
        self._serving: contextlib.AsyncExitStack | None = None
        self._opening = asyncio.Lock()
        self._called: list[Any] | None = None
        """The shared toolsets of our own loop, from the first attempt that calls them to the end of the worker."""

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
        """Own loop where a reply, or what tools on this machine answer, is all that scoring needs."""
        kind = type(task)
        own = any(getattr(kind, hook) is not getattr(vf.Task, hook) for hook in ("setup", "finalize", "stage_verifier"))
        hooked = task.hooks("stop") or discover_decorated(task, "intercept")
        signals = [*task.hooks("reward"), *task.hooks("metric"), *(judge.score for judge in task.plugged_judges())]
        runs = kind.NEEDS_CONTAINER or any(map(_needs_runtime, signals))
        plain_env = type(self._env).__name__ == "SingleAgentEnv"
        if not plain_env or task.data.prompt is None or own or hooked or runs or task.data.skills:
            return HARNESS
        toolsets = self._toolsets(task)
        if not all(toolset.config.url or toolset.config.runtime.type == HERE for toolset in toolsets):
            return HARNESS
        return TOOLS if toolsets else LOOP

    def _toolsets(self, task: Any) -> list[Any]:
        return [*self._shared, *type(task).toolsets(task.config)]

    def _refuse(self, runtime: str) -> None:
        """What is known beforehand to be impossible here, in a line."""
        if runtime == HERE and any(task.NEEDS_CONTAINER for task in self._tasks):
            raise WorkerRefusal(f"{self._module} needs a container: name its runtime, as in -a runtime=docker")
        played = [task for task, way in zip(self._tasks, self._ways, strict=True) if way == HARNESS]
        if not played:
            return
        if shutil.which("uv") is None:
            raise WorkerRefusal(f"{self._module} needs a harness of verifiers, which needs uv: put it on the PATH")
        toolsets = {type(toolset): toolset for task in played for toolset in self._toolsets(task)}
        for place in (runtime, *(toolset.config.runtime.type for toolset in toolsets.values())):
            if place in PROGRAMS and not any(map(shutil.which, PROGRAMS[place])):
                raise WorkerRefusal(f"{self._module} runs in {place}, and {PROGRAMS[place][0]} is not on the PATH")
        for kind, toolset in toolsets.items():
            if not toolset.config.url and not serves(kind.__module__):
                raise WorkerRefusal(
                    f"{self._module} has its tools served by `python -m {kind.__module__}`, which serves none: "
                    f"that module lacks `if __name__ == '__main__': {kind.__name__}.run()`"
                )

    async def score(self, number: int, reply: Json) -> Json:
        """A trace of the prompt and the reply, as the null harness would have left it, scored by the task."""
        task = self._tasks[number]
        messages = [*_opening(task.data), {"role": "assistant", "content": reply["content"]}]
        trace = self._trace(task)
        trace.nodes = [
            MessageNode.model_validate({"parent": at - 1 if at else None, "message": message})
            for at, message in enumerate(messages)
        ]
        trace.nodes[-1].sampled = True
        trace.calls.append(_model_call(len(messages) - 1, _finish(reply), reply))
        return await _graded(task, trace)

    async def play(self, attempt: WorkerAttempt, number: int) -> Json:
        """An attempt of more than a reply."""
        if self._ways[number] == TOOLS:
            return await self._with_tools(attempt, self._tasks[number])
        return await self._by_harness(attempt, self._tasks[number])

    async def _with_tools(self, attempt: WorkerAttempt, task: Any) -> Json:
        """Their chat program's loop: reply, calls, what they answer, until a reply calls nothing."""
        trace = self._trace(task)
        said = _opening(task.data)
        async with contextlib.AsyncExitStack() as stack:
            own = [await ready(stack, toolset, task.data) for toolset in type(task).toolsets(task.config)]
            box = await ToolBox.open(stack, [*await self._common(), *own], trace, TOOL_SECONDS)
            offered, tools = [tool(spec) for spec in box.specs], parse_tools(box.specs)
            while True:
                reply = await attempt.ask([plain(message) for message in said], offered)
                finish = "tool_calls" if reply.get("tool_calls") else _finish(reply)
                message = parse_message(chat_message(reply))
                response = Response(id="whet", created=0, model="whet", message=message, finish_reason=finish)
                node = prepare_turn(trace, [parse_message(entry) for entry in said], tools).commit(response)
                trace.calls.append(_model_call(node, finish, reply))
                said.append(chat_message(reply))
                if not reply.get("tool_calls"):
                    break
                for call in reply["tool_calls"]:
                    said.append(await box.answer(call))
        return await _graded(task, trace)

    async def _common(self) -> list[Any]:
        async with self._opening:
            if self._called is None:
                stack = contextlib.AsyncExitStack()  # never closed: they end with the worker
                self._called = [await ready(stack, toolset) for toolset in self._shared]
            return self._called

    def _trace(self, task: Any) -> Any:
        """The trace of an attempt that went as it should, as the null harness would have left it."""
        return vf.Trace(
            task=TraceTask(type=type(task).__name__, data=task.data, key=task.key, hash=task.hash),
            state=state_cls(type(task))(),
            agent=AgentInfo(config=self._agent),
            is_completed=True,
            ok=True,
            stop_condition="agent_completed",
        )

    async def _by_harness(self, attempt: WorkerAttempt, task: Any) -> Json:
        """The attempt in their own harness, which reaches us as an endpoint."""
        await self._serve()
        url = self._bridge.open(attempt)
        context = vf.ModelContext(
            model="whet",
            client=vf.EvalClientConfig(base_url=url, api_key_var=KEY),
            sampling=vf.Sampling(),
        )
        try:
            slot = self._env.slots(task, 1)[0]
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


async def _graded(task: Any, trace: Any) -> Json:
    try:
        await task.score(trace)
    except vf.TaskError as error:
        return fault("grader_raised", told(error.__cause__ or error))
    return _end(trace)


def _model_call(node: int, finish: Any, reply: Json) -> ModelCall:
    used = reply.get("usage") or {}
    usage = Usage(prompt_tokens=used.get("prompt", 0), completion_tokens=used.get("completion", 0))
    return ModelCall(node=node, model="whet", finish_reason=finish, usage=usage)


def _finish(reply: Json) -> str:
    return "length" if reply["finish"] == "length" else "stop"


def _end(trace: Any) -> Json:
    parts = {name: reward.score for name, reward in trace.rewards.items() if reward is not None}
    parts |= {name: value for name, value in trace.metrics.items() if value is not None and name not in parts}
    return {"end": {"reward": float(trace.reward), "parts": parts, "stop": trace.stop_condition or ""}}
