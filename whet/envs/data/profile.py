"""What each column of a file holds: type, how many values, how much is missing; of a large file in part."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from whet.envs.data.checks.number import last_number
from whet.envs.data.columns import words_of
from whet.envs.data.source import DataSource
from whet.envs.data.template import cell

MISSING = frozenset({"", "n/a", "#n/a", "nan", "null", "-", "--", "?", "tbd"})
"""What people write where there is nothing."""

WRITTEN_NA = frozenset({"NA", "<NA>"})
"""What R and pandas write there, in these letters only: Na is sodium."""

_DATE = re.compile(r"\d{4}[-/.]\d\d?[-/.]\d\d?([ T]\d\d?:\d\d.*)?|\d\d?[-/.]\d\d?[-/.]\d{2,4}")
_ADDRESS = re.compile(r"https?://\S+|\S+@\S+\.\w+|\d+\.\d+\.\d+\.\d+")

_SIGN = re.compile(r"[=<>{(\[;*+\\|&^_]")

_UNSPACED = re.compile("[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
"""Signs of Thai, Lao, Khmer, Japanese and Chinese."""

SEPARATORS = (";", "|", ",", "/")

SET_NAMES = frozenset(("categories", "tags", "labels", "topics", "genres", "codes", "classes", "keywords", "emotions"))
"""Names of columns that hold several labels, so that a space may stand between them."""


def is_missing(value: Any) -> bool:
    """Whether a cell says nothing."""
    if isinstance(value, str):
        text = value.strip()
        return text.casefold() in MISSING or text in WRITTEN_NA
    return value is None or value in ([], {})


def word_count(text: str) -> float:
    """How many words a text has; two signs are a word where a script puts nothing between words."""
    return len(text.split()) + len(_UNSPACED.findall(text)) / 2.0


def is_code(text: str) -> bool:
    """Whether it holds two kinds of signs that programs are full of and sentences are not, or is indented with one."""
    signs = set(_SIGN.findall(text.replace(")", "(").replace("]", "[").replace("}", "{")))
    return len(signs) + text.startswith(("  ", "\t")) > 1


MOST_LABELS = 200
"""Labels that a file may have, where each comes again and again."""


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """A column in figures. Shares are of the cells that say something."""

    name: str
    rows: int
    filled: int
    distinct: int
    lists: float
    objects: float
    numbers: float
    dates: float
    addresses: float
    words: float
    """Mean words of a cell."""
    longest: int
    asks: float = 0.0
    """Cells that end in a question mark."""
    sets: bool = False
    """Whether cells hold several of a few labels each."""

    code: float = 0.0
    """Cells that look like a program."""

    counts: bool = False
    """Whether it counts the rows: whole numbers, each greater than the one before."""

    @property
    def missing(self) -> float:
        return 1.0 - self.filled / self.rows

    @property
    def unique(self) -> bool:
        """Whether no value comes twice."""
        return self.distinct == self.filled

    @property
    def constant(self) -> bool:
        return self.distinct <= 1

    @property
    def is_categorical(self) -> bool:
        """Whether a few short values return often."""
        few = 1 < self.distinct <= min(20, self.filled // 3)
        often = 1 < self.distinct <= min(MOST_LABELS, self.filled // 4) and self.numbers < 0.5 and self.words <= 4
        return (few or often) and self.longest <= 40

    @property
    def is_token(self) -> bool:
        """Whether it looks like a name or number of the row: one word, never the same."""
        return self.unique and self.words <= 1.2 and self.longest <= 64


ASKING = ("?", "？", "؟")
"""What stands at the end of a question."""

LONGEST_SET = 200
"""Signs of a cell that may still be a set of labels; longer ones are not taken apart to see."""

LOOKED_AT = 4_000
"""Cells that are looked into, spread over the file; how many there are and how many differ is counted in all."""

MARKS = frozenset({"0", "1", "0.0", "1.0", "true", "false", "yes", "no", "x", "y", "n", "t", "f"})


def is_mark(cells: Sequence[Any]) -> bool:
    """Whether cells say of one label whether it applies: true or false, in the ways that tables have."""
    values = {cell(value).strip().casefold() for value in cells} - {""}
    return bool(values) and values <= MARKS and len(values) <= 2


def profile(source: DataSource, column: str) -> ColumnProfile:
    """The figures of one column."""
    cells = [row.get(column) for row in source.rows]
    whole = [value for value in cells if not is_missing(value)]
    every = [cell(value).strip() for value in whole]
    longest = max(map(len, every), default=0)
    step = max(1, len(whole) // LOOKED_AT)
    filled, texts = whole[::step], every[::step]
    count = max(1, len(filled))
    return ColumnProfile(
        column,
        len(cells),
        len(whole),
        len(set(every)),
        sum(isinstance(value, list) for value in filled) / count,
        sum(isinstance(value, dict) for value in filled) / count,
        sum(last_number(text, whole=True) is not None for text in texts) / count,
        sum(_DATE.fullmatch(text) is not None for text in texts) / count,
        sum(_ADDRESS.fullmatch(text) is not None for text in texts) / count,
        sum(map(word_count, texts)) / count,
        longest,
        sum(text.endswith(ASKING) for text in texts) / count,
        longest <= LONGEST_SET and label_sets(filled, column) is not None,
        sum(isinstance(value, str) and is_code(value) for value in filled) / count,
        _counts(every),
    )


def _counts(texts: Sequence[str]) -> bool:
    """Whether texts are whole numbers in rising order, most of them by one."""
    if len(texts) < 3 or not all(text.isascii() and text.isdigit() and len(text) < 16 for text in texts):
        return False
    steps = [int(after) - int(before) for before, after in itertools.pairwise(texts)]
    return min(steps) > 0 and 2 * steps.count(1) > len(steps)


@dataclass(frozen=True, slots=True)
class LabelSets:
    """Cells that each hold several of a few labels; `separator` is what stands between them in a text, or ''."""

    labels: tuple[str, ...]
    separator: str


def label_sets(cells: Sequence[Any], column: str = "") -> LabelSets | None:
    """What a column of sets is made of; None where it is none: a cell is one value, or accepted answers are listed.

    A space is between labels only in a `column` that is called by a word for several: elsewhere it is within one.
    """
    filled = [value for value in cells if not is_missing(value)]
    listed = sum(isinstance(value, list) for value in filled)
    if listed and all(isinstance(value, list | str) for value in filled):  # some people write one label without a list
        parts = [value if isinstance(value, list) else [value] for value in filled]
        return _recurring([[cell(part).strip() for part in split] for split in parts], "")
    if not all(isinstance(value, str) for value in filled):
        return None
    if all(value.lstrip().startswith(("[", "{")) for value in filled):
        return None  # written out as a list or an object, which commas do not take apart
    for separator in (*SEPARATORS, " ") if SET_NAMES & set(words_of(column)) else SEPARATORS:
        parts = [[part.strip() for part in value.split(separator)] for value in filled]
        several = sum(len(split) > 1 for split in parts)
        if several * 5 >= len(parts) and (found := _recurring(parts, separator)):
            return found
    return None


def _recurring(parts: Sequence[Sequence[str]], separator: str) -> LabelSets | None:
    """The labels, where they are few, short and come again and again, and where a cell may hold more than one."""
    counted = Counter(part for split in parts for part in split)
    short = all(part and len(part) <= 40 and len(part.split()) <= 4 for part in counted)
    sizes = {len(set(split)) for split in parts}
    if not short or max(sizes, default=0) < 2 or len(counted) > 60 or counted.total() < 3 * len(counted):
        return None
    return LabelSets(tuple(sorted(counted)), separator)
