"""The three forms of proposal: edits, suggestions for a rewrite, whole drafts; how each is asked for and read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from whet.learn.reflact.records import Draft, Edit, Item, Source, Suggestion
from whet.learn.replies import Unreadable, count_in, entries, text_in

Mode = Literal["patch", "rewrite_from_suggestions", "full_rewrite_minibatch"]


@dataclass(frozen=True, slots=True)
class Form:
    """What a mode calls its items: the key in JSON, the prompt that describes them, and the word for several."""

    key: str
    prompt: str
    things: str


FORMS: Mapping[Mode, Form] = {
    "patch": Form("edits", "form_edits", "edits"),
    "rewrite_from_suggestions": Form("revise_suggestions", "form_suggestions", "suggestions"),
    "full_rewrite_minibatch": Form("skill_candidates", "form_drafts", "whole body"),
}


def items_in(data: Mapping[str, Any], mode: Mode, source: Source, level: int = 0) -> tuple[Item, ...]:
    """The items under the mode's key. `support` defaults to what the reply says, or 1."""
    if FORMS[mode].key not in data:
        raise Unreadable(f"it has no {FORMS[mode].key!r}")
    found = []
    for entry in entries(data, FORMS[mode].key):
        support = count_in(entry, "support_count", 1)
        said = entry.get("source_type")
        origin: Source = said if said in ("failure", "success") else source
        found.append(_item(entry, mode, origin, support, level))
    return tuple(found)


def _item(entry: Mapping[str, Any], mode: Mode, source: Source, support: int, level: int) -> Item:
    if mode == "patch":
        op = text_in(entry, "op")
        if not op:
            raise Unreadable("an edit has no 'op'")
        content, target, where = (text_in(entry, key) for key in ("content", "target", "where"))
        return Edit(op, content, target, where, source, support, level)
    if mode == "rewrite_from_suggestions":
        title, instruction = text_in(entry, "title"), text_in(entry, "instruction")
        if not instruction.strip():
            raise Unreadable("a suggestion has no 'instruction'")
        kind, motivation, priority = (text_in(entry, key) for key in ("type", "motivation", "priority_hint"))
        return Suggestion(title, instruction, kind, motivation, priority, source, support, level)
    body = text_in(entry, "new_skill")
    if not body.strip():
        raise Unreadable("a candidate has an empty 'new_skill'")
    return Draft(body, text_in(entry, "title"), text_in(entry, "change_summary"), source, support, level)


def within(items: Sequence[Item], most: int) -> tuple[Item, ...]:
    """The first items that have at most so many bytes of text together: what is longer goes into no later prompt."""
    kept, left = [], most
    for item in items:
        size = sum(len(text.encode()) for text in item.as_data().values() if isinstance(text, str))
        if size <= left:
            kept.append(item)
            left -= size
    return tuple(kept)
