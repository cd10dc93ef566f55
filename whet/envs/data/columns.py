"""Which column holds what, where nobody has said so: only names that leave no doubt."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from whet.errors import WhetError, nearest

QUESTIONS = (
    *("prompt", "question", "input", "query", "problem", "instruction", "text", "message", "content", "document"),
    *("ticket", "sentence", "body", "description", "request", "task", "title", "subject"),
)
ANSWERS = (
    *("answer", "label", "target", "output", "expected", "solution", "answers", "class", "category", "completion"),
    *("response", "gold", "queue", "intent", "sentiment"),
)
IDS = ("id", "uid", "uuid", "key", "qid", "example_id", "row_id", "ticket_id", "question_id")
ID_WORDS = frozenset(("id", "ids", "uid", "uuid", "guid"))
"""Words in the names of columns that say which one a row is, or to whom it belongs."""

GROUPS = ("group", "customer", "user", "user_id", "customer_id", "author", "source", "document_id", "doc_id", "session")
GROUP_WORDS = frozenset(
    (
        *("set", "thread", "conversation", "dialogue", "dialog", "call", "session", "patient", "case", "passage"),
        *("paragraph", "article", "chapter", "episode", "household", "student", "family", "batch"),
    )
)
"""Words at the end of a name for what several rows come from."""

IMAGES = ("image", "images", "image_path", "picture", "photo", "screenshot")
KINDS = ("kind", "type", "topic", "domain", "subject_area", "skill")
DIFFICULTIES = ("difficulty", "level", "hardness")
SPLIT_COLUMNS = ("split", "fold", "subset", "partition")


_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")


def words_of(column: str) -> tuple[str, ...]:
    """The words of a column's name; of a nested one, those of its last part."""
    return tuple(word.casefold() for word in _WORD.findall(column.rpartition(".")[2]))


def obvious(columns: Sequence[str], names: Sequence[str], taken: Collection[str] = ()) -> str | None:
    """The column called by the first of `names` that there is."""
    by_name = {column.lower().replace(" ", "_"): column for column in columns if column not in taken}
    return next((by_name[name] for name in names if name in by_name), None)


def known(column: str, columns: Sequence[str], argument: str) -> str:
    """`column`, or an error that names the nearest one."""
    if column in columns:
        return column
    hint = nearest(column, columns) or f" There are: {', '.join(columns)}."
    raise WhetError(f"{argument}: there is no column {column!r}.{hint}")
