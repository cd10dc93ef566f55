"""HiGHS on small models whose answers are known."""

from __future__ import annotations

import threading

import pytest
from envs.ordebug.puzzles import BAKERY, crossed, doubled, flipped

from whet.envs.ordebug.edits import AddRow, DropRow, SetBounds, SetCoef, SetRhs, SetSense, SetType, apply_all
from whet.envs.ordebug.equivalence import Checker, equivalent
from whet.envs.ordebug.model import INF, Column, LinearProgram, LinearRow, violations
from whet.envs.ordebug.solver import elastic, elastic_point, extreme, feasible, solve


def test_a_feasible_model_has_an_optimum_that_respects_it() -> None:
    solved = solve(BAKERY)
    assert solved.status == "optimal"
    assert violations(BAKERY, solved.point(BAKERY)) == []
    assert BAKERY.objective(solved.point(BAKERY)) == pytest.approx(solved.objective)


def test_whole_numbers_are_kept_unless_relaxed() -> None:
    odd = LinearProgram(
        "m", (Column("x", 0.0, 10.0, "integer", 1.0),), (LinearRow("r", (("x", 2.0),), "<=", 7.0),), True
    )
    assert (solve(odd).objective, solve(odd, relaxed=True).objective) == (3.0, 3.5)


@pytest.mark.parametrize(
    ("model", "status"),
    [
        (crossed().sabotaged, "infeasible"),
        (doubled().sabotaged, "infeasible"),
        (LinearProgram("m", (Column("x", cost=1.0),), (), True), "unbounded"),
        (LinearProgram("m", (Column("x", -INF, INF, cost=1.0), Column("y", -INF, INF)), (), False), "unbounded"),
        (LinearProgram("m", (Column("x", 1.0, 2.0, cost=1.0),), ()), "optimal"),
        (LinearProgram("m", (), ()), "optimal"),
    ],
)
def test_the_status_is_told_apart(model: LinearProgram, status: str) -> None:
    assert solve(model).status == status


def test_a_solve_that_takes_too_long_says_so() -> None:
    assert solve(_market_split(), time_limit=0.05).status == "time_limit"


