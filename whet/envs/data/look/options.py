"""Options that a row gives to choose from: a list in one column, or a column for each; and how an answer names one."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whet.envs.data.columns import words_of
from whet.envs.data.look.view import FileView
from whet.envs.data.look.vocabulary import OPTION_STEMS, OPTION_WORDS, within
from whet.envs.data.profile import is_missing
from whet.envs.data.template import cell

MOST_OPTIONS = 10
ALIKE = 0.9
"""Share of rows that have as many options as most have, where only the numbers say that these are options."""
CALLED = ("label", "labels", "key", "keys", "id", "ids", "letter", "letters")
"""What a list of names of options is called, beside that of their texts."""

_NUMBERED = re.compile(r"(?P<stem>.*?)[\s_.-]*(?P<mark>[a-hA-H]|[0-9])")
LETTERS = "abcdefgh"


@dataclass(frozen=True, slots=True)
class OptionSet:
    """The columns that hold options: one with lists of them, or several that hold an option each."""

    columns: tuple[str, ...]
    is_list: bool
    is_named: bool
    """Whether the names say that these are options."""
    called: str = ""
    """The column that lists what the options are called."""

    def of(self, row: Mapping[str, Any]) -> list[str]:
        held = row.get(self.columns[0]) if self.is_list else [row.get(column) for column in self.columns]
        return [" ".join(cell(option).casefold().split()) for option in held] if isinstance(held, list) else []

    def holds(self, column: str) -> bool:
        """Whether a column is one of these, or what they are called, or around them."""
        own = (*self.columns, *([self.called] if self.called else ()))
        return any(column == other or within(column, other) for other in own)


def option_sets(view: FileView) -> list[OptionSet]:
    """All that could be options, those that are called so first."""
    found = [*_lists(view), *_families(view)]
    return sorted(found, key=lambda options: not options.is_named)


def _lists(view: FileView) -> list[OptionSet]:
    found = []
    for name, column in view.columns.items():
        stem, _, part = name.rpartition(".")
        named = bool({*words_of(name), *(words_of(stem) if part in ("text", "texts", "value") else ())} & OPTION_WORDS)
        if part in CALLED or column.lists < 1.0 or column.missing or (column.constant and not named):
            continue
        cells = [row.get(name) for row in view.sample]
        if all(isinstance(held, list) and 2 <= len(held) <= MOST_OPTIONS for held in cells) and not any(
            isinstance(option, dict | list) for held in cells if isinstance(held, list) for option in held
        ):
            called = next((f"{stem}.{name}" for name in CALLED if stem and f"{stem}.{name}" in view.columns), "")
            found.append(OptionSet((name,), True, named, called))
    return found


def _families(view: FileView) -> list[OptionSet]:
    """Columns that differ in a letter or a number at their end, counted from a, 0 or 1 without a gap."""
    families: dict[str, dict[str, str]] = {}
    for column in view.columns:
        match = _NUMBERED.fullmatch(column.strip())
        if match is not None and not view.columns[column].lists:
            families.setdefault(match["stem"].casefold(), {})[match["mark"].casefold()] = column
    found = []
    for stem, marked in families.items():
        for marks in (LETTERS, "01234567", "12345678"):
            run = [mark for mark in marks if mark in marked]
            if len(run) < 2 or run != list(marks[: len(run)]):
                continue
            stems = set(words_of(stem.rstrip("."))) if stem else {"option"}
            named = bool(stems & OPTION_STEMS) or stem in OPTION_STEMS
            held = [view.columns[marked[mark]] for mark in run]
            if named or (len(run) > 2 and all(column.numbers < 0.5 and column.words >= 2 for column in held)):
                found.append(OptionSet(tuple(column.name for column in held), False, named))
            break
    return [*found, *_unnamed(view)]


def _unnamed(view: FileView) -> list[OptionSet]:
    """In a table without a header, the columns before one of letters, as many as there are letters."""
    if not all(re.fullmatch(r"column_\d+", column) for column in view.columns):
        return []
    order = list(view.columns)
    for place, name in enumerate(order):
        letters = {text for text in view.texts(name) if text}
        count = len(letters)
        if 3 <= count <= place - 1 and letters == set(LETTERS[:count]):
            return [OptionSet(tuple(order[place - count : place]), False, True)]
    return []


def picks(view: FileView, options: OptionSet, answer: str) -> bool:
    """Whether every answer names an option of its row: by its text, its letter, its number, or what it is called.

    Without a name that says so, letters and numbers count only where rows have equally many options and all are named.
    """
    said: list[tuple[str, int]] = []
    by_text: list[int] = []
    for row in view.sample:
        value = row.get(answer)
        value = value[0] if isinstance(value, list) and len(value) == 1 else value
        text = " ".join(cell(value).casefold().split())
        held = options.of(row)
        names = row.get(options.called) if options.called else None
        if not text or is_missing(value):
            continue
        called = [cell(name).casefold() for name in names] if isinstance(names, list) else []
        if text in held or text in called:
            by_text.append(held.index(text) if text in held else called.index(text))
            continue
        place = LETTERS.find(text) if len(text) == 1 and text.isalpha() else _number(text)
        if place is None or not 0 <= place <= len(held):
            return False
        said.append((text, len(held)))
    if not said:
        return bool(by_text) and (options.is_named or len(set(by_text)) > 1)  # an alias that is first is no option
    return options.is_named or _all_named(said)


def _number(text: str) -> int | None:
    text = text.removesuffix(".0")
    return int(text) if text.isascii() and text.isdigit() else None


def _all_named(said: Sequence[tuple[str, int]]) -> bool:
    counts = [count for _, count in said]
    usual = max(set(counts), key=counts.count)
    return counts.count(usual) >= ALIKE * len(counts) and len({text for text, _ in said}) == usual


def chosen_from(view: FileView, answer: str, taken: Collection[str] = ()) -> OptionSet | None:
    """The options that the answers name, where there are such."""
    for options in option_sets(view):
        if not options.holds(answer) and not set(options.columns) & set(taken) and picks(view, options, answer):
            return options
    return None
