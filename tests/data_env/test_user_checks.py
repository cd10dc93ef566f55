"""Checks that a user brings: a Python function, and a command in a workspace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders import FromFunction
from data_env.rows import as_lines, environment, one_row, scored

import whet
from whet.envs.base import Environment
from whet.envs.data.checks.python import score_from
from whet.errors import FaultError, WhetError
from whet.rollout.drive import drive
from whet.types import Work, WorkResult

CHECKS = """
def right(reply, row):
    return reply.strip() == row["answer"]

def partly(reply, row):
    return {"score": 0.25, "reason": "too_short", "detail": "say more", "parts": {"length": 3}}

def raises(reply, row):
    return row["anwser"]

def texts(reply, row):
    return "yes"

def spoils(reply, row):
    row.clear()
    return True
"""


def checked_by(folder: Path, function: str) -> Environment:
    (folder / "checks.py").write_text(CHECKS)
    return one_row(folder, "yes", check="python", answer="answer", function=f"{folder}/checks.py:{function}")


def test_a_function_of_the_reply_and_the_row_grades(tmp_path: Path) -> None:
    env = checked_by(tmp_path, "right")
    assert [scored(env, reply).reason for reply in ("yes", "no")] == ["correct", "wrong"]


def test_a_function_may_give_credit_with_a_reason(tmp_path: Path) -> None:
    score = scored(checked_by(tmp_path, "partly"), "hm")
    assert (score.hard, score.soft, score.reason, dict(score.parts)) == (0, 0.25, "too_short", {"length": 3.0})


@pytest.mark.parametrize(
    ("function", "said"),
    [("raises", "raised KeyError: 'anwser' in line 9 of checks.py"), ("texts", "returned 'yes'")],
)
def test_a_broken_check_is_named_with_the_row_and_is_never_a_score(tmp_path: Path, function: str, said: str) -> None:
    with pytest.raises(WhetError) as refused:
        scored(checked_by(tmp_path, function), "hello")
    assert str(refused.value).startswith("one.jsonl, row 1: ")
    assert said in str(refused.value)
    assert "'hello'" in str(refused.value)


def test_a_broken_check_stops_the_run_and_says_where(tmp_path: Path) -> None:
    env = checked_by(tmp_path, "raises")
    with pytest.raises(WhetError, match=r"one.jsonl, row 1: .*raised KeyError"):
        whet.evaluate(env, FromFunction(lambda _: "hello"), n=1, split="train", runs=tmp_path / "runs")


def test_a_check_cannot_spoil_the_row(tmp_path: Path) -> None:
    env = checked_by(tmp_path, "spoils")
    task = env.task("train", 0)
    assert [scored(env, "x").hard, scored(env, "x").hard] == [1, 1]
    assert task.truth["row"] == {"question": "What is it?", "answer": "yes"}


@pytest.mark.parametrize("value", ["yes", None, float("nan"), 1.5, -0.1, [], {"score": "x"}, {"skore": 1.0}])
def test_what_is_no_score_is_told_from_one(value: Any) -> None:
    assert score_from(value, "reply") is None


def test_the_fingerprint_follows_the_code_of_the_check(tmp_path: Path) -> None:
    before = checked_by(tmp_path, "right").fingerprint
    assert checked_by(tmp_path, "partly").fingerprint != before
    (tmp_path / "checks.py").write_text(CHECKS.replace("reply.strip() ==", "reply.strip() !="))
    function = f"{tmp_path}/checks.py:right"
    changed = one_row(tmp_path, "yes", check="python", answer="answer", function=function)
    assert changed.fingerprint != before
    assert scored(changed, "yes").hard == 0


def test_the_fingerprint_follows_what_the_check_imports_and_not_its_remarks(tmp_path: Path) -> None:
    def fingerprint() -> str:
        function = f"{tmp_path}/graders_of_mine.py:right"
        return one_row(tmp_path, "yes", check="python", answer="answer", function=function).fingerprint

    (tmp_path / "limits_of_mine.py").write_text("LIMIT = 1\n")
    text = "def right(reply, row):\n    from limits_of_mine import LIMIT\n    return len(reply) > LIMIT\n"
    (tmp_path / "graders_of_mine.py").write_text(text)
    before = fingerprint()
    (tmp_path / "graders_of_mine.py").write_text(f"# a remark\n{text}")
    assert fingerprint() == before
    (tmp_path / "limits_of_mine.py").write_text("LIMIT = 2\n")
    assert fingerprint() != before


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("checks", "is not the address of a check"),
        ("no_such_module:check", "cannot import no_such_module"),
        ("nowhere.py:check", "cannot read"),
        ("os.path:no_such_function", "has no function 'no_such_function'"),
    ],
)
def test_a_function_that_is_not_there_is_refused(tmp_path: Path, function: str, said: str) -> None:
    with pytest.raises(WhetError, match=said):
        one_row(tmp_path, "x", check="python", function=function)


# --------------------------------------------------------------------------------------------- commands


class Bench:
    """Stands for a sandbox: keeps the jobs and answers each in the same way."""

    def __init__(self, exit_code: int = 0, error: str = "", stderr: str = "") -> None:
        self.jobs: list[Work] = []
        value = {"exit_code": exit_code, "stdout": "", "stderr": stderr, "files": {}}
        self.result = WorkResult(value, error, "told why" if error else "")

    def __call__(self, job: Work) -> WorkResult:
        self.jobs.append(job)
        return self.result


def commanded(folder: Path, **args: Any) -> Environment:
    (folder / "fixed" / "sub").mkdir(parents=True)
    (folder / "fixed" / "sub" / "data.txt").write_text("42")
    rows = [{"question": "Write it.", "name": "it", "tests": "assert True", "solution": "def it(): ..."}]
    return environment(
        as_lines(folder / "code.jsonl", rows),
        **{
            "check": "command",
            "command": ["python", "test_it.py", "{name}"],
            "prompt": "{question} Call it {name}.",
            "answer": "solution",
            "reply_file": "it.py",
            "row_files": {"test_it.py": "tests"},
            "workspace": str(folder / "fixed"),
            "read": "code",
            "split": [1.0, 0.0, 0.0],
            **args,
        },
    )


def test_a_command_runs_beside_the_reply_the_fixed_files_and_cells_of_the_row(tmp_path: Path) -> None:
    env, bench = commanded(tmp_path, seconds=3.0), Bench()
    score = drive(env.play(env.task("train", 0)), lambda said, asked: "```python\nx = 1\n```", bench).score
    assert (score.hard, score.reason) == (1, "correct")
    payload = bench.jobs[0].payload
    assert payload["argv"] == ["python", "test_it.py", "it"]
    assert payload["files"] == {"it.py": "x = 1\n", "test_it.py": "assert True", "sub/data.txt": "42"}
    assert payload["limits"]["wall"] == 3.0


@pytest.mark.parametrize(
    ("bench", "reason"),
    [
        (Bench(1, stderr="AssertionError"), "wrong"),
        (Bench(127, stderr="sh: 1: foo: not found"), "wrong"),
        (Bench(error="deadline"), "deadline"),
        (Bench(error="memory"), "memory"),
        (Bench(error="refused"), "refused"),
    ],
)
def test_what_the_reply_brought_about_is_a_score(tmp_path: Path, bench: Bench, reason: str) -> None:
    env = commanded(tmp_path)
    score = drive(env.play(env.task("train", 0)), lambda said, asked: "x", bench).score
    assert (score.hard, score.reason) == (0, reason)


def test_a_host_without_a_sandbox_or_without_the_program_is_no_score(tmp_path: Path) -> None:
    env = commanded(tmp_path)
    with pytest.raises(FaultError):
        drive(env.play(env.task("train", 0)), lambda said, asked: "x", Bench(error="no_performer"))
    with pytest.raises(WhetError, match="'python' cannot be run"):
        drive(
            env.play(env.task("train", 0)),
            lambda said, asked: "x",
            Bench(127, stderr="python: No such file or directory\n"),
        )


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"command": []}, "command: name a program"),
        ({"reply_file": "../x"}, "cannot be a file of the workspace"),
        ({"row_files": {"t.py": "test"}}, "Did you mean 'tests'?"),
        ({"workspace": "nowhere"}, "is not a folder"),
        ({"prompt": "{question} {tests}"}, "must not be shown"),
    ],
)
def test_a_command_that_cannot_work_is_refused(tmp_path: Path, args: dict[str, Any], said: str) -> None:
    with pytest.raises(WhetError) as refused:
        commanded(tmp_path, **args)
    assert said in str(refused.value)
