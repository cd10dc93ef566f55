"""The clues by which a column is taken for what is asked or for the answer: each a weight and a measure of the column.

A weight is what the clue adds where it holds wholly; measures are shares between 0 and 1. What speaks for a pair of
columns together is weighed in `pairs`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from whet.envs.data.checks.quantity import is_quantity
from whet.envs.data.columns import ANSWERS, GROUPS, QUESTIONS, words_of
from whet.envs.data.derived import FINAL, LISTED
from whet.envs.data.look.view import FileView
from whet.envs.data.look.vocabulary import (
    AMOUNTS,
    ANSWER_WORDS,
    COMPANIONS,
    EXPLAINS,
    FOREIGN_ANSWERS,
    HEADINGS,
    MADE,
    OPTION_WORDS,
    SETTLED,
    WEAK_ANSWERS,
    either,
    is_doubtful,
    is_record,
    is_technical,
    lies_in_answer,
)
from whet.envs.data.profile import ColumnProfile

TELLS = 5.0
"""Mean words of a column from which it tells something, whatever its name."""

BY_NAME = ("name", "text", "label", "value", "title")
"""Parts that stand for the objects of a list."""


@dataclass(frozen=True, slots=True)
class ColumnSight:
    """A column as clues look at it."""

    view: FileView
    held: ColumnProfile

    @property
    def words(self) -> set[str]:
        return set(words_of(self.held.name))

    @property
    def called(self) -> str:
        return "_".join(words_of(self.held.name))

    @property
    def stem(self) -> str:
        return self.held.name.rpartition(".")[0]

    @property
    def is_narrative(self) -> bool:
        """Whether every row tells something of its own here: what a customer said, not which customer."""
        return self.held.words >= TELLS and self.held.distinct >= 0.9 * self.held.filled

    @property
    def is_answer_named(self) -> bool:
        return bool(either(self.words) & (ANSWER_WORDS | FOREIGN_ANSWERS)) and not self.held.name.endswith("?")


Measure = Callable[[ColumnSight], float]


@dataclass(frozen=True, slots=True)
class Clue:
    """What it is called, what it adds, and how far it holds."""

    name: str
    weight: float
    measure: Measure


def weigh(column: ColumnSight, clues: Sequence[Clue]) -> float:
    """What all clues say together."""
    return sum(clue.weight * clue.measure(column) for clue in clues)


def _rank(called: str, names: Sequence[str]) -> float:
    """1 for the first of well-known names, a little less for each after it, and 0 for none of them."""
    return 1.0 - names.index(called) / 120.0 if called in names else 0.0


# --------------------------------------------------------------------------------------------- what is asked


def _asked_name(column: ColumnSight) -> float:
    """How the name speaks for a question, as a share of the best name there is."""
    if words_of(column.held.name)[-1:] and words_of(column.held.name)[-1] in HEADINGS:
        return 1 / 3
    best = max(_rank(column.called, (*QUESTIONS, "q")), 0.5 * bool(column.words & set(QUESTIONS)))
    code = column.held.code > 0.5 and column.called != "prompt"
    return max(best - code / 3, bool(column.words & COMPANIONS) / 3)


def _recorded_question(column: ColumnSight) -> float:
    """A record is not asked; a text that is called like one may be: what a customer wrote, under `customer`."""
    if not is_record(column.held.name):
        return 0.0
    if not column.is_narrative:
        return 1.0
    return 0.0 if column.called in GROUPS and column.held.unique else 0.5


ASKED: tuple[Clue, ...] = (
    Clue("is called like a question", 6.0, _asked_name),
    Clue("ends in question marks", 2.0, lambda c: c.held.asks),
    Clue("has many words", 3.0, lambda c: min(1.0, c.held.words / 18.0)),
    Clue("is a document", 1.5, lambda c: c.held.words > 60.0),
    Clue("counts the rows", -3.0, lambda c: c.held.counts),
    Clue("never says the same twice", 1.0, lambda c: c.held.unique),
    Clue("lies in an answer", -3.0, lambda c: lies_in_answer(c.held.name)),
    Clue("is missing", -3.0, lambda c: c.held.missing),
    Clue("holds several labels", -2.0, lambda c: c.held.sets),
    Clue("is recorded", -4.0, _recorded_question),
    Clue("holds numbers, dates, addresses or objects", -4.0, lambda c: _no_text(c.held)),
    Clue("holds lists", -3.0, lambda c: c.held.lists),
    Clue("is called like an answer", -3.0, lambda c: bool(c.words & ANSWER_WORDS)),
    Clue("is called like what is made of a text", -1.5, lambda c: bool(c.words & MADE)),
    Clue("explains, or is wrong on purpose", -3.0, lambda c: bool(c.words & EXPLAINS) or is_doubtful(c.held.name)),
    Clue("holds a few labels", -2.0, lambda c: c.held.is_categorical),
    Clue("is a word of its own in every row", -3.0, lambda c: c.held.is_token),
    Clue("is the same in every row", -5.0, lambda c: c.held.constant),
)


def _no_text(held: ColumnProfile) -> float:
    return held.numbers + held.dates + held.addresses + held.objects


# --------------------------------------------------------------------------------------------- what is answered


def _answer_name(column: ColumnSight) -> float:
    """How the name speaks for an answer, as a share of the best name there is."""
    words = set() if column.held.name.endswith("?") else either(column.words)
    amount = bool(words & AMOUNTS) and column.held.numbers == 1.0 and not column.held.is_categorical
    weak = 2.5 if amount else 1.0 * bool(words & WEAK_ANSWERS)
    named = 4.0 * bool(words & (ANSWER_WORDS | FOREIGN_ANSWERS))
    inside = 3.0 * (lies_in_answer(column.held.name) and is_lone_part(column))
    return max(6.0 * _rank(column.called, (*ANSWERS, "a", "ans")), named, inside, weak) / 6.0


def _other_parts(column: ColumnSight) -> bool:
    """Whether it is one of several things that the object around it says."""
    stem = column.stem
    if stem not in column.view.columns or not column.view.columns[stem].objects or column.words & ANSWER_WORDS:
        return False
    return not (lies_in_answer(column.held.name) and is_lone_part(column)) and len(saying(stem, column.view)) > 1


def _only_some(column: ColumnSight) -> bool:
    """Whether only some of the objects around it have it; an empty list is an answer that there is none."""
    around = column.view.columns.get(column.stem)
    return around is not None and column.held.filled < around.filled * (0.6 if column.held.lists else 1.0)


def _parted(column: ColumnSight) -> float:
    """Whether an object holds its answer in a part of it: in the only one that says something, or in one by name."""
    if not column.held.objects:
        return 0.0
    parts = [held for name, held in column.view.columns.items() if name.startswith(f"{column.held.name}.")]
    lone = any(is_lone_part(ColumnSight(column.view, part)) for part in parts)
    whole = [part for part in parts if part.filled >= column.held.filled * (0.6 if part.lists else 1.0)]
    return 1.0 if lone else 0.5 * any(set(words_of(part.name)) & ANSWER_WORDS for part in whole)


def _read_further(column: ColumnSight) -> bool:
    """Whether what it says stands in a column that was made of it."""
    made = (FINAL, LISTED, *(BY_NAME if column.held.lists else ()))
    return any(f"{column.held.name}.{part}" in column.view.columns for part in made)


ANSWERED: tuple[Clue, ...] = (
    Clue("is called like an answer", 6.0, _answer_name),
    Clue("asks", -3.0, lambda c: c.held.asks),
    Clue("is called final or gold", 1.5, lambda c: bool(c.words & SETTLED)),
    Clue("is called predicted, old or wrong", -4.0, lambda c: is_doubtful(c.held.name)),
    Clue("explains an answer", -5.0, lambda c: bool(c.words & EXPLAINS) and not c.held.is_categorical),
    Clue("is recorded", -4.0, lambda c: is_record(c.held.name) * (0.5 if c.is_narrative else 1.0)),
    Clue("counts the rows", -4.0, lambda c: c.held.counts),
    Clue("is an object of several things", 2.5, lambda c: _is_object(c)),
    Clue("is an object whose parts stand in a text", 2.0, lambda c: _stands_in_text(c)),
    Clue("is recorded of an answer", -4.0, lambda c: lies_in_answer(c.held.name) and is_technical(c.held.name)),
    Clue("holds a few labels, or several of them", 1.5, lambda c: c.held.is_categorical or c.held.sets),
    Clue("holds numbers with their units", 1.5, lambda c: _is_measured(c)),
    Clue("holds lists", 0.5, lambda c: c.held.lists),
    Clue("is the last column that is not recorded", 1.0, lambda c: _is_last(c)),
    Clue("is missing", -3.0, lambda c: c.held.missing),
    Clue("holds dates or addresses", -3.0, lambda c: c.held.dates + c.held.addresses),
    Clue("is the same in every row", -6.0, lambda c: c.held.constant),
    Clue("is long", -1.0, lambda c: c.held.words > 30.0),
    Clue("is a document", -2.0, lambda c: c.held.words > 150.0),
    Clue("is a heading", -3.0, lambda c: words_of(c.held.name)[-1:] != () and words_of(c.held.name)[-1] in HEADINGS),
    Clue("is a word of its own in every row", -2.0, lambda c: _is_token(c)),
    Clue("lies among options", -6.0, lambda c: bool(set(words_of(c.stem)) & OPTION_WORDS)),
    Clue("is had by some of the objects around it", -4.0, _only_some),
    Clue("is an object with the answer in a part", -6.0, _parted),
    Clue("is code", 2.0, lambda c: c.held.code > 0.5 and not c.held.lists),
    Clue("is one of several parts of an object", -3.0, _other_parts),
    Clue("is read further in another column", -4.0, _read_further),
    Clue("is a part of a list that might hold more", -2.0, lambda c: ".0." in c.held.name),
    Clue("begins with an underscore", -2.0, lambda c: c.held.name.startswith("_") and not c.is_answer_named),
)


def _is_measured(column: ColumnSight) -> bool:
    texts = [text for text in column.view.texts(column.held.name)[:100] if text] if column.view.columns else []
    return bool(texts) and column.held.numbers < 1.0 and column.held.words <= 4 and all(map(is_quantity, texts))


def _is_last(column: ColumnSight) -> bool:
    order = column.view.source.columns
    last = next((name for name in reversed(order) if not is_record(name) and "." not in name), order[-1])
    return column.held.name == last


def _is_object(column: ColumnSight) -> bool:
    return column.held.objects == 1.0 and len(saying(column.held.name, column.view)) > 1


def _stands_in_text(column: ColumnSight) -> float:
    """Whether most of the parts of an object stand in some text of their row, as what is read out of it does."""
    view = column.view
    if not _is_object(column):
        return 0.0
    parts = [name for name in saying(column.held.name, view) if not view.columns[name].lists]
    texts = [name for name in view.columns if view.is_text(name) and not name.startswith(f"{column.held.name}.")]
    shares = [sum(view.found_in(part, text) >= 0.8 for part in parts) for text in texts]
    return float(bool(parts) and 2 * max(shares, default=0) >= len(parts))


def _is_token(column: ColumnSight) -> bool:
    plain = column.held.is_token and column.held.numbers < 0.5 and not column.words & SETTLED
    return plain and len(column.view.source.columns) > 2


def answered(view: FileView, name: str) -> float:
    """What clues say for a column as the answer; what was read out of a text inherits what is said for the text."""
    stem, _, part = name.rpartition(".")
    made = stem in view.columns and part in (FINAL, LISTED)
    if made or (stem in view.columns and part in BY_NAME and view.columns[stem].lists):
        alone = FileView(view.source, {}, view.sample)
        return weigh(ColumnSight(alone, view.renamed(name, stem)), ANSWERED) + (4.0 if part == FINAL else 0.5)
    return weigh(ColumnSight(view, view.columns[name]), ANSWERED)


def asked(view: FileView, name: str) -> float:
    return weigh(ColumnSight(view, view.columns[name]), ASKED)


# --------------------------------------------------------------------------------------------- parts of objects


def is_lone_part(column: ColumnSight) -> bool:
    """Whether it is all that the object around it says: the rest is recorded about it, or the same in every row."""
    around = column.held.name.split(".")[:-1]
    while around and not set(words_of(around[-1])) & ANSWER_WORDS:
        around.pop()
    return saying(".".join(around), column.view) == [column.held.name]


def saying(around: str, view: FileView) -> list[str]:
    """The parts of an object that say something which is not recorded about it and not the same in every row."""
    parts = [held for name, held in view.columns.items() if name.startswith(f"{around}.")]
    return [held.name for held in parts if not (held.objects or held.constant or is_technical(held.name))]
