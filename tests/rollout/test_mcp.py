"""Tools of an MCP server as works: a real process behind walls, sound and hostile."""

from __future__ import annotations

import asyncio
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import FromFunction

from whet.config.load import validate
from whet.config.schema import EvalConfig
from whet.envs.base import Environment, Play
from whet.errors import FaultError, WhetError
from whet.ledger.store import Ledger
from whet.models.base import Request
from whet.rollout.mcp import McpServer, McpServers
from whet.rollout.works import Works
from whet.run.compose import Given
from whet.run.evaluate import run_evaluation
from whet.tools import ask_with_tools, mcp_tools
from whet.types import Label, Outcome, Reply, Split, Task, ToolCall, Work, WorkResult, failed, solved, user

SERVER = str(Path(__file__).parents[1] / "mcp_server.py")


def server(mode: str = "sound", *more: str, **options: Any) -> McpServer:
    return McpServer("sums", (sys.executable, SERVER, mode, *more), **options)


async def called(settings: McpServer, *calls: tuple[str, dict[str, Any]], deadline: float = 20.0) -> list[WorkResult]:
    """What the calls of one attempt bring."""
    works = Works(mcp=[settings])
    try:
        return [
            await works.perform(Work("mcp", {"server": "sums", "tool": tool, "arguments": given}, deadline), "attempt")
            for tool, given in calls
        ]
    finally:
        await works.close()


def run(settings: McpServer, *calls: tuple[str, dict[str, Any]], **options: Any) -> list[WorkResult]:
    return asyncio.run(called(settings, *calls, **options))


def test_calls_of_one_attempt_meet_the_same_server_and_of_another_a_fresh_one() -> None:
    async def all_of_it() -> list[Any]:
        servers = McpServers([server()])
        add = {"server": "sums", "tool": "add", "arguments": {"number": 2}}
        found = [(await servers.perform(add, attempt)).value for attempt in ("a", "a", "b", "", "")]
        await servers.leave("a")
        found.append((await servers.perform(add, "a")).value)
        await servers.close()
        return found

    assert asyncio.run(all_of_it()) == ["2", "4", "2", "2", "2", "2"]


def test_an_error_that_a_tool_tells_is_its_answer() -> None:
    (told,) = run(server(), ("misbehave", {}))
    assert told == WorkResult("Error: the tool says no")


@pytest.mark.parametrize(
    ("mode", "error"),
    [
        ("die", "ended"),
        ("junk", "invalid"),
        ("flood", "output"),
        ("chatter", "output"),
        ("other", "invalid"),
        ("shapeless", "invalid"),
        ("memory", "ended"),
    ],
)
def test_what_a_hostile_server_does_when_called_is_the_error_of_that_call(mode: str, error: str) -> None:
    first, after = run(server(mode, memory=256), ("misbehave", {}), ("add", {"number": 5}))
    assert first.error == error
    assert after.value == "5", "the next call meets a fresh server"


def test_a_server_that_hangs_is_killed_at_the_deadline_of_the_call() -> None:
    first, after = run(server("hang"), ("misbehave", {}), ("add", {"number": 5}), deadline=3.0)
    assert first.error == "deadline"
    assert after.value == "5"


def test_what_a_server_asks_of_us_is_refused() -> None:
    (told,) = run(server("asks"), ("misbehave", {}))
    assert "not offered" in told.value


@pytest.mark.parametrize(
    ("mode", "why"),
    [("liar", "none of an object"), ("twins", "2 tools"), ("book", "longer than"), ("mute", "not ready")],
)
def test_a_server_that_tells_no_sound_tools_is_a_fault(mode: str, why: str) -> None:
    with pytest.raises(FaultError, match=why):
        run(server(mode, start=2.0 if mode == "mute" else 30.0), ("add", {"number": 1}))


