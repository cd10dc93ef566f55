"""The fault types: in-place changes of what their letter says, each undone exactly by its repair."""

from __future__ import annotations

import random
from itertools import islice

import pytest

from whet.envs.ordebug.edits import AddRow, SetBounds, SetCoef, SetRhs, SetSense, SetType, apply_all, difference
from whet.envs.ordebug.families import FAMILIES
from whet.envs.ordebug.faults import FAULTS, Planting
from whet.envs.ordebug.model import LinearProgram
from whet.envs.ordebug.solver import feasible

KINDS = sorted(FAULTS)


def model(family: str = "lots", rows: int = 14, seed: int = 1) -> LinearProgram:
    return FAMILIES[family].draw(random.Random(seed), rows).model


def plantings(kind: str, of: LinearProgram, seed: int = 1, count: int = 60) -> list[Planting]:
    return list(islice(FAULTS[kind].plant(random.Random(seed), of), count))


def first_with(kind: str, form: str) -> tuple[LinearProgram, Planting]:
    """A planting of that form, and the model it was planted in."""
    for family in sorted(FAMILIES):
        for seed in range(5):
            sound = model(family, 14, seed)
            for planting in plantings(kind, sound, seed):
                if planting.form == form:
                    return sound, planting
    raise AssertionError(f"no planting of the form {form}")


FORMS = [(kind, form) for kind in KINDS for form in FAULTS[kind].forms]


@pytest.mark.parametrize(("kind", "form"), FORMS)
def test_every_form_that_is_named_is_planted(kind: str, form: str) -> None:
    sound, planting = first_with(kind, form)
    assert planting.model.digest != sound.digest


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_the_repair_gives_back_the_original_exactly(kind: str, family: str) -> None:
    sound = model(family)
    for planting in plantings(kind, sound):
        assert apply_all(planting.model, planting.repair).digest == sound.digest


@pytest.mark.parametrize("kind", KINDS)
def test_each_edit_of_a_repair_is_on_another_element(kind: str) -> None:
    for planting in plantings(kind, model("blending")):
        assert len(planting.elements) == len(planting.repair)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_seed_plants_the_same_faults(kind: str) -> None:
    sound = model()
    assert plantings(kind, sound, seed=4) == plantings(kind, sound, seed=4)


@pytest.mark.parametrize(
    ("kind", "edits"),
    [("A", SetSense), ("B", SetBounds | SetType), ("C", SetCoef), ("D", SetRhs | AddRow)],
)
def test_a_fault_type_changes_only_what_its_letter_says(kind: str, edits: type) -> None:
    for family in sorted(FAMILIES):
        sound = model(family)
        for planting in plantings(kind, sound):
            assert all(isinstance(edit, edits) for edit in difference(sound, planting.model))


def test_whole_numbers_alone_stand_against_a_solution_of_made_whole() -> None:
    _, planting = first_with("B", "made_whole")
    assert feasible(planting.model) is False
    assert feasible(planting.model, relaxed=True) is True


def test_a_doubled_row_repeats_the_terms_of_another_one() -> None:
    sound, planting = first_with("D", "doubled_row")
    (added,) = [row for row in planting.model.rows if row.name not in sound.row_index]
    assert any(row.terms == added.terms and row.rhs != added.rhs for row in sound.rows)
