"""What a play has computed: importable functions from a model to plain records, called as works.

Each takes the model it is about and returns data; none keeps anything, so any thread or process may run it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from whet.envs.ordebug.equivalence import Checker
from whet.envs.ordebug.iis import Iis, another_iis, find_iis
from whet.envs.ordebug.model import INF, LinearProgram
from whet.envs.ordebug.solver import ElasticResult, SolverResult, Status, elastic_point, farkas, relaxation, solve
from whet.errors import WhetError


@dataclass(frozen=True, slots=True)
class Solution:
    """How a solve ended, and the best objective where there is one."""

    status: Status
    objective: float | None = None


@dataclass(frozen=True, slots=True)
class Slack:
    """Where a row stands: its activity, and how far that is from its nearer limit (below 0: violated).

    `optimal`: at the optimum; otherwise at a point that violates the rows least in total.
    """

    optimal: bool
    activity: float | None = None
    slack: float | None = None


@dataclass(frozen=True, slots=True)
class RepairJudgement:
    """The model as handed in, against the original. `repaired_at`: the step after which it was first repaired, or 0."""

    final: Solution
    repaired: bool
    why: str
    repaired_at: int


def resolve(model: LinearProgram, time_limit: float) -> Solution:
    try:
        solved = solve(model, time_limit=time_limit)
    except WhetError:
        return Solution("error")
    return Solution(solved.status, solved.objective)


def explain(model: LinearProgram, time_limit: float) -> Iis | None:
    try:
        return find_iis(model, time_limit=time_limit)
    except WhetError:
        return None


def explain_otherwise(model: LinearProgram, time_limit: float) -> Iis | None:
    """A subsystem that is not the one that `explain` finds."""
    known = explain(model, time_limit)
    try:
        return None if known is None else another_iis(model, known, time_limit=time_limit)
    except WhetError:
        return None


def relax_least(model: LinearProgram, time_limit: float) -> ElasticResult:
    """Where the least total violation of rows and bounds falls."""
    try:
        return relaxation(model, time_limit=time_limit)
    except WhetError:
        return ElasticResult("error")


def prove(model: LinearProgram, time_limit: float) -> dict[str, float] | None:
    """Multipliers of rows that prove the linear part infeasible."""
    try:
        return farkas(model, time_limit=time_limit)
    except WhetError:
        return None


def slack(model: LinearProgram, row: str, infeasible: bool, time_limit: float) -> Slack | None:
    """None where the solver refuses the model, as it does with coefficients beyond its range.

    `infeasible`: it is known that there is no optimum to look at.
    """
    try:
        solved = SolverResult("infeasible") if infeasible else solve(model, time_limit=time_limit)
        point = solved.point(model) if solved.optimal else elastic_point(model, time_limit=time_limit)
    except WhetError:
        return None
    if point is None:
        return Slack(False)
    constraint = model.row(row)
    activity = constraint.activity(point)
    nearest = min(
        [
            *([constraint.upper - activity] if constraint.upper < INF else []),
            *([activity - constraint.lower] if constraint.lower > -INF else []),
        ],
        default=0.0,
    )
    return Slack(solved.optimal, activity, nearest)


def judge(
    final: LinearProgram, original: LinearProgram, trail: Sequence[tuple[int, LinearProgram]], time_limit: float
) -> RepairJudgement:
    """Whether `final` is equivalent to the original, and which feasible model on the way (`trail`) was so first."""
    checker = Checker(original, time_limit=time_limit)
    verdicts: dict[str, bool] = {}

    def repaired(model: LinearProgram) -> bool:
        if model.digest not in verdicts:
            verdicts[model.digest] = checker.repaired(model)
        return verdicts[model.digest]

    first = next((step for step, model in trail if repaired(model)), 0)
    solution = resolve(final, time_limit)
    if solution.status != "optimal":
        return RepairJudgement(solution, False, solution.status, first)
    verdict = checker.verdict(final)
    return RepairJudgement(solution, verdict.same, verdict.why, first)
