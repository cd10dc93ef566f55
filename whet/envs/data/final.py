"""Answers that end a worked solution: `... #### 72` or, as mathematicians box them, `\\boxed{72}`.

The end has a column of its own, `answer.final`, wherever every cell of a column has one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

FINAL = "final"
BOX = "\\boxed{"

_MARKED = re.compile(r"####[ \t]*(?P<end>[^\n]+?)\s*\Z")


def finals(columns: Sequence[str], rows: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """Put the ends of worked solutions beside them; the columns with theirs."""
    found: list[str] = []
    for column in columns:
        found.append(column)
        ends = _ends([row.get(column) for row in rows])
        name = f"{column}.{FINAL}"
        if ends is not None and name not in columns:
            found.append(name)
            for row, end in zip(rows, ends, strict=True):
                row[name] = end
    return tuple(found)


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