def test_a_server_that_changes_its_tools_is_a_fault() -> None:
    async def twice() -> None:
        servers = McpServers([server("changing")])
        try:
            for attempt in ("a", "b"):
                await servers.perform({"server": "sums"}, attempt)
        finally:
            await servers.close()

    with pytest.raises(FaultError, match="other tools"):
        asyncio.run(twice())


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that anybody on the host may read."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_a_server_reaches_neither_files_nor_network_nor_keys(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (open_folder / "secret").write_text("the combination")
    monkeypatch.setenv("WHET_SECRET", "a key")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = str(listening.getsockname()[1])
        (told,) = run(server("escape", str(open_folder), port), ("misbehave", {}))
        assert told.value == "nothing"
    shown = server("escape", str(open_folder), "1", show=(str(open_folder),))
    assert "secret" in run(shown, ("misbehave", {}))[0].value, "what is shown can be read, so the walls are what hid it"


def test_a_server_that_nobody_named_is_refused_in_a_line() -> None:
    with pytest.raises(WhetError, match=r"\[tools.mcp.sums\]"):
        asyncio.run(Works().perform(Work("mcp", {"server": "sums"})))
    with pytest.raises(WhetError, match="no program"):
        run(McpServer("sums", ("no-such-program",)), ("add", {"number": 1}))


class Sums(Environment):
    """Add two numbers with the tool of a server."""

    name, fingerprint = "mcp-sums", "mcp-sums-1"

    def size(self, split: Split) -> int | None:
        return 3

    def label(self, split: Split, index: int) -> Label:
        return Label("sum")

    def task(self, split: Split, index: int) -> Task:
        return Task(split, index, Label("sum"), (user(f"Add {index} and 40."),), str(index + 40))

    def play(self, task: Task) -> Play:
        tools = yield from mcp_tools("sums")
        reply = yield from ask_with_tools(task.messages, tools)
        return solved() if reply.text == task.truth else failed("wrong")


def adder(request: Request) -> Reply | str:
    """Calls the tool with one number, then with the other, and says what came."""
    words = request.messages[0].text.rstrip(".").split()
    done = [message for message in request.messages if message.author == "tool"]
    assert [tool.name for tool in request.tools] == ["add", "misbehave"]
    if len(done) == 2:
        return done[-1].text
    return Reply("", (ToolCall(f"c{len(done)}", "add", {"number": int(words[1 + 2 * len(done)])}),))


def test_a_run_with_a_server_is_recorded_and_replayed_like_any_other(tmp_path: Path) -> None:
    data = {
        "env": {"name": "mcp-sums"},
        "target": {"model": "test:function"},
        "tools": {"mcp": {"sums": {"command": [sys.executable, SERVER]}}},
        "eval": {"n": "all", "floor": False},
    }
    config = validate(EvalConfig, data, "test")
    first = run_evaluation(config, Given(Sums(), FromFunction(adder)), runs=tmp_path, name="run")
    assert all(outcome.hard for outcome in outcomes(first.folder))

    def mute(request: Request) -> str:
        raise AssertionError("a remembered rollout is not asked again")

    gone = {**data, "control": {"concurrency": 1}}
    again = run_evaluation(
        validate(EvalConfig, gone, "test"), Given(Sums(), FromFunction(mute)), runs=tmp_path, name="run"
    )
    assert outcomes(again.folder) == outcomes(first.folder)
    assert len(outcomes(again.folder)) == 3


def outcomes(folder: Path) -> list[Outcome]:
    with Ledger.read(folder) as ledger:
        return sorted(ledger.outcomes(), key=lambda outcome: outcome.key)


def test_another_server_is_another_run(tmp_path: Path) -> None:
    own = tmp_path / "server.py"
    own.write_text(Path(SERVER).read_text())
    data: dict[str, Any] = {"env": {"name": "x"}, "target": {"model": "m:m"}}
    plain = validate(EvalConfig, data, "test").identity()
    assert "tools" not in plain, "a run without servers is what it was"
    data["tools"] = {"mcp": {"sums": {"command": ["python", str(own)]}}}
    before = validate(EvalConfig, data, "test").identity()
    own.write_text(own.read_text() + "\n# changed\n")
    assert before != validate(EvalConfig, data, "test").identity()
