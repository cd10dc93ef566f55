"""Worked examples from attempts of several turns, and from a bank: what is learnt without an optimiser."""

from __future__ import annotations

from pathlib import Path

from reflact_world import Kinds, config, trained

from whet.envs.registry import load_environment
from whet.learn.reflact.records import FillBank
from whet.models.base import Request
from whet.types import Label, Reply, Split, Task, ToolCall, user

STOCK = str(Path(__file__).parents[2] / "examples/stock.py") + ":Stock"


def mute(request: Request) -> str:
    raise AssertionError("nobody is to be consulted")


class Numbered(Kinds):
    """Say the number twice, in the form of the house: no answer of another task is right, and the form is not told."""

    name, fingerprint = "numbered", "numbered-1"

    def task(self, split: Split, index: int) -> Task:
        number = index + {"train": 100, "select": 300, "test": 500}[split]
        return Task(split, index, Label("number"), (user(f"the number is {number}"),), f"<{number}|{number}>")

    def label(self, split: Split, index: int) -> Label:
        return Label("number")


def copies_form(request: Request) -> str:
    """Knows the form from any example, and nothing without one."""
    number = request.messages[-1].text.split()[-1]
    return f"<{number}|{number}>" if len(request.messages) > 1 else number


def asked_of(rollout: object) -> str:
    return rollout.turns[0].messages[-1].text  # type: ignore[attr-defined]


def test_a_bank_is_learnt_and_beats_the_nearest_answer(tmp_path: Path) -> None:
    settings = config(train={"proposer": "examples", "epochs": 1}, examples={"choice": "nearest", "take": 2})
    heard: list[Request] = []

    def target(request: Request) -> str:
        heard.append(request)
        return copies_form(request)

    result = trained(tmp_path / "run", settings, optimiser=mute, target=target, env=Numbered())
    assert not result.best.examples
    assert len(result.best.bank) >= 12
    assert result.best.nearest
    assert any(isinstance(item, FillBank) for row in result.judge.judgements for item in row.candidate.changes)
    assert result.summary["test_delta_interval"][0] > 0
    for request in heard:  # a task never sees its own answer
        assert not any(message.text == request.messages[-1].text for message in request.messages[:-1])
    floor = result.tested.floor  # type: ignore[union-attr]
    assert {policy.name: policy.pass_rate.value for policy in floor.policies}["nearest"] == 0.0  # type: ignore[union-attr]
    assert "Example bank" in (tmp_path / "run/best_skill.md").read_text()


def test_a_run_with_a_bank_ends_the_same_when_it_is_started_again(tmp_path: Path) -> None:
    settings = config(train={"proposer": "examples", "epochs": 1}, examples={"choice": "both", "take": 2})
    first = trained(tmp_path / "run", settings, optimiser=mute, target=copies_form, env=Numbered())
    again = trained(tmp_path / "run", settings, optimiser=mute, target=mute, env=Numbered())
    assert again.best == first.best
    assert again.summary["test_hard"] == first.summary["test_hard"] == 1.0


def stock_keeper(request: Request) -> Reply | str:
    """Calls the tool where an example has shown how, and copies what it has seen; otherwise guesses."""
    said = request.messages
    last = said[-1]
    if not any(message.calls for message in said):
        return "0"
    if last.author == "user":
        item = last.text.split(" can be")[0].split()[-1]
        return Reply("", (ToolCall("1", "look_up", {"item": item}),))
    words = last.text.split()
    return str((int(words[0]) - int(words[5])) * (12 if words[1] == "boxes" else 1))


def test_calls_and_what_they_gave_are_worked_examples(tmp_path: Path) -> None:
    env = load_environment(STOCK, {})
    settings = config(
        train={"proposer": "examples", "epochs": 1, "tasks": 24, "select": 24, "test": 24},
        examples={"choice": "fixed", "take": 2},
    )
    result = trained(tmp_path / "run", settings, optimiser=mute, target=stock_keeper, env=env)
    assert result.best.examples
    for example in result.best.examples:
        assert [step.author for step in example.steps] == ["assistant", "tool"]
        assert example.steps[0].calls[0].name == "look_up"
    assert result.summary["test_hard"] == 1.0


def test_an_attempt_with_a_broken_call_is_nothing_to_learn_from(tmp_path: Path) -> None:
    from whet.learn.reflact.examples import _told
    from whet.types import MalformedCall, Turn

    broken = Reply("", malformed=(MalformedCall("1", "look_up", "{", "bad_json", "it is cut"),))
    turns = (Turn("target", (user("q"),), broken), Turn("target", (user("again"),), Reply("a")))
    assert _told(turns) is None


def test_an_attempt_that_ends_with_a_call_is_closed(tmp_path: Path) -> None:
    from whet.learn.reflact.examples import DONE, _told
    from whet.types import Turn

    told = _told((Turn("target", (user("q"),), Reply("", (ToolCall("7", "submit", {"x": 1}),))),))
    assert told is not None
    assert told.answer == DONE
    assert [step.author for step in told.steps] == ["assistant", "tool"]
    assert told.steps[1].call_id == "7"
