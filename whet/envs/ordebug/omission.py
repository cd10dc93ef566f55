"""A requirement that is missing from the model: the practitioner's fault that no contradiction points to.

The broken model has a solution, and a better one than the original: it lacks a row that the specification asks for. The
row is drawn evenly among all that matter, and the rows that are left are numbered anew, so nothing in the model tells
what it was; a repair has to say it in full.
"""

from __future__ import annotations

import random
from dataclasses import replace

from whet.envs import splits
from whet.envs.ordebug.algebra import algebra
from whet.envs.ordebug.certificate import DropOutcome, certify
from whet.envs.ordebug.edits import AddRow
from whet.envs.ordebug.equivalence import Checker
from whet.envs.ordebug.families import ProblemDraft
from whet.envs.ordebug.iis import Iis
from whet.envs.ordebug.instance import Instance, PlantedFault, instance_id
from whet.envs.ordebug.ladder import BRIEF, Cell
from whet.envs.ordebug.prose import specifications
from whet.envs.ordebug.prose.voices import voice_of
from whet.envs.ordebug.solver import solve

CLEAR = 1e-3
"""How much better, relatively, a model must do without the row for the row to matter."""

NOTHING_SHOWN = Iis((), ())


def omitted(rng: random.Random, cell: Cell, draft: ProblemDraft) -> Instance | None:
    """The draft without one of its rows; None where the row that was drawn does not matter."""
    content = draft.content  # before rows are numbered anew: it is what the split was chosen by
    draft = _last(draft, rng.choice(draft.model.rows).name)
    original, gone = draft.model, draft.model.rows[-1]
    sabotaged = original.without_row(gone.name)
    checker, without = Checker(original), solve(sabotaged)
    if not checker.best.optimal or not without.optimal or without.objective is None:
        return None
    best = checker.best.objective
    assert best is not None
    if abs(without.objective - best) <= CLEAR * max(1.0, abs(best)):
        return None
    repair = AddRow(gone.name, gone.terms, gone.sense, gone.rhs)
    fault = PlantedFault(cell.kind, "missing_row", (repair,), "a requirement is missing from the model")
    prose, table = specifications(rng, draft, voice_of(splits.split_of(content)))
    if cell.sizes == ("tiny",) and len(prose.text) + len(algebra(original)) > BRIEF:
        return None
    certificate = certify(original, (fault,), NOTHING_SHOWN, (), 1, DropOutcome(False, False), checker)
    return Instance(
        instance_id(content, sabotaged), cell.kind, cell.difficulty, draft.family, content, prose, table,
        original, sabotaged, (fault,), certificate,
    )  # fmt: skip


def _last(draft: ProblemDraft, name: str) -> ProblemDraft:
    """The draft with this row last, and all rows numbered in their order."""
    rows = [*(row for row in draft.model.rows if row.name != name), draft.model.row(name)]
    names = {row.name: f"r{place}" for place, row in enumerate(rows, start=1)}
    return replace(
        draft,
        model=replace(draft.model, rows=tuple(replace(row, name=names[row.name]) for row in rows)),
        meanings={names[old]: meaning for old, meaning in draft.meanings.items()},
    )
