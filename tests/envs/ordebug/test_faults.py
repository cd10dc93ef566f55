"""The fault types: for every suspect of a contradiction, what it would have been, and nothing that tells them apart."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from envs.ordebug.puzzles import made

from whet.envs.ordebug import maker
from whet.envs.ordebug.certificate import minimum_edits
from whet.envs.ordebug.edits import DropRow, SetBounds, SetCoef, SetRhs, SetSense, SetType, apply_all, difference
from whet.envs.ordebug.families import RowSense
from whet.envs.ordebug.faults import FAULTS, Scene
from whet.envs.ordebug.iis import find_iis
from whet.envs.ordebug.instance import Instance
from whet.envs.ordebug.ladder import EVERY_CELL, Cell
from whet.envs.ordebug.model import INF, Column, LinearProgram, LinearRow
from whet.envs.ordebug.solver import feasible

KINDS = sorted(FAULTS)


def some(kind: str, count: int = 12) -> list[Instance]:
    """Problems of a type; of C, which take longest to make, half as many."""
    return [made(f"tiny_near_{kind}", index) for index in range(count if kind != "C" else count // 2)]


@pytest.mark.parametrize(
    ("kind", "edits"),
    [("A", SetSense), ("B", SetBounds | SetType), ("C", SetCoef), ("D", SetRhs | DropRow)],
)
def test_a_fault_type_changes_only_what_its_letter_says(kind: str, edits: type) -> None:
    for one in some(kind):
        assert all(isinstance(edit, edits) for edit in one.repair)
        assert one.faults[0].kind == kind
        assert one.faults[0].form in FAULTS[kind].forms


@pytest.mark.parametrize("kind", KINDS)
def test_the_repair_gives_back_the_original_exactly(kind: str) -> None:
    for one in some(kind, 6):
        assert apply_all(one.sabotaged, one.repair).digest == one.original.digest
        assert difference(one.sabotaged, one.original)


@pytest.mark.parametrize("kind", KINDS)
def test_the_culprit_is_one_of_at_least_two_suspects(kind: str) -> None:
    for one in some(kind):
        (suspects,) = one.certificate.suspects
        assert len(suspects) >= 2
        assert len(one.elements & set(suspects)) == 1


@pytest.mark.parametrize("kind", ["A", "C", "D"])
def test_without_any_one_suspect_the_rest_has_a_solution(kind: str) -> None:
    """A solver cannot clear a suspect: each of them could be the one that is wrong."""
    for one in some(kind, 6):
        for suspect in one.certificate.suspects[0]:
            assert feasible(one.sabotaged.without_row(suspect.partition(":")[2])) is True


def test_the_culprit_is_drawn_evenly_among_the_suspects() -> None:
    places = Counter(
        one.certificate.suspects[0].index(next(iter(one.elements)))
        for kind in KINDS
        for one in some(kind, 12)
        if len(one.certificate.suspects[0]) == 2
    )
    total = sum(places.values())
    assert total > 24
    assert abs(places[0] / total - 0.5) < 0.25


def test_far_problems_have_two_faults_and_a_subsystem_shows_one() -> None:
    for index in range(3):
        one = made("small_far_A", index)
        assert len(one.faults) == 2
        assert one.certificate.outside_subsystem >= 1
        first, second = one.certificate.suspects
        assert not set(first) & set(second)


def test_mixed_problems_that_are_far_have_two_types_of_fault() -> None:
    assert len({fault.kind for fault in made("small_far_mixed").faults}) == 2


@pytest.mark.parametrize("name", ["tiny_near_A", "small_near_B", "small_mid_D", "medium_near_C"])
def test_a_rung_keeps_what_its_axes_say(name: str) -> None:
    cell: Cell = EVERY_CELL[name]
    one = made(name)
    low, high = {"tiny": (3, 6), "small": (7, 15), "medium": (16, 40)}[cell.sizes[0]]
    assert low <= len(one.sabotaged.rows) <= high
    (suspects,) = one.certificate.suspects
    assert len(suspects) >= 4 if cell.subtlety == "mid" else len(suspects) <= 3


def test_where_integrality_alone_contradicts_any_whole_column_of_the_row_may_be_the_wrong_one() -> None:
    columns = tuple(Column(name, 0.0, 9.0, "integer", 1.0) for name in ("x1", "x2", "x3"))
    model = LinearProgram("m", columns, (LinearRow("r1", (("x1", 2.0), ("x2", 4.0)), "=", 7.0),))
    iis = find_iis(model)
    assert iis is not None
    assert iis.integral
    scene = Scene(model, iis, {"r1": RowSense("group")})
    assert FAULTS["B"].concerns(scene) == ("column:x1", "column:x2")
    correction = FAULTS["B"].correct(random.Random(1), scene, "x2")
    assert correction is not None
    assert correction.form == "made_whole"
    assert feasible(apply_all(model, correction.edits)) is True


def test_a_requirement_to_which_the_others_set_no_end_has_no_figure_that_was_meant() -> None:
    columns = (Column("x1", -INF, INF, "continuous", 1.0), Column("x2", 0.0, 5.0, "continuous", 1.0))
    rows = (LinearRow("r1", (("x1", 1.0),), "<=", 4.0), LinearRow("r2", (("x2", 1.0),), ">=", 6.0))
    model = LinearProgram("m", columns, rows)
    open_ended = LinearProgram("m", columns, rows[:1])
    iis = find_iis(model)
    assert iis is not None
    scene = Scene(open_ended, iis, {"r1": RowSense("group")})
    drawn = [FAULTS["D"].correct(random.Random(seed), scene, "r1") for seed in range(20)]
    assert {found.form for found in drawn if found is not None} <= {"foreign_row"}
    assert None in drawn


@pytest.mark.parametrize("kind", KINDS)
def test_no_attempt_is_thrown_away_once_the_culprit_is_drawn(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is thrown away later would favour some culprits, and the model alone would tell something about them."""
    drawn: list[bool] = []

    def counted(*given: Any) -> int | None:
        drawn.append((found := minimum_edits(*given)) is not None)
        return found

    monkeypatch.setattr(maker, "minimum_edits", counted)
    for index in range(3):
        maker.make(EVERY_CELL[f"tiny_near_{kind}"], None, index, seed=4)
    assert drawn == [True] * 3
