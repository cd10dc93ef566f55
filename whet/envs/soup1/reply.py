"""What a policy's last words say: the object in them, decoded once, or a named reason why there is none."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, Literal

MOST_TEXT = 200_000
"""Characters of a final reply that are looked at; a longer one is not an answer."""

_TRIES = 64
"""Places at which an object may begin that are tried."""

_DEEPEST = 24
"""Levels that an answer may have: no true one has more than four."""


@dataclass(frozen=True, slots=True)
class FinalAnswer:
    """A final object in its form: an answer, or a limit with its evidence."""

    status: Literal["ok", "limit"]
    answer: Any = None
    reason: str = ""
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class MissingAnswer:
    """Why a reply holds no answer: a stable reason, and what to tell a person."""

    reason: str
    detail: str


def read(text: str) -> FinalAnswer | MissingAnswer:
    """The answer in a final reply. Total: whatever the text is, this says what is wrong with it."""
    if not text.strip():
        return MissingAnswer("no_answer", "the final reply is empty")
    if len(text) > MOST_TEXT:
        return MissingAnswer("too_long", f"the final reply has {len(text):,} characters, more than {MOST_TEXT:,}")
    objects = _objects(text)
    if not objects:
        return _without_object(text)
    stated = [found for found in objects if "status" in found]
    chosen = stated[-1] if stated else objects[-1]
    if _deeper(chosen, _DEEPEST):
        return MissingAnswer("too_deep", f"the answer is nested more than {_DEEPEST} levels deep")
    return _formed(chosen)


def _deeper(value: Any, levels: int) -> bool:
    """Whether a value is nested deeper than `levels`."""
    layer = [value]
    for _ in range(levels + 1):
        inner = [value for value in layer if isinstance(value, list | dict)]
        layer = [value for box in inner for value in (box.values() if isinstance(box, dict) else box)]
        if not layer:
            return False
    return True


def _objects(text: str) -> list[dict[str, Any]]:
    """The JSON objects that stand in a text, outermost ones, in order."""
    found: list[dict[str, Any]] = []
    at = text.find("{")
    for _ in range(_TRIES):
        if at < 0:
            break
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            at = text.find("{", at + 1)
            continue
        found.append(value)
        at = text.find("{", end)
    return found


def _without_object(text: str) -> MissingAnswer:
    try:
        value = _DECODER.decode(text.strip())
        shown = _TYPES.get(type(value), "a number")
    except (ValueError, RecursionError):
        return MissingAnswer("not_json", f"no JSON object in the final reply: {text.strip()[:80]!r}")
    return MissingAnswer("not_object", f"the final reply is JSON but not an object: {shown}")


def _formed(value: dict[str, Any]) -> FinalAnswer | MissingAnswer:
    """The object as an answer; what is missing or of another type is named."""
    unknown = [key for key in value if key not in ("status", "answer", "limit")]
    if unknown:
        return MissingAnswer("bad_form", f"unknown key {unknown[0][:40]!r}; the keys are status, answer and limit")
    if value.get("status") == "ok":
        if "answer" not in value:
            return MissingAnswer("bad_form", "status is 'ok' but there is no 'answer'")
        if value.get("limit") is not None:
            return MissingAnswer("bad_form", "status is 'ok' but there is a 'limit'")
        return FinalAnswer("ok", value["answer"])
    if value.get("status") == "limit":
        limit = value.get("limit")
        reason, evidence = (limit.get("reason"), limit.get("evidence")) if isinstance(limit, dict) else (None, None)
        if not isinstance(reason, str) or not isinstance(evidence, str):
            return MissingAnswer(
                "bad_form", "status is 'limit' but 'limit' has no 'reason' and 'evidence', both strings"
            )
        if value.get("answer") is not None:
            return MissingAnswer("bad_form", "status is 'limit' but there is an 'answer'")
        return FinalAnswer("limit", None, reason, evidence)
    return MissingAnswer("bad_form", f"status is {str(value.get('status'))[:40]!r}, not 'ok' or 'limit'")


_TYPES = {list: "an array", str: "a string", bool: "a boolean", type(None): "null"}


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:20]} is too large")
    return value


_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite)
