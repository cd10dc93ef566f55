"""One instance from a cell and a seed: draw a sound model, bring a contradiction into it, and only then draw which
element of the contradiction is the wrong one.

Because the culprit is drawn last, and evenly among all elements that could be it, a reader of the broken model alone
can do no better than chance. An instance is a function of its names; attempts that do not come out as the cell wants
are thrown away, for reasons that do not depend on the culprit.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping
from dataclasses import dataclass, replace

from whet.envs import splits
from whet.envs.ordebug.algebra import algebra
from whet.envs.ordebug.certificate import certify, drop_first, minimum_edits, subsystem_problems
from whet.envs.ordebug.edits import Edit, SetBounds, SetRhs, apply_all
from whet.envs.ordebug.equivalence import Checker
from whet.envs.ordebug.families import FAMILIES, SEEN, ProblemDraft, draw
from whet.envs.ordebug.families.story import tidy
from whet.envs.ordebug.faults import FAULTS, Correction, Scene
from whet.envs.ordebug.faults.room import opened, reach, span, step_for
from whet.envs.ordebug.iis import Iis, find_iis
from whet.envs.ordebug.instance import Instance, PlantedFault, instance_id, shown_elements
from whet.envs.ordebug.ladder import BRIEF, FAULT_KINDS, MISSING, MIXED, SUSPECTS, Cell, extent_drawn
from whet.envs.ordebug.model import LinearProgram
from whet.envs.ordebug.omission import omitted
from whet.envs.ordebug.phrase import in_words
from whet.envs.ordebug.prose import specifications
from whet.envs.ordebug.prose.voices import voice_of
from whet.envs.ordebug.solver import feasible, solve
from whet.errors import WhetError
from whet.keys import seed_for
from whet.types import Split

ATTEMPTS = 20_000
"""Drafts before a cell counts as impossible to fill; some dozens are usual."""

CONFLICTS = 6
"""Contradictions that are tried in one draft before another one is drawn."""

_WITH_FIGURE = ("group", "net", "usage", "carry")


@dataclass(frozen=True, slots=True)
class Conflict:
    """A change that leaves a model without solution, and what each element that could be wrong would have been."""

    change: Edit
    iis: Iis
    options: Mapping[str, tuple[str, Correction]]
    """The fault type and the correction of each suspect, by `row:NAME` or `column:NAME`."""


def make(cell: Cell, split: Split | None, index: int, seed: int = 0, families: tuple[str, ...] = SEEN) -> Instance:
    """The instance of a cell at an index: the first attempt that is certified. `split` None takes any content."""
    for attempt in range(ATTEMPTS):
        rng = random.Random(seed_for("ordebug", seed, cell.name, split or "any", index, attempt, *families))
        rows, columns = extent_drawn(rng, cell)
        draft = draw(rng, FAMILIES[rng.choice(families)], rows, columns)
        if split is not None and splits.split_of(draft.content) != split:
            continue
        instance = omitted(rng, cell, draft) if cell.kind == MISSING else broken(rng, cell, draft)
        if instance is not None:
            return instance
    raise WhetError(f"no instance of {cell.name} came out in {ATTEMPTS} attempts (split {split}, index {index})")


def broken(rng: random.Random, cell: Cell, draft: ProblemDraft) -> Instance | None:
    """The draft with contradictions of the cell's kind, certified; None when it does not come out as wanted."""
    if not solve(draft.model).optimal:
        return None
    kinds = _kinds(rng, cell)
    conflicts: list[Conflict] = []
    for _ in range(CONFLICTS * cell.faults):
        found = _conflict(rng, cell, draft, kinds[len(conflicts)])
        if found is not None and all(_apart(found, other) for other in conflicts):
            conflicts.append(found)
            if len(conflicts) == cell.faults:
                return _certified(rng, cell, draft, conflicts)
    return None


def _kinds(rng: random.Random, cell: Cell) -> list[str]:
    """The fault type of each conflict; '' leaves it to the element that is drawn."""
    if cell.kind != MIXED:
        return [cell.kind] * cell.faults
    return [""] if cell.faults == 1 else list(rng.sample(FAULT_KINDS, cell.faults))


def _apart(one: Conflict, other: Conflict) -> bool:
    return not shown_elements(one.iis) & shown_elements(other.iis)


def _conflict(rng: random.Random, cell: Cell, draft: ProblemDraft, kind: str) -> Conflict | None:
    """A contradiction in the draft that has as many suspects as the cell wants, each of which could be the culprit."""
    change = _change(rng, draft, bounds=kind == "B" or (not kind and rng.random() < 0.4))
    if change is None:
        return None
    model = change.apply(draft.model)
    iis = find_iis(model)
    if iis is None or not iis.irreducible:
        return None
    scene = Scene(model, iis, dict(draft.meanings))
    least, most = SUSPECTS[cell.subtlety]
    kinds = (kind,) if kind else FAULT_KINDS
    wanted = {name: [each for each in kinds if name in FAULTS[each].concerns(scene)] for name in _all(scene, kinds)}
    if not least <= len(wanted) <= most:
        return None
    options = {}
    for name, possible in wanted.items():
        each = rng.choice(possible)
        correction = FAULTS[each].correct(rng, scene, name.partition(":")[2])
        if correction is None:
            return None
        options[name] = (each, correction)
    return Conflict(change, iis, options)


