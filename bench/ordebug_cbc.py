"""A second opinion from another engine: CBC, through PuLP, on the claims of an instance. Functions for the bench."""

from __future__ import annotations

import math

from whet.envs.ordebug.equivalence import close
from whet.envs.ordebug.instance import Instance
from whet.envs.ordebug.ladder import MISSING
from whet.envs.ordebug.model import LinearProgram

_KINDS = {"continuous": "Continuous", "integer": "Integer", "binary": "Integer"}


def solve(model: LinearProgram) -> tuple[str, float | None]:
    """What CBC says: 'optimal' with the objective, 'infeasible', or another word."""
    import pulp

    held = pulp.LpProblem("m", pulp.LpMaximize if model.maximize else pulp.LpMinimize)
    columns = {
        column.name: pulp.LpVariable(
            column.name,
            column.lower if math.isfinite(column.lower) else None,
            column.upper if math.isfinite(column.upper) else None,
            _KINDS[column.kind],
        )
        for column in model.columns
    }
    held += pulp.lpSum(column.cost * columns[column.name] for column in model.columns) + model.offset
    for row in model.rows:
        activity = pulp.lpSum(value * columns[name] for name, value in row.terms)
        if math.isfinite(row.lower):
            held += activity >= row.lower
        if math.isfinite(row.upper):
            held += activity <= row.upper
    held.solve(pulp.PULP_CBC_CMD(msg=False, threads=1, gapRel=0.0))
    status = {"Optimal": "optimal", "Infeasible": "infeasible"}.get(pulp.LpStatus[held.status], "other")
    return status, pulp.value(held.objective) if status == "optimal" else None


def agrees(instance: Instance) -> bool:
    """Whether CBC finds the original as good as the certificate says and the broken model infeasible.

    A model that lacks a row has a solution, and a better one.
    """
    recorded = instance.certificate.original_objective
    status, objective = solve(instance.original)
    if status != "optimal" or objective is None or not close(objective, recorded):
        return False
    status, objective = solve(instance.sabotaged)
    if instance.kind != MISSING:
        return status == "infeasible"
    better = objective is not None and (objective > recorded if instance.original.maximize else objective < recorded)
    return status == "optimal" and better
