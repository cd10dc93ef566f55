"""Checks of several values at once: a set of labels, and a list whose order counts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

import orjson

from whet.envs.arguments import Argument
from whet.envs.data.checks.base import SEPARATOR, THRESHOLD, AnswerCheck, accepted, graded
from whet.envs.data.columns import known
from whet.envs.data.forms import some_of
from whet.envs.data.template import cell
from whet.errors import WhetError, nearest
from whet.types import Feedback, Rollout, Score, Shape, Task, failed

Measure = Literal["informedness", "exact", "f1", "jaccard"]

LONGEST_TOLD = 400
"""Characters of the values that feedback names."""

_AROUND = " \t\r\n.\"'`*_()[]{}<>"
_MARKS = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+")
_LEAD = re.compile(
    r"^(?:the\s+)?(?:(?:correct|right)\s+)?(?:labels?|answers?|tags?|categories|values)(?:\s+that\s+appl(?:y|ies))?"
    r"(?:\s*:|\s+(?:is|are)\b\s*:?)\s*",
    re.IGNORECASE,
)
_JOINTS = re.compile(r"(?:^|\s)(?:and|&)\s+|\s*/\s*", re.IGNORECASE)
_BETWEEN = re.compile(r"[;,|\n]")
_SPARE = 0xE000
"""First of the characters that nobody writes; they stand for labels which hold a comma or an `and`."""
_NONE = frozenset({"none", "nothing", "[]", "-", "no label", "no labels"})


class SetCheck(AnswerCheck):
    """All of the labels and no other, in any order; `measure` says what part of them is worth.

    Informedness is the share of the labels that apply and are named, less the share of the others that are named too:
    naming every label earns nothing, as naming none does. It needs to know which labels there are.
    """

    needs_answer = False
    takes: ClassVar[tuple[Argument, ...]] = (
        Argument("labels", list[str], [], "labels that there are; another one in an answer column is a mistake"),
        Argument(
            "label_columns",
            list[str],
            [],
            "columns named by a label each, in which 1, true, yes or x says that it applies",
        ),
        Argument(
            "measure",
            Measure,
            "informedness",
            "credit of a set that is partly right: informedness (f1 without labels), exact (none), f1, jaccard",
        ),
        THRESHOLD,
        SEPARATOR,
    )

    def __init__(self, answer: str | None, columns: Sequence[str], own: Mapping[str, Any]) -> None:
        super().__init__(answer, columns, own)
        self.marks = [known(column, columns, "label_columns") for column in self.own.get("label_columns", ())]
        if self.marks and (answer is not None or self.own["labels"]):
            raise WhetError("label_columns: their names are the labels; leave answer and labels out")
        if answer is None and not self.marks:
            raise WhetError(
                "answer: say which column holds the labels, or with label_columns which ones are a label each"
            )
        self.labels = [str(label).strip() for label in self.own["labels"] or self.marks]
        self._known = {_bare(label): label for label in self.labels}
        if len(self._known) < len(self.labels):
            raise WhetError(f"labels: {self.labels} names a label twice, upper and lower case being the same")

    @property
    def hidden(self) -> frozenset[str]:
        return super().hidden | frozenset(self.marks)

    def instruction(self) -> str:
        if any("," in label for label in self.labels):
            listed = orjson.dumps(self.labels).decode()
            return f"Reply with a JSON array of every label that applies, and nothing else. Choose from: {listed}"
        which = f" Choose from: {', '.join(self.labels)}." if self.labels else ""
        return f"Reply with every label that applies, separated by commas, and nothing else.{which}"

    def truth(self, row: Mapping[str, Any], place: str) -> Any:
        """The labels, each once, in their order; a row without any has the empty set."""
        if self.marks:
            return [column for column in self.marks if marked(row.get(column), f"{place}, column {column!r}")]
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

    def shape(self, row: Mapping[str, Any], place: str) -> Shape | None:
        return some_of(self.labels, "[]" if "none" in self._known else "none") if self.labels else None

    def oracle(self, truth: Any) -> str | None:
        if not truth:
            return "[]" if "none" in self._known else "none"
        return orjson.dumps(truth).decode() if any(map(_BETWEEN.search, truth)) else ", ".join(truth)

    def feedback(self, task: Task, rollout: Rollout, said: str) -> Feedback:
        """With what is missing and what is too many."""
        told = super().feedback(task, rollout, said)
        right, named = task.truth, read_parts(said, self.labels or task.truth)
        wanted, given = set(map(_bare, right)), set(map(_bare, named))
        missing = [value for value in right if _bare(value) not in given]
        spare = [value for value in dict.fromkeys(named) if _bare(value) not in wanted]
        parts = [("missing", missing), ("too many", spare)]
        wrong = [f"{word}: {', '.join(values)[:LONGEST_TOLD]}" for word, values in parts if values]
        return replace(told, evidence="; ".join(wrong))

    def score(self, truth: Any, said: str) -> Score:
        parts = read_parts(said, self.labels or truth)
        named, right = {_bare(part) for part in parts}, {_bare(label) for label in truth}
        shared, both = len(named & right), len(named | right)
        jaccard = shared / both if both else 1.0
        f1 = 2.0 * shared / (len(named) + len(right)) if named or right else 1.0
        measures = {"exact": float(named == right), "f1": f1, "jaccard": jaccard}
        measures["informedness"] = informedness(named, right, set(self._known)) if self._known else f1
        return graded(measures[self.own["measure"]], said, self.own["threshold"], f1=f1, jaccard=jaccard)


def informedness(named: set[str], right: set[str], known: set[str]) -> float:
    """The share of `right` that is named, less the share of the others that is; what nobody knows counts as wrong."""
    others = (known | named) - right
    hits = len(named & right) / len(right) if right else 1.0
    return max(0.0, hits - (len(named - right) / len(others) if others else 0.0))


_TRUE, _FALSE = (
    frozenset({"1", "1.0", "true", "yes", "x", "y", "t"}),
    frozenset({"", "0", "0.0", "false", "no", "n", "f"}),
)


def marked(value: Any, place: str) -> bool:
    """Whether a cell of a label's own column says that it applies."""
    text = cell(value).strip().casefold()
    if text not in _TRUE | _FALSE:
        raise WhetError(f"{place}: {text[:40]!r} is neither true nor false")
    return text in _TRUE


