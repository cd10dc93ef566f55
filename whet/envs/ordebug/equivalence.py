"""Whether a repaired model means the same as the original: its requirements, its feasible points, its best objective.

What is written alike in both is not asked about. For every row, bound or type that only one of them has, the solver
looks for a point of the other that breaks it; points drawn in random directions are compared besides.

Points alone do not suffice. A row whose sense, turned around, makes a model infeasible is one that no feasible point of
the others touches: leaving it out changes no point, but the requirement is gone. The same holds of a bound. So each
side of a row and each bound of the original must be said in the model: in a row, multiplied by any number, alone or as
one of two rows that say an equation; a bound, or a row of one variable, as either.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from whet.envs.ordebug.model import INF, Column, LinearProgram, LinearRow, violations
from whet.envs.ordebug.solver import TIME_LIMIT, SolverResult, extreme, solve
from whet.keys import seed_for

TOLERANCE = 1e-5
"""Relative: how far an objective or an activity may be off and still count as the same."""

DIRECTIONS = 4
"""Random directions in which extreme points of both models are compared."""


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Whether a model is equivalent to the original. If not, `why` names the first difference that was found.

    `timeout`: the time did not suffice to tell.
    """

    same: bool
    why: str = ""


def close(one: float, other: float, tolerance: float = TOLERANCE) -> bool:
    return math.isclose(one, other, rel_tol=tolerance, abs_tol=tolerance)


class Checker:
    """Compares models with one original; what is known about the original is computed once."""

    def __init__(self, original: LinearProgram, *, time_limit: float = TIME_LIMIT) -> None:
        self.original = original
        self._time_limit = time_limit

    @cached_property
    def best(self) -> SolverResult:
        return solve(self.original, time_limit=self._time_limit)

    @cached_property
    def points(self) -> tuple[dict[str, float], ...]:
        """Feasible points of the original: its optimum, and extreme ones in random directions."""
        found = [self.best, *_extremes(self.original, self._time_limit)]
        return tuple(result.point(self.original) for result in found if result.optimal)

    def accepts_points(self, model: LinearProgram) -> bool:
        """Whether every stored point of the original is feasible in `model`: quick, necessary, not sufficient."""
        return not any(violations(model, point, 10 * TOLERANCE) for point in self.points)

    def repaired(self, model: LinearProgram) -> bool:
        return self.verdict(model).same

    def verdict(self, model: LinearProgram) -> Equivalence:
        """Whether `model` is equivalent to the original, else the first difference; cheap differences first."""
        original, limit = self.original, self._time_limit
        if {column.name for column in model.columns} != {column.name for column in original.columns}:
            return Equivalence(False, "columns")
        if not _same_objective(model, original):
            return Equivalence(False, "objective_function")
        if _same_text(model, original):
            return Equivalence(True)
        lost = _unstated(model, original)
        if lost:
            return Equivalence(False, f"requirement {lost} is not stated")
        if not self.accepts_points(model):
            return Equivalence(False, "original_point")
        best = solve(model, time_limit=limit)
        if "time_limit" in (best.status, self.best.status):
            return Equivalence(False, "timeout")
        if best.status != self.best.status:
            return Equivalence(False, f"status_{best.status}")
        if best.objective is not None and not close(best.objective, self.best.objective or 0.0):
            return Equivalence(False, "objective")
        why = _escape(model, original, limit) or _escape(original, model, limit)
        if not why and any(
            violations(original, result.point(model), 10 * TOLERANCE)
            for result in _extremes(model, limit)
            if result.optimal
        ):
            why = "sampled_point"
        return Equivalence(not why, why)


def equivalent(model: LinearProgram, original: LinearProgram, *, time_limit: float = TIME_LIMIT) -> Equivalence:
    """Compare a `model` with the `original`; both must have columns of the same names."""
    return Checker(original, time_limit=time_limit).verdict(model)


def _same_objective(model: LinearProgram, original: LinearProgram) -> bool:
    if model.maximize != original.maximize or not close(model.offset, original.offset):
        return False
    return all(close(column.cost, original.column(column.name).cost) for column in model.columns)


def _same_text(model: LinearProgram, original: LinearProgram) -> bool:
    rows = {_form(row) for row in model.rows} == {_form(row) for row in original.rows}
    return rows and all(_declared(column) == _declared(original.column(column.name)) for column in model.columns)


def _form(row: LinearRow) -> tuple[tuple[tuple[str, float], ...], float, float]:
    """A row without its name: terms in order of name, and the interval of its activity."""
    return tuple(sorted(row.terms)), row.lower, row.upper


_Direction = tuple[tuple[str, float], ...]
_Limits = tuple[tuple[float, float], tuple[float, float]]
"""The least and the greatest activity as a row says them, and rounded where only whole numbers can come out."""


