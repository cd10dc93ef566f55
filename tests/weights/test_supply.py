"""Which tasks come when: each once before any comes again, balanced, in stages, in a band; resumed where it stood.

And which sit out for a while, because all attempts at them earned the same.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_world import Hail

from whet.errors import WhetError
from whet.learn.weights.config import CurriculumSection
from whet.learn.weights.supply import TaskSupply

LABELS = {index: Hail().label("train", index) for index in range(18)}


def supply(
    curriculum: CurriculumSection = CurriculumSection(), *, balance: bool = False, tasks: int = 18
) -> TaskSupply:
    labels = {task: LABELS[task] for task in range(tasks)}
    return TaskSupply(labels, curriculum, seed=1, steps=8, balance=balance)


def test_every_task_comes_before_any_comes_again() -> None:
    made = supply()
    assert sorted(islice(made.draw(0), 10)) != sorted(islice(made.draw(1), 8))
    assert made.taken == {"": 18}
    fresh = supply()
    assert sorted(islice(fresh.draw(0), 18)) == list(LABELS)


def test_a_resumed_supply_goes_on_with_the_next_task() -> None:
    whole, half, resumed = supply(), supply(), supply()
    expected = list(islice(whole.draw(0), 30))
    began = list(islice(half.draw(0), 11))
    resumed.restore(half.state())
    assert began + list(islice(resumed.draw(1), 19)) == expected


def test_balance_gives_each_kind_its_turn() -> None:
    drawn = list(islice(supply(balance=True).draw(0), 8))
    assert [LABELS[task].kind for task in drawn] == ["even", "odd"] * 4


def test_the_four_stages_each_take_a_quarter_of_the_steps() -> None:
    made = supply(CurriculumSection(kind="stages"))
    seen = [{LABELS[task].difficulty for task in islice(made.draw(step), 12)} for step in range(8)]
    stages = [{"easy"}, {"easy", "medium"}, {"medium", "hard"}, {"hard"}]
    assert seen == [stage for stage in stages for _ in range(2)]


def test_a_band_climbs_with_success_and_steps_down_with_failure() -> None:
    made = supply(CurriculumSection(kind="band", ladder=("easy", "medium", "hard")))
    rungs = []
    for solved in (0.9, 0.9, 0.9, 0.5, 0.1, 0.0, 0.0):
        rungs.append(made.stage(0)[0])
        made.went(solved)
    assert rungs == ["easy", "medium", "hard", "hard", "hard", "medium", "easy"]
    other = supply(CurriculumSection(kind="band", ladder=("easy", "medium", "hard")))
    other.restore({"taken": {}, "rung": 2})
    assert other.stage(0) == ("hard",)


def test_a_stage_without_tasks_is_refused_before_training() -> None:
    with pytest.raises(WhetError, match=r"no train task is of extreme; there are easy, even"):
        supply(CurriculumSection(kind="stages", stages=(("easy",), ("extreme",))))
    with pytest.raises(WhetError, match="needs a ladder"):
        supply(CurriculumSection(kind="band"))


# --------------------------------------------------------------------------------------------- tasks that sit out


def resting(rest: int, *, balance: bool = False, tasks: int = 18, **more: object) -> TaskSupply:
    return supply(CurriculumSection(rest=rest, **more), balance=balance, tasks=tasks)


def rounds_in_which_it_came(made: TaskSupply, task: int, visits: Sequence[bool]) -> list[int]:
    """Rounds in which a task came, that was flat in these of its visits; no other task ever is."""
    came = []
    left = list(visits)
    while left:
        drawn = next(made.draw(0))
        if drawn == task:
            came.append((made.taken[""] - 1) // len(LABELS))
        made.went(0.5, {drawn: drawn == task and left.pop(0)})
    return came


@pytest.mark.parametrize("rest", [1, 2, 5])
def test_a_task_whose_attempts_all_earned_the_same_sits_out_so_many_rounds(rest: int) -> None:
    assert rounds_in_which_it_came(resting(rest), 7, [True, False]) == [0, rest + 1]


def test_each_rest_in_a_row_is_twice_as_long_up_to_eight_times_the_first() -> None:
    came = rounds_in_which_it_came(resting(3), 7, [True] * 7)
    assert [after - before - 1 for before, after in pairwise(came)] == [3, 6, 12, 24, 24, 24]


def test_a_visit_in_which_rewards_differed_ends_the_row() -> None:
    came = rounds_in_which_it_came(resting(1), 7, [True, True, False, True, True, False])
    assert [after - before - 1 for before, after in pairwise(came)] == [1, 2, 0, 1, 2]


def test_a_visit_of_which_nothing_is_known_changes_nothing() -> None:
    """One that met a fault: the task comes again in the next round, and the row goes on where it was."""
    made, came = resting(1), []
    left: list[dict[int, bool]] = [{7: True}, {}, {7: True}, {7: False}]
    while left:
        drawn = next(made.draw(0))
        if drawn == 7:
            came.append((made.taken[""] - 1) // 18)
        made.went(0.5, left.pop(0) if drawn == 7 else {drawn: False})
    assert came == [0, 2, 3, 6]


def test_while_a_task_sits_out_the_others_come_in_the_order_that_they_had() -> None:
    plain = list(islice(supply().draw(0), 54))
    made = resting(1)
    first = list(islice(made.draw(0), 18))
    made.went(0.5, {task: task in (3, 11) for task in first})
    second = [task for task in plain[18:36] if task not in (3, 11)]
    assert first + list(islice(made.draw(1), 34)) == plain[:18] + second + plain[36:]


def test_without_rests_the_order_is_that_of_runs_on_record() -> None:
    first = [14, 17, 13, 1, 10, 5, 8, 11, 2, 3, 16, 0, 12, 4, 9, 15, 7, 6]
    assert list(islice(resting(0).draw(0), 22)) == [*first, 2, 8, 12, 6]


@given(st.lists(st.tuples(st.integers(1, 7), st.sets(st.sampled_from(sorted(LABELS)))), max_size=12), st.booleans())
def test_without_rests_nothing_that_is_heard_changes_the_order(
    history: list[tuple[int, set[int]]], balance: bool
) -> None:
    plain, made = supply(balance=balance), resting(0, balance=balance)
    for step, (count, flat) in enumerate(history):
        drawn = list(islice(made.draw(step), count))
        assert drawn == list(islice(plain.draw(step), count))
        made.went(0.5, {task: task in flat for task in drawn})
    assert made.state() == plain.state() == {"taken": made.taken, "rung": 0, "stage": 1, "rates": []}


@pytest.mark.parametrize(("tasks", "rest"), [(1, 1), (1, 10**9), (2, 3), (18, 1), (18, 10**9)])
def test_where_all_sit_out_the_first_that_are_back_come(tasks: int, rest: int) -> None:
    made = resting(rest, tasks=tasks)
    for step in range(6):
        drawn = list(islice(made.draw(step), tasks))
        assert sorted(drawn) == list(range(tasks))
        made.went(0.0, dict.fromkeys(drawn, True))
    assert made.taken[""] == tasks * (1 + sum(1 + rest * times for times in (1, 2, 4, 8, 8)))


def test_thousands_that_sit_out_for_long_are_passed_over_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two shuffles find the next task: of the round that is under way, and of the first in which one is back."""
    made = TaskSupply(dict.fromkeys(range(5000), LABELS[0]), CurriculumSection(rest=9000), seed=1, steps=8)
    rests = {str(task): [9000, 9000 + (task != 4321)] for task in range(5000)}
    made.restore({"taken": {"": 5007}, "rung": 0, "rests": {"": rests}})
    turns, shuffled = [], made._shuffled
    monkeypatch.setattr(made, "_shuffled", lambda *asked: turns.append(asked[-1]) or shuffled(*asked))
    assert next(made.draw(0)) == 4321
    assert turns == [1, 9001]


