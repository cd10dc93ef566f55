"""The example environment, as the documentation shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from whet.envs.base import Environment
from whet.envs.registry import load_environment
from whet.rollout.drive import drive
from whet.types import Label, Score

FILE = Path(__file__).parents[2] / "examples" / "sums.py"


def sums(**sizes: int) -> Environment:
    return load_environment(f"{FILE}:Sums", sizes)


def test_sizes_can_be_chosen() -> None:
    env = sums(select=10)
    assert [env.size(split) for split in ("train", "select", "test")] == [None, 10, 400]


def test_two_kinds_at_two_difficulties_take_turns() -> None:
    labels = [sums().label("train", index) for index in range(4)]
    assert labels == [Label("add", "easy"), Label("subtract", "easy"), Label("add", "hard"), Label("subtract", "hard")]


@pytest.mark.parametrize(
    ("reply", "reason"), [("", "no_answer"), ("no", "wrong"), ("{truth}", "correct"), (" {truth}.\n", "correct")]
)
def test_a_reply_is_right_when_it_is_the_number(reply: str, reason: str) -> None:
    env = sums()
    task = env.task("select", 3)
    score: Score = drive(env.play(task), lambda said, asked: reply.format(truth=task.truth)).score
    assert score.reason == reason


def test_the_documentation_shows_the_file_as_it_is() -> None:
    shown = (FILE.parents[1] / "docs" / "environments.md").read_text()
    code = FILE.read_text()
    assert code[code.index("class Sums") :].strip() in shown
