"""The contract of a learner, as a stranger's learner meets it: what is left out or wrong costs one line."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from builders import FromFunction
from reflact_world import Kinds
from reflact_world import target as kinds_target

from whet import plugins
from whet.config.load import validate
from whet.config.train import TrainConfig
from whet.errors import WhetError
from whet.learn.learner import Assignment, Learner, Training, learner_named
from whet.run.api import train


class IdleTraining(Training):
    def __init__(self, assignment: Assignment) -> None:
        self.assignment = assignment

    async def run(self) -> None:
        self.assignment.moved()


class Idle(Learner):
    name = "idle"

    def begin(self, assignment: Assignment) -> Training:
        return IdleTraining(assignment)


class Stepless(Idle):
    def steps(self, config: Any, tasks: int) -> int:
        return 0


class Consulting(Idle):
    def consults(self, config: Any) -> bool:
        return True


STEPLESS, CONSULTING = Stepless(), Consulting()


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The learners above, as a package would offer them."""
    names = {"stepless": "STEPLESS", "consulting": "CONSULTING", "class": "Idle"}
    points = [EntryPoint(name, f"{__name__}:{value}", "whet.learners") for name, value in names.items()]
    real, load = plugins.entry_points, EntryPoint.load
    monkeypatch.setattr(
        plugins, "entry_points", lambda group: points if group == "whet.learners" else real(group=group)
    )
    own = {point.value: globals()[point.value.partition(":")[2]] for point in points}
    monkeypatch.setattr(EntryPoint, "load", lambda entry: own[entry.value] if entry.value in own else load(entry))


def config(learner: str) -> TrainConfig:
    return validate(TrainConfig, {"learner": learner, "env": {"name": "kinds"}, "target": {"model": "test:m"}}, "test")


def test_a_learner_without_steps_still_makes_its_claim(offered: None, tmp_path: Path) -> None:
    result = train(config("stepless"), env=Kinds(), model=FromFunction(kinds_target), runs=tmp_path)
    assert result.tested is not None
    assert "history.json" not in str(result.page().parts[-1])


def test_a_learner_that_consults_nobody_in_particular_is_refused(offered: None, tmp_path: Path) -> None:
    with pytest.raises(WhetError, match=r"consults an optimizer; name one: --set optimizer\.model"):
        train(config("consulting"), env=Kinds(), model=FromFunction(kinds_target), runs=tmp_path)


def test_a_class_is_no_learner(offered: None) -> None:
    with pytest.raises(WhetError, match="is a class: the entry point must name an instance"):
        learner_named("class")


def test_a_plan_of_one_step_is_not_said_in_the_plural() -> None:
    assert Idle().describe(None, 9) == "1 step"
