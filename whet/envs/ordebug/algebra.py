"""A model as text that a person reads: objective, constraints, variables with bounds and types."""

from __future__ import annotations

from collections.abc import Iterable

from whet.envs.ordebug.model import INF, Column, LinearProgram, LinearRow


def number(value: float) -> str:
    """A number as short as it can be told without loss: 12, 0.35, 1e+20."""
    if value == INF:
        return "+inf"
    if value == -INF:
        return "-inf"
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def linear(terms: Iterable[tuple[str, float]]) -> str:
    """`2 x1 - 3.5 x4`; a coefficient of 1 is not written."""
    parts: list[str] = []
    for name, value in terms:
        size = "" if abs(value) == 1.0 else f"{number(abs(value))} "
        sign = "-" if value < 0 else "+"
        parts.append(f"{sign} {size}{name}" if parts else f"{'-' if value < 0 else ''}{size}{name}")
    return " ".join(parts) or "0"


def row_text(row: LinearRow) -> str:
    """One constraint as it stands in the model: `r3: 2 x1 + x4 <= 40`."""
    left = linear(row.terms)
    if row.span is not None:
        return f"{row.name}: {number(row.lower)} <= {left} <= {number(row.upper)}"
    return f"{row.name}: {left} {row.sense} {number(row.rhs)}"


def column_text(column: Column) -> str:
    """One variable: its bounds, and its type where it is not continuous."""
    if column.lower == -INF and column.upper == INF:
        bounds = f"{column.name} free"
    elif column.upper == INF:
        bounds = f"{column.name} >= {number(column.lower)}"
    elif column.lower == -INF:
        bounds = f"{column.name} <= {number(column.upper)}"
    else:
        bounds = f"{number(column.lower)} <= {column.name} <= {number(column.upper)}"
    return bounds if column.kind == "continuous" else f"{bounds}, {column.kind}"


def objective_text(model: LinearProgram) -> str:
    direction = "maximize" if model.maximize else "minimize"
    text = linear((column.name, column.cost) for column in model.columns if column.cost)
    if model.offset:
        text += f" {'-' if model.offset < 0 else '+'} {number(abs(model.offset))}"
    return f"{direction} {text}"


def algebra(model: LinearProgram) -> str:
    """The whole model, a line for each element."""
    lines = [objective_text(model), "subject to"]
    lines += [f"  {row_text(row)}" for row in model.rows]
    lines += ["variables", *(f"  {column_text(column)}" for column in model.columns)]
    return "\n".join(lines)
