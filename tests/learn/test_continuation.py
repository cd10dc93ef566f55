"""A training that goes on from where another one ended, with what that one remembers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders import FromFunction
from reflact_world import Kinds, config, optimiser, target, timeless, trained

from whet.errors import WhetError
from whet.ledger.store import Ledger
from whet.models.base import Request
from whet.run.api import train
from whet.run.compose import Given
from whet.run.continuation import continued
from whet.run.kinds import rebuild_run
from whet.run.train import TrainResult


def mute(request: Request) -> str:
    raise AssertionError("all of this is remembered")


class Told:
    """Models that note what they are asked."""

    def __init__(self, fingerprint: str = "optimiser-1", ask: Any = optimiser, answer: Any = target) -> None:
        self.optimizer, self.model = FromFunction(ask), FromFunction(answer)
        self.optimizer.fingerprint = fingerprint


def first(folder: Path, **sections: Any) -> TrainResult:
    settled = config(**{"train": {"epochs": 1, "batch_size": 12}, "slow": {"use": False}, **sections})
    return trained(folder / "run", settled)


def more(
    folder: Path, told: Told, *overrides: str, run: str = "run", name: str = "more", **options: Any
) -> TrainResult:
    given = {"env": Kinds(), "model": told.model, "optimizer": told.optimizer, **options}
    return train(continues=run, overrides=overrides, runs=folder, name=name, **given)


def texts(requests: list[Request]) -> set[str]:
    return {f"{request.sampling.seed}|{request.messages[-1].text}" for request in requests}


def test_more_epochs_go_on_from_the_end_and_pay_nothing_twice(tmp_path: Path) -> None:
    before = Told()
    began = trained(
        tmp_path / "run", config(train={"epochs": 1, "batch_size": 12}), optimiser=before.optimizer.complete
    )
    after = Told()
    result = more(tmp_path, after, "train.epochs=2")
    steps = result.training.steps  # type: ignore[attr-defined]
    assert [state.step.epoch for state in steps] == [1, 1, 2, 2, 3, 3]
    assert not texts(before.optimizer.requests) & texts(after.optimizer.requests)
    first_steps = [state.entry() for state in began.training.steps]  # type: ignore[attr-defined]
    assert [state.entry() for state in steps[:2]] == first_steps
    assert steps[2].step.memory[:2] == tuple(first_steps), "what was tried is remembered"
    assert steps[2].step.playbook == began.judge.current.playbook
    assert result.judge.initial == began.judge.initial
    with Ledger.read(tmp_path / "more") as ledger:
        known = ledger.events("continued")[0].body
        made = sum(not outcome.fault for outcome in ledger.outcomes() if not outcome.ticket.purpose.startswith("floor"))
    assert known["rollouts"] > 0
    assert len(after.model.requests) == made - known["rollouts"]
    assert result.summary["planned_steps"] == 6
    assert len(result.summary["epoch_stats"]) == 3


def test_the_test_that_was_opened_is_opened_again_and_counted(tmp_path: Path) -> None:
    began = first(tmp_path)
    assert began.summary["test_opening"] == 1
    result = more(tmp_path, Told(), "train.epochs=1")
    assert result.summary["test_opening"] == 2
    assert result.summary["test_level"] > 0.95
    again = more(tmp_path, Told(ask=mute, answer=mute), "train.epochs=1")
    assert again.judge.best == result.judge.best, "a continued run is resumed like any other"
    files = timeless(tmp_path / "more")
    rebuild_run("more", tmp_path, Given(Kinds(), Told().model, None, Told().optimizer))
    assert timeless(tmp_path / "more") == files, "and rebuilt"


def test_another_optimiser_and_more_data_may_follow(tmp_path: Path) -> None:
    first(tmp_path, train={"epochs": 1, "batch_size": 6, "tasks": 12})
    result = more(tmp_path, Told("optimiser-2"), "train.epochs=1", "train.tasks=24", "optimizer.model=test:other")
    assert [len(state.tasks) for state in result.training.steps] == [6, 6, 6, 6, 6, 6]  # type: ignore[attr-defined]
    assert not result.stopped


def test_a_continued_run_is_continued(tmp_path: Path) -> None:
    first(tmp_path)
    more(tmp_path, Told(), "train.epochs=1")
    result = more(tmp_path, Told(), "train.epochs=1", run="more", name="third")
    assert [state.step.epoch for state in result.training.steps] == [1, 1, 2, 2, 3, 3]  # type: ignore[attr-defined]
    assert result.summary["test_opening"] == 3


def test_what_cannot_be_continued_is_refused_in_a_line(tmp_path: Path) -> None:
    first(tmp_path)
    told = continued("run", overrides=["train.epochs=3", "update.edits=2"], runs=tmp_path).lines()
    assert [line.strip() for line in told[1:]] == [
        "changed: train.epochs = 1 there, 3 here",
        "changed: update.edits = 4 there, 2 here",
    ]
    for override in ("gate.alpha=0.2", "target.model=test:other", "train.select=12", "train.seed=3", "limits.turns=2"):
        with pytest.raises(WhetError, match="keeps it; train anew"):
            more(tmp_path, Told(), override)

    class Other(Kinds):
        fingerprint = "kinds-2"

    with pytest.raises(WhetError, match="cannot be continued: its environment"):
        more(tmp_path, Told(), "train.epochs=1", env=Other())
    assert not (tmp_path / "more").exists()


def test_a_run_that_has_not_ended_is_finished_first(tmp_path: Path) -> None:
    stopped = first(tmp_path, control={"budget": {"calls": 20}})
    assert stopped.stopped
    with pytest.raises(WhetError, match="whet resume run"):
        more(tmp_path, Told(), "train.epochs=1")


@pytest.mark.parametrize("calls", [0, 9, 60])
def test_a_continued_run_that_was_killed_ends_as_if_it_had_not_been(tmp_path: Path, calls: int) -> None:
    first(tmp_path)
    whole = more(tmp_path, Told(), "train.epochs=1", name="whole")
    left = [calls]

    def dying(request: Request) -> str:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return target(request)

    with pytest.raises(KeyboardInterrupt):
        more(tmp_path, Told(answer=dying), "train.epochs=1")
    result = more(tmp_path, Told(), "train.epochs=1")
    assert result.judge.best == whole.judge.best
    for name in ("history.json", "best_playbook.json", "current_playbook.json", "splits.json"):
        assert timeless(tmp_path / "more")[name] == timeless(tmp_path / "whole")[name]
