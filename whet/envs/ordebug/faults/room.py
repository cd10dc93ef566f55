"""How far the rest of a model lets a row, or a variable, go: between which values a sound figure lies."""

from __future__ import annotations

import math
import random
from dataclasses import replace

from whet.envs.ordebug.families.story import tidy
from whet.envs.ordebug.model import INF, LinearProgram
from whet.envs.ordebug.solver import SolverResult, extreme

Terms = tuple[tuple[str, float], ...]


def reach(model: LinearProgram, row: str) -> tuple[float, float] | None:
    """The least and the greatest activity of a row over the points of all the others; None where there are none."""
    return span(model.without_row(row), model.row(row).terms)


def span(model: LinearProgram, terms: Terms) -> tuple[float, float] | None:
    """The least and the greatest value of a linear form; None where the model has no point."""
    most = _end(extreme(model, terms))
    if most is None:
        return None
    least = _end(extreme(model, tuple((name, -value) for name, value in terms)))
    return None if least is None else (-least, most)


def _end(result: SolverResult) -> float | None:
    if result.status == "unbounded":
        return INF
    return result.objective if result.optimal else None


def opened(model: LinearProgram, column: str) -> LinearProgram:
    """The model with a column that may take any value of its type (a binary one: any count)."""
    old = model.column(column)
    kind = "integer" if old.kind == "binary" else old.kind
    return model.with_column(replace(old, lower=-1e6, upper=1e6, kind=kind))


def step_for(scale: float) -> float:
    return 0.5 if scale < 60 else 1.0


def above(rng: random.Random, least: float, scale: float, whole: bool = False) -> float:
    """A limit that leaves some room above `least`: as tight or as loose as sound figures are."""
    step = 1.0 if whole else step_for(scale)
    room = scale * rng.choice((0.0, 0.03, 0.08, 0.2)) * rng.uniform(0.5, 1.2)
    return tidy(math.ceil((least + room) / step - 1e-9) * step)


def below(rng: random.Random, most: float, scale: float, whole: bool = False) -> float:
    return -above(rng, -most, scale, whole)


def between(rng: random.Random, low: float, high: float, scale: float) -> float | None:
    """A figure inside, on the grid of sound figures where there is one."""
    low, high = max(low, -1e5), min(high, 1e5)
    high = min(high, low + scale) if rng.random() < 0.5 else high
    low = max(low, high - scale)
    step = step_for(scale)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    if first <= last:
        return tidy(rng.randint(first, last) * step)
    return tidy(low) if abs(low - high) > 1e-9 else None