def _all(scene: Scene, kinds: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for kind in kinds for name in FAULTS[kind].concerns(scene)))


def _change(rng: random.Random, draft: ProblemDraft, bounds: bool) -> Edit | None:
    """A figure, or a bound, moved just beyond what the rest of the model can reach."""
    model = draft.model
    if bounds and rng.random() < 0.6:
        column = rng.choice([column for column in model.columns if column.kind != "binary"])
        found = span(opened(model, column.name), ((column.name, 1.0),))
        if found is None:
            return None
        low, high = found
        over = _over(rng, max(abs(low), abs(high), 4.0) if high < 1e5 else 8.0, column.whole)
        if rng.random() < 0.5 and high < 1e5:
            upper = None if column.upper > 1e5 else max(column.upper, high + over)
            return SetBounds(column.name, tidy(high + over), None if upper is None else tidy(upper))
        if low <= -1e5:
            return None
        return SetBounds(column.name, tidy(min(column.lower, low - over)), tidy(low - over))
    rows = [row for row in model.rows if draft.meanings[row.name].kind in _WITH_FIGURE]
    if not rows:
        return None
    row = rng.choice(rows)
    reached = reach(model, row.name)
    if reached is None:
        return None
    low, high = reached
    over = _over(rng, max(abs(row.rhs), 8.0), False)
    below = row.sense == "<=" or (row.sense == "=" and rng.random() < 0.5)
    if (below and low < -1e5) or (not below and high > 1e5):
        return None
    figure = _on_grid(low - over, row.rhs, -1) if below else _on_grid(high + over, row.rhs, 1)
    return SetRhs(row.name, figure)


def _over(rng: random.Random, scale: float, whole: bool) -> float:
    step = 1.0 if whole else step_for(scale)
    return max(step, round(scale * rng.uniform(0.01, 0.12) / step) * step)


def _on_grid(value: float, like: float, side: int) -> float:
    """The next figure on that side that has as many decimals as sound ones have."""
    step = 1.0 if like == round(like) else 0.5 if like * 2 == round(like * 2) else 0.25
    return (-(-value // step) if side > 0 else value // step) * step + 0.0


def _certified(rng: random.Random, cell: Cell, draft: ProblemDraft, conflicts: list[Conflict]) -> Instance | None:
    sabotaged = apply_all(draft.model, (conflict.change for conflict in conflicts))
    iis = find_iis(sabotaged)
    if iis is None or subsystem_problems(sabotaged, iis):
        return None
    if cell.sizes == ("tiny",) and not _brief(rng, replace(draft, model=sabotaged)):
        return None
    choices = list(itertools.product(*(sorted(conflict.options) for conflict in conflicts)))
    if not all(_sound(sabotaged, conflicts, chosen) for chosen in choices):
        return None
    if cell.faults > 1 and all(set(conflict.options) & shown_elements(iis) for conflict in conflicts):
        return None
    culprits = rng.choice(choices)
    faults = tuple(_fault(*conflict.options[name]) for conflict, name in zip(conflicts, culprits, strict=True))
    original = apply_all(sabotaged, (edit for fault in faults for edit in fault.repair))
    prose, table = specifications(rng, replace(draft, model=original), voice_of(splits.split_of(draft.content)))
    checker = Checker(original)
    if not checker.best.optimal:
        return None
    suspects = tuple(tuple(sorted(conflict.options)) for conflict in conflicts)
    least = minimum_edits(sabotaged, original, faults, checker)
    if least is None:
        return None
    certificate = certify(original, faults, iis, suspects, least, drop_first(sabotaged, iis, checker), checker)
    name = instance_id(draft.content, sabotaged)
    return Instance(
        name, cell.kind, cell.difficulty, draft.family, draft.content, prose, table, original, sabotaged, faults,
        certificate,
    )  # fmt: skip


def _brief(rng: random.Random, draft: ProblemDraft) -> bool:
    """Whether the model is short enough to tell, whoever turns out to be the culprit."""
    prose, _ = specifications(rng, draft, voice_of(splits.split_of(draft.content)))
    return len(prose.text) + len(algebra(draft.model)) <= BRIEF


def _sound(sabotaged: LinearProgram, conflicts: list[Conflict], chosen: tuple[str, ...]) -> bool:
    edits = [edit for conflict, name in zip(conflicts, chosen, strict=True) for edit in conflict.options[name][1].edits]
    return feasible(apply_all(sabotaged, edits)) is True


def _fault(kind: str, correction: Correction) -> PlantedFault:
    said = f"{FAULTS[kind].forms[correction.form]}: {'; '.join(in_words(edit) for edit in correction.edits)}"
    return PlantedFault(kind, correction.form, correction.edits, said)
