"""Time left: of the whole run, at the pace of what was asked in this session."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from builders import FromFunction
from reflact_world import Kinds, config, optimiser, target

from whet.cli import main
from whet.run.api import train
from whet.run.compose import Given
from whet.run.train import TrainPlan, plan_training
from whet.terminal import TerminalProgress, in_words
from whet.types import Label, Rollout, Split, Ticket, solved


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Show:
    """Plans worked off at a given pace, and what the progress says about them."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.progress = TerminalProgress(10.0, self.clock)

    def ask(self, many: int, split: Split = "select", seconds: float = 1.0) -> None:
        for index in range(many):
            self.clock.now += seconds
            self.progress.finished(Rollout(Ticket("p", split, index), Label("k"), "", "", "", (), solved()))

    def replay(self, many: int, split: Split = "select") -> None:
        for index in range(many):
            self.progress.replayed(Ticket("p", split, index))

    @property
    def left(self) -> str:
        return self.progress.left()


@pytest.fixture
def show() -> Show:
    return Show()


def test_an_evaluation_is_one_plan(show: Show) -> None:
    show.progress.began(50, "model")
    assert show.left == ""
    show.ask(10)
    assert show.left == "about 40 s left"


def test_a_training_is_all_that_lies_ahead(show: Show) -> None:
    show.progress.expect({"train": 100, "select": 200, "test": 300})
    show.progress.began(10, "train/e1/s0001/b1")
    show.ask(10, "train")
    assert show.left == "at most about 10 min left"


def test_at_the_test_nothing_else_lies_ahead_and_the_rest_is_counted(show: Show) -> None:
    show.progress.expect({"train": 100, "select": 200, "test": 60})
    show.progress.began(30, "test, no playbook")
    show.ask(30, "test")
    assert show.left == "about 30 s left"


def test_the_time_between_two_plans_counts(show: Show) -> None:
    show.progress.began(10, "one")
    show.ask(10)
    show.clock.now += 90.0  # an optimiser thinks
    show.progress.began(5, "two")
    assert show.left == "about 50 s left"


def test_what_an_earlier_session_did_is_done_and_says_nothing_of_the_pace(show: Show) -> None:
    show.progress.expect({"train": 40, "test": 60})
    show.progress.began(40, "train")
    show.replay(30, "train")
    assert show.left == ""
    show.ask(5, "train", seconds=2.0)
    assert show.left == "at most about 2 min left"  # 65 rollouts at 2 seconds


def test_a_playbook_that_was_just_played_is_not_taken_for_another(show: Show) -> None:
    show.progress.expect({"test": 60})
    show.progress.began(30, "test, no playbook")
    show.ask(30, "test")
    show.progress.began(30, "test, initial")
    show.replay(30, "test")
    assert show.left == "about 30 s left"


def test_a_pipe_gets_a_line_now_and_then(show: Show, capsys: pytest.CaptureFixture[str]) -> None:
    show.progress.expect({"train": 40, "test": 60})
    show.progress.began(40, "train/e1")
    show.ask(22, "train")
    assert capsys.readouterr().err.splitlines() == [
        "train/e1: 11/40 solved 1.00 [0.74, 1.00], at most about 90 s left",
        "train/e1: 22/40 solved 1.00 [0.85, 1.00], at most about 80 s left",
    ]


PLACE = f"scripted:/mine/[/{'deep/' * 20}]:gear:/model.py"


def test_a_name_is_shown_as_it_is_whatever_is_in_it(show: Show, capsys: pytest.CaptureFixture[str]) -> None:
    show.progress.began(40, PLACE)
    show.ask(11)
    assert capsys.readouterr().err.splitlines() == [f"{PLACE}: 11/40 solved 1.00 [0.74, 1.00], about 30 s left"]


