"""Which tasks come when: each once before any comes again, balanced, in stages, in a band; resumed where it stood."""

from __future__ import annotations

from itertools import islice

import pytest
from small_world import Hail

from whet.errors import WhetError
from whet.learn.weights.config import CurriculumSection
from whet.learn.weights.supply import TaskSupply

LABELS = {index: Hail().label("train", index) for index in range(18)}


def supply(curriculum: CurriculumSection = CurriculumSection(), *, balance: bool = False) -> TaskSupply:
    return TaskSupply(LABELS, curriculum, seed=1, steps=8, balance=balance)


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
