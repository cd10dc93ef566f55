"""Standing adversaries of `ordebug` that never read the specification: they must not know which element is wrong.

Each is given what a policy can see without the text (the broken model, its subsystem, a solver) and points at one
element. `chance` is a picker that knows the subsystem and the type of the fault and nothing else. Functions for
`bench/ordebug.py`; scikit-learn is needed.
"""

from __future__ import annotations

import math
import random
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from whet.envs.ordebug.iis import Iis
from whet.envs.ordebug.instance import Instance
from whet.envs.ordebug.model import INF, Column, LinearProgram, LinearRow
from whet.envs.ordebug.solver import elastic, extreme

Element = str
Features = dict[Element, list[float]]

FAR = 1e6
"""What stands for infinity in a feature."""


def suspects(instance: Instance) -> list[Element]:
    """The smallest set of which a solver can say that one is wrong: what is left without a specification."""
    return list(min(instance.certificate.suspects, key=len))


def chance(instance: Instance) -> float:
    """How often a blind finger on those hits something that is wrong."""
    members = suspects(instance)
    return len(instance.elements & set(members)) / len(members)


def uniform(instance: Instance) -> float:
    """How often a blind finger on the whole model hits, among elements of the sort that the type is about."""
    model = instance.sabotaged
    rows, columns = len(model.rows), len(model.columns)
    sort = columns if instance.kind == "B" else rows + columns if instance.kind == "mixed" else rows
    return len(instance.elements) / sort


def features(instance: Instance) -> Features:
    """What can be said about every element of the sort in question without the specification."""
    model, shown = instance.sabotaged, instance.certificate.subsystem
    found: Features = {}
    loose = dict(elastic(model).rows)
    senses = Counter(row.sense for row in model.rows)
    alike: dict[tuple[int, str], int] = Counter((len(row.terms), row.sense) for row in model.rows)
    sizes = Counter(len(row.terms) for row in model.rows)
    figures = [abs(row.rhs) for row in model.rows]
    groups = Counter(tuple(sorted(name for name, _ in row.terms)) for row in model.rows)
    members, others = set(shown.row_names), set(shown.column_names)
    if instance.kind != "B":
        for place, row in enumerate(model.rows):
            key = tuple(sorted(name for name, _ in row.terms))
            shared = alike[len(row.terms), row.sense] / sizes[len(row.terms)]
            found[f"row:{row.name}"] = [
                1.0,
                *_seat(row.name in members, shown, place / len(model.rows)),
                senses[row.sense] / len(model.rows),
                shared,
                groups[key],
                loose.get(row.name, 0.0),
                loose.get(row.name, 0.0) / max(1.0, abs(row.rhs)),
                *_row(row, model, figures),
                *(_repair(row, model) if row.name in members else [-1.0, -1.0, -1.0]),
            ]
    if instance.kind in ("B", "mixed"):
        lowers = Counter(column.lower for column in model.columns)
        uppers = Counter(column.upper for column in model.columns)
        kinds = Counter(column.kind for column in model.columns)
        for place, column in enumerate(model.columns):
            found[f"column:{column.name}"] = [
                0.0,
                *_seat(column.name in others, shown, place / len(model.columns)),
                lowers[column.lower] / len(model.columns),
                uppers[column.upper] / len(model.columns),
                kinds[column.kind] / len(model.columns),
                *_column(column, model),
                *(_bound(column, model) if column.name in others else [-1.0, -1.0, -1.0]),
            ]
    width = max(len(values) for values in found.values())
    return {name: values + [0.0] * (width - len(values)) for name, values in found.items()}


def _seat(inside: bool, shown: Iis, place: float) -> list[float]:
    """Where an element stands: in the subsystem or not, how large that is, how far down the model."""
    return [float(inside), len(shown.row_names), len(shown.column_names), place]


def _row(row: LinearRow, model: LinearProgram, figures: Sequence[float]) -> list[float]:
    values = [value for _, value in row.terms]
    sizes = [abs(value) for value in values] or [1.0]
    middle = statistics.median(sizes)
    low = sum(v * (c.lower if v > 0 else c.upper) for n, v in row.terms for c in [model.column(n)])
    high = sum(v * (c.upper if v > 0 else c.lower) for n, v in row.terms for c in [model.column(n)])
    columns = [model.column(name) for name, _ in row.terms]
    return [
        {"<=": 0.0, ">=": 1.0, "=": 2.0}[row.sense],
        len(values),
        row.rhs,
        abs(row.rhs),
        float(row.rhs == round(row.rhs)),
        abs(row.rhs) / max(1.0, statistics.median(figures)),
        sum(value < 0 for value in values),
        sum(value < 0 for value in values) / max(1, len(values)),
        max(sizes) / middle,
        middle / min(sizes),
        max(sizes),
        min(sizes),
        len(set(sizes)),
        sum(value == round(value) for value in values) / max(1, len(values)),
        _tame(low),
        _tame(high),
        _tame((row.rhs - low) / max(1.0, abs(row.rhs))) if math.isfinite(low) else FAR,
        _tame((high - row.rhs) / max(1.0, abs(row.rhs))) if math.isfinite(high) else FAR,
        statistics.fmean(column.cost for column in columns) if columns else 0.0,
        sum(column.whole for column in columns),
        len(str(row.rhs)),
    ]


