"""The check for spans: pieces of a text, each with a label, all of them and no other."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson

from whet.envs.arguments import Argument
from whet.envs.data.checks.base import THRESHOLD, AnswerCheck, graded
from whet.envs.data.columns import known
from whet.envs.data.forms import answer_of, object_of
from whet.envs.data.template import cell
from whet.errors import WhetError
from whet.types import Feedback, Rollout, Score, Shape, Task, failed

Span = tuple[str, str]
"""The words of a span and its label; '' where spans have none."""

MOST = 2000
"""Spans that are read of a reply."""
LONGEST_TOLD = 400

_FENCED = re.compile(r"```[^\n`]*\n(.*?)```", re.DOTALL)
_TEXTS, _LABELS = ("text", "span", "word", "value", "entity"), ("label", "type", "tag", "entity_type", "category")
_STARTS, _ENDS = ("start", "begin", "start_offset", "from"), ("end", "stop", "end_offset", "to")


class SpansCheck(AnswerCheck):
    """Spans are compared by their words and labels, as often as each comes. A wrong one takes back a right one.

    So marking everything earns nothing, and a text without spans is answered by an empty array.
    """

    takes = (
        Argument("source", str, "", "column with the text that spans by start and end are cut from"),
        Argument("labels", list[str], [], "labels that there are; another one in an answer column is a mistake"),
        THRESHOLD,
    )

    def __init__(self, answer: str | None, columns: Sequence[str], own: Mapping[str, Any]) -> None:
        super().__init__(answer, columns, own)
        self.source = known(self.own["source"], columns, "source") if self.own["source"] else ""
        self.labels = {bare(label): str(label) for label in self.own["labels"]}

    def instruction(self) -> str:
        which = f" Labels: {', '.join(self.labels.values())}." if self.labels else ""
        return (
            'Reply with a JSON array of objects with "text" (copied from the text) and "label", one for each span in '
            f"its order, and nothing else; [] where there is none.{which}"
        )

    def truth(self, row: Mapping[str, Any], place: str) -> Any:
        assert self.answer is not None
        value, text = row.get(self.answer), cell(row.get(self.source)) if self.source else ""
        if isinstance(value, str) and value.strip():
            try:
                value = orjson.loads(value)
            except ValueError:
                raise WhetError(f"{place}, column {self.answer!r}: is not a JSON array of spans") from None
        spans = [span_of(part, text) for part in value or []] if isinstance(value, list | None | str) else [None]
        if None in spans:
            needs = "" if self.source else "; spans by start and end need -a source=COLUMN"
            raise WhetError(f"{place}, column {self.answer!r}: holds what is no span{needs}")
        found = [list(span) for span in spans if span is not None]
        strange = next((label for _, label in found if self.labels and bare(label) not in self.labels), None)
        if strange is not None:
            raise WhetError(f"{place}, column {self.answer!r}: {strange[:60]!r} is not among the labels")
        return {"spans": found, "text": text}

    def shape(self, row: Mapping[str, Any], place: str) -> Shape | None:
        label: dict[str, Any] = {"type": "string", **({"enum": list(self.labels.values())} if self.labels else {})}
        return answer_of({"type": "array", "items": object_of({"text": {"type": "string"}, "label": label})})

    def oracle(self, truth: Any) -> str | None:
        return orjson.dumps([{"text": text, "label": label} for text, label in truth["spans"]]).decode()

    def expected(self, truth: Any) -> str:
        return self.oracle(truth) or ""

    def score(self, truth: Any, said: str) -> Score:
        given = read_spans(said, truth["text"])
        if given is None:
            return failed("no_spans", f"no JSON array of spans in {said[:80]!r}")
        named, right = _counted(given), _counted(truth["spans"])
        both = (named & right).total()
        wrong = named.total() - both
        f1 = 2.0 * both / (named.total() + right.total()) if named or right else 1.0
        credit = max(0.0, (both - wrong) / right.total()) if right else float(not named)
        solved_all = credit if named == right else min(credit, 1.0 - 1e-6)
        return graded(solved_all, said, self.own["threshold"], f1=f1, right=both, wrong=wrong)

    def feedback(self, task: Task, rollout: Rollout, said: str) -> Feedback:
        """With the spans that are missing and those that are wrong."""
        told = super().feedback(task, rollout, said)
        named = _counted(read_spans(said, task.truth["text"]) or [])
        right = _counted(task.truth["spans"])
        parts = [("missing", right - named), ("wrong", named - right)]
        wrong = [f"{word}: {_told(spans)[:LONGEST_TOLD]}" for word, spans in parts if spans]
        return replace(told, evidence="; ".join(wrong))


def read_spans(said: str, text: str) -> list[Span] | None:
    """The spans that a reply lists as JSON; None where it lists none."""
    opened, closed = said.find("["), said.rfind("]")
    for piece in (said, *reversed(_FENCED.findall(said)), said[opened : closed + 1] if 0 <= opened < closed else ""):
        try:
            found = orjson.loads(piece.strip())
        except ValueError:
            continue
        if isinstance(found, dict):
            found = next((part for part in found.values() if isinstance(part, list)), None)
        if isinstance(found, list):
            return [span_of(part, text) or (f"{part!r:.80}", "?") for part in found[:MOST]]
    return None


def span_of(part: Any, text: str) -> Span | None:
    """A span as people write it: its words, `[start, end, label]`, or an object; None for anything else."""
    if isinstance(part, str):
        return part, ""
    if isinstance(part, list):
        part = dict(zip(("start", "end", "label") if len(part) == 3 else ("text", "label"), part, strict=False))
    if not isinstance(part, dict):
        return None
    label = next((part[name] for name in _LABELS if name in part), "")
    label = label[0] if isinstance(label, list) and label else label
    words = next((part[name] for name in _TEXTS if isinstance(part.get(name), str)), None)
    start, end = (next((part[name] for name in names if name in part), None) for names in (_STARTS, _ENDS))
    if words is None and type(start) is int and type(end) is int and 0 <= start < end <= len(text):
        words = text[start:end]
    return (words, cell(label)) if words else None


def bare(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().strip(" \t\r\n\"'`").split())


def _counted(spans: Sequence[Sequence[str]]) -> Counter[Span]:
    return Counter((bare(text), bare(label)) for text, label in spans)


def _told(spans: Counter[Span]) -> str:
    return ", ".join(f"{text!r}{f' ({label})' if label else ''}" for text, label in spans.elements())