def test_a_task_that_comes_twice_in_a_batch_is_visited_once_and_rests_from_where_it_came_last() -> None:
    """The same weights played it both times: a second look at them is no second visit."""
    made = resting(2, tasks=3)
    *_, twice, other = drawn = list(islice(made.draw(0), 5))
    made.went(0.5, {task: task == twice for task in drawn})
    came = list(islice(made.draw(1), 8))
    [once] = {0, 1, 2} - {twice, other}
    others = sorted([once, other])
    rounds = came[:1], came[1:3], came[3:5], came[5:]
    assert [sorted(tasks) for tasks in rounds] == [[once], others, others, [0, 1, 2]]


def test_every_pool_has_rests_of_its_own() -> None:
    """A task of middling difficulty belongs to two stages: that it sits out in one says nothing of the other."""
    stages = (("easy", "medium"), ("medium", "hard"))
    made = resting(4, kind="stages", stages=stages)
    first = set(islice(made.draw(0), 12))
    made.went(0.0, dict.fromkeys(first, True))
    assert {LABELS[task].difficulty for task in islice(made.draw(7), 12)} == {"medium", "hard"}


def test_balance_goes_on_where_all_of_a_kind_sit_out() -> None:
    made = resting(10**9, balance=True)
    drawn = list(islice(made.draw(0), 18))
    made.went(0.5, {task: LABELS[task].kind == "odd" for task in drawn})
    assert [LABELS[task].kind for task in islice(made.draw(1), 6)] == ["even", "odd"] * 3
    assert made.taken == {"/even": 9 + 3, "/odd": 9 + 9 * 10**9 + 3}


CURRICULA = (
    {},
    {"kind": "stages"},
    {"kind": "band", "ladder": ("easy", "medium", "hard")},
)
TASKS = st.sets(st.sampled_from(sorted(LABELS)))


@given(
    st.sampled_from(CURRICULA),
    st.booleans(),
    st.sampled_from([0, 1, 3]),
    st.lists(st.tuples(st.integers(1, 30), TASKS, TASKS), max_size=14),
)
def test_a_supply_resumed_anywhere_goes_on_as_it_would_have(
    section: dict[str, object], balance: bool, rest: int, history: list[tuple[int, set[int], set[int]]]
) -> None:
    """Before any batch, and between its plays and what is heard of them."""

    def resumed(made: TaskSupply) -> TaskSupply:
        found = resting(rest, balance=balance, **section)
        found.restore(json.loads(json.dumps(made.state())))
        assert found.state() == made.state()
        return found

    whole = resting(rest, balance=balance, **section)
    made = resumed(whole)
    for step, (count, flat, unknown) in enumerate(history):
        drawn = list(islice(made.draw(step), count))
        assert drawn == list(islice(whole.draw(step), count))
        made = resumed(made)
        heard = {task: task in flat for task in drawn if task not in unknown}
        for told in (whole, made):
            told.went(len(flat) / len(LABELS), heard)
            assert not told.state().get("open")
        made = resumed(made)
    assert made.state() == whole.state()


def test_a_state_from_before_there_were_rests_is_one_without_any() -> None:
    made = resting(1)
    drawn = list(islice(made.draw(0), 18))
    made.went(0.0, dict.fromkeys(drawn, True))
    made.restore({"taken": {"": 18}, "rung": 0})
    assert list(islice(made.draw(1), 18)) == list(islice(supply().draw(0), 36))[18:]