def _repair(row: LinearRow, model: LinearProgram) -> list[float]:
    """How far this row alone would have to give way, and how far it could then go the other way."""
    rest = replace(model, rows=tuple(other for other in model.rows if other.name != row.name))
    most, least = extreme(rest, row.terms), extreme(rest, [(name, -value) for name, value in row.terms])
    high = most.objective if most.objective is not None else FAR
    low = -least.objective if least.objective is not None else -FAR
    scale = max(1.0, abs(row.rhs))
    return [_tame((low - row.rhs) / scale), _tame((row.rhs - high) / scale), _tame((high - low) / scale)]


def _column(column: Column, model: LinearProgram) -> list[float]:
    used = [row for row in model.rows if row.coefficient(column.name)]
    return [
        {"continuous": 0.0, "integer": 1.0, "binary": 2.0}[column.kind],
        _tame(column.lower),
        _tame(column.upper),
        float(column.lower != 0.0),
        float(column.upper == INF),
        _tame(column.upper - column.lower),
        float(column.lower == round(column.lower)),
        float(column.upper == INF or column.upper == round(column.upper)),
        column.cost,
        len(used),
        statistics.fmean([abs(row.coefficient(column.name)) for row in used] or [0.0]),
        _tame(column.lower / max(1.0, statistics.median(abs(other.lower) for other in model.columns))),
    ]


def _bound(column: Column, model: LinearProgram) -> list[float]:
    free = model.with_column(replace(column, lower=-1e5, upper=1e5, kind="continuous"))
    most, least = extreme(free, [(column.name, 1.0)]), extreme(free, [(column.name, -1.0)])
    high = most.objective if most.objective is not None else FAR
    low = -least.objective if least.objective is not None else -FAR
    scale = max(1.0, abs(column.lower))
    return [_tame((column.lower - high) / scale), _tame((low - column.upper) / scale), _tame((high - low) / scale)]


def _tame(value: float) -> float:
    return max(-FAR, min(FAR, value)) if value == value else 0.0


# ------------------------------------------------------------------------------------------------- who points


def oddest(instance: Instance) -> Element:
    """Rules of oddity: a lower bound where others have none, a lone sense, a figure or a coefficient out of line."""
    scores: dict[Element, float] = {}
    table = features(instance)
    shown = set(suspects(instance))
    names = list(table)
    matrix = np.array([table[name] for name in names])
    spread = matrix.std(axis=0) + 1e-9
    distance = np.abs((matrix - np.median(matrix, axis=0)) / spread).clip(0, 5).sum(axis=1)
    for name, far in zip(names, distance, strict=True):
        scores[name] = far + 10.0 * (name in shown)
        if name.startswith("column:"):
            column = instance.sabotaged.column(name.partition(":")[2])
            scores[name] += 3.0 * (column.lower != 0.0) + 3.0 * (column.lower == column.upper)
        else:
            row = instance.sabotaged.row(name.partition(":")[2])
            same = sum(other.sense == row.sense for other in instance.sabotaged.rows)
            scores[name] += 2.0 / same + 2.0 * (row.sense == "=")
    return max(names, key=lambda name: (scores[name], name))


def violated(instance: Instance) -> Element:
    """What the least total violation falls on; in a cell of bounds, the bound that is farthest out."""
    if instance.kind == "B":
        table = features(instance)
        return max(suspects(instance), key=lambda name: (max(table[name][-3:-1]), name))
    rows = [f"row:{name}" for name, _ in elastic(instance.sabotaged).rows]
    return rows[0] if rows else suspects(instance)[0]


def least_repair(instance: Instance) -> Element:
    """The member that need give way least for the others to hold."""
    table = features(instance)
    inside = [name for name in suspects(instance) if name in table]
    return min(inside, key=lambda name: (max(0.0, max(table[name][-3:-1])), name))


def at_random(instance: Instance) -> Element:
    return random.Random(instance.id).choice(suspects(instance))


Finger = Callable[[Instance], Element]

FINGERS: Mapping[str, Finger] = {"oddity": oddest, "violation": violated, "least repair": least_repair}


def new_classifier(kind: str) -> Any:
    """Boosted trees, or a forest, for the features of elements."""
    from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier

    if kind == "boosted":
        return HistGradientBoostingClassifier(max_iter=120, learning_rate=0.08, max_leaf_nodes=15, random_state=0)
    return ExtraTreesClassifier(200, min_samples_leaf=3, random_state=0, class_weight="balanced")
