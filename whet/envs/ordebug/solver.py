"""HiGHS on a model: solve within limits, and the least total violation that would make a model feasible.

One thread per solve, one `Highs` object per call: calls share nothing, and HiGHS releases the GIL while it works, so
threads run them side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from whet.envs.ordebug.model import INF, Column, LinearProgram, LinearRow, Sense
from whet.errors import WhetError
from whet.extras import install

if TYPE_CHECKING:
    import highspy

Status = Literal["optimal", "infeasible", "unbounded", "time_limit", "error"]

TIME_LIMIT = 10.0
"""Seconds that one solve may take unless told otherwise: a backstop, since a clock is not the same everywhere."""

NODES = 20_000
ITERATIONS = 200_000
"""Limits in counts, which stop a solve at the same place on every machine; they too are told as `time_limit`."""

_LOOSE = 1e-6

_OPTIONS: tuple[tuple[str, Any], ...] = (
    ("output_flag", False),
    ("threads", 1),
    ("random_seed", 0),
    ("mip_max_nodes", NODES),
    ("mip_rel_gap", 0.0),
    ("simplex_iteration_limit", ITERATIONS),
)


@dataclass(frozen=True, slots=True)
class SolverResult:
    """What the solver said. `values` and `activities` follow columns and rows, and are empty without a solution."""

    status: Status
    objective: float | None = None
    values: tuple[float, ...] = ()
    activities: tuple[float, ...] = ()

    @property
    def optimal(self) -> bool:
        return self.status == "optimal"

    def point(self, model: LinearProgram) -> dict[str, float]:
        return {column.name: value for column, value in zip(model.columns, self.values, strict=True)}


@dataclass(frozen=True, slots=True)
class ElasticResult:
    """The least total violation of rows, and where it falls: (row, amount), largest first. `status` is the solve's."""

    status: Status
    total: float = 0.0
    rows: tuple[tuple[str, float], ...] = ()


def solve(model: LinearProgram, *, time_limit: float = TIME_LIMIT, relaxed: bool = False) -> SolverResult:
    """Optimise; `relaxed` takes every column as continuous."""
    return _run(build(model, relaxed=relaxed), time_limit)


def feasible(model: LinearProgram, *, time_limit: float = TIME_LIMIT, relaxed: bool = False) -> bool | None:
    """Whether some point satisfies the model, without optimising; None when the time did not suffice."""
    arrays = build(model, relaxed=relaxed)
    arrays.cost = np.zeros_like(arrays.cost)
    status = _run(arrays, time_limit).status
    return {"optimal": True, "unbounded": True, "infeasible": False}.get(status)


def extreme(
    model: LinearProgram, direction: Sequence[tuple[str, float]], *, time_limit: float = TIME_LIMIT
) -> SolverResult:
    """The greatest value of a linear form over the feasible points; `objective` is that value."""
    arrays = build(model)
    arrays.cost = np.zeros_like(arrays.cost)
    for name, value in direction:
        arrays.cost[model.column_index[name]] += value
    arrays.maximize, arrays.offset = True, 0.0
    return _run(arrays, time_limit)


def elastic(model: LinearProgram, *, time_limit: float = TIME_LIMIT) -> ElasticResult:
    """The model with every row violable at a cost of 1 a unit; bounds and types stay."""
    places, solved = _elastic(model, time_limit)
    if not solved.optimal:
        return ElasticResult(solved.status)
    slack: dict[str, float] = {}
    for place, value in zip(places, solved.values[len(model.columns) :], strict=True):
        if value > _LOOSE:
            slack[model.rows[place].name] = slack.get(model.rows[place].name, 0.0) + value
    ranked = sorted(slack.items(), key=lambda pair: (-pair[1], model.row_index[pair[0]]))
    return ElasticResult("optimal", sum(slack.values()), tuple(ranked))


def elastic_point(model: LinearProgram, *, time_limit: float = TIME_LIMIT) -> dict[str, float] | None:
    """A point that respects bounds and types and violates the rows least in total, or None where bounds allow none."""
    _, solved = _elastic(model, time_limit)
    if not solved.optimal:
        return None
    return {column.name: value for column, value in zip(model.columns, solved.values, strict=False)}


def relaxation(model: LinearProgram, *, time_limit: float = TIME_LIMIT) -> ElasticResult:
    """The least total violation of rows and bounds together; types stay. Bounds are named `lower bound of x1`."""
    bounds = [
        LinearRow(f"{side} bound of {column.name}", ((column.name, 1.0),), sense, value)
        for column in model.columns
        for side, sense, value in _bound_rows(column)
        if abs(value) < INF and column.kind != "binary"
    ]
    free = tuple(
        column if column.kind == "binary" else replace(column, lower=-INF, upper=INF) for column in model.columns
    )
    return elastic(replace(model, columns=free, rows=(*model.rows, *bounds)), time_limit=time_limit)


def _bound_rows(column: Column) -> tuple[tuple[str, Sense, float], ...]:
    return ("lower", ">=", column.lower), ("upper", "<=", column.upper)


def farkas(model: LinearProgram, *, time_limit: float = TIME_LIMIT) -> dict[str, float] | None:
    """Multipliers of rows whose weighted sum no point within the bounds can reach; None where there are none."""
    machine: Any = solver(build(model, relaxed=True), time_limit)
    machine.setOptionValue("presolve", "off")
    machine.setOptionValue("solver", "simplex")
    machine.run()
    if _statuses().get(machine.getModelStatus()) != "infeasible":
        return None
    _, known, ray = machine.getDualRay()
    if not known:
        return None
    scale = max((abs(value) for value in ray), default=0.0)
    if not scale:
        return None
    return {
        row.name: float(value) / scale
        for row, value in zip(model.rows, ray, strict=True)
        if abs(value) > _LOOSE * scale
    }


