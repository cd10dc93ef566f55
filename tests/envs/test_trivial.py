"""Policies without skill, on any environment."""

from __future__ import annotations

from pathlib import Path

from whet.envs.base import Baseline
from whet.envs.registry import load_environment
from whet.envs.trivial import trivial_baselines
from whet.types import Label, Reply, Task, ToolCall, assistant, user

BROKEN = str(Path(__file__).with_name("broken.py"))


def asked(text: str = "What is 1 + 1?") -> Task:
    return Task("select", 0, Label("number"), (user(text),), "2")


class Oracle:
    """An environment that is nothing but an oracle: `answers` by index, `kinds` in turn."""

    def __init__(self, answers: list[Reply | str], kinds: tuple[str, ...] = ("number",)) -> None:
        self.answers, self.kinds = answers, kinds

    def size(self, split: str) -> int | None:
        return len(self.answers)

    def task(self, split: str, index: int) -> Task:
        return Task("train", index, Label(self.kinds[index % len(self.kinds)]), (user("?"),), self.answers[index])

    def baselines(self) -> dict[str, Baseline]:
        return {"oracle": lambda task, said: task.truth}


def policies(answers: list[Reply | str], **options: tuple[str, ...]) -> dict[str, Baseline]:
    return trivial_baselines(Oracle(answers, **options))  # type: ignore[arg-type]


def test_empty_says_nothing_and_echo_repeats_the_last_user() -> None:
    said = (user("one"), assistant("two"), user("three"), assistant("four"))
    trivial = policies(["a"])
    assert trivial["empty"](asked(), said) == ""
    assert trivial["echo"](asked(), said) == "three"


def test_the_constant_stands_where_the_oracle_s_replies_differ() -> None:
    trivial = policies(["<answer>12</answer>", "<answer>7</answer>", "<answer>blue</answer>"])
    assert trivial["constant"](asked(), ()) == "<answer>1</answer>"


def test_the_most_frequent_answer_is_taken_for_each_kind() -> None:
    trivial = policies(["yes", "3", "yes", "4", "no", "4"], kinds=("number", "word"))
    assert trivial["frequent"](asked(), ()) == "yes"
    assert trivial["frequent"](Task("test", 0, Label("word"), ()), ()) == "4"


def test_of_answers_that_are_as_frequent_the_first_is_taken() -> None:
    assert policies(["b", "a", "a", "b"])["frequent"](asked(), ()) == "b"


def test_a_reply_with_tool_calls_is_repeated_whole() -> None:
    reply = Reply("", calls=(ToolCall("1", "run", {"code": "1"}),))
    other = Reply("", calls=(ToolCall("1", "run", {"code": "2"}),))
    assert policies([other, reply, reply])["frequent"](asked(), ()) is reply


def test_without_an_oracle_there_is_no_frequent_answer() -> None:
    env = load_environment(f"{BROKEN}:Sound")
    env.baselines = dict  # type: ignore[method-assign]
    assert sorted(trivial_baselines(env)) == ["constant", "echo", "empty"]
