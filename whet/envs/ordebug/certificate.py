"""What an instance is vouched for: checked when it is made, and in the same way whenever it is loaded again."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from whet.envs.ordebug.edits import apply_all, difference, element
from whet.envs.ordebug.equivalence import Checker, close
from whet.envs.ordebug.iis import Iis, find_iis, is_irreducible
from whet.envs.ordebug.instance import Certificate, Instance, PlantedFault, shown_elements
from whet.envs.ordebug.ladder import MISSING
from whet.envs.ordebug.model import LinearProgram, ModelError
from whet.envs.ordebug.solver import feasible
from whet.envs.ordebug.witnesses import Witnesses

REMOVAL_ROWS = 50
"""Up to this many rows a subsystem is verified by removing each of its members."""

MOST_DROPS = 20


@dataclass(frozen=True, slots=True)
class DropOutcome:
    """How dropping the first row of the subsystem, again and again, ends."""

    repaired: bool
    feasible: bool


def drop_first(model: LinearProgram, iis: Iis, checker: Checker) -> DropOutcome:
    """Drop the first row of each subsystem until the model is feasible or only bounds are left to blame."""
    shown: Iis | None = iis
    for _ in range(MOST_DROPS):
        if shown is None:
            return DropOutcome(checker.repaired(model), True)
        if not shown.rows:
            break
        model = model.without_row(shown.rows[0].name)
        shown = find_iis(model)
    return DropOutcome(False, False)


def minimum_edits(
    sabotaged: LinearProgram, original: LinearProgram, faults: tuple[PlantedFault, ...], checker: Checker
) -> int | None:
    """The least number of edits that repairs the model; None where it cannot be shown.

    Each element that rejects a point of the original must be touched by every repair, and an edit touches one element.
    An element that differs in one place takes one edit; in more places at least two, be it only to drop and to add it.
    """
    wrong = frozenset(element(edit) for fault in faults for edit in fault.repair)
    if not wrong <= Witnesses(checker).against(sabotaged):
        return None
    places = Counter(element(edit) for edit in difference(sabotaged, original))
    return sum(min(2, places[name]) for name in wrong)


def certify(
    original: LinearProgram,
    faults: tuple[PlantedFault, ...],
    iis: Iis,
    suspects: tuple[tuple[str, ...], ...],
    least: int,
    dropped: DropOutcome,
    checker: Checker,
) -> Certificate:
    """The certificate of what has been checked."""
    assert checker.best.objective is not None
    shown = shown_elements(iis)
    return Certificate(
        original_digest=original.digest,
        original_objective=checker.best.objective,
        min_edits=least,
        subsystem=iis,
        outside_subsystem=sum(not fault.elements & shown for fault in faults),
        needs_integrality=iis.integral,
        suspects=suspects,
        drop_first=dropped.repaired,
        drop_feasible=dropped.feasible,
    )


def verify(instance: Instance) -> list[str]:
    """What does not hold of an instance's certificate, each as a short phrase; empty when all of it does."""
    told, checker = instance.certificate, Checker(instance.original)
    best = checker.best
    if not best.optimal or best.objective is None:
        return [f"the original is {best.status}"]
    wrong = []
    if not close(best.objective, told.original_objective, 1e-6):
        wrong.append(f"the original's objective is {best.objective:g}, not {told.original_objective:g}")
    if instance.kind == MISSING:
        return wrong + _omission_problems(instance, checker)
    if feasible(instance.sabotaged) is not False:
        return [*wrong, "the sabotaged model is not infeasible"]
    if apply_all(instance.sabotaged, instance.repair).digest != told.original_digest:
        wrong.append("the repair does not give back the original")
    if minimum_edits(instance.sabotaged, instance.original, instance.faults, checker) != told.min_edits:
        wrong.append(f"the minimum of {told.min_edits} edits cannot be shown")
    wrong += subsystem_problems(instance.sabotaged, told.subsystem)
    if (feasible(instance.sabotaged, relaxed=True) is not False) != told.needs_integrality:
        wrong.append("integrality plays another role")
    if not all(any(name in group for group in told.suspects) for name in instance.elements) and told.suspects:
        wrong.append("a culprit is not among the suspects")
    if drop_first(instance.sabotaged, told.subsystem, checker) != DropOutcome(told.drop_first, told.drop_feasible):
        wrong.append("dropping the first row ends otherwise")
    return wrong


def _omission_problems(instance: Instance, checker: Checker) -> list[str]:
    """What does not hold of a model that lacks a row: it must have a solution, and adding the row must repair it."""
    wrong = []
    if feasible(instance.sabotaged) is not True:
        wrong.append("the model without the row is not feasible")
    if checker.repaired(instance.sabotaged):
        wrong.append("the row that is missing does not matter")
    if apply_all(instance.sabotaged, instance.repair).digest != instance.certificate.original_digest:
        wrong.append("the repair does not give back the original")
    return wrong


def subsystem_problems(model: LinearProgram, iis: Iis) -> list[str]:
    """What is wrong with a subsystem: by removal up to `REMOVAL_ROWS` rows, else by the solver's own word."""
    if len(model.rows) <= REMOVAL_ROWS:
        try:
            return [] if is_irreducible(model, iis) else ["the subsystem is not irreducible"]
        except ModelError as problem:
            return [f"the subsystem is not one of this model: {problem}"]
    return [] if iis.irreducible else ["the subsystem is not known to be irreducible"]
