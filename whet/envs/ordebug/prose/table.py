"""The specification as a table: every column with its meaning and bounds, every requirement as a formula in words.

The easy rung: what is asked for can be compared with the model line by line.
"""

from __future__ import annotations

import random

from whet.envs.ordebug.algebra import linear, number
from whet.envs.ordebug.families import FAMILIES, ProblemDraft
from whet.envs.ordebug.instance import Specification
from whet.envs.ordebug.model import INF, Column, LinearRow, Sense
from whet.envs.ordebug.prose.references import item_text

SAID: dict[Sense, str] = {"<=": "at most", ">=": "at least", "=": "exactly"}


def table(rng: random.Random, draft: ProblemDraft) -> Specification:
    words, model = FAMILIES[draft.family], draft.model
    sources: dict[str, tuple[str, ...]] = {}
    lines = [words.setting, "", f"Decisions (name: meaning; allowed values; {_worth(words.maximize)} of one unit):"]
    for column in model.columns:
        said = f"{column.name}: {item_text(words, draft.items[column.name])}; {_domain(column)}; {number(column.cost)}"
        sources[f"column:{column.name}"] = (said,)
        lines.append(f"  {said}")
    lines += ["", "Requirements:"]
    for row in rng.sample(model.rows, len(model.rows)):
        said = _requirement(row, draft.meanings[row.name].subject.partition("|")[0])
        sources[f"row:{row.name}"] = (said,)
        lines.append(f"  - {said}")
    aim = "earn the greatest profit" if words.maximize else "spend as little as possible"
    return Specification("\n".join([*lines, "", f"Aim: {aim}."]), sources)


def _worth(maximize: bool) -> str:
    return "profit" if maximize else "cost"


def _requirement(row: LinearRow, subject: str) -> str:
    said = f"{linear(row.terms)} is {SAID[row.sense]} {number(row.rhs)}"
    return f"{subject}: {said}" if subject else said


def _domain(column: Column) -> str:
    if column.kind == "binary":
        return "0 or 1"
    whole = "whole number" if column.kind == "integer" else "any number"
    if column.upper == INF:
        return f"{whole} from {number(column.lower)}"
    return f"{whole} from {number(column.lower)} to {number(column.upper)}"
