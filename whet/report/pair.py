"""Two runs on the tasks that both have: evaluations as `whet compare` has it, trainings by their best policies."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import orjson

from whet.errors import WhetError
from whet.evals.compare import Comparison
from whet.evals.compare import compare as compare_outcomes
from whet.ledger import rows, schema
from whet.ledger.store import glance
from whet.report.fold import RunFacts
from whet.run.api import compare
from whet.types import Outcome


def compare_records(a: RunFacts, b: RunFacts) -> Comparison:
    """How much better `b` is than `a`; refused where they are not about the same tasks."""
    if a.kind == b.kind == "eval":
        return compare(a.folder, b.folder)
    for run in (a, b):
        if run.trouble or run.kind not in ("eval", "train"):
            raise WhetError(f"{run.name}: a run of the kind {run.kind or 'unknown'} has no score to compare")
    if _environment(a) != _environment(b):
        raise WhetError(f"{a.name} and {b.name} are not about the same tasks: {a.env} and {b.env}")
    first, second = _outcomes(a), _outcomes(b)
    meant = {(o.ticket.split, o.ticket.index) for o in first} & {(o.ticket.split, o.ticket.index) for o in second}
    if not meant:
        raise WhetError(f"{a.name} and {b.name} have no task in common")
    sides = ([o for o in side if (o.ticket.split, o.ticket.index) in meant] for side in (first, second))
    level = max(run.score.interval.level for run in (a, b) if run.score is not None)
    notes = (f"{run.name}: {note}" for run in (a, b) for note in run.notes)
    return replace(compare_outcomes(*sides, tasks=meant, level=level), notes=tuple(dict.fromkeys(notes)))


def try_compare(a: RunFacts, b: RunFacts) -> Comparison | str:
    """The comparison, or why there is none."""
    try:
        return compare_records(a, b)
    except WhetError as problem:
        return str(problem)


def _environment(run: RunFacts) -> object:
    with closing(glance(run.folder)) as db:
        meta = dict(db.execute("SELECT name, value FROM meta ORDER BY seq"))
    return orjson.loads(meta.get("depends_on", "{}")).get("env")


def _outcomes(run: RunFacts) -> list[Outcome]:
    where, bound = run.headline.clause()
    with closing(glance(run.folder)) as db:
        sql = f"SELECT {schema.OUTCOME} FROM rollouts WHERE {where} ORDER BY split, task, draw, key"
        return [rows.outcome(row) for row in db.execute(sql, bound)]
