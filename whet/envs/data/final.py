"""Answers that end a worked solution: `... #### 72`, `... \\boxed{72}`. The end has a column of its own, `answer.final`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

FINAL = "final"

MARKS = (
    re.compile(r"(?s).*\n?####[ \t]*(?P<end>[^\n]+?)\s*"),
    re.compile(r"(?s).*\\boxed\{(?P<end>[^{}]+)\}[^{}\n]*"),
)
SIGNS = ("####", "\\boxed{")
"""What every marked end holds: looked for first, since most texts have none."""


def finals(columns: Sequence[str], rows: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """Put the ends of worked solutions beside them, where every cell of a column has one; the columns with theirs."""
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
    for sign, mark in zip(SIGNS, MARKS, strict=True):
        ends: list[str] = []
        for value in cells:
            match = mark.fullmatch(value) if isinstance(value, str) and sign in value else None
            if match is None:
                break
            ends.append(match["end"].strip())
        if len(ends) == len(cells):
            return ends
    return None
