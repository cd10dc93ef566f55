"""The check for code: tests that call it, run where it can neither see nor touch them."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson

from whet.envs.arguments import Argument
from whet.envs.base import work
from whet.envs.data.checks.base import AnswerCheck, Grading, graded
from whet.envs.data.checks.programs import program
from whet.envs.data.columns import known
from whet.envs.data.reply import read_answer
from whet.envs.data.template import cell
from whet.errors import FaultError, WhetError
from whet.keys import digest
from whet.sandbox.jobs import MIB, Limits, run_python
from whet.types import Fault, Feedback, Rollout, Score, Task, failed

TOLD = 1200
"""Characters of tests that failed, and of those that are to hold, in feedback."""


class CodeCheck(AnswerCheck):
    """Python code in a reply, and the tests of a row: assertions, `test_` functions, or `check(candidate)`.

    Credit is the share of tests that pass. Code and tests are two processes: a test calls what the code defines, and
    plain data comes back. Functions as arguments, and exceptions that the code defines, do not cross.
    """

    takes = (
        Argument("tests", str, "", "column with the tests: Python text, or a list of assertions"),
        Argument("entry", str, "", "column with the name of the function that `check(candidate)` in the tests takes"),
        Argument("seconds", float, 10.0, "how long the tests of a row may take together"),
        Argument("memory", int, 512, "how many MiB code and tests may use"),
    )
    needs_answer = False

    def __init__(self, answer: str | None, columns: Sequence[str], own: Mapping[str, Any]) -> None:
        super().__init__(answer, columns, own)
        if not self.own["tests"]:
            raise WhetError("tests: name the column with the tests, as in -a tests=tests")
        self.tests = known(self.own["tests"], columns, "tests")
        self.entry = known(self.own["entry"], columns, "entry") if self.own["entry"] else ""
        seconds = float(self.own["seconds"])
        self.limits = Limits(wall=seconds, cpu=seconds, memory=int(self.own["memory"]) * MIB)

    @property
    def made_of(self) -> Any:
        return digest(program("apart"))

    @property
    def hidden(self) -> frozenset[str]:
        return super().hidden | {self.tests}

    def instruction(self) -> str:
        return "Reply with the Python code in one fenced code block."

    def truth(self, row: Mapping[str, Any], place: str) -> Any:
        value = row.get(self.tests)
        tests = [cell(part) for part in value] if isinstance(value, list) else [cell(value)]
        entry = cell(row.get(self.entry)).strip() if self.entry else ""
        try:
            bodies = [ast.parse(test).body for test in tests]
        except (SyntaxError, ValueError) as error:
            raise WhetError(f"{place}, column {self.tests!r}: the tests are not Python: {error}") from None
        if not any(bodies) or (entry and not entry.isidentifier()):
            raise WhetError(f"{place}, column {self.tests!r}: there are no tests")
        if not entry and not any(_is_test(part) for body in bodies for part in body):
            raise WhetError(
                f"{place}, column {self.tests!r}: holds no assertion and no test_ function; is it -a entry=?"
            )
        answer = None if self.answer is None else cell(row.get(self.answer))
        answer = answer if answer is not None and stands_alone(answer) else None
        return {"tests": tests, "entry": entry, "answer": answer}

    def oracle(self, truth: Any) -> str | None:
        return None if truth["answer"] is None else str(truth["answer"])

    def expected(self, truth: Any) -> str:
        tests = "\n".join(truth["tests"])[:TOLD]
        return f"code for which these hold:\n{tests}"

    def grade(self, task: Task, said: str) -> Grading:
        code = read_answer(said, "code")
        if not code.strip():
            return failed("no_answer", "nothing to read in the reply")
        given = orjson.dumps({"tests": task.truth["tests"], "entry": task.truth["entry"]}).decode()
        job = run_python(program("apart"), files={"solution.py": code}, stdin=given, limits=self.limits)
        result = yield from work(job)
        if result.error == "no_performer":
            raise FaultError(Fault("no_performer", "code", result.detail or "no sandbox performs the tests"))
        if result.error:
            return failed(result.error, result.detail)
        try:
            told = orjson.loads(result.value["stdout"])
        except ValueError:
            return failed("wrong", f"the tests did not come to their end: {str(result.value['stderr'])[-TOLD:]}")
        return _score(told)

    def feedback(self, task: Task, rollout: Rollout, said: str) -> Feedback:
        return replace(super().feedback(task, rollout, said), got=read_answer(said, "code"))


def stands_alone(code: str) -> bool:
    """Whether it is Python by itself, and does not go on from what somebody else wrote."""
    try:
        return bool(ast.parse(code).body)
    except (SyntaxError, ValueError):
        return False


def _score(told: Mapping[str, Any]) -> Score:
    if "broken" in told:
        return failed("broken_code", f"the code cannot be loaded: {told['broken']}")
    results = told["results"]
    passed = sum(not problem for _, problem in results)
    wrong = [f"{test} -> {problem}" for test, problem in results if problem]
    score = graded(passed / len(results) if results else 0.0, "", passed=passed, tests=len(results))
    return replace(score, detail=f"{passed} of {len(results)} tests pass. {'; '.join(wrong)}"[:TOLD].strip())


def _is_test(part: ast.stmt) -> bool:
    return isinstance(part, ast.Assert | ast.Expr) or (
        isinstance(part, ast.FunctionDef) and part.name.startswith("test")
    )
