"""Irreducible infeasible subsystems: which rows and bounds contradict each other, with nothing superfluous.

HiGHS finds them for linear models (strategy 6: from the LP, then irreducible), so integrality is cleared first. Where
only integrality makes a model infeasible, rows are deleted one by one with bounds and types as background.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from whet.envs.ordebug.model import INF, Column, LinearProgram, LinearRow, ModelError
from whet.envs.ordebug.solver import TIME_LIMIT, build, feasible, library, solver

Side = Literal["lower", "upper"]

_STRATEGY = 6
_IRREDUCIBLE = 3
_SIDES: dict[int, tuple[Side, ...]] = {2: ("lower",), 3: ("upper",), 4: ("lower", "upper")}


@dataclass(frozen=True, slots=True)
class Member:
    """One side of a row or of a column's bounds."""

    name: str
    side: Side


@dataclass(frozen=True, slots=True)
class Iis:
    """A subsystem without solution. With `integral`, it needs the types and bounds of all columns as background.

    `irreducible`: leaving any member out makes it feasible; False only where time did not suffice to make it so.
    """

    rows: tuple[Member, ...]
    columns: tuple[Member, ...] = ()
    integral: bool = False
    irreducible: bool = True

    @property
    def row_names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(member.name for member in self.rows))

    @property
    def column_names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(member.name for member in self.columns))

    @property
    def size(self) -> int:
        return len(self.rows) + len(self.columns)


def find_iis(model: LinearProgram, *, time_limit: float = TIME_LIMIT) -> Iis | None:
    """A subsystem that explains why the model is infeasible, or None when it is feasible (or the time ran out)."""
    crossed = next((column for column in model.columns if column.lower > column.upper), None)
    if crossed is not None:
        return Iis((), (Member(crossed.name, "lower"), Member(crossed.name, "upper")))
    linear = feasible(model, time_limit=time_limit, relaxed=True)
    if linear is False:
        return _linear_iis(model, time_limit)
    if linear is None or not model.mixed or feasible(model, time_limit=time_limit) is not False:
        return None
    return _integral_iis(model, time_limit)


def another_iis(model: LinearProgram, known: Iis, *, time_limit: float = TIME_LIMIT) -> Iis | None:
    """A subsystem that leaves out a member of a known one; None where every subsystem holds all of its rows."""
    for name in known.row_names:
        found = find_iis(model.without_row(name), time_limit=time_limit)
        if found is not None:
            return found
    return None


def subsystem(model: LinearProgram, iis: Iis) -> LinearProgram:
    """The model that holds the members of `iis` and nothing else; types only where integrality is needed."""
    sides: dict[str, set[Side]] = {}
    for member in iis.rows:
        sides.setdefault(member.name, set()).add(member.side)
    rows = tuple(_one_sided(model.row(name), kept) for name, kept in sides.items())
    if iis.integral:
        return replace(model, columns=tuple(replace(column, cost=0.0) for column in model.columns), rows=rows)
    bounds: dict[str, set[Side]] = {}
    for member in iis.columns:
        bounds.setdefault(member.name, set()).add(member.side)
    columns = tuple(_opened(column, bounds.get(column.name, set())) for column in model.columns)
    return replace(model, columns=columns, rows=rows)


def is_irreducible(model: LinearProgram, iis: Iis, *, time_limit: float = TIME_LIMIT) -> bool:
    """By removal: the subsystem has no solution, and leaving any member out gives it one."""
    if feasible(subsystem(model, iis), time_limit=time_limit) is not False:
        return False
    return all(
        feasible(subsystem(model, _without(iis, member)), time_limit=time_limit) is True
        for member in (*iis.rows, *iis.columns)
    )


