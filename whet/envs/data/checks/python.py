"""The check that a user wrote: a Python function of the reply and the row."""

from __future__ import annotations

import copy
import functools
import importlib
import importlib.util
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from whet.envs.arguments import Argument
from whet.envs.base import killable, work
from whet.envs.data.checks.base import AnswerCheck, Grading, graded
from whet.envs.data.template import cell
from whet.envs.fingerprint import code_in
from whet.errors import FaultError, WhetError
from whet.source import module_from
from whet.types import Fault, Score, Task, failed

Function = Callable[[str, dict[str, Any]], Any]

_APPLY, _LOAD = "whet.envs.data.checks.python:apply", "whet.envs.data.checks.python:loads"
_GIVE = "return True or False, credit from 0 to 1, or a dict with 'score' and perhaps 'reason', 'detail', 'parts'"


class PythonCheck(AnswerCheck):
    """`(reply, row) -> bool | float | dict`, called in a process of its own.

    What it raises stops the run with the row: a defect is never a score. A reply that it is not done with in time
    cannot be told to be right, and is scored `check_hung`; it would hang the check again. A check that ends its process
    (`sys.exit`, a crash in a library) has graded nothing: a fault, `check_ended`.
    """

    takes = (
        Argument("function", str, "", "the check: module:function or file.py:function"),
        Argument("seconds", float, 30.0, "how long one check may take"),
    )
    needs_answer = False

    def __init__(self, answer: str | None, columns: Sequence[str], own: Mapping[str, Any]) -> None:
        super().__init__(answer, columns, own)
        self.function = located(str(self.own["function"]))
        self._code = code_digest(self.function)
        load_function(self.function, self._code)

    @property
    def made_of(self) -> Any:
        return self._code, self.function.rpartition(":")[2]

    def truth(self, row: Mapping[str, Any], place: str) -> Any:
        return {"place": place, "row": dict(row)}

    def oracle(self, truth: Any) -> str | None:
        return cell(truth["row"].get(self.answer)) if self.answer is not None else None

    def expected(self, truth: Any) -> str:
        return self.oracle(truth) or ""

    def grade(self, task: Task, said: str) -> Grading:
        where = {"function": self.function, "code": self._code}
        shown = {"reply": said, "row": task.truth["row"]}
        job = killable(_APPLY, seconds=self.own["seconds"], prepare=(_LOAD, where), **where, **shown)
        result = yield from work(job)
        name, place = self.own["function"], task.truth["place"]
        if result.error == "hung":
            return failed("check_hung", f"{name} was {result.detail}")
        if result.error == "ended":
            raise FaultError(Fault("check_ended", place, f"{name} ended its process ({result.detail})"))
        problem = result.detail if result.error else result.value["problem"]
        if problem:
            raise WhetError(f"{place}: {name} {problem} for the reply {said[:60]!r}")
        return Score(**result.value["score"])


def loads(function: str, code: str) -> None:
    """Imports the function, so that the time of the first check is its own."""
    load_function(function, code)


def apply(function: str, code: str, reply: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """The score that the function gives, or what is wrong with it; it may write into the row it is shown."""
    try:
        value = load_function(function, code)(reply, copy.deepcopy(dict(row)))
        score = score_from(value, reply)
        given = "" if score is not None else f"returned {value!r:.60}; {_GIVE}, not this"
    except Exception as error:  # noqa: BLE001 - a user's own code: whatever it raises is told to the user
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        line = f" in line {trace.tb_lineno} of {Path(trace.tb_frame.f_code.co_filename).name}" if trace else ""
        return {"score": None, "problem": f"raised {type(error).__name__}: {error}{line}"}
    return {"score": None if score is None else asdict(score), "problem": given}


def score_from(value: Any, said: str) -> Score | None:
    """The score that a check's value stands for; None where it stands for none."""
    if isinstance(value, Mapping):
        found = score_from(value.get("score"), said) if set(value) <= {"score", "reason", "detail", "parts"} else None
        parts = value.get("parts", {})
        if found is None or not isinstance(parts, Mapping) or not all(_finite(part) for part in parts.values()):
            return None
        given = {_text(name): float(part) for name, part in parts.items()}
        reason, detail = _text(value.get("reason", found.reason)), _text(value.get("detail", found.detail))
        return Score(found.hard, found.soft, found.reward, given, reason, detail)
    if isinstance(value, bool):
        return graded(float(value), said)
    return graded(float(value), said) if _finite(value) and 0.0 <= float(value) <= 1.0 else None


def _text(value: Any) -> str:
    """As text that can be written down: half a character, as a reply cut in the middle has, is spelled out."""
    return str(value).encode("utf-8", "backslashreplace").decode()


def _finite(value: Any) -> bool:
    """Whether it is a number; numpy's count, text does not."""
    return not isinstance(value, str | bytes) and hasattr(value, "__float__") and math.isfinite(float(value))


# --------------------------------------------------------------------------------------------- finding it


def located(text: str) -> str:
    """The address of a function, with the file by its full path; refuses what is no address."""
    where, colon, name = text.rpartition(":")
    if not colon or not where or not name:
        raise WhetError(f"function: {text!r} is not the address of a check: module:function or file.py:function")
    return f"{Path(where).resolve()}:{name}" if where.endswith(".py") else text


def code_digest(address: str) -> str:
    """What stands for the code of a function: that of its file, and of what the file imports."""
    where = address.rpartition(":")[0]
    source = where if where.endswith(".py") else inspect.getsourcefile(_from_module(where))
    try:
        return code_in(Path(source)) if source else where
    except (OSError, TypeError) as error:
        raise WhetError(f"function: cannot read {where}: {error}") from None


@functools.lru_cache(maxsize=64)
def load_function(address: str, code: str) -> Function:
    """The function at `module:function` or `file.py:function`, imported once for each state of its `code`."""
    where, _, name = address.rpartition(":")
    try:
        module = module_from(Path(where)) if where.endswith(".py") else _from_module(where)
    except SystemExit as end:
        raise WhetError(f"function: {where} ends the program when it is imported (SystemExit: {end.code})") from None
    found = getattr(module, name, None)
    if not callable(found):
        raise WhetError(f"function: {where} has no function {name!r}")
    checked: Function = found
    return checked


def _from_module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise WhetError(f"function: cannot import {name}: {error}; a file is named as file.py:function") from None
