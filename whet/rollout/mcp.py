"""Tools of an MCP server as works: a process behind walls for each attempt, spoken to over its own standard streams.

The Model Context Protocol over stdio is JSON-RPC, a message a line, of which four requests are needed here: that is
less than a package for it, and every limit on what a server may send is ours (decision 0024). A server that cannot be
started, or that tells other tools than before, is a fault. What it does when it is called (hangs, floods, answers what
is no answer, dies) comes back as the error of that call: the arguments were the policy's.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from whet.errors import FaultError, WhetError
from whet.keys import digest
from whet.models.agent.process import kill_session
from whet.models.agent.walls import AgentWalls, agent_uid
from whet.models.agent.workspace import Workspace
from whet.types import Fault, WorkResult

PROTOCOL = "2025-06-18"

LINE = 4 << 20
"""Bytes of one message, and of all that a server may send until it has answered."""

MOST_TOOLS, MOST_PAGES, LONGEST_SPEC = 128, 16, 32_000

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_WALLED = 'ulimit -d "$1"; ulimit -f 131072; shift; exec "$@"'


@dataclass(frozen=True, slots=True)
class McpServer:
    """How a server is started, what of the host it is shown besides its program, and what it may take."""

    name: str
    command: tuple[str, ...]
    show: tuple[str, ...] = ()
    start: float = 30.0
    """Seconds until it must have told its tools."""
    memory: int = 1024
    """MiB of data that each of its processes may have."""

    @property
    def shown(self) -> list[str]:
        return [str(Path(path).absolute()) for path in self.show]


class Misbehaviour(Exception):
    """What a server did instead of answering: a short code, and what a person is told."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


