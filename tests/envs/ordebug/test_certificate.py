"""Certificates: what is vouched for holds, and what does not hold is found out."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest
from envs.ordebug.puzzles import made

from whet.envs.ordebug.certificate import REMOVAL_ROWS, verify
from whet.envs.ordebug.edits import Relax, apply_all
from whet.envs.ordebug.equivalence import Checker
from whet.envs.ordebug.iis import is_irreducible
from whet.envs.ordebug.instance import Instance
from whet.envs.ordebug.ladder import CELLS, Cell
from whet.envs.ordebug.solver import feasible, solve


def sound_one() -> Instance:
    return made("type_A_easy")


def certified_as(**changes: object) -> Instance:
    """The first instance with a certificate that claims something else."""
    sound = sound_one()
    return replace(sound, certificate=replace(sound.certificate, **changes))  # type: ignore[arg-type]


EVERY_CELL = pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.name)


@EVERY_CELL
def test_the_certificate_of_every_cell_verifies_after_a_trip_through_data(cell: Cell) -> None:
    assert verify(Instance.from_data(made(cell.name).to_data())) == []


@EVERY_CELL
def test_the_original_is_solved_and_the_sabotaged_model_is_not(cell: Cell) -> None:
    one = made(cell.name)
    assert solve(one.original).objective == pytest.approx(one.certificate.original_objective)
    assert feasible(one.sabotaged) is False


@EVERY_CELL
def test_fewer_edits_of_the_reference_repair_do_not_repair(cell: Cell) -> None:
    one = made(cell.name)
    assert len(one.repair) == one.certificate.min_edits
    checker = Checker(one.original)
    for some in combinations(one.repair, one.certificate.min_edits - 1):
        assert not checker.repaired(apply_all(one.sabotaged, some))


@EVERY_CELL
def test_the_subsystem_is_irreducible_by_removal(cell: Cell) -> None:
    one = made(cell.name)
    assert len(one.sabotaged.rows) > REMOVAL_ROWS or is_irreducible(one.sabotaged, one.certificate.subsystem)


@EVERY_CELL
def test_the_rows_are_numbered_as_they_stand(cell: Cell) -> None:
    rows = made(cell.name).sabotaged.rows
    assert [row.name for row in rows] == [f"r{place}" for place in range(1, len(rows) + 1)]


@pytest.mark.parametrize("kind", "ABCD")
def test_hard_problems_have_faults_that_the_subsystem_does_not_show(kind: str) -> None:
    instances = [made(f"type_{kind}_hard", index) for index in range(1)]
    assert any(one.certificate.outside_subsystem for one in instances)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"original_objective": 1e9}, "objective"),
        ({"min_edits": 3}, "minimum of 3"),
        ({"needs_integrality": True}, "integrality"),
        ({"suspects": (("row:r99",),)}, "suspects"),
        ({"drop_first": True, "drop_feasible": False}, "dropping"),
        ({"original_digest": "0" * 32}, "give back the original"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_false_claim_is_found_out(changes: dict[str, object], said: str) -> None:
    assert any(said in problem for problem in verify(certified_as(**changes)))


def test_a_model_that_is_feasible_is_found_out() -> None:
    one = sound_one()
    assert any("not infeasible" in problem for problem in verify(replace(one, sabotaged=one.original)))


def test_a_reducible_subsystem_is_found_out() -> None:
    one = sound_one()
    shown = one.certificate.subsystem
    spare = next(row for row in one.sabotaged.rows if row.name not in shown.row_names)
    padded = replace(shown, rows=(*shown.rows, replace(shown.rows[0], name=spare.name)))
    assert any("irreducible" in problem for problem in verify(certified_as(subsystem=padded)))


def test_an_original_that_was_loosened_is_not_the_one_certified() -> None:
    one = sound_one()
    loose = Relax(one.original.rows[0].name, 5.0).apply(one.original)
    data = one.to_data()
    data["certificate"]["original_digest"] = loose.digest
    with pytest.raises(Exception, match="does not give back the original"):
        Instance.from_data(data)
