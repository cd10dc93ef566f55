"""The example environment with a tool, and the loop it is written with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from whet.envs.base import Environment, Play, call
from whet.envs.registry import load_environment
from whet.rollout.drive import drive
from whet.tools import Tool, ToolCall, ToolSpec, ask_with_tools
from whet.types import Ask, MalformedCall, Message, Reply, Work, solved, user

FILE = Path(__file__).parents[2] / "examples" / "stock.py"
ECHO = Tool(ToolSpec("echo", "Says it again."), lambda arguments: str(arguments["text"]))


def stock() -> Environment:
    return load_environment(f"{FILE}:Stock", {})


def calling(**arguments: str) -> Reply:
    return Reply("", (ToolCall("1", "echo", arguments),))


def heard(*replies: Reply | str, tool: Tool = ECHO) -> list[str]:
    """What a policy that gives these replies is told after each that calls."""
    told: list[str] = []
    left = iter(replies)

    def respond(said: tuple[Message, ...], _: Ask) -> Reply | str:
        told.append(said[-1].text)
        return next(left)

    def play() -> Play:
        yield from ask_with_tools([user("go")], [tool], turns=3)
        return solved()

    drive(play(), respond)
    return told[1:]


def test_the_oracle_solves_every_task_by_looking_it_up() -> None:
    env = stock()
    oracle = env.baselines()["oracle"]
    for index in range(6):
        task = env.task("train", index)
        found = drive(env.play(task), lambda said, _, task=task: oracle(task, said))
        assert found.score.hard == 1
        assert len(found.turns) == 2


def test_what_is_reserved_cannot_be_sold_and_stands_in_no_question() -> None:
    env = stock()
    assert all("reserved" not in env.task("train", index).messages[0].text for index in range(6))


def test_a_policy_is_told_what_its_tool_said() -> None:
    assert heard(calling(text="hello"), "done") == ["hello"]


def test_wrong_arguments_an_unknown_tool_and_a_malformed_call_are_told() -> None:
    bad = Reply("", malformed=(MalformedCall("2", "echo", "{", "bad_json", "not JSON"),))
    told = heard(calling(word="x"), Reply("", (ToolCall("1", "fly", {}),)), bad, "done")
    assert "cannot take these arguments (KeyError: 'text')" in told[0]
    assert "there is no tool 'fly'; there are: echo" in told[1]
    assert told[2] == "Error: not JSON"


def test_a_tool_may_be_a_work() -> None:
    def either(arguments: Mapping[str, Any]) -> Work:
        return call("whet.envs.feedback:written", truth=[arguments["text"], "silence"])

    assert heard(calling(text="noise"), "done", tool=Tool(ECHO.spec, either)) == ["noise or silence"]


def test_turns_end() -> None:
    assert len(heard(*[calling(text="again")] * 4)) == 3
