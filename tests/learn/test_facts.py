"""Facts that only the feedback gives away are learnt by default: an optimiser can say no more than it is shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from fact_tasks import TASKS, FactTask, learnt

NAMES = [task.name for task in TASKS]


@pytest.mark.parametrize("task", TASKS, ids=NAMES)
def test_what_a_house_agrees_on_is_learnt_by_default(tmp_path: Path, task: FactTask) -> None:
    result = learnt(task, tmp_path)
    assert result.summary["baseline_test_hard"] == 0.0
    assert result.summary["test_hard"] >= 0.85


def test_without_the_truth_there_is_nothing_to_learn(tmp_path: Path) -> None:
    result = learnt(TASKS[0], tmp_path, reflect={"show": "score"})
    assert result.summary["test_hard"] == 0.0
    assert {step.action for step in result.training.steps} == {"skip_no_patches"}
