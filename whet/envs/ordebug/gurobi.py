"""A second opinion: Gurobi, where it is installed, on the claims of an instance. Nothing depends on it."""

from __future__ import annotations

import importlib
import tempfile
from pathlib import Path
from typing import Any

from whet.envs.ordebug.equivalence import close
from whet.envs.ordebug.instance import Instance
from whet.envs.ordebug.model import LinearProgram
from whet.envs.ordebug.mps import write_mps
from whet.envs.ordebug.works import Solution
from whet.errors import WhetError


def solve(model: LinearProgram, time_limit: float = 10.0) -> Solution:
    """What Gurobi says about the model, handed over as the MPS file that others would get."""
    gurobi = _library()
    with tempfile.TemporaryDirectory() as folder, gurobi.Env(empty=True) as env:
        env.setParam("OutputFlag", 0)
        env.start()
        path = Path(folder) / "model.mps"
        path.write_text(write_mps(model), encoding="utf-8")
        with gurobi.read(str(path), env=env) as held:
            held.setParam("Threads", 1)
            held.setParam("TimeLimit", time_limit)
            held.setParam("MIPGap", 0.0)
            # Otherwise presolve may leave open which of infeasible and unbounded it is.
            held.setParam("DualReductions", 0)
            held.optimize()
            return _told(gurobi.GRB, held)


def _told(codes: Any, held: Any) -> Solution:
    if held.Status == codes.OPTIMAL:
        return Solution("optimal", float(held.ObjVal))
    if held.Status in (codes.INFEASIBLE, codes.UNBOUNDED):
        return Solution("infeasible" if held.Status == codes.INFEASIBLE else "unbounded")
    return Solution("time_limit" if held.Status == codes.TIME_LIMIT else "error")


def disagreement(instance: Instance) -> str:
    """Where Gurobi contradicts the instance: its model must be infeasible, its original have the known objective."""
    broken = solve(instance.sabotaged)
    if broken.status != "infeasible":
        return f"Gurobi finds the model {broken.status}"
    original, known = solve(instance.original), instance.certificate.original_objective
    if original.objective is None or not close(original.objective, known):
        return f"Gurobi finds the original {original.status} with objective {original.objective}, not {known}"
    return ""


def _library() -> Any:
    try:
        return importlib.import_module("gurobipy")
    except ImportError:
        raise WhetError("the cross-check needs Gurobi: pip install gurobipy") from None
