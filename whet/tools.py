"""Tools for plays: what an environment with tools is written with, and the loop that most of them need.

look_up = Tool(ToolSpec("look_up", "Says how many there are.", {...}), lambda arguments: str(stock[arguments["item"]]))

def play(self, task):
    reply = yield from ask_with_tools(task.messages, [look_up])
    return solved() if reply.text.strip() == task.truth else failed("wrong")
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whet.envs.base import ask, call, complaints, work
from whet.errors import FaultError
from whet.types import Ask, Fault, Feedback, Message, Reply, ToolCall, ToolSpec, Work, WorkResult, tool_result

__all__ = [
    "Feedback",
    "Tool",
    "ToolCall",
    "ToolSpec",
    "ask_with_tools",
    "call",
    "complaints",
    "mcp_tools",
    "tool_result",
    "work",
]

TURNS = 8
"""Replies with calls that a policy may give before it has to answer."""

PATIENCE = 120.0
"""Seconds within which a server of tools must have told them."""

LONGEST = 20_000
"""Characters of a tool's output that a policy is told."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a policy may call: `use` gives what it is told, or a work whose result that is."""

    spec: ToolSpec
    use: Callable[[Mapping[str, Any]], str | Work]


def ask_with_tools(
    messages: Sequence[Message], tools: Sequence[Tool], *, turns: int = TURNS, files: Mapping[str, str] | None = None
) -> Generator[Ask | Work, Any, Reply]:
    """Asks, carries out the calls of each reply in their order, and tells what came, until a reply makes none.

    A malformed call is not run and the policy is told why. After `turns` replies with calls, the last of them is
    returned as it is. `files` lie in the folder of an agent, which has tools of its own.
    """
    known, specs = {tool.spec.name: tool for tool in tools}, [tool.spec for tool in tools]
    reply = yield from ask(messages, tools=specs, corrections=0, files=files)
    for _ in range(turns):
        if not reply.calls and not reply.malformed:
            break
        told: tuple[Message, ...] = complaints(reply)
        if not reply.malformed:
            answers = []
            for asked in reply.calls:
                answers.append(tool_result(asked, (yield from _used(known, asked))))
            told = tuple(answers)
        reply = yield from ask(told, tools=specs, corrections=0)
    return reply


def mcp_tools(server: str, *, seconds: float = 30.0) -> Generator[Work, WorkResult, list[Tool]]:
    """The tools of an MCP server that the config names (`[tools.mcp.NAME]`); each call has so many seconds."""
    listed = yield from work(Work("mcp", {"server": server}, deadline=PATIENCE))
    if not listed.ok:
        raise FaultError(Fault("mcp_server", server, f"{listed.error}: {listed.detail}"))
    return [
        _served(server, ToolSpec(tool["name"], tool["description"], tool["schema"]), seconds) for tool in listed.value
    ]


def _served(server: str, spec: ToolSpec, seconds: float) -> Tool:
    def use(arguments: Mapping[str, Any]) -> Work:
        return Work("mcp", {"server": server, "tool": spec.name, "arguments": dict(arguments)}, seconds)

    return Tool(spec, use)


def _used(known: Mapping[str, Tool], asked: ToolCall) -> Generator[Work, WorkResult, str]:
    """What a call comes to. Arguments that a tool cannot take are the policy's doing, and it is told so."""
    tool = known.get(asked.name)
    if tool is None:
        return f"Error: there is no tool {asked.name!r}; there are: {', '.join(known)}"
    try:
        told = tool.use(asked.arguments)
    except (KeyError, ValueError, TypeError) as error:
        return f"Error: {asked.name} cannot take these arguments ({type(error).__name__}: {error})"
    if isinstance(told, Work):
        result = yield from work(told)
        told = str(result.value) if result.ok else f"Error: {result.error} {result.detail}".rstrip()
    return told if len(told) <= LONGEST else f"{told[:LONGEST]}\n... ({len(told) - LONGEST} characters left out)"
