"""What a policy's last words say: the object in them, or a named reason why there is none.

Lenient where nothing can be meant but one thing: an empty `limit` beside an answer and an empty `answer` beside a limit
are harmless. Strict about the rest: a key of another name is no part of the form.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

LONGEST = 400_000
"""Characters of a last reply that are looked at."""

DEEPEST = 24
"""Levels that a value may have; no true one has more than four."""

_PLACES = 64
"""Places at which an object may begin that are tried."""


@dataclass(frozen=True, slots=True)
class PlainAnswer:
    """A value that is said to be the answer."""

    value: Any


@dataclass(frozen=True, slots=True)
class LimitClaim:
    """The claim that the page does not hold what is asked."""

    reason: str
    evidence: str


@dataclass(frozen=True, slots=True)
class FormError:
    """Why a reply is neither: a stable code, and what to tell a person."""

    reason: str
    detail: str


LastWords = PlainAnswer | LimitClaim | FormError


def last_words(text: str) -> LastWords:
    """What a last reply says. Total: whatever the text is."""
    if not text.strip():
        return FormError("no_answer", "the last reply is empty")
    if len(text) > LONGEST:
        return FormError("too_long", f"the last reply has {len(text):,} characters, more than {LONGEST:,}")
    objects = list(_objects(text))
    if not objects:
        return FormError("not_json", f"no JSON object in the last reply: {text.strip()[:80]!r}")
    chosen = next((value for value in reversed(objects) if "status" in value), objects[-1])
    if depth(chosen) > DEEPEST:
        return FormError("too_deep", f"nested more than {DEEPEST} levels deep")
    return _formed(chosen)


def depth(value: Any) -> int:
    """How many levels of arrays and objects a value has, without recursion."""
    levels, layer = 0, [value]
    while layer:
        boxes = [value for value in layer if isinstance(value, list | dict)]
        layer = [inner for box in boxes for inner in (box.values() if isinstance(box, dict) else box)]
        levels += bool(boxes)
    return levels


def decoded(text: str) -> Any:
    """A text as JSON, or a ValueError: numbers that JSON does not have are none."""
    try:
        return _sound(_DECODER.decode(text))
    except RecursionError:
        raise ValueError("nested too deep") from None


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects that stand in a text, the outermost, in order."""
    start = text.find("{")
    for _ in range(_PLACES):
        if start < 0:
            return
        try:
            value, end = _DECODER.raw_decode(text, start)
            yield _sound(value)
            start = end
        except (ValueError, RecursionError):
            start += 1
        start = text.find("{", start)


def _formed(value: dict[str, Any]) -> LastWords:
    unknown = next((key for key in value if key not in ("status", "answer", "limit")), None)
    if unknown is not None:
        return FormError("bad_form", f"unknown key {unknown[:40]!r}; the keys are status, answer and limit")
    status, answer, limit = (value.get(key) for key in ("status", "answer", "limit"))
    if status == "ok" and _empty(limit):
        return PlainAnswer(answer) if "answer" in value else FormError("bad_form", "status is 'ok', without 'answer'")
    if status == "limit" and _empty(answer):
        told = limit if isinstance(limit, dict) else {}
        reason, evidence = told.get("reason"), told.get("evidence")
        if isinstance(reason, str) and isinstance(evidence, str):
            return LimitClaim(reason, evidence)
        return FormError("bad_form", "'limit' needs a 'reason' and 'evidence', both strings")
    if status in ("ok", "limit"):
        return FormError("bad_form", f"status is {status!r}, and there is an answer and a limit")
    return FormError("bad_form", f"status is {str(status)[:40]!r}, not 'ok' or 'limit'")


def _empty(value: Any) -> bool:
    """Whether nothing is said: null, an empty text, list or object, or an object of such."""
    return not any(map(_said, value.values())) if isinstance(value, dict) else not _said(value)


def _said(value: Any) -> bool:
    return value is not None and value not in ("", [], {})


def _sound(value: Any) -> Any:
    """The value, which can be written down again: no half of a surrogate pair, no integer beyond 64 bits."""
    if depth(value) <= DEEPEST:  # a deeper one is refused by whoever asked
        try:
            orjson.dumps(value)
        except TypeError as problem:
            raise ValueError(str(problem)) from None
    return value


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:20]} is too large")
    return value


_DECODER = json.JSONDecoder(parse_constant=_constant, parse_float=_float)