class ListCheck(SetCheck):
    """The same values in the same order. Credit is the share of the longest run that is right from the start."""

    takes = (SEPARATOR,)
    needs_answer = True

    def __init__(self, answer: str | None, columns: Sequence[str], own: Mapping[str, Any]) -> None:
        super().__init__(answer, columns, {**own, "labels": [], "measure": "exact", "threshold": 1.0})

    def instruction(self) -> str:
        return "Reply with the values in their order, separated by commas, and nothing else."

    def truth(self, row: Mapping[str, Any], place: str) -> Any:
        assert self.answer is not None
        return accepted(row, self.answer, str(self.own["separator"]), place)

    def score(self, truth: Any, said: str) -> Score:
        named, right = [_bare(part) for part in read_parts(said, truth)], [_bare(value) for value in truth]
        if not named:
            return failed("no_answer", "no list in the reply")
        same = 0
        while same < min(len(named), len(right)) and named[same] == right[same]:
            same += 1
        return graded(same / max(len(named), len(right)), said)

    def feedback(self, task: Task, rollout: Rollout, said: str) -> Feedback:
        """Where the values are all there, that their order is wrong."""
        told = super().feedback(task, rollout, said)
        solved = rollout.score is not None and rollout.score.hard
        return told if told.evidence or solved else replace(told, evidence="the order is wrong, or a value comes twice")


def read_parts(said: str, labels: Sequence[str] = ()) -> list[str]:
    """The values that a reply lists: in JSON, in lines, or between commas or semicolons.

    `labels` are values that are known; one with a comma or an `and` in it is read as one, and what stands joined by
    `and`, `&` or a slash is several only where all of them are known.
    """
    text = _LEAD.sub("", unicodedata.normalize("NFC", said.strip()[:20_000]))
    listed = _from_json(text)
    if listed is not None:
        return listed
    known = {_bare(label) for label in labels}
    if _bare(text) in known:
        return [text]
    if _bare(text) in _NONE:
        return []
    whole = [label for label in labels if _BETWEEN.search(label) or _JOINTS.search(label)]
    for place, label in sorted(enumerate(whole), key=lambda entry: -len(entry[1])):
        spaced = r"\s+".join(map(re.escape, unicodedata.normalize("NFC", label).split()))
        text = re.sub(rf"(?<!\w){spaced}(?!\w)", chr(_SPARE + place), text, flags=re.IGNORECASE)
    lines = [_MARKS.sub("", line) for line in text.splitlines() if line.strip()]
    parts = [part for line in lines for part in re.split(r"[;,|]", line)]
    if len(lines) == 1 and len(parts) == 1 and " and " in text:
        parts = text.split(" and ")
    known |= {chr(_SPARE + place) for place in range(len(whole))}
    found = [piece.strip() for part in parts for piece in _apart(part, known) if _bare(piece)]
    marks = {chr(_SPARE + place): label for place, label in enumerate(whole)}
    return ["".join(marks.get(letter, letter) for letter in part) for part in found]


def _apart(part: str, known: Collection[str]) -> list[str]:
    """The known values that a part joins; the part itself where it is one, or where they are not all known."""
    pieces = [piece for piece in _JOINTS.split(part) if _bare(piece)]
    return pieces if _bare(part) not in known and pieces and all(_bare(piece) in known for piece in pieces) else [part]


def _from_json(text: str) -> list[str] | None:
    """The values of an array, or the names that an object says are true; None where the reply holds neither."""
    for first, last in ("[]", "{}"):
        if (opened := text.find(first)) < 0 or (closed := text.rfind(last)) < opened:
            continue
        try:
            found = orjson.loads(text[opened : closed + 1])
        except ValueError:
            continue
        if isinstance(found, dict) and all(value in (True, False) for value in found.values()):
            return [name for name, holds in found.items() if holds]
        if isinstance(found, list):
            return [cell(part).strip() for part in found if not isinstance(part, list | dict)]
    return None


def _bare(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().strip(_AROUND).split())
