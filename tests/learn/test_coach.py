"""`train.eval_feedback`: train attempts are told their grade and tried once more; nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest
from reflact_world import Kinds, config, trained

from whet.envs.registry import load_environment
from whet.errors import LimitReached
from whet.learn.coach import AFTER, coached
from whet.models.base import Request
from whet.rollout.drive import drive
from whet.types import Ask, Reply, ToolCall

STOCK = str(Path(__file__).parents[2] / "examples/stock.py") + ":Stock"


def test_the_second_try_is_told_what_was_expected_and_the_score_is_the_firsts() -> None:
    env = Kinds()
    task = env.task("train", 0)
    heard: list[str] = []

    def policy(said: object, asked: Ask) -> str:
        heard.append(asked.messages[-1].text)
        return "?" if len(heard) == 1 else str(task.truth)

    played = drive(coached(env, task), policy)
    assert (played.score.hard, played.score.parts[AFTER]) == (0, 1.0)
    assert heard[0] == task.messages[-1].text
    assert f"Expected: {task.truth}" in heard[1]


def test_what_is_solved_at_once_is_asked_once() -> None:
    env = Kinds()
    task = env.task("train", 0)
    played = drive(coached(env, task), lambda said, asked: str(task.truth))
    assert len(played.turns) == 1
    assert played.score.hard
    assert AFTER not in played.score.parts


def test_tools_work_in_both_tries() -> None:
    env = load_environment(STOCK, {})
    task = env.task("train", 3)
    item = sorted(task.data["shelf"])[0]
    said = iter(["0", Reply("", (ToolCall("1", "look_up", {"item": item}),)), str(task.truth)])
    played = drive(coached(env, task), lambda *_: next(said))
    assert played.score.parts[AFTER] == 1.0
    assert [turn.messages[-1].author for turn in played.turns] == ["user", "user", "tool"]


def test_a_limit_in_the_second_try_leaves_the_first_ones_score() -> None:
    env = Kinds()

    def policy(said: tuple[object, ...], asked: Ask) -> str:
        if len(said) > 1:
            raise LimitReached("turn_limit", "enough")
        return "?"

    score = drive(coached(env, env.task("train", 1)), policy).score
    assert (score.hard, score.reason, score.parts[AFTER]) == (0, "wrong", 0.0)


def test_only_the_attempts_of_a_step_are_told_anything(tmp_path: Path) -> None:
    told: list[str] = []

    def target(request: Request) -> str:
        text = request.messages[-1].text
        if text.startswith("That was graded"):
            told.append(request.messages[-3].text)
        return "?"

    settled = config(train={"epochs": 1, "eval_feedback": True}, slow={"use": False}, meta={"use": False})
    result = trained(tmp_path / "run", settled, target=target)
    assert len(told) == 24
    assert all("train-" in question for question in told)
    steps = result.training.steps  # type: ignore[attr-defined]
    assert [state.evidence.mean("hard") for state in steps] == [0.0, 0.0]
    assert result.judge.judgements, "the gate has played select tasks, and told nobody"


def test_it_is_off_by_default() -> None:
    assert not config().train.eval_feedback
    with pytest.raises(Exception, match="eval_feedback"):
        config(train={"eval_feedback": "maybe"})
