"""Type C: a term of a row is missing, is one too many, stands for the wrong item, has the wrong sign, size or unit."""

from __future__ import annotations

import random
from collections.abc import Iterator

from whet.envs.ordebug.edits import SetCoef, apply_all
from whet.envs.ordebug.families.story import FACTORS, RATES, tidy
from whet.envs.ordebug.faults.fault import Correction, FaultType, Scene, rows_shown
from whet.envs.ordebug.model import LinearProgram, LinearRow
from whet.envs.ordebug.solver import feasible

_MOST_TRIED = 10


def correct(rng: random.Random, scene: Scene, name: str) -> Correction | None:
    ways = list(_ways(rng, scene, scene.model.row(name)))
    for correction in rng.sample(ways, min(len(ways), _MOST_TRIED)):
        if feasible(apply_all(scene.model, correction.edits)):
            return correction
    return None


def _ways(rng: random.Random, scene: Scene, row: LinearRow) -> Iterator[Correction]:
    """Every single change of a term after which the row could stand in a sound model of its kind."""
    meaning = scene.meanings[row.name]
    kind, terms = meaning.kind, dict(row.terms)
    for column, value in terms.items():
        if scene.model.column(column).kind == "binary":
            for factor in (0.25, 0.5, 2.0, 4.0):
                size = tidy(round(value * factor))
                if size and size != value:
                    yield _set("small_big_m", row, column, size)
            continue
        if kind in ("net", "carry"):
            yield _set("wrong_sign", row, column, -value)
        if kind == "usage":
            for size in (tidy(value * 10), tidy(value / 10), tidy(value * 4), tidy(value / 4)):
                if size in RATES or (size * 20 == round(size * 20) and size < 200):
                    yield _set("wrong_scale" if size in (value * 10, value / 10) else "wrong_unit", row, column, size)
        if kind == "ratio" and value != 1.0:
            for factor in FACTORS:
                if factor != -value:
                    yield _set("wrong_scale", row, column, -factor)
        if kind == "average":
            limit = float(meaning.subject.partition("|")[2])
            for grade in (limit - value, limit + 10 * value):
                if 0.0 < grade < 100.0 and grade != limit:
                    yield _set(
                        "wrong_sign" if grade < limit + 10 * value else "wrong_scale", row, column, grade - limit
                    )
        if len(terms) > 2 and kind in ("group", "net", "usage", "average"):
            yield _set("extra_term", row, column, 0.0)
    if kind in ("group", "net", "usage", "average"):
        yield from _others(rng, scene.model, row, kind)


def _others(rng: random.Random, model: LinearProgram, row: LinearRow, kind: str) -> Iterator[Correction]:
    """A column that the row lacks, added or in the place of one that it has."""
    terms = dict(row.terms)
    free = [column.name for column in model.columns if column.name not in terms and column.kind != "binary"]
    for column in rng.sample(free, min(4, len(free))):
        value = rng.choice(list(terms.values()))
        if kind == "usage":
            value = rng.choice(RATES)
        yield _set("missing_term", row, column, value)
        old = rng.choice(list(terms))
        edits = (SetCoef(row.name, old, 0.0), SetCoef(row.name, column, terms[old]))
        if kind == "group" and len(terms) > 1:
            yield Correction("shifted_index", edits)


def _set(form: str, row: LinearRow, column: str, value: float) -> Correction:
    return Correction(form, (SetCoef(row.name, column, tidy(value)),))


FAULT = FaultType(
    "C",
    "a term of a constraint",
    rows_shown,
    correct,
    {
        "missing_term": "a sum lacks one of its items",
        "extra_term": "a sum has an item that does not belong to it",
        "shifted_index": "a sum has a neighbouring item in the place of its own",
        "wrong_sign": "a term has the wrong sign",
        "wrong_scale": "a coefficient is off by a factor",
        "wrong_unit": "a coefficient is in another unit than its row",
        "small_big_m": "the limit behind a switch is wrong",
    },
)
