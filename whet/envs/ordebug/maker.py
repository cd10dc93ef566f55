"""One instance from a cell and a seed: draw a problem, plant faults, measure, and certify or think again.

An instance is a function of its names alone. Attempts that do not come out as the cell wants are thrown away; the
content of the problem decides which split it may serve.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from whet.envs import splits
from whet.envs.ordebug.algebra import number
from whet.envs.ordebug.certificate import certify, drop_first, minimum_edits, searched, subsystem_problems
from whet.envs.ordebug.difficulty import ProblemShape, measured, most_tries, rows_drawn, shape_drawn, within
from whet.envs.ordebug.edits import DropRow, Edit, SetBounds, SetCoef, SetRhs, SetSense, SetType
from whet.envs.ordebug.equivalence import Checker
from whet.envs.ordebug.families import FAMILIES, ProblemDraft
from whet.envs.ordebug.faults import FAULTS, Planting
from whet.envs.ordebug.iis import find_iis
from whet.envs.ordebug.instance import Cell, Instance, PlantedFault, instance_id
from whet.envs.ordebug.model import LinearProgram
from whet.envs.ordebug.solver import feasible
from whet.envs.ordebug.witnesses import Witnesses
from whet.errors import WhetError
from whet.keys import seed_for
from whet.types import Split

TRIES = 24
"""How many ways of planting a fault are looked at before a draft is given up."""

MOST_EDITS = 4
"""A reference repair has no more edits than this."""

ATTEMPTS = 4000
"""Drafts before a cell counts as impossible to fill; a few dozen are usual."""


def make(cell: Cell, split: Split | None, index: int, seed: int = 0) -> Instance:
    """The instance of a cell at an index: the first attempt that is certified. `split` None takes any content."""
    for attempt in range(ATTEMPTS):
        rng = random.Random(seed_for("ordebug", seed, cell.name, split or "any", index, attempt))
        shape = shape_drawn(rng, cell)
        draft = drawn(rng, shape)
        if split is not None and splits.split_of(draft.specification) != split:
            continue
        instance = broken(rng, cell, shape, draft)
        if instance is not None:
            return instance
    raise WhetError(f"no instance of {cell.name} came out in {ATTEMPTS} attempts (split {split}, index {index})")


def drawn(rng: random.Random, shape: ProblemShape) -> ProblemDraft:
    """A problem of a random family, of the size wanted."""
    family = FAMILIES[rng.choice(sorted(FAMILIES))]
    return family.draw(rng, rows_drawn(rng, shape, family.most))


def broken(rng: random.Random, cell: Cell, shape: ProblemShape, draft: ProblemDraft) -> Instance | None:
    """The draft with faults of the cell's type, certified; None when it does not come out as the cell wants."""
    checker = Checker(draft.model)
    if not checker.best.optimal:
        return None
    witnesses = Witnesses(checker)
    planted = _planted(rng, cell, shape, draft.model, witnesses)
    if not planted:
        return None
    original, sabotaged, faults = _renumbered(draft.model, cell.kind, planted)
    repair = tuple(edit for fault in faults for edit in fault.repair)
    if minimum_edits(sabotaged, repair, witnesses) is None:
        return None
    iis = find_iis(sabotaged)
    if iis is None:
        return None
    found = searched(sabotaged, iis, draft.specification, witnesses, most_tries(cell.difficulty))
    if not within(cell.difficulty, found.rate) or subsystem_problems(sabotaged, iis):
        return None
    certificate = certify(original, faults, iis, found, drop_first(sabotaged, iis, checker), checker)
    if measured(certificate) != cell.difficulty:
        return None
    name = instance_id(draft.specification, sabotaged)
    return Instance(
        name, cell.kind, cell.difficulty, draft.family, draft.specification, original, sabotaged, faults, certificate
    )


def _planted(
    rng: random.Random, cell: Cell, shape: ProblemShape, model: LinearProgram, witnesses: Witnesses
) -> list[Planting]:
    """Faults on different elements: the first makes the model infeasible, each further one rejects a sound point."""
    plantings: list[Planting] = []
    for planting in islice(FAULTS[cell.kind].plant(rng, model), TRIES):
        if feasible(planting.model) is False:
            plantings = [planting]
            break
    while plantings and len(plantings) < shape.faults:
        further = _further(rng, cell, plantings, witnesses)
        if further is None:
            return []
        plantings.append(further)
    return plantings


def _further(rng: random.Random, cell: Cell, before: list[Planting], witnesses: Witnesses) -> Planting | None:
    taken = {element for planting in before for element in planting.elements}
    room = MOST_EDITS - len(taken)
    ways: Iterator[Planting] = FAULTS[cell.kind].plant(rng, before[-1].model)
    for planting in islice(ways, TRIES):
        if len(planting.repair) > room or planting.elements & taken:
            continue
        if planting.elements <= witnesses.against(planting.model):
            return planting
    return None


def _renumbered(
    original: LinearProgram, kind: str, planted: list[Planting]
) -> tuple[LinearProgram, LinearProgram, tuple[PlantedFault, ...]]:
    """Both models with rows named in the order of the sabotaged one: a doubled row then has a name like any other."""
    sabotaged = planted[-1].model
    names = {row.name: f"r{place}" for place, row in enumerate(sabotaged.rows, start=1)}
    faults = []
    for planting in planted:
        repair = tuple(_renamed(edit, names) for edit in planting.repair)
        said = f"{FAULTS[kind].forms[planting.form]}: {'; '.join(in_words(edit) for edit in repair)}"
        faults.append(PlantedFault(kind, planting.form, repair, said))
    return _with_names(original, names), _with_names(sabotaged, names), tuple(faults)


def _with_names(model: LinearProgram, names: dict[str, str]) -> LinearProgram:
    return replace(model, rows=tuple(replace(row, name=names[row.name]) for row in model.rows))


def _renamed(edit: Edit, names: dict[str, str]) -> Edit:
    return edit if isinstance(edit, SetBounds | SetType) else replace(edit, row=names[edit.row])


def in_words(edit: Edit) -> str:
    """What an edit asks for, as one would say it."""
    match edit:
        case SetSense(row, sense):
            return f"{row} should be {sense}"
        case SetRhs(row, value):
            return f"the right-hand side of {row} should be {number(value)}"
        case SetCoef(row, column, value):
            return f"the coefficient of {column} in {row} should be {number(value)}"
        case SetBounds(column, lower, upper):
            low, high = ("no bound" if bound is None else number(bound) for bound in (lower, upper))
            return f"the bounds of {column} should be {low} and {high}"
        case SetType(column, kind, _):
            return f"{column} should be {kind}"
        case DropRow(row):
            return f"{row} should not be there"
        case _:
            return f"{edit.row} should be changed"