def _linear_iis(model: LinearProgram, time_limit: float) -> Iis:
    """What HiGHS finds when it vouches for it; otherwise what is left after deleting members one by one."""
    hs = library()
    machine = solver(build(model, relaxed=True), time_limit)
    machine.setOptionValue("iis_strategy", _STRATEGY)
    machine.setOptionValue("iis_time_limit", time_limit)
    machine.run()
    status, found = machine.getIis()
    if found.valid_:
        iis = _named(model, found)
        if status == hs.HighsStatus.kOk and int(found.status_) == _IRREDUCIBLE:
            return iis
        if feasible(subsystem(model, iis), time_limit=time_limit) is False:
            return _reduced(model, iis, time_limit)
    return _reduced(model, _everything(model), time_limit)


def _named(model: LinearProgram, found: Any) -> Iis:
    rows = [
        Member(model.rows[place].name, side)
        for place, code in zip(found.row_index_, found.row_bound_, strict=True)
        for side in _SIDES.get(int(code), ())
    ]
    columns = [
        Member(model.columns[place].name, side)
        for place, code in zip(found.col_index_, found.col_bound_, strict=True)
        for side in _SIDES.get(int(code), ())
    ]
    return _ordered(model, Iis(tuple(rows), tuple(columns)))


def _integral_iis(model: LinearProgram, time_limit: float) -> Iis:
    rows = tuple(member for member in _everything(model).rows)
    return _reduced(model, Iis(rows, (), integral=True), time_limit)


def _reduced(model: LinearProgram, iis: Iis, time_limit: float) -> Iis:
    """Members deleted one by one while what is left stays infeasible; a solve without answer keeps its member."""
    sure = True
    for member in (*iis.rows, *iis.columns):
        smaller = _without(iis, member)
        answer = feasible(subsystem(model, smaller), time_limit=time_limit)
        if answer is False:
            iis = smaller
        sure = sure and answer is not None
    return _ordered(model, replace(iis, irreducible=sure))


def _everything(model: LinearProgram) -> Iis:
    rows = [Member(row.name, side) for row in model.rows for side in _sides(row.lower, row.upper)]
    columns = [Member(column.name, side) for column in model.columns for side in _sides(column.lower, column.upper)]
    return Iis(tuple(rows), tuple(columns))


def _sides(lower: float, upper: float) -> tuple[Side, ...]:
    found: list[Side] = []
    if lower > -INF:
        found.append("lower")
    if upper < INF:
        found.append("upper")
    return tuple(found)


def _without(iis: Iis, gone: Member) -> Iis:
    """Rows and columns may share names, so a member is told apart by identity."""
    return replace(
        iis,
        rows=tuple(member for member in iis.rows if member is not gone),
        columns=tuple(member for member in iis.columns if member is not gone),
    )


def _one_sided(row: LinearRow, kept: set[Side]) -> LinearRow:
    if kept == {"lower", "upper"}:
        return row
    if kept == {"lower"}:
        return replace(row, sense=">=", rhs=row.lower, span=None)
    return replace(row, sense="<=", rhs=row.upper, span=None)


def _opened(column: Column, kept: set[Side]) -> Column:
    lower = column.lower if "lower" in kept else -INF
    upper = column.upper if "upper" in kept else INF
    return Column(column.name, lower, upper)


def _ordered(model: LinearProgram, iis: Iis) -> Iis:
    def by(place: Callable[[str], int]) -> Callable[[Member], tuple[int, str]]:
        return lambda member: (place(member.name), member.side)

    return replace(
        iis,
        rows=tuple(sorted(iis.rows, key=by(model.row_index.__getitem__))),
        columns=tuple(sorted(iis.columns, key=by(model.column_index.__getitem__))),
    )


def iis_to_data(iis: Iis) -> dict[str, Any]:
    return {
        "rows": [[member.name, member.side] for member in iis.rows],
        "columns": [[member.name, member.side] for member in iis.columns],
        "integral": iis.integral,
        "irreducible": iis.irreducible,
    }


def iis_from_data(data: dict[str, Any]) -> Iis:
    try:
        rows = tuple(Member(name, side) for name, side in data["rows"])
        columns = tuple(Member(name, side) for name, side in data["columns"])
        return Iis(rows, columns, bool(data["integral"]), bool(data["irreducible"]))
    except (KeyError, TypeError, ValueError) as problem:
        raise ModelError(f"not a subsystem: {data!r} ({problem})") from None
