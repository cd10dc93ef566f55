"""Irreducible subsystems: infeasible as they stand, feasible without any one member."""

from __future__ import annotations

import random

import pytest
from envs.ordebug.puzzles import BAKERY, crossed, doubled, flipped, twofold, typed

from whet.envs.ordebug import iis as room
from whet.envs.ordebug.edits import AddRow, SetRhs, SetType, apply_all
from whet.envs.ordebug.iis import Iis, Member, find_iis, iis_from_data, iis_to_data, is_irreducible, subsystem
from whet.envs.ordebug.instance import Instance
from whet.envs.ordebug.model import Column, LinearProgram, LinearRow
from whet.envs.ordebug.solver import solve

PARITY = LinearProgram(
    "parity",
    (Column("x", 0.0, 5.0, "integer"), Column("y", 0.0, 5.0, "integer"), Column("z", 0.0, 1.0)),
    (
        LinearRow("odd", (("x", 2.0), ("y", 2.0)), "=", 5.0),
        LinearRow("spare", (("x", 1.0), ("z", 1.0)), "<=", 4.0),
    ),
)
"""Infeasible only because x and y are whole."""


@pytest.mark.parametrize("broken", [flipped(), crossed(), typed(), doubled(), twofold()], ids=lambda one: one.id)
def test_a_subsystem_is_irreducible_by_removal(broken: Instance) -> None:
    found = find_iis(broken.sabotaged)
    assert found is not None
    assert is_irreducible(broken.sabotaged, found)


def test_bounds_are_told_with_their_side() -> None:
    found = find_iis(doubled().sabotaged)
    assert found == Iis((Member("r2", "upper"), Member("r5", "lower")))


def test_crossed_bounds_are_a_subsystem_without_rows() -> None:
    found = find_iis(crossed().sabotaged)
    assert found == Iis((), (Member("x1", "lower"), Member("x1", "upper")))


def test_a_feasible_model_has_none() -> None:
    assert find_iis(BAKERY) is None


def test_integrality_is_cleared_before_the_solver_is_asked() -> None:
    """With whole columns present the facility answers nothing, though the relaxation is infeasible already."""
    broken = SetType("x1", "integer").apply(doubled().sabotaged)
    found = find_iis(broken)
    assert found is not None
    assert not found.integral
    assert found.row_names == ("r2", "r5")


def test_infeasibility_that_needs_integrality_is_found_by_deletion() -> None:
    found = find_iis(PARITY)
    assert found is not None
    assert found.integral
    assert found.row_names == ("odd",)
    assert is_irreducible(PARITY, found)


def test_a_superfluous_member_is_noticed_by_removal() -> None:
    broken = doubled().sabotaged
    padded = Iis((Member("r1", "upper"), Member("r2", "upper"), Member("r5", "lower")))
    assert not is_irreducible(broken, padded)


def test_a_feasible_set_is_noticed() -> None:
    assert not is_irreducible(doubled().sabotaged, Iis((Member("r2", "upper"),)))


def test_what_the_solver_does_not_vouch_for_is_reduced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "_STRATEGY", 0)
    broken = flipped().sabotaged
    found = find_iis(broken)
    assert found is not None
    assert is_irreducible(broken, found)


def test_only_the_side_that_takes_part_is_kept() -> None:
    broken = apply_all(BAKERY, [AddRow("r5", (("x1", 2.0), ("x2", 1.0)), "=", 80.0)])
    found = find_iis(broken)
    assert found is not None
    kept = subsystem(broken, found)
    assert kept.row("r5").sense == ">="
    assert solve(kept).status == "infeasible"


def test_random_models_up_to_fifty_rows_are_irreducible() -> None:
    rng = random.Random(7)
    checked = 0
    for size in (10, 20, 35, 50):
        for _ in range(4):
            broken = _random_broken(rng, size)
            found = find_iis(broken)
            if found is not None:
                checked += 1
                assert is_irreducible(broken, found)
    assert checked >= 12


def _random_broken(rng: random.Random, size: int) -> LinearProgram:
    """Sparse rows around a point, and one row that asks for more than some of the others allow together."""
    columns = tuple(Column(f"x{i}", 0.0, 20.0, rng.choice(["continuous", "integer"])) for i in range(size // 2 + 2))
    point = {column.name: float(rng.randint(0, 20)) for column in columns}
    rows = []
    for number in range(size - 1):
        chosen = sorted(rng.sample(range(len(columns)), min(4, len(columns))))
        terms = tuple((columns[i].name, float(rng.choice([-3, -2, -1, 1, 2, 3]))) for i in chosen)
        value = sum(weight * point[name] for name, weight in terms)
        sense = rng.choice(["<=", ">=", "="])
        slack = {"<=": rng.randint(0, 3), ">=": -rng.randint(0, 3), "=": 0}[sense]
        rows.append(LinearRow(f"r{number}", terms, sense, value + slack))
    model = LinearProgram("m", columns, tuple(rows))
    victim = rng.choice([row for row in rows if row.sense != "="])
    return SetRhs(victim.name, victim.rhs + (-60.0 if victim.sense == "<=" else 60.0)).apply(model)


def test_a_subsystem_survives_json() -> None:
    found = find_iis(typed().sabotaged)
    assert found is not None
    assert iis_from_data(iis_to_data(found)) == found
