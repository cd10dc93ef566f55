"""Edits as one would say them."""

from __future__ import annotations

from whet.envs.ordebug.algebra import number
from whet.envs.ordebug.edits import DropRow, Edit, SetBounds, SetCoef, SetRhs, SetSense, SetType


def in_words(edit: Edit) -> str:
    """What an edit asks for."""
    match edit:
        case SetSense(row, sense):
            return f"{row} should be {sense}"
        case SetRhs(row, value):
            return f"the right-hand side of {row} should be {number(value)}"
        case SetCoef(row, column, value):
            return f"the coefficient of {column} in {row} should be {number(value)}"
        case SetBounds(column, lower, upper):
            low, high = ("no bound" if bound is None else number(bound) for bound in (lower, upper))
            return f"the bounds of {column} should be {low} and {high}"
        case SetType(column, kind, _):
            return f"{column} should be {kind}"
        case DropRow(row):
            return f"{row} should not be there"
        case _:
            return f"{edit.row} should be changed"