def test_a_name_is_shown_as_it_is_in_a_terminal_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    show = Show()
    assert show.progress._console.is_terminal
    show.progress.began(4, PLACE)
    show.ask(2)
    assert show.progress._bar is not None
    show.progress._bar.refresh()
    show.progress.ended()


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.4, "0 s"), (12.2, "12 s"), (57.0, "60 s"), (130.0, "2 min"), (7000.0, "2 h")]
)
def test_an_estimate_is_not_more_exact_than_it_deserves(seconds: float, words: str) -> None:
    assert in_words(seconds) == words


class Counting(TerminalProgress):
    """Counts what was asked, and what lay ahead of it all."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: Counter[str] = Counter()
        self.expected: list[dict[Split, int]] = []

    def expect(self, ahead: dict[Split, int]) -> None:  # type: ignore[override]
        self.expected.append(dict(ahead))
        super().expect(ahead)

    def finished(self, rollout: Rollout) -> None:
        if not rollout.ticket.purpose.startswith("floor/"):
            self.asked[rollout.ticket.split] += 1
        super().finished(rollout)


def watched(tmp_path: Path, **sections: object) -> tuple[TrainPlan, Counting]:
    settings = config(**sections)
    objects = (Kinds(), FromFunction(target), None, FromFunction(optimiser) if settings.optimizer else None)
    plan, progress = plan_training(settings, Given(*objects)), Counting()
    train(
        settings,
        env=objects[0],
        model=objects[1],
        optimizer=objects[3],
        runs=tmp_path,
        name="run",
        progress=progress,
    )
    return plan, progress


def test_worked_examples_take_no_more_than_was_foreseen(tmp_path: Path) -> None:
    plan, progress = watched(
        tmp_path,
        optimizer=None,
        train={"proposer": "examples", "epochs": 2, "batch_size": 12},
        slow={"use": False},
        meta={"use": False},
        gate={"pace": "patient"},
    )
    foreseen = plan.ahead()
    assert foreseen == {"train": 2 * 24 + 4 * 36, "select": 4 * 12 * 24, "test": 2 * 40}
    assert progress.asked["train"] <= foreseen["train"]
    assert progress.asked["select"] <= foreseen["select"]
    assert progress.asked["test"] == foreseen["test"]


def test_what_lies_ahead_shrinks_with_every_step(tmp_path: Path) -> None:
    plan, progress = watched(tmp_path)
    trains = [expected["train"] for expected in progress.expected]
    assert trains == sorted(trains, reverse=True)
    assert progress.expected[0] == plan.ahead()
    assert progress.expected[-1] == {"train": 0, "select": 0, "test": 2 * 40}
    assert progress.asked["train"] <= trains[0]
    assert progress.asked["test"] == 2 * 40


def test_an_ungated_change_may_leave_three_playbooks_to_test() -> None:
    settings = config(slow={"use": True, "gated": False})
    plan = plan_training(settings, Given(Kinds(), FromFunction(target), None, FromFunction(optimiser)))
    assert plan.ahead()["test"] == 3 * 40


def test_a_resumed_training_knows_what_lies_ahead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    world = Path(__file__).parents[1] / "reflact_world.py"
    (tmp_path / "train.toml").write_text(
        f'[env]\nname = "{world}:Kinds"\n[target]\nmodel = "scripted:{world}:target"\n'
        '[train]\nproposer = "examples"\nepochs = 1\nbatch_size = 12\n[control.budget]\ncalls = 20\n'
    )
    told: list[dict[Split, int]] = []
    monkeypatch.setattr(TerminalProgress, "expect", lambda self, ahead: told.append(dict(ahead)))
    monkeypatch.chdir(tmp_path)
    more = ["resume", "r", "--set", "control.budget.calls=1000"]
    for words, code in ((["train", "train.toml", "--run", "r"], "3"), (more, "0")):
        told.clear()
        monkeypatch.setattr("sys.argv", ["whet", *words])
        with pytest.raises(SystemExit, match=code):
            main()
        assert told[0] == {"train": 24 + 2 * 36, "select": 2 * 12 * 24, "test": 2 * 40}
    assert told[-1] == {"train": 0, "select": 0, "test": 2 * 40}
    assert "sealed test" in capsys.readouterr().out
