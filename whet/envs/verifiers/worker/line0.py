"""An environment of the v0 line (`load_environment`): its own loop runs, its client is whoever brings the replies."""

from __future__ import annotations

import contextvars
import functools
import inspect
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import verifiers as vf
from verifiers.types import Response, ResponseMessage, ToolCall

from .attempts import Json, WorkerAttempt, WorkerRefusal, fault, plain, told, tool
from .source import source_digest

GRADER_ERRORS: contextvars.ContextVar[list[str]] = contextvars.ContextVar("GRADER_ERRORS")
"""What the reward functions of the attempt raised: the library counts each as 0.0 and goes on."""


class Line0:
    """The environment, its rows, and what a reward function raises."""

    def __init__(self, settings: Json, version: str) -> None:
        self._version = version
        self._module = settings["module"]
        self._env: Any = vf.load_environment(self._module, **settings["args"])
        rubrics = list(_rubrics(self._env))
        if any(rubric.has_group_rewards for rubric in rubrics):
            raise WorkerRefusal(f"{self._module} scores attempts in groups, and here each attempt is scored by itself")
        for rubric in rubrics:
            rubric.funcs = [_watched(function) for function in rubric.funcs]
        self._rows = _rows(self._env, settings["most"])

    def welcome(self) -> Json:
        tasks = [_task(row, side) for row, side in self._rows]
        return {
            "version": self._version,
            "source": source_digest(self._module),
            "solved_at": float(getattr(self._env, "pass_threshold", 0.5)),
            "tasks": tasks,
        }

    async def play(self, attempt: WorkerAttempt, number: int) -> Json:
        errors: list[str] = []
        GRADER_ERRORS.set(errors)
        row, _ = self._rows[number]
        output = await self._env.run_rollout(row, ReplyClient(attempt), "whet", {})
        if errors:
            return fault("grader_raised", f"{errors[0]} (verifiers counts it as {output['reward']:g})")
        if output.get("error") is not None:
            return fault("environment_error", _chain(output["error"]))
        parts = {name: float(value) for name, value in (output.get("metrics") or {}).items()}
        stop = str(output.get("stop_condition") or "")
        return {"end": {"reward": float(output["reward"]), "parts": parts, "stop": stop}}


class ReplyClient(vf.Client):
    """A client whose answers come from outside. Of the library's own way to a model nothing is used."""

    def __init__(self, attempt: WorkerAttempt) -> None:
        super().__init__(None)
        self._attempt = attempt

    async def get_response(self, prompt: Any, model: str, sampling_args: Any, tools: Any = None, **_: Any) -> Response:
        messages = [plain(message) for message in prompt]
        reply = await self._attempt.ask(messages, [tool(spec) for spec in tools or ()])
        calls = [ToolCall(**call) for call in reply.get("tool_calls") or ()]
        cut = reply["finish"] == "length"
        message = ResponseMessage(
            content=reply["content"],
            tool_calls=calls or None,
            finish_reason="length" if cut else "tool_calls" if calls else "stop",
            is_truncated=cut,
        )
        return Response(id=f"whet-{self._attempt.number}", created=int(time.time()), model=model, message=message)

    def setup_client(self, config: Any) -> Any:
        raise NotImplementedError

    async def to_native_tool(self, tool: Any) -> Any:
        raise NotImplementedError

    async def to_native_prompt(self, messages: Any) -> Any:
        raise NotImplementedError

    async def get_native_response(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    async def raise_from_native_response(self, response: Any) -> None:
        raise NotImplementedError

    async def from_native_response(self, response: Any) -> Any:
        raise NotImplementedError

    async def close(self) -> None:
        return None


def _rubrics(env: Any) -> Iterator[Any]:
    """The rubrics of an environment, of those that it groups, and of groups of rubrics."""
    waiting = [env.rubric, *(member.rubric for member in getattr(env, "envs", ()))]
    while waiting:
        rubric = waiting.pop()
        yield rubric
        waiting += getattr(rubric, "rubrics", ())


def _watched(function: Callable[..., Any]) -> Callable[..., Any]:
    """The reward function; what it raises is noted on its way to where it is counted as 0.0."""

    @functools.wraps(function)
    async def watched(*args: Any, **kwargs: Any) -> Any:
        try:
            value = function(*args, **kwargs)
            return await value if inspect.isawaitable(value) else value
        except Exception as error:
            GRADER_ERRORS.get([]).append(f"{getattr(function, '__name__', 'a reward function')} raised {told(error)}")
            raise

    return watched


def _rows(env: Any, most: int) -> list[tuple[Json, str]]:
    """Its rows, each with the side that the environment itself gives it: rows of an evaluation set are for the test."""
    has_eval = getattr(env, "eval_dataset", None) is not None or getattr(env, "eval_dataset_source", None) is not None
    sets: list[tuple[Iterable[Any], str]] = []
    if getattr(env, "dataset", None) is not None or getattr(env, "dataset_source", None) is not None:
        sets.append((env.get_dataset(most), ""))
    if has_eval:
        sets.append((env.get_eval_dataset(most), "test" if sets else ""))
    return [(dict(row), side) for rows, side in sets for row in rows]


def _task(row: Json, side: str) -> Json:
    prompt = row["prompt"]
    messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else [plain(part) for part in prompt]
    kind = row.get("task")
    return {
        "messages": messages,
        "truth": row.get("answer"),
        "kind": kind if isinstance(kind, str) else "",
        "side": side,
        "way": "client",
    }


def _chain(error: Any) -> str:
    said = error.get("error_chain_repr") if isinstance(error, dict) else None
    return " ".join(str(said or error).split())[:2000]
