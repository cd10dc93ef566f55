"""What the published types E to I are about occurs in the rungs: each claim is what the type's name promises."""

from __future__ import annotations

from dataclasses import replace

import pytest
from envs.ordebug.puzzles import made

from whet.envs.ordebug.edits import apply_all
from whet.envs.ordebug.equivalence import Checker
from whet.envs.ordebug.iis import find_iis
from whet.envs.ordebug.instance import Instance, shown_elements
from whet.envs.ordebug.model import LinearProgram
from whet.envs.ordebug.solver import feasible


def feasible_only(model: LinearProgram, one: Instance) -> bool:
    """Whether a change ended in a model that has a solution and is no repair."""
    return feasible(model) is True and not Checker(one.original).repaired(model)


@pytest.mark.parametrize("name", ["small_far_A", "small_far_mixed"])
def test_e_and_g_one_fault_undone_leaves_a_contradiction_that_was_not_shown_before(name: str) -> None:
    one = made(name)
    shown = shown_elements(one.certificate.subsystem)
    first = next(fault for fault in one.faults if fault.elements & shown)
    (other,) = (fault for fault in one.faults if fault is not first)
    left = apply_all(one.sabotaged, first.repair)
    revealed = find_iis(left)
    assert revealed is not None
    assert shown_elements(revealed) & other.elements
    assert feasible(apply_all(one.sabotaged, other.repair)) is False


def test_f_the_wrong_row_contradicts_nothing_by_itself_and_four_could_be_it() -> None:
    one = made("small_mid_D")
    (name,) = (element.partition(":")[2] for element in one.elements)
    alone = replace(one.sabotaged, rows=(one.sabotaged.row(name),))
    assert feasible(alone) is True
    assert len(one.certificate.suspects[0]) >= 4


def test_h_the_subsystem_shows_a_row_whose_removal_hides_a_wrong_bound() -> None:
    found = [made("tiny_near_B", index) for index in range(4)]
    symptoms = [(one, name) for one in found for name in one.certificate.subsystem.row_names]
    assert symptoms
    assert all(feasible_only(one.sabotaged.without_row(name), one) for one, name in symptoms)


def test_i_of_several_changes_that_make_the_model_feasible_one_is_the_repair() -> None:
    for index in range(4):
        one = made("tiny_near_D", index)
        others = [name.partition(":")[2] for name in one.certificate.suspects[0] if name not in one.elements]
        assert others
        assert all(feasible_only(one.sabotaged.without_row(name), one) for name in others)
        assert Checker(one.original).repaired(apply_all(one.sabotaged, one.repair))
