"""Answers in several columns: labels with a column of true and false each, and fields that stand in a text."""

from __future__ import annotations

from collections.abc import Collection

from whet.envs.data.columns import words_of
from whet.envs.data.look.base import Wishes
from whet.envs.data.look.beside import is_probe
from whet.envs.data.look.clues import answered
from whet.envs.data.look.pairs import ColumnGuess, is_answer_by_name
from whet.envs.data.look.view import FileView
from whet.envs.data.look.vocabulary import COMPANIONS, SOFT_RECORDS, is_record
from whet.envs.data.profile import is_mark

LEAST_MARKS = 3
"""Columns of true and false that make labels; two may well be two questions."""

STANDS = 0.85
"""Share of rows in whose text a value stands, from which it is a field of the text."""

SURE = 4.0
"""The weight from which a column is the answer, whatever else stands in the text."""


def marks_among(view: FileView, taken: Collection[str], found: ColumnGuess, wishes: Wishes) -> list[str]:
    """Columns in a row that each say of one label whether it applies, where the answer seems to be one of them."""
    if wishes.answer or wishes.check not in ("", "set") or is_answer_by_name(found.answer) or found.is_table:
        return []
    run: list[str] = []
    for name in view.source.columns:
        held = [row.get(name) for row in view.source.rows]
        if name in (*taken, found.question) or is_record(name) or not is_mark(held):
            if len(run) >= LEAST_MARKS and found.answer in run:
                return run
            run = []
        else:
            run.append(name)
    return run if len(run) >= LEAST_MARKS and found.answer in run else []


def fields_among(view: FileView, taken: Collection[str], found: ColumnGuess, wishes: Wishes) -> list[str]:
    """Columns whose values stand in the text that is asked, two or more, where none is called the answer.

    A value of a few that are the same in many rows is a label, not a field, unless it stands in the text as well.
    """
    sure = is_answer_by_name(found.answer) or answered(view, found.answer) >= SURE or found.options is not None
    if wishes.answer or wishes.check not in ("", "json") or sure or found.is_table or not view.is_text(found.question):
        return []
    standing = [
        name
        for name, column in view.columns.items()
        if name not in (*taken, found.question)
        and not (column.lists or column.objects or column.constant)
        and column.distinct > 3
        and column.missing < 0.2
        and view.found_in(name, found.question) >= STANDS
        and column.longest >= 2
        and not set(words_of(name)) & COMPANIONS
        and not is_probe(view, name, found.question, found.answer)
    ]
    fields = [name for name in standing if not is_record(name) or set(words_of(name)) & SOFT_RECORDS]
    return standing if len(fields) > 1 and found.answer in standing else []
