"""One attempt in a worker: a coroutine that asks for replies, and whoever brings them."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

Json = dict[str, Any]

PATIENCE = 3600.0
"""Seconds that an attempt waits for a reply; who is gone longer does not come back."""


class WorkerRefusal(Exception):
    """Why an environment cannot be played here, in a line."""


def told(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):  # tools are called within groups of tasks
        error = error.exceptions[0]
    return " ".join(f"{type(error).__name__}: {error}".split())[:2000]


def fault(kind: str, message: str) -> Json:
    return {"fault": {"kind": kind, "message": message}}


class WorkerAttempt:
    """Steps come out (`ask`, `end` or `fault`), replies go in."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._steps: asyncio.Queue[Json] = asyncio.Queue()
        self._replies: asyncio.Queue[Json] = asyncio.Queue()
        self._said: list[Json] = []
        self._task: asyncio.Task[None] | None = None

    def start(self, play: Coroutine[Any, Any, Json]) -> None:
        self._task = asyncio.ensure_future(self._run(play))

    async def _run(self, play: Coroutine[Any, Any, Json]) -> None:
        try:
            step = await play
        except Exception as error:  # noqa: BLE001 - the environment's own code: its defect
            step = fault("environment_error", told(error))
        self._steps.put_nowait(step)

    async def step(self) -> Json:
        return await self._steps.get()

    def hear(self, reply: Json) -> None:
        self._replies.put_nowait(reply)

    def cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def ask(self, messages: list[Json], tools: list[Json]) -> Json:
        """The reply to a whole conversation, of which only what is new goes out: what was said stays as it was said."""
        if [_gist(message) for message in messages[: len(self._said)]] != [_gist(message) for message in self._said]:
            raise WorkerRefusal("it rewrites what was said before, and a conversation here is only ever continued")
        self._steps.put_nowait({"ask": {"messages": messages[len(self._said) :], "tools": tools}})
        reply = await asyncio.wait_for(self._replies.get(), PATIENCE)
        self._said = [*messages, {"role": "assistant", **reply}]
        return reply


def _gist(message: Json) -> tuple[Any, ...]:
    """What makes two messages the same, in whichever form a library hands them on."""
    calls = [(call["name"], call["arguments"]) for call in message.get("tool_calls") or ()]
    return message["role"], message.get("content") or "", calls, message.get("tool_call_id") or ""


def plain(message: Any) -> Json:
    """A message of either line as a dictionary with text alone; `WorkerRefusal` where it holds an image."""
    fields = message if isinstance(message, dict) else message.model_dump()
    made: Json = {"role": fields["role"], "content": _text(fields.get("content"))}
    if fields.get("tool_calls"):
        made["tool_calls"] = [_call(call) for call in fields["tool_calls"]]
    if fields.get("tool_call_id"):
        made["tool_call_id"] = fields["tool_call_id"]
    return made


def _call(call: Any) -> Json:
    fields = call if isinstance(call, dict) else call.model_dump()
    function = fields.get("function") or fields
    return {"id": fields.get("id") or "", "name": function["name"], "arguments": function.get("arguments") or ""}


def _text(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    parts = [part if isinstance(part, dict) else part.model_dump() for part in content]
    strange = next((part["type"] for part in parts if part.get("type") != "text"), "")
    if strange:
        raise WorkerRefusal(f"a message holds {strange}: only text can be played here")
    return "".join(part["text"] for part in parts)


def tool(spec: Any) -> Json:
    """A tool as name, description and schema, in whichever form it is offered."""
    fields = spec if isinstance(spec, dict) else spec.model_dump()
    function = fields.get("function") or fields
    return {
        "name": function["name"],
        "description": function.get("description") or "",
        "parameters": function.get("parameters") or {"type": "object", "properties": {}},
    }
