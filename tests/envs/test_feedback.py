"""Every check and every environment says in its own words what was expected and what came."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from whet.envs.base import Environment
from whet.envs.data.environment import DataEnvironment
from whet.envs.registry import load_environment
from whet.types import Feedback, Label, Reply, Rollout, Score, Ticket, Turn, failed


def told(env: Environment, reply: str, score: Score | None = None, judge: str = "") -> Feedback:
    """The feedback on a reply to the first train task."""
    task = env.task("train", 0)
    turns = [Turn("target", task.messages, Reply(reply))]
    turns += [Turn("judge", (), Reply(judge))] if judge else []
    grade = score or failed("wrong", "not this")
    return env.feedback(task, Rollout(Ticket("train", "train", 0), Label("x"), "", "", "", tuple(turns), grade))


def rows(folder: Path, answer: str, **more: str) -> str:
    file = folder / "rows.csv"
    with file.open("w", newline="") as handle:
        writer = csv.DictWriter(handle, ["question", "answer", *more])
        writer.writeheader()
        for number in range(24):
            writer.writerow({"question": f"what is {number} of {'abcdefgh'[number % 8]}?", "answer": answer, **more})
    return str(file)


CHECKS: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "exact": ({}, "Q7", "Q8", "Q7"),
    "contains": ({}, "Q7", "it is Q8", "Q7"),
    "several": ({"check": "exact", "separator": "|"}, "Q7|Q9", "Q8", "Q7 or Q9"),
    "number": ({"tolerance": 0.5}, "42", "17", "42 (may be off by 0.5)"),
    "choice": ({"choices": ["yes", "no"]}, "yes", "no", "yes"),
    "regex": ({}, "^Q[0-9]$", "X1", "a text in which this pattern is found: ^Q[0-9]$"),
    "em": ({}, "the Moon", "Mars", "the Moon"),
    "f1": ({}, "the Moon", "Mars", "the Moon"),
    "anls": ({}, "the Moon", "Mars", "the Moon"),
    "json": ({}, '{"city": "Bern", "year": 1291}', '{"city": "Bern", "year": 1848}', '{"city": "Bern", "year": 1291}'),
    "rubric": (
        {"rubric": "Be brief.", "unmeasured": True},
        "Hello.",
        "Hi!!!",
        "a reply that meets the rubric: Be brief.",
    ),
}


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_says_what_it_expected(tmp_path: Path, name: str) -> None:
    own, answer, reply, expected = CHECKS[name]
    env = DataEnvironment(rows(tmp_path, answer), {"check": name, "prompt": "{question}", "answer": "answer", **own})
    found = told(env, reply, judge="FAIL: too loud" if name == "rubric" else "")
    assert found.expected.startswith(expected)
    assert found.got == reply
    assert found.why == "wrong: not this"


def test_a_json_check_names_the_fields_that_are_wrong(tmp_path: Path) -> None:
    own, answer, reply, _ = CHECKS["json"]
    env = DataEnvironment(rows(tmp_path, answer), {"check": "json", "prompt": "{question}", "answer": "answer", **own})
    assert told(env, reply).evidence == "year should be 1291, is '1848'"
    assert told(env, "{}").evidence == 'city should be "Bern", is missing; year should be 1291, is missing'


def test_the_words_of_a_judge_are_shown(tmp_path: Path) -> None:
    own, answer, reply, _ = CHECKS["rubric"]
    args = {"check": "rubric", "prompt": "{question}", "answer": "answer", **own}
    found = told(DataEnvironment(rows(tmp_path, answer), args), reply, judge="It shouts.\nFAIL")
    assert found.evidence == "the judge: It shouts.\nFAIL"


def test_reasoning_gym_gives_the_answer() -> None:
    env = load_environment("reasoning-gym/leg_counting")
    assert told(env, "3").expected == env.task("train", 0).truth["answer"]


@pytest.mark.parametrize(("name", "key"), [("soup", "program"), ("soup@1", "code")])
def test_soup_gives_the_answer_and_never_the_oracle_s_program(name: str, key: str) -> None:
    env = load_environment(name)
    programs = env.task("train", 0).truth[key]
    found = told(env, "{}")
    assert found.expected
    assert not any(program in str(found) for program in ([programs] if isinstance(programs, str) else programs))


def test_groupqc_names_the_kind_of_error() -> None:
    env = load_environment("groupqc")
    label = env.task("train", 0).truth["label"]
    other = {"pass": "fail", "fail": "pass"}[label]
    found = told(env, f"Verdict: {other}\nReason: looks so")
    assert found.expected == label
    assert found.why.startswith("a false")
    assert "could not be read" in told(env, "no idea").why


def test_ordebug_says_what_was_wrong_and_keeps_the_certificate() -> None:
    env = load_environment("ordebug")
    found = told(env, "done")
    assert found.expected.startswith("undo this: ")
    assert "original_digest" not in str(found)
    assert len(found.expected) < 2000