class McpProcess:
    """A server at work, from its start to its end. One request at a time, which a play's works are."""

    def __init__(self, server: McpServer) -> None:
        self._server = server
        self._stack = contextlib.AsyncExitStack()
        self._process: asyncio.subprocess.Process | None = None
        self._asked = 0
        self._turn = asyncio.Lock()
        self.tools: list[dict[str, Any]] = []

    async def open(self) -> None:
        """Start it and have it tell its tools."""
        server = self._server
        program = shutil.which(server.command[0])
        if program is None:
            raise WhetError(f"tools.mcp.{server.name}: there is no program {server.command[0]!r}; install it")
        try:
            async with asyncio.timeout(server.start):
                await self._start(program)
                hello = {"name": "whet", "version": "1"}
                await self.request("initialize", {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": hello})
                await self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
                self.tools = await self._listed()
        except (Misbehaviour, TimeoutError, OSError) as error:
            await self.close()
            why = str(error) or f"it was not ready after {server.start:g} s"
            raise FaultError(Fault("mcp_server", server.name, why)) from None
        except BaseException:
            await self.close()
            raise

    async def _start(self, program: str) -> None:
        server = self._server
        workspace = Workspace.make(agent_uid())
        self._stack.callback(workspace.remove)
        workspace.hand_over()
        walls = AgentWalls(f"tools.mcp.{server.name}", workspace, server.shown, None)
        self._stack.callback(walls.close)
        words = [program, *map(_absolute, server.command[1:])]
        limited = ["/bin/sh", "-c", _WALLED, "sh", str(server.memory * 1024), *words]
        env = {"HOME": str(workspace.home), "TMPDIR": str(workspace.home), "PATH": os.environ.get("PATH", "")}
        kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
        self._process = await asyncio.create_subprocess_exec(
            *walls.words(limited, {**env, "PYTHONDONTWRITEBYTECODE": "1"}, needs=words),
            cwd=workspace.place,
            env=kept,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=walls.descriptors,
            limit=LINE,
        )
        self._stack.push_async_callback(self._end)
        await self._stack.enter_async_context(self._standing(walls))

    @contextlib.asynccontextmanager
    async def _standing(self, walls: AgentWalls) -> AsyncIterator[None]:
        try:
            async with walls.standing():
                yield
        except WhetError as error:
            raise WhetError(
                f"tools.mcp.{self._server.name}: a server of tools runs behind walls, and this machine gives none "
                f"({error}); allow user namespaces"
            ) from None

    async def _end(self) -> None:
        process = self._process
        if process is not None:
            kill_session(process.pid)
            if process.stdin is not None:
                process.stdin.close()
            await process.wait()

    async def close(self) -> None:
        """Kill it with all that it started, and take its folder away."""
        stack, self._stack = self._stack, contextlib.AsyncExitStack()
        await stack.aclose()

    # ------------------------------------------------------------------------------------------- what is said

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """The text that a tool answers; an error that the tool itself tells is its answer too."""
        answer = await self.request("tools/call", {"name": tool, "arguments": dict(arguments)})
        content = answer.get("content")
        if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
            raise Misbehaviour("invalid", "its answer has no list of content")
        text = "\n".join(_part(part) for part in content)
        if not content and answer.get("structuredContent") is not None:
            text = orjson.dumps(answer["structuredContent"]).decode()
        return f"Error: {text}" if answer.get("isError") is True else text

    async def request(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        async with self._turn:
            self._asked += 1
            await self._send({"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params})
            return await self._answer(self._asked)

    async def _send(self, message: Mapping[str, Any]) -> None:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        try:
            process.stdin.write(orjson.dumps(message) + b"\n")
            await process.stdin.drain()
        except (ConnectionError, RuntimeError):
            raise Misbehaviour("ended", "the server has ended") from None

    async def _answer(self, number: int) -> dict[str, Any]:
        """The result of a request. What else a server says meanwhile is answered where it must be, or let pass."""
        left = LINE
        while True:
            line = await self._line()
            left -= len(line)
            if left < 0:
                raise Misbehaviour("output", f"it sent more than {LINE} bytes and no answer")
            try:
                told = orjson.loads(line)
            except orjson.JSONDecodeError:
                raise Misbehaviour("invalid", f"it sent what is no JSON: {line[:80]!r}") from None
            if not isinstance(told, dict):
                raise Misbehaviour("invalid", "it sent what is no message")
            if "method" in told:
                if "id" in told:
                    await self._send(_refused(told))
                continue
            if told.get("id") != number:
                raise Misbehaviour("invalid", f"it answered {told.get('id')!r}, which nobody asked")
            if isinstance(told.get("error"), dict):
                raise Misbehaviour("refused", str(told["error"].get("message", "no reason given"))[:2000])
            if not isinstance(told.get("result"), dict):
                raise Misbehaviour("invalid", "its answer has neither a result nor an error")
            return dict(told["result"])

    async def _line(self) -> bytes:
        process = self._process
        assert process is not None
        assert process.stdout is not None
        try:
            line = await process.stdout.readline()
        except ValueError:
            raise Misbehaviour("output", f"it sent a message of more than {LINE} bytes") from None
        if not line.endswith(b"\n"):
            raise Misbehaviour("ended", "the server has ended")
        return line

    async def _listed(self) -> list[dict[str, Any]]:
        """All tools, page by page; refused where one of them cannot be offered to a model."""
        found: list[dict[str, Any]] = []
        cursor: Any = None
        for _ in range(MOST_PAGES):
            page = await self.request("tools/list", {} if cursor is None else {"cursor": cursor})
            tools = page.get("tools")
            if not isinstance(tools, list):
                raise Misbehaviour("invalid", "it tells no list of tools")
            found += [_spec(tool) for tool in tools]
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str) or not cursor:
                break
        names = [tool["name"] for tool in found]
        if len(names) > MOST_TOOLS or len(set(names)) < len(names) or not names:
            raise Misbehaviour(
                "invalid", f"it tells {len(names)} tools; 1 to {MOST_TOOLS} of different names can be had"
            )
        return found


class McpServers:
    """The servers that a config names, each at work for the attempts that call it."""

    def __init__(self, servers: Sequence[McpServer] = ()) -> None:
        self._servers = {server.name: server for server in servers}
        self._working: dict[tuple[str, str], McpProcess] = {}
        self._told: dict[str, str] = {}

    async def perform(self, payload: Mapping[str, Any], attempt: str = "") -> WorkResult:
        """The tools of `server`, or what `tool` answers. Calls of one attempt meet the same process, if it lives."""
        name = str(payload["server"])
        if name not in self._servers:
            known = ", ".join(sorted(self._servers)) or "none"
            raise WhetError(
                f"the environment calls the MCP server {name!r}; the config names {known}: [tools.mcp.{name}]"
            )
        process = await self._at_work(name, attempt)
        try:
            if payload.get("tool") is None:
                return WorkResult(process.tools)
            if payload["tool"] not in {tool["name"] for tool in process.tools}:
                return WorkResult(error="refused", detail=f"{name} has no tool {payload['tool']!r}")
            return WorkResult(await process.call(payload["tool"], payload["arguments"]))
        except Misbehaviour as found:
            if found.code != "refused":
                await self._dismiss(name, attempt)
            return WorkResult(error=found.code, detail=str(found))
        except BaseException:  # the deadline of the work, or the end of the run
            await self._dismiss(name, attempt)
            raise
        finally:
            if not attempt:
                await self._dismiss(name, attempt)

    async def leave(self, attempt: str) -> None:
        """An attempt is over, and so is what its calls have left behind."""
        for name, held in list(self._working):
            if held == attempt:
                await self._dismiss(name, attempt)

    async def close(self) -> None:
        for name, attempt in list(self._working):
            await self._dismiss(name, attempt)

    async def _at_work(self, name: str, attempt: str) -> McpProcess:
        known = self._working.get((name, attempt))
        if known is not None:
            return known
        process = McpProcess(self._servers[name])
        await process.open()
        told = digest(process.tools)
        if self._told.setdefault(name, told) != told:
            await process.close()
            raise FaultError(Fault("mcp_server", name, "it tells other tools than it told before"))
        self._working[name, attempt] = process
        return process

    async def _dismiss(self, name: str, attempt: str) -> None:
        process = self._working.pop((name, attempt), None)
        if process is not None:
            await process.close()


def _spec(tool: Any) -> dict[str, Any]:
    """A tool as a model is offered it. What it says of itself is looked at, not believed."""
    if not isinstance(tool, dict) or not isinstance(tool.get("name"), str) or not _NAME.fullmatch(tool["name"]):
        raise Misbehaviour("invalid", "a tool has no plain name of at most 64 letters, digits, '_', '-' or '.'")
    schema = tool.get("inputSchema", {"type": "object"})
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise Misbehaviour("invalid", f"the schema of {tool['name']} is none of an object")
    if not isinstance(schema.get("properties", {}), dict) or not isinstance(schema.get("required", []), list):
        raise Misbehaviour("invalid", f"the schema of {tool['name']} has no properties that can be read")
    description = tool.get("description", "")
    found = {"name": tool["name"], "description": description if isinstance(description, str) else "", "schema": schema}
    if len(orjson.dumps(found)) > LONGEST_SPEC:
        raise Misbehaviour("output", f"the specification of {tool['name']} is longer than {LONGEST_SPEC} bytes")
    return found


def _part(part: Mapping[str, Any]) -> str:
    text = part.get("text")
    return text if isinstance(text, str) else f"[{str(part.get('type', 'something'))[:20]} left out]"


def _refused(told: Mapping[str, Any]) -> dict[str, Any]:
    """What a server hears that asks something of us: a ping is answered, all else is not offered here."""
    if told["method"] == "ping":
        return {"jsonrpc": "2.0", "id": told["id"], "result": {}}
    return {"jsonrpc": "2.0", "id": told["id"], "error": {"code": -32601, "message": "not offered"}}


def _absolute(word: str) -> str:
    """A file that the user names from where they stand: the server stands elsewhere."""
    return str(Path(word).absolute()) if Path(word).is_file() else word
