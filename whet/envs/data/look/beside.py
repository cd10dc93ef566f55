"""What is shown beside the column that is asked: texts that belong to it, and nothing that gives the answer away."""

from __future__ import annotations

import re
from collections.abc import Collection

from whet.envs.data.columns import ID_WORDS, words_of
from whet.envs.data.conversation import ANSWER, QUESTION, WHOLE
from whet.envs.data.look.view import FileView
from whet.envs.data.look.vocabulary import (
    ANSWER_WORDS,
    COMPANIONS,
    EXPLAINS,
    GIVEN,
    JUDGED,
    JUDGEMENTS,
    KEPT_FROM_JUDGES,
    PROBES,
    RECORDS,
    is_doubtful,
    is_record,
    needs_no_caption,
    within,
)

LONG = 8.0
"""Mean words of a cell that holds a text, not a value."""

PHRASE = 3.0
"""Mean words of a cell that is a text though many rows share it: a query beside each of its results."""

OFTEN_EMPTY = frozenset(("input", "context", "contexts", "evidence", "passage"))
"""What a question comes with in some rows and not in others."""

LIKE_IT = 0.4
"""Words of a text that is asked beside another of the same name, as a share of its words."""

_NUMBER = re.compile(
    r"\d+|(?<=[a-z ])[A-D]$|(?<=[_ ])(?:[A-Da-d]|left|right|x|y|one|two|first|second)$|^(?:left|right|[ab])(?=_)"
)


def asked_together(view: FileView, question: str, taken: Collection[str], answer: str = "") -> list[str]:
    """The question and the texts that belong to it: a premise with its hypothesis, a passage before its question."""
    judged = _judged(view, question, answer)
    found: list[str] = [question]
    stem, _, part = question.rpartition(".")
    spoken = {f"{stem}.{name}" for name in (WHOLE, QUESTION, ANSWER)} if part in (WHOLE, QUESTION) else set()
    for name in view.columns:
        if name == question or name in (*taken, *spoken, answer) or within(name, answer) or within(name, question):
            continue
        if _tells(view, name, answer):
            continue
        if name in judged or _belongs(view, name, question, answer):
            found.append(name)
    about = {_NUMBER.sub("#", name) for name in found if set(words_of(name)) & PROBES and _is_paired(view, name)}
    found += [name for name in view.columns if _NUMBER.sub("#", name) in about and name not in found]
    ordered = [name for name in view.columns if name in found and not _is_told_elsewhere(view, name, found)]
    return sorted(ordered, key=lambda name: not needs_no_caption(name))


def _tells(view: FileView, name: str, answer: str) -> bool:
    """Whether an answer in words stands in a text as it is: all that was said, where the answer is its end."""
    held = view.columns.get(answer)
    return held is not None and held.words >= LONG / 2 and view.found_in(answer, name) >= 0.5


def _is_told_elsewhere(view: FileView, name: str, found: Collection[str]) -> bool:
    """Whether another text that is shown holds it word for word, or it is another that is shown, with markup."""
    others = [other for other in found if other != name and view.is_text(other)]
    if not view.is_text(name):
        return False
    return any(_says_it_all(view, other, name) for other in others)


def _says_it_all(view: FileView, other: str, name: str) -> bool:
    """Whether a text need not be shown beside another: it holds it, or is it without markup; of equals, the first."""
    around, within_it = view.is_around(other, name), view.is_around(name, other)
    if around and within_it:
        order = list(view.columns)
        return order.index(other) < order.index(name)
    if view.holds_markup(name) != view.holds_markup(other):
        return (around or within_it) and view.holds_markup(name)
    return around


def _belongs(view: FileView, name: str, question: str, answer: str) -> bool:
    column, words = view.columns[name], set(words_of(name))
    around = set(words_of(name.rpartition(".")[0])) if column.lists else set()
    if words and words_of(name)[-1] in GIVEN and not column.missing:
        return True
    if column.constant or words & (RECORDS | EXPLAINS | ID_WORDS) or is_doubtful(name) or name.startswith("_"):
        return False
    if _is_sibling(view, name, question):
        return True
    if is_probe(view, name, question, answer):
        return True
    named = bool((words | around) & COMPANIONS) and not words & ANSWER_WORDS
    repeated = column.is_categorical and column.words < PHRASE
    plain = not (column.objects or repeated or column.is_token) and not (column.lists and column.words < LONG)
    there = column.missing < (0.95 if words & OFTEN_EMPTY else 0.5)
    return named and plain and there and column.numbers < 0.5


def _is_sibling(view: FileView, name: str, question: str) -> bool:
    """Whether the names of two texts differ in a number alone: `sentence1` and `sentence2`, `#1 String` and `#2`."""
    column = view.columns[name]
    alike = _NUMBER.sub("#", name) == _NUMBER.sub("#", question) and not name.startswith("column_")
    if alike:
        return not column.objects and column.words >= LIKE_IT * view.columns[question].words
    return _is_paired(view, name) and _is_paired(view, question) and column.numbers < 0.5 and column.words >= 2


def _is_paired(view: FileView, name: str) -> bool:
    """Whether there is another column that differs in a number of its name alone, as two records beside each other."""
    stem = _NUMBER.sub("#", name)
    return (
        "#" in stem
        and not name.startswith("column_")
        and any(other != name and _NUMBER.sub("#", other) == stem for other in view.columns)
    )


def is_probe(view: FileView, name: str, question: str, answer: str) -> bool:
    """Whether it is what a judgement is about: named so, and a word of the text or the same on a few rows."""
    column, words = view.columns[name], set(words_of(name))
    if not words & PROBES or column.numbers > 0.5 or column.lists or column.objects or column.missing > 0.2:
        return False
    if answer not in view.columns or not view.columns[answer].is_categorical or view.found_in(answer, question) > 0.5:
        return False
    if words & {"topic", "keyword"}:
        return False
    return not is_record(name) and (
        view.found_in(name, question) >= 0.8 or bool(words & {"target", "question", "term"})
    )


def _judged(view: FileView, question: str, answer: str) -> list[str]:
    """The texts that an answer judges: what a pupil said, and what was hoped for."""
    column = view.columns.get(answer)
    if column is None or not set(words_of(answer)) & JUDGEMENTS or column.words > 3:
        return []
    names = [
        name
        for name, held in view.columns.items()
        if set(words_of(name)) & JUDGED
        and not set(words_of(name)) & KEPT_FROM_JUDGES
        and not (held.objects or held.lists or held.is_categorical or is_record(name))
        and held.words >= 2
        and held.missing < 0.2
        and name != question
    ]
    return names if column.is_categorical or column.numbers == 1.0 else []
