"""Checks of several values at once: a set of labels, and a list whose order counts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import orjson

from whet.envs.arguments import Argument
from whet.envs.data.checks.base import SEPARATOR, THRESHOLD, AnswerCheck, accepted, graded
from whet.errors import WhetError, nearest
from whet.types import Score, failed

Measure = Literal["exact", "f1", "jaccard"]

_AROUND = " \t\r\n.\"'`*_()[]{}<>"
_MARKS = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+")
_LEAD = re.compile(r"^(?:the\s+)?(?:labels?|answers?|tags?|categories|values)(?:\s+(?:is|are))?\s*:\s*", re.IGNORECASE)
_NONE = frozenset({"none", "nothing", "[]", "-", "no label", "no labels"})


class SetCheck(AnswerCheck):
    """All of the labels and no other, in any order; `measure` says what part of them is worth."""

    takes: ClassVar[tuple[Argument, ...]] = (
        Argument("labels", list[str], [], "labels that there are; another one in an answer column is a mistake"),
        Argument("measure", Measure, "f1", "credit of a set that is partly right: exact (none), f1 or jaccard"),
        THRESHOLD,
        SEPARATOR,
    )

    def __init__(self, answer: str | None, columns: Sequence[str], own: Mapping[str, Any]) -> None:
        super().__init__(answer, columns, own)
        self.labels = [str(label).strip() for label in self.own["labels"]]
        self._known = {_bare(label): label for label in self.labels}
        if len(self._known) < len(self.labels):
            raise WhetError(f"labels: {self.labels} names a label twice, upper and lower case being the same")

    def instruction(self) -> str:
        which = f" Choose from: {', '.join(self.labels)}." if self.labels else ""
        return f"Reply with every label that applies, separated by commas, and nothing else.{which}"

    def truth(self, row: Mapping[str, Any], place: str) -> Any:
        """The labels, each once, in their order; a row without any has the empty set."""
        assert self.answer is not None
        value = row.get(self.answer)
        if value is None or value in ([], ""):
            return []
        given = list(dict.fromkeys(accepted(row, self.answer, str(self.own["separator"]), place)))
        unknown = next((label for label in given if self._known and _bare(label) not in self._known), None)
        if unknown is not None:
            hint = nearest(unknown, self.labels) or f" They are: {', '.join(self.labels)[:200]}."
            raise WhetError(f"{place}, column {self.answer!r}: {unknown[:60]!r} is not among the labels.{hint}")
        return given

    def stratum(self, truth: Any) -> str:
        return "" if len(self.labels) > 12 else str(sorted(truth)[:1])

    def oracle(self, truth: Any) -> str | None:
        return ", ".join(truth) if truth else "none"

    def score(self, truth: Any, said: str) -> Score:
        named, right = {_bare(part) for part in read_parts(said, self.labels)}, {_bare(label) for label in truth}
        shared, both = len(named & right), len(named | right)
        jaccard = shared / both if both else 1.0
        f1 = 2.0 * shared / (len(named) + len(right)) if named or right else 1.0
        credit = {"exact": float(named == right), "f1": f1, "jaccard": jaccard}[self.own["measure"]]
        return graded(credit, said, self.own["threshold"], f1=f1, jaccard=jaccard)


class ListCheck(SetCheck):
    """The same values in the same order. Credit is the share of the longest run that is right from the start."""

    takes = (SEPARATOR,)

    def __init__(self, answer: str | None, columns: Sequence[str], own: Mapping[str, Any]) -> None:
        super().__init__(answer, columns, {**own, "labels": [], "measure": "exact", "threshold": 1.0})

    def instruction(self) -> str:
        return "Reply with the values in their order, separated by commas, and nothing else."

    def truth(self, row: Mapping[str, Any], place: str) -> Any:
        assert self.answer is not None
        return accepted(row, self.answer, str(self.own["separator"]), place)

    def score(self, truth: Any, said: str) -> Score:
        named, right = [_bare(part) for part in read_parts(said)], [_bare(value) for value in truth]
        if not named:
            return failed("no_answer", "no list in the reply")
        same = 0
        while same < min(len(named), len(right)) and named[same] == right[same]:
            same += 1
        return graded(same / max(len(named), len(right)), said)


def read_parts(said: str, labels: Sequence[str] = ()) -> list[str]:
    """The values that a reply lists: a JSON array, lines, or values between commas or semicolons."""
    text = _LEAD.sub("", said.strip()[:20_000])
    if (opened := text.find("[")) >= 0 and (closed := text.rfind("]")) > opened:
        try:
            found = orjson.loads(text[opened : closed + 1])
        except ValueError:
            found = None
        if isinstance(found, list):
            return [str(part).strip() for part in found if not isinstance(part, list | dict)]
    if _bare(text) in _NONE and text.casefold() not in {label.casefold() for label in labels}:
        return []
    lines = [_MARKS.sub("", line) for line in text.splitlines() if line.strip()]
    parts = [part for line in lines for part in re.split(r"[;,|]", line)]
    if len(lines) == 1 and len(parts) == 1 and " and " in text:
        parts = text.split(" and ")
    return [part.strip() for part in parts if _bare(part)]


def _bare(text: str) -> str:
    return " ".join(text.casefold().strip(_AROUND).split())
