"""The tools of one attempt, without a server for each: methods are called here, servers that run already are asked.

The library starts a process for each toolset of each attempt. A toolset whose place is this machine is as well off in
this process: an object of its own for each attempt, spoken to by the same protocol, so that schemas, errors and what a
model hears are what its own server would say. The state that tools share with the task is that of the trace.
"""

from __future__ import annotations

import contextlib
import contextvars
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mcp import Client
from mcp.server.mcpserver import MCPServer
from pydantic import TypeAdapter
from verifiers.v1.harnesses.utils.compaction import bound_tool_message
from verifiers.v1.harnesses.utils.mcp import call_mcp, connect_mcp
from verifiers.v1.mcp import server as tool_server

from .attempts import Json

TRACE: contextvars.ContextVar[Any] = contextvars.ContextVar("TRACE")
"""The trace of the attempt that calls: a toolset may serve several."""


@dataclass(frozen=True)
class HereConnection:
    """A toolset in this process, where the library has a connection to a server."""

    client: Client

    async def run(self, operation: Callable[[Client], Awaitable[Any]]) -> Any:
        return await operation(self.client)


class ToolBox:
    """What an attempt can call. Open inside `stack`, by the task that closes it."""

    def __init__(self, specs: list[Json], dispatch: dict[str, Any], servers: dict[str, Any]) -> None:
        self.specs = specs
        """The tools as an endpoint of chat completions is offered them."""
        self._dispatch = dispatch
        self._servers = servers

    @classmethod
    async def open(
        cls, stack: contextlib.AsyncExitStack, toolsets: Sequence[Any], trace: Any, seconds: float
    ) -> ToolBox:
        """`toolsets` are ready to be called; one with an address is where the address says."""
        TRACE.set(trace)
        specs: list[Json] = []
        dispatch: dict[str, Any] = {}
        servers: dict[str, Any] = {}
        for toolset in toolsets:
            name = toolset.server_name
            if toolset.config.url:
                named = {"mcpServers": {name: {"url": toolset.config.url, "timeout": seconds}}}
                offered, calls, connections = await connect_mcp(named, stack, set(dispatch))
                specs += offered
                dispatch |= calls
                servers |= connections
                continue
            client = await stack.enter_async_context(Client(_served(toolset)))
            servers[name] = HereConnection(client)
            for tool in (await client.list_tools()).tools:
                full = f"{name}_{tool.name}" if name else tool.name
                if full in dispatch:
                    raise ValueError(f"two tools are called {full}")
                about = {"name": full, "description": tool.description or "", "parameters": tool.input_schema}
                specs.append({"type": "function", "function": about})
                dispatch[full] = (name, tool.name)
        return cls(specs, dispatch, servers)

    async def answer(self, call: Json) -> Json:
        """The message that answers a call, in the words of the library's chat program where nothing can be called."""
        name = call["name"]
        try:
            given = json.loads(call["arguments"] or "{}")
        except json.JSONDecodeError as error:
            said: Any = f"error: invalid JSON in tool arguments ({error}); resend the call with valid JSON"
        else:
            if not isinstance(given, dict):
                kind = type(given).__name__
                said = f"error: tool arguments must be a JSON object, got {kind}; resend as an object"
            elif name in self._dispatch:
                said = await call_mcp(self._servers, self._dispatch, name, given)
            else:
                said = f"error: unknown tool {name!r}"
        message = {"role": "tool", "tool_call_id": call["id"], "content": said, "name": name}
        bounded: Json = bound_tool_message(message)
        return bounded


async def ready(stack: contextlib.AsyncExitStack, toolset: Any, data: Any = None) -> Any:
    """A toolset made anew from its config, as its server's process would make it, and set up; `data` is the task's."""
    made = type(toolset)(toolset.config.model_copy(deep=True))
    if made.config.url:
        return made
    await stack.enter_async_context(made._exit_stack)
    adapter = made._state_adapter

    async def pull() -> Any:
        state = TRACE.get().state
        return adapter.validate_json(TypeAdapter(type(state)).dump_json(state))

    async def push(before: bytes) -> None:
        after = adapter.dump_json(tool_server._call_state.get())
        trace = TRACE.get()
        if after != before:
            trace.state = TypeAdapter(type(trace.state)).validate_json(after)

    made._pull_state, made._push_state = pull, push
    await made.setup()
    if data is not None:
        await made.setup_task(data)
    return made


def _served(toolset: Any) -> MCPServer:
    server = MCPServer(toolset.server_name or type(toolset).__name__)
    toolset.register(server)
    return server