def _elastic(model: LinearProgram, time_limit: float) -> tuple[list[int], SolverResult]:
    """The row of each added slack, in order, and the solution of the model with them."""
    arrays = build(model)
    arrays.cost = np.zeros_like(arrays.cost)
    arrays.maximize, arrays.offset = False, 0.0
    short = [place for place, row in enumerate(model.rows) if row.lower > -INF]
    over = [place for place, row in enumerate(model.rows) if row.upper < INF]
    arrays.append_columns([*((place, 1.0) for place in short), *((place, -1.0) for place in over)])
    return [*short, *over], _run(arrays, time_limit)


@dataclass(slots=True)
class Arrays:
    """A model as HiGHS takes it, by column; may be changed before it is passed on."""

    cost: np.ndarray[Any, Any]
    col_lower: np.ndarray[Any, Any]
    col_upper: np.ndarray[Any, Any]
    whole: list[bool]
    row_lower: np.ndarray[Any, Any]
    row_upper: np.ndarray[Any, Any]
    start: list[int]
    index: list[int]
    value: list[float]
    maximize: bool
    offset: float

    def append_columns(self, entries: Sequence[tuple[int, float]]) -> None:
        """New columns with cost 1 and no upper bound, each with a coefficient in one row."""
        count = len(entries)
        self.cost = np.append(self.cost, np.ones(count))
        self.col_lower = np.append(self.col_lower, np.zeros(count))
        self.col_upper = np.append(self.col_upper, np.full(count, INF))
        for row, coefficient in entries:
            self.whole.append(False)
            self.index.append(row)
            self.value.append(coefficient)
            self.start.append(len(self.index))


def build(model: LinearProgram, *, relaxed: bool = False) -> Arrays:
    place = model.column_index
    entries: list[list[tuple[int, float]]] = [[] for _ in model.columns]
    for number, row in enumerate(model.rows):
        for name, value in row.terms:
            entries[place[name]].append((number, value))
    start = [0]
    for column in entries:
        start.append(start[-1] + len(column))
    return Arrays(
        np.array([column.cost for column in model.columns], dtype=np.float64),
        np.array([column.lower for column in model.columns], dtype=np.float64),
        np.array([column.upper for column in model.columns], dtype=np.float64),
        [column.whole and not relaxed for column in model.columns],
        np.array([row.lower for row in model.rows], dtype=np.float64),
        np.array([row.upper for row in model.rows], dtype=np.float64),
        start,
        [number for column in entries for number, _ in column],
        [value for column in entries for _, value in column],
        model.maximize,
        model.offset,
    )


def solver(arrays: Arrays, time_limit: float) -> highspy.Highs:
    """A silent, single-threaded HiGHS that holds the model."""
    hs = library()
    lp = hs.HighsLp()
    lp.num_col_, lp.num_row_ = len(arrays.cost), len(arrays.row_lower)
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = arrays.cost, arrays.col_lower, arrays.col_upper
    lp.row_lower_, lp.row_upper_ = arrays.row_lower, arrays.row_upper
    lp.sense_ = hs.ObjSense.kMaximize if arrays.maximize else hs.ObjSense.kMinimize
    lp.offset_ = arrays.offset
    matrix = lp.a_matrix_
    matrix.format_ = hs.MatrixFormat.kColwise
    matrix.start_ = np.array(arrays.start, dtype=np.int32)
    matrix.index_ = np.array(arrays.index, dtype=np.int32)
    matrix.value_ = np.array(arrays.value, dtype=np.float64)
    if any(arrays.whole):
        kinds = (hs.HighsVarType.kContinuous, hs.HighsVarType.kInteger)
        lp.integrality_ = [kinds[whole] for whole in arrays.whole]
    machine: highspy.Highs = hs.Highs()
    for option, value in (*_OPTIONS, ("time_limit", time_limit)):
        machine.setOptionValue(option, value)
    if machine.passModel(lp) == hs.HighsStatus.kError:
        raise WhetError("HiGHS refused the model")
    return machine


def _run(arrays: Arrays, time_limit: float) -> SolverResult:
    hs = library()
    machine = solver(arrays, time_limit)
    machine.run()
    status = machine.getModelStatus()
    if status == hs.HighsModelStatus.kUnboundedOrInfeasible:
        machine.setOptionValue("presolve", "off")
        machine.run()
        status = machine.getModelStatus()
    told = _statuses().get(status, "error")
    if told != "optimal":
        return SolverResult(told)
    solution = machine.getSolution()
    objective = machine.getInfo().objective_function_value
    if status == hs.HighsModelStatus.kModelEmpty:
        return SolverResult("optimal", arrays.offset)
    return SolverResult("optimal", float(objective), tuple(solution.col_value), tuple(solution.row_value))


def _statuses() -> dict[Any, Status]:
    status = library().HighsModelStatus
    return {
        status.kOptimal: "optimal",
        status.kModelEmpty: "optimal",
        status.kInfeasible: "infeasible",
        status.kUnbounded: "unbounded",
        status.kTimeLimit: "time_limit",
        status.kIterationLimit: "time_limit",
        status.kSolutionLimit: "time_limit",
    }


def library() -> Any:
    """The package highspy, or the line that says how to get it."""
    try:
        import highspy
    except ImportError:
        raise WhetError(f"ordebug needs HiGHS: {install('ordebug')}") from None
    return highspy
