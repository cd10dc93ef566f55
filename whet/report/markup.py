"""HTML that is safe by construction: a text becomes markup in one place, where it is escaped and made harmless.

`tag` takes texts and markup. A text is what came from anywhere: a model, a task, a file. Its angle brackets are
spelled out, characters that steer or turn a line around are made visible, known keys are taken out (`whet.outside`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from whet.outside import shown


class Markup(str):
    """HTML that was made here; any other string is a text."""

    __slots__ = ()


LONGEST = 20_000
"""Characters of one text in a page: what a run holds may be of any length, a page may not."""

_VOID = {"meta", "link", "input", "br", "img", "hr", "col"}

_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")


def text(value: object) -> Markup:
    """A text as markup: nothing in it is a tag, nothing in it acts, and it has an end."""
    said = str(value)
    more = len(said) - LONGEST
    cut = said if more <= 0 else f"{said[:LONGEST]} … and {more:,} more characters"
    return Markup(escape(shown(cut), quote=True))


def join(*children: object) -> Markup:
    """Children one after the other; None is left out, lists are taken apart."""
    parts: list[str] = []
    for child in children:
        if child is None or child is False:
            continue
        if isinstance(child, Markup):
            parts.append(child)
        elif isinstance(child, str | int | float):
            parts.append(text(child))
        else:
            assert isinstance(child, Iterable)
            parts.append(join(*child))
    return Markup("".join(parts))


def tag(name: str, /, *children: object, **attributes: object) -> Markup:
    """An element. A name of an attribute that Python keeps ends in `_`; `_` within it is `-`."""
    said = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Markup(f"<{name}{said}>")
    return Markup(f"<{name}{said}>{join(*children)}</{name}>")


def _attribute(name: str, value: object) -> str:
    if value is None or value is False:
        return ""
    key = name.rstrip("_").replace("_", "-") if name != "viewBox" else name
    return f" {key}" if value is True else f' {key}="{text(value)}"'


def outside_notes(said: str) -> list[str]:
    """What to know about a text before it is read: characters that were spelled out, text that runs the other way."""
    notes = []
    acting = len(shown(said)) != len(said)
    if acting:
        notes.append("control or invisible characters are spelled out")
    if _RIGHT_TO_LEFT.search(said):
        notes.append("holds right-to-left text")
    return notes


def block(said: str, limit: int, more: Markup | None = None) -> Markup:
    """A text of any length in its own lines, cut at `limit` with how much was left out and `more`, where to see it."""
    cut = said[:limit]
    notes = outside_notes(cut)
    if len(said) > limit:
        notes.append(f"the first {limit:,} of {len(said):,} characters")
    told = [tag("p", "; ".join(notes), " ", more if len(said) > limit else None, class_="textnote")] if notes else []
    return join(tag("pre", cut, class_="said", dir="auto", tabindex="0" if len(cut) > 1500 else None), told)
