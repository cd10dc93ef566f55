"""Points of the original that bear witness against a model: whatever rejects one of them is wrong there.

Every repair must touch each element that does, and an edit touches one element: so the number of such elements is a
lower bound on the number of edits.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from itertools import combinations

from whet.envs.ordebug.equivalence import Checker
from whet.envs.ordebug.model import LinearProgram
from whet.envs.ordebug.solver import extreme

TOLERANCE = 1e-4
"""Relative; wider than the solver's, so that a point never testifies by rounding alone."""

_SHARE = 0.382
"""How two points are mixed: not a fraction that the data would make whole."""


class Witnesses:
    """Extreme points of the original, and points between those that agree in every whole number."""

    def __init__(self, checker: Checker) -> None:
        self.checker = checker

    @cached_property
    def points(self) -> tuple[dict[str, float], ...]:
        corners = self.checker.points
        return (*corners, *(_mixed(one, other) for one, other in combinations(self._comparable, 2)))

    @cached_property
    def _comparable(self) -> tuple[dict[str, float], ...]:
        """Corners that may be mixed: those of the original, or where it has whole numbers, those beside its optimum."""
        original = self.checker.original
        if not original.mixed:
            return self.checker.points
        if all(column.whole for column in original.columns):
            return ()
        best = self.checker.points[0]
        fixed = replace(
            original,
            columns=tuple(
                replace(column, lower=round(best[column.name]), upper=round(best[column.name]))
                if column.whole
                else column
                for column in original.columns
            ),
        )
        free = [column.name for column in original.columns if not column.whole]
        sides = [[(name, sign if place % 2 else 1.0) for place, name in enumerate(free)] for sign in (1.0, -1.0)]
        found = [extreme(fixed, side) for side in (*sides, [(name, -value) for name, value in sides[1]])]
        return (best, *(result.point(fixed) for result in found if result.optimal))

    def against(self, model: LinearProgram) -> frozenset[str]:
        """The elements of `model` that reject a point, as `row:NAME` or `column:NAME`."""
        original = self.checker.original
        known = {(row.terms, row.lower, row.upper) for row in original.rows}
        rows = [row for row in model.rows if (row.terms, row.lower, row.upper) not in known]
        columns = [column for column in model.columns if original.columns[original.column_index[column.name]] != column]
        found: set[str] = set()
        for point in self.points:
            for row in rows:
                slack = TOLERANCE * max(1.0, abs(row.rhs))
                if not row.lower - slack <= row.activity(point) <= row.upper + slack:
                    found.add(f"row:{row.name}")
            for column in columns:
                value = point[column.name]
                slack = TOLERANCE * max(1.0, abs(value))
                broken = not column.lower - slack <= value <= column.upper + slack
                if broken or (column.whole and abs(value - round(value)) > slack):
                    found.add(f"column:{column.name}")
        return frozenset(found)


def _mixed(one: dict[str, float], other: dict[str, float]) -> dict[str, float]:
    return {name: value + _SHARE * (other[name] - value) for name, value in one.items()}