def _market_split() -> LinearProgram:
    """Four equations over thirty binary columns: small, and hopeless for branching."""
    columns = tuple(Column(f"x{i}", 0.0, 1.0, "binary") for i in range(30))
    weights = [[(37 * (i + 1) * (k + 3) + i * i * (k + 1)) % 97 + 1 for i in range(30)] for k in range(4)]
    rows = tuple(
        LinearRow(f"r{k}", tuple((f"x{i}", float(w)) for i, w in enumerate(ws)), "=", float(sum(ws) // 2))
        for k, ws in enumerate(weights)
    )
    return LinearProgram("split", columns, rows)


def test_feasible_does_not_need_a_bounded_objective() -> None:
    assert feasible(LinearProgram("m", (Column("x", cost=1.0),), (), True)) is True


def test_the_extreme_of_a_form_is_its_greatest_value() -> None:
    assert extreme(BAKERY, [("x1", 1.0), ("x3", 2.0)]).objective == pytest.approx(45.0)
    assert extreme(BAKERY, [("x2", 1.0)]).objective == pytest.approx(30.0)


def test_the_elastic_model_names_the_least_violation() -> None:
    found = elastic(doubled().sabotaged)
    assert found.total == pytest.approx(30.0)
    assert {name for name, _ in found.rows} <= {"r2", "r5"}


def test_the_elastic_point_respects_bounds_and_types() -> None:
    point = elastic_point(doubled().sabotaged)
    assert point is not None
    assert set(violations(doubled().sabotaged, point)) <= {"r2", "r5"}


def test_crossed_bounds_have_no_elastic_point() -> None:
    assert elastic_point(crossed().sabotaged) is None


def test_threads_do_not_disturb_each_other() -> None:
    found: list[float | None] = []
    threads = [threading.Thread(target=lambda: found.append(solve(BAKERY).objective)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [solve(BAKERY).objective] * 8


# --------------------------------------------------------------------------------------------- equivalence


@pytest.mark.parametrize(
    ("edits", "same"),
    [
        ([], True),
        ([AddRow("r9", (("x1", 2.0), ("x2", 2.0)), ">=", 20.0)], True),
        ([AddRow("r9", (("x1", 1.0),), "<=", 25.0)], True),
        ([AddRow("r9", (("x1", 1.0),), "<=", 24.0)], False),
        ([DropRow("r3")], False),
        ([DropRow("r2")], False),
        ([SetRhs("r1", 60.001)], False),
        ([SetRhs("r1", 60.0 + 1e-9)], True),
        ([SetSense("r4", "<=")], False),
        ([SetCoef("r4", "x1", 0.1)], False),
        ([SetType("x3", "continuous")], False),
        ([SetType("x1", "integer")], False),
        ([SetBounds("x1", 0.0, 25.0)], False),
        ([SetBounds("x1", 0.0, None)], False),
        ([SetBounds("x1", 0.0, None), AddRow("r9", (("x1", 2.0),), "<=", 80.0)], True),
        ([SetBounds("x3", 0.0, 10.5)], True),
        ([SetBounds("x3", 0.0, 9.0)], False),
    ],
)
def test_models_are_the_same_when_their_points_are(edits: list, same: bool) -> None:  # type: ignore[type-arg]
    assert equivalent(apply_all(BAKERY, edits), BAKERY).same is same


def test_a_redundant_requirement_may_not_be_left_out() -> None:
    """The sense of r2, turned around, makes this model infeasible; without r2 its points are the same."""
    original = flipped().original
    for edits in ([DropRow("r2")], [SetRhs("r2", 900.0)], [SetSense("r2", ">="), SetRhs("r2", -900.0)]):
        assert equivalent(apply_all(original, edits), original).why == "requirement r2 is not stated"


def test_a_requirement_may_be_stated_in_other_words() -> None:
    scaled = [DropRow("r2"), AddRow("hours", (("x1", -4.0), ("x2", -2.0)), ">=", -100.0)]
    assert equivalent(apply_all(BAKERY, scaled), BAKERY).same


def test_an_equation_may_be_stated_as_two_rows() -> None:
    terms = (("x1", 1.0), ("x2", 1.0))
    original = AddRow("sum", terms, "=", 20.0).apply(BAKERY)
    halves = [
        DropRow("sum"),
        AddRow("least", terms, ">=", 20.0),
        AddRow("most", (("x1", -2.0), ("x2", -2.0)), ">=", -40.0),
    ]
    assert equivalent(apply_all(original, halves), original).same
    assert not equivalent(apply_all(original, halves[:2]), original).same


def test_a_loosened_bound_is_no_repair_even_where_it_changes_no_point() -> None:
    assert equivalent(SetBounds("x1", -5.0, 40.0).apply(flipped().original), flipped().original).same is False
    assert equivalent(SetBounds("x1", 0.0, 99.0).apply(BAKERY), BAKERY).why == "requirement x1 is not stated"


def test_whole_numbers_leave_room_in_a_right_hand_side() -> None:
    columns = (Column("x", 0.0, 9.0, "integer", 1.0), Column("y", 0.0, 9.0, "integer", 1.0))
    original = LinearProgram("m", columns, (LinearRow("r", (("x", 1.0), ("y", 1.0)), "<=", 5.0),), True)
    assert equivalent(SetRhs("r", 5.5).apply(original), original).same
    assert not equivalent(SetRhs("r", 6.0).apply(original), original).same


@pytest.mark.parametrize("factor", [2.0, -3.0, 0.37, 1e4])
def test_a_row_of_whole_numbers_may_be_multiplied_though_its_limit_is_not_whole(factor: float) -> None:
    columns = (Column("x", 0.0, 9.0, "integer", 1.0), Column("y", 0.0, 9.0, "integer", 1.0))
    original = LinearProgram("m", columns, (LinearRow("r", (("x", 1.0), ("y", 1.0)), ">=", 4.5),))
    terms = (("x", factor), ("y", factor))
    other = [DropRow("r"), AddRow("s", terms, ">=" if factor > 0 else "<=", 4.5 * factor)]
    assert equivalent(apply_all(original, other), original).same
    looser = [DropRow("r"), AddRow("s", terms, ">=" if factor > 0 else "<=", 3.5 * factor)]
    assert equivalent(apply_all(original, looser), original).why == "requirement r is not stated"


def test_another_objective_function_is_another_model() -> None:
    other = BAKERY.with_column(Column("x1", 0.0, 40.0, "continuous", 4.0))
    assert equivalent(other, BAKERY).why == "objective_function"


def test_an_infeasible_model_is_not_a_repair() -> None:
    assert not Checker(BAKERY).repaired(doubled().sabotaged)