def _unstated(model: LinearProgram, original: LinearProgram) -> str:
    """The first row or column of the original of which the model does not say a side, or ''."""
    said: dict[_Direction, list[_Limits]] = {}
    for row in (*model.rows, *map(_as_row, model.columns)):
        direction, limits = _scaled(row, original)
        said.setdefault(direction, []).append(limits)
    for row in (*original.rows, *map(_as_row, original.columns)):
        direction, wanted = _scaled(row, original)
        if not all(_stated(side, wanted, said.get(direction, ())) for side in (0, 1)):
            return row.name
    return ""


def _stated(side: int, wanted: _Limits, there: Sequence[_Limits]) -> bool:
    """Whether one side is open, or a row of this direction has the same limit: as it stands, or rounded."""
    return math.isinf(wanted[0][side]) or any(
        _same_limit(mine[side], theirs[side]) for limits in there for mine, theirs in zip(wanted, limits, strict=True)
    )


def _as_row(column: Column) -> LinearRow:
    """The bounds of a column as a row of one variable; one that says nothing where there are none."""
    terms = ((column.name, 1.0),)
    if column.lower == -INF:
        return LinearRow(column.name, terms if column.upper < INF else (), "<=", min(column.upper, 1e30))
    if column.upper == INF or column.upper < column.lower:
        return LinearRow(column.name, terms, ">=", column.lower)
    return LinearRow(column.name, terms, "<=", column.upper, column.upper - column.lower)


def _scaled(row: LinearRow, model: LinearProgram) -> tuple[_Direction, _Limits]:
    """The terms divided by the first coefficient, and the limits with them.

    Where only whole numbers can come out on the left, limits are also brought to the next whole number inside. Both are
    kept: `x + y >= 14.5` is said by `x + y >= 15` and, rounded on another scale, by `2 x + 2 y >= 29`.
    """
    terms = sorted(row.terms)
    scale = terms[0][1] if terms else 1.0
    low, high = row.lower, row.upper
    plain = _divided(low, high, scale)
    if all(model.column(name).whole and value == int(value) for name, value in terms):
        low, high = _inward(low, math.ceil, -TOLERANCE), _inward(high, math.floor, TOLERANCE)
    direction = tuple((name, float(f"{value / scale:.8g}")) for name, value in terms)
    return direction, (plain, _divided(low, high, scale))


def _divided(low: float, high: float, scale: float) -> tuple[float, float]:
    return (low / scale, high / scale) if scale > 0.0 else (high / scale, low / scale)


def _inward(limit: float, rounded: Callable[[float], int], slack: float) -> float:
    return float(rounded(limit + slack)) if math.isfinite(limit) else limit


def _same_limit(one: float, other: float) -> bool:
    return one == other or (math.isfinite(one) and math.isfinite(other) and close(one, other))


def _declared(column: Column) -> tuple[float, float, bool]:
    return column.lower, column.upper, column.whole


def _escape(inner: LinearProgram, outer: LinearProgram, time_limit: float) -> str:
    """Why some point of `inner` is not one of `outer`, or ''."""
    known = {_form(row) for row in inner.rows}
    for row in outer.rows:
        if _form(row) not in known and _breaks(inner, row.terms, row.lower, row.upper, time_limit):
            return f"row {row.name}"
    for column in outer.columns:
        mine = inner.column(column.name)
        if (mine.lower, mine.upper) != (column.lower, column.upper) and _breaks(
            inner, ((column.name, 1.0),), column.lower, column.upper, time_limit
        ):
            return f"bounds of {column.name}"
        if column.whole and not mine.whole and not _fixed(inner, column.name, time_limit):
            return f"type of {column.name}"
    return ""


def _breaks(
    model: LinearProgram, terms: Sequence[tuple[str, float]], lower: float, upper: float, time_limit: float
) -> bool:
    """Whether some point of the model takes the form out of [lower, upper]; a solve without answer counts as yes."""
    if upper < INF:
        most = extreme(model, terms, time_limit=time_limit)
        if most.objective is None or _beyond(most.objective, upper):
            return True
    if lower > -INF:
        least = extreme(model, [(name, -value) for name, value in terms], time_limit=time_limit)
        return least.objective is None or _beyond(least.objective, -lower)
    return False


def _beyond(value: float, limit: float) -> bool:
    return value > limit + TOLERANCE * max(1.0, abs(limit))


def _fixed(model: LinearProgram, column: str, time_limit: float) -> bool:
    """Whether the column takes one whole value only: then its type does not matter."""
    most = extreme(model, [(column, 1.0)], time_limit=time_limit).objective
    least = extreme(model, [(column, -1.0)], time_limit=time_limit).objective
    return most is not None and least is not None and close(most, -least) and close(most, round(most))


def _extremes(model: LinearProgram, time_limit: float) -> Iterator[SolverResult]:
    """Extreme points in random directions, the same for all models with as many columns."""
    for direction in _directions(model):
        yield extreme(model, direction, time_limit=time_limit)


def _directions(model: LinearProgram) -> Iterator[list[tuple[str, float]]]:
    rng = random.Random(seed_for("ordebug", "directions", len(model.columns)))
    for _ in range(DIRECTIONS):
        yield [(column.name, rng.gauss(0.0, 1.0)) for column in model.columns]
