"""What is written within texts, as columns beside theirs, wherever every cell of a column has it.

`answer.final` is the end of a worked solution: `... #### 72` or, as mathematicians box it, `\\boxed{72}`.
`tags.listed` is the list that a text spells out: `['a', 'b']` as a table of lists is saved, or `<a><b>`; of objects
it is their names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from typing import Any

FINAL, LISTED = "final", "listed"
LONGEST_LIST = 2_000
"""Signs of a cell that is read as a list."""
BOX = "\\boxed{"

_MARKED = re.compile(r"####[ \t]*(?P<end>\S[^\n]*?)\s*\Z")


def derived(columns: Sequence[str], rows: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """Put what is written in the cells of a column beside it, where every cell has it; the columns with theirs."""
    found: list[str] = []
    for column in columns:
        found.append(column)
        cells = [row.get(column) for row in rows]
        for name, made in ((f"{column}.{FINAL}", _ends(cells)), (f"{column}.{LISTED}", _lists(cells))):
            if made is not None and name not in columns:
                found.append(name)
                for row, value in zip(rows, made, strict=True):
                    row[name] = value
    return tuple(found)


def _lists(cells: Sequence[Any]) -> list[list[str]] | None:
    """The lists that texts spell out, some of them with several values; None where some cell spells none."""
    made: list[list[str]] = []
    for value in cells:
        values = _spelled_list(value) if isinstance(value, str) else None
        if values is None:
            return None
        made.append(values)
    return made if any(len(values) > 1 for values in made) else None


def _spelled_list(text: str) -> list[str] | None:
    text = text.strip()
    if text.startswith("<") and text.endswith(">"):
        values = text[1:-1].split("><")
        return values if all(value and not set(value) & set("<>/ ") for value in values) else None
    if not (text.startswith("[") and text.endswith("]")):
        return None
    try:
        read = ast.literal_eval(text) if len(text) <= LONGEST_LIST else None
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    if not isinstance(read, list):
        return None
    names = [value.get("name") if _is_flat(value) else value for value in read]
    return names if all(isinstance(name, str) for name in names) else None


def _is_flat(value: Any) -> bool:
    """Whether it is an object without parts that have parts."""
    return isinstance(value, dict) and not any(isinstance(part, dict | list) for part in value.values())


def _ends(cells: Sequence[Any]) -> list[str] | None:
    """The end of each cell; None where some cell has none."""
    readers: tuple[Callable[[str], str | None], ...] = (_marked, _boxed)
    for read in readers:
        ends: list[str] = []
        for value in cells:
            end = read(value) if isinstance(value, str) else None
            if end is None:
                break
            ends.append(end)
        if len(ends) == len(cells):
            return ends
    return None


def _marked(text: str) -> str | None:
    match = _MARKED.search(text) if "####" in text else None
    return match["end"].strip() if match else None


def _boxed(text: str) -> str | None:
    """What stands in the last box, whose braces may hold others."""
    start = text.rfind(BOX)
    depth = 1
    for at in range(start + len(BOX), len(text)) if start >= 0 else ():
        depth += (text[at] == "{") - (text[at] == "}")
        if not depth:
            return text[start + len(BOX) : at].strip() or None
    return None
