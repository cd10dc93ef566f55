"""The check for JSON: an object in the reply whose fields are compared one by one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import orjson

from whet.envs.arguments import Argument
from whet.envs.base import killable, work
from whet.envs.data.checks.base import RELATIVE, TOLERANCE, AnswerCheck, Grading, graded
from whet.envs.data.checks.number import closeness
from whet.envs.data.checks.schema import misfit, read_schema
from whet.envs.data.columns import known
from whet.envs.data.forms import object_of
from whet.errors import FaultError, WhetError
from whet.keys import digest
from whet.types import Fault, Feedback, Rollout, Score, Shape, Task, failed

SECONDS = 5.0
"""How long the comparison with a schema may take: its patterns may backtrack."""

_MISFIT = "whet.envs.data.checks.schema:misfit"

LONGEST_VALUE = 120
"""Characters of a wrong value that feedback shows."""

_FENCE = re.compile(r"```[^\n`]*\n(.*?)```", re.DOTALL)


class JsonCheck(AnswerCheck):
    """Credit is the share of fields that are right; solved when all are. Text is compared without case and spacing."""

    takes = (
        Argument("fields", list[str], [], "what to compare: columns, or keys of the object in the answer column"),
        Argument(
            "schema", str | dict, "", "JSON schema that an object must fit before its fields count: a file, or itself"
        ),
        TOLERANCE,
        RELATIVE,
    )
    needs_answer = False

    def __init__(self, answer: str | None, columns: Sequence[str], own: Mapping[str, Any]) -> None:
        super().__init__(answer, columns, own)
        self.fields: list[str] = list(self.own["fields"])
        if answer is None:
            if not self.fields:
                raise WhetError("fields: name the columns to compare, or with answer= one that holds a JSON object")
            for field in self.fields:
                known(field, columns, "fields")
        self.schema = read_schema(self.own["schema"]) if self.own["schema"] else None

    @property
    def made_of(self) -> Any:
        return "" if self.schema is None else digest(self.schema)

    @property
    def hidden(self) -> frozenset[str]:
        return frozenset(self.fields) if self.answer is None else frozenset([self.answer])

    def instruction(self) -> str:
        named = f" with the fields {', '.join(self.fields)}" if self.fields else ""
        fits = f" that fits this schema: {orjson.dumps(dict(self.schema)).decode()}" if self.schema else ""
        return f"Reply with one JSON object{named}{fits}, and nothing else."

    def truth(self, row: Mapping[str, Any], place: str) -> Any:
        if self.answer is None:
            return {field: row.get(field) for field in self.fields}
        value = row.get(self.answer)
        try:
            right = orjson.loads(value) if isinstance(value, str) else value
        except ValueError as error:
            raise WhetError(f"{place}, column {self.answer!r}: is not JSON: {error}") from None
        if not isinstance(right, dict) or not right:
            raise WhetError(f"{place}, column {self.answer!r}: must hold a JSON object with fields")
        missing = [field for field in self.fields if field not in right]
        if missing:
            raise WhetError(f"{place}, column {self.answer!r}: the object has no field {missing[0]!r}")
        if self.schema is not None and (wrong := misfit(right, self.schema)):
            raise WhetError(f"{place}, column {self.answer!r}: does not fit the schema: {wrong}")
        return {field: right[field] for field in self.fields or right}

    def shape(self, row: Mapping[str, Any], place: str) -> Shape | None:
        if self.schema is not None:
            return Shape(schema=self.schema)
        return Shape(schema=object_of({field: {} for field in self.fields})) if self.fields else None

    def grade(self, task: Task, said: str) -> Grading:
        """First whether the object fits the schema, where there is one: where it can be stopped, for its patterns."""
        given = find_object(said)
        if self.schema is None or given is None:
            return (yield from super().grade(task, said))
        result = yield from work(killable(_MISFIT, seconds=SECONDS, value=given, schema=dict(self.schema)))
        if result.error == "hung":
            return failed("check_hung", f"the schema was {result.detail}")
        if result.error:
            raise FaultError(Fault("check_ended", "json", f"the schema: {result.detail}"))
        if result.value:
            return failed("misfit", f"the object does not fit the schema: {result.value}")
        return self.score(task.truth, said)

    def oracle(self, truth: Any) -> str | None:
        return orjson.dumps(truth).decode()

    def feedback(self, task: Task, rollout: Rollout, said: str) -> Feedback:
        """With the fields that are wrong, each with what it should have been."""
        told = super().feedback(task, rollout, said)
        given = find_object(said)
        if given is None:
            return told
        wrong = [
            f"{field} should be {orjson.dumps(right).decode()}, "
            + (f"is {str(given[field])[:LONGEST_VALUE]!r}" if field in given else "is missing")
            for field, right in task.truth.items()
            if field not in given or not self._same(given[field], right)
        ]
        return replace(told, evidence="; ".join(wrong))

    def score(self, truth: Any, said: str) -> Score:
        given = find_object(said)
        if given is None:
            return failed("no_json", f"no JSON object in {said[:80]!r}")
        right = {field: float(field in given and self._same(given[field], value)) for field, value in truth.items()}
        return graded(sum(right.values()) / len(right), said, **right)

    def _same(self, given: Any, right: Any) -> bool:
        given_number, right_number = _number(given), _number(right)
        if given_number is not None and right_number is not None:
            return closeness(given_number, right_number, self.own["tolerance"], self.own["relative"]) >= 1.0
        if isinstance(given, list) and isinstance(right, list):
            return len(given) == len(right) and all(self._same(*pair) for pair in zip(given, right, strict=True))
        if isinstance(given, dict) and isinstance(right, dict):
            return given.keys() == right.keys() and all(self._same(given[key], right[key]) for key in right)
        return _folded(given) == _folded(right)


def find_object(text: str) -> dict[str, Any] | None:
    """The object that a reply is, holds in a fence, or shows between its first and last brace."""
    pieces = [text, *reversed(_FENCE.findall(text)), text[text.find("{") : text.rfind("}") + 1]]
    for piece in pieces:
        try:
            value = orjson.loads(piece.strip())
        except ValueError:
            continue
        if isinstance(value, dict):
            return value
    return None


def _number(value: Any) -> Decimal | None:
    """A number, also one that a table holds as text."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    text = str(value).strip()
    return Decimal(text) if re.fullmatch(r"[-+]?\d{1,40}(?:\.\d{1,40})?(?:[eE][-+]?\d{1,3})?", text, re.ASCII) else None


def _folded(value: Any) -> str:
    """Text without case and spacing; null and truth values also as a table writes them."""
    if value is None:
        return ""
    return " ".join(str(value).casefold().split())
