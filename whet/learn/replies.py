"""Reads the optimiser's replies: one JSON object, checked field by field. What cannot be read is asked for once more.

Nothing is repaired. A reply that stays unreadable is left out and named in the step record.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from whet.learn.workshop import Workshop
from whet.types import Message, Reply, assistant, user

Read = TypeVar("Read")

MOST = 1_000_000
"""Numbers beyond this are no answer."""


NOTE = 400
"""Characters of a reminder: it is one sentence."""

BACK = 4000
"""Characters of a reply that could not be read which are sent back with the reason."""


class Unreadable(Exception):
    """Why a reply cannot be used, in words that the optimiser is told."""


@dataclass(frozen=True, slots=True)
class JsonAnswer(Generic[Read]):
    """What was read, or None; `trouble` says what was wrong on the way."""

    value: Read | None
    trouble: tuple[str, ...] = ()


async def ask_json(
    shop: Workshop,
    purpose: str,
    messages: Sequence[Message],
    read: Callable[[Mapping[str, Any]], Read],
    max_tokens: int | None = None,
) -> JsonAnswer[Read]:
    """Consults the optimiser and reads its JSON; a reply that cannot be read goes back once with the reason."""
    first = await shop.consult(purpose, messages, max_tokens)
    try:
        return JsonAnswer(read(object_in(first)))
    except Unreadable as problem:
        told = f"{purpose}: {problem}"
        again = (*messages, assistant(_ends(first.text)), user(shop.prompts.text("again", problem=str(problem))))
    second = await shop.consult(f"{purpose}/again", again, max_tokens)
    try:
        return JsonAnswer(read(object_in(second)), (told,))
    except Unreadable as problem:
        return JsonAnswer(None, (told, f"{purpose}/again: {problem}"))


def _ends(text: str) -> str:
    """A reply as it is sent back: a megabyte of it would be paid for twice."""
    return text if len(text) <= BACK else f"{text[: BACK // 2]}\n...\n{text[-BACK // 2 :]}"


_FENCED = re.compile(r"```[a-zA-Z]*\s*\n(.*?)```", re.DOTALL)
_BEGINS = re.compile(r"^\s*\{", re.MULTILINE)


def object_in(reply: Reply) -> dict[str, Any]:
    """The JSON object of a reply: fenced or bare, with prose around it; the longest when there are several."""
    text = reply.text.strip()
    if not text:
        raise Unreadable("it is empty" + (", cut off by the token limit" if reply.truncated else ""))
    found = [found_object for block in (*_FENCED.findall(text), text) for found_object in _objects(block)]
    if found:
        return max(found, key=lambda found_object: len(str(found_object)))
    if "{" not in text:
        raise Unreadable("it holds no JSON object")
    raise Unreadable("its JSON is cut off" if reply.truncated else "its JSON cannot be parsed")


def _objects(text: str) -> list[dict[str, Any]]:
    """Objects that begin a line, and the first of all; what stands inside an object is not looked at again."""
    decoder, found, end = json.JSONDecoder(strict=False), [], 0
    starts = {match.end() - 1 for match in _BEGINS.finditer(text)} | {text.find("{")} - {-1}
    for start in sorted(starts):
        if start < end:
            continue
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):  # a number of thousands of digits is a plain ValueError
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


# --------------------------------------------------------------------------------------------- fields


def listed(data: Mapping[str, Any], key: str) -> list[Any]:
    value = data.get(key, [])
    if value is None:
        return []
    if not isinstance(value, list):
        raise Unreadable(f"{key!r} must be a list")
    return value


def text_in(data: Mapping[str, Any], key: str) -> str:
    """A text field."""
    value = data.get(key, "")
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        value = "; ".join(value)
    if not isinstance(value, str):
        raise Unreadable(f"{key!r} must be text")
    return clean(value)


def count_in(data: Mapping[str, Any], key: str, default: int) -> int:
    """A count; what is none, or beyond any sense, is `default`."""
    value = data.get(key, default)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MOST else default


def number_in(data: Mapping[str, Any], key: str) -> float | None:
    """A finite number of a sensible size, or None."""
    value = data.get(key)
    if not isinstance(value, int | float) or isinstance(value, bool) or not -MOST <= value <= MOST:
        return None
    return value


def texts_in(data: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """A list of texts, or one text; anything else in it is passed over."""
    value = data.get(key)
    found = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return tuple(clean(text) for text in found if isinstance(text, str))


def clean(text: str) -> str:
    """The text with lone surrogates replaced, which no file can hold."""
    return text.encode("utf-8", "replace").decode()


def entries(data: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """A list of objects."""
    found = listed(data, key)
    if any(not isinstance(part, dict) for part in found):
        raise Unreadable(f"each entry of {key!r} must be an object")
    return found


def notes_in(data: Mapping[str, Any]) -> tuple[str, ...]:
    """Reminders: texts, or objects that hold one."""
    notes = []
    for note in listed(data, "appendix_notes"):
        text = note.get("note") or note.get("content") if isinstance(note, dict) else note
        if isinstance(text, str) and text.strip():
            notes.append(" ".join(clean(text).split())[:NOTE])
    return tuple(notes)
