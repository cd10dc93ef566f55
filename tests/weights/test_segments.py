"""Segments and checkpoints: killed and continued, a training is the same; a full disk or memory costs one line."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from small_world import Hail, grpo_config
from trl import GRPOTrainer

from whet.errors import WhetError
from whet.learn.weights.checkpoint import Shelf
from whet.models.hf import decoder
from whet.models.hf.adapter import WEIGHTS
from whet.run.api import train
from whet.run.train import TrainResult
from whet.run.train_runs import replay
from whet.types import Split, Task

SETTINGS: dict[str, Any] = {
    "train": {"test": 0},
    "tune": {"steps": 6, "segment": 2, "lr": 0.005, "dropout": 0.1, "schedule": "linear"},
    "grpo": {"groups": 3, "generations": 4, "refill": 2},
    "gate": {"name": "none"},
}
LOG = "training_log.jsonl"


def trained(base: Path, runs: Path) -> TrainResult:
    return train(grpo_config(base, **SETTINGS), env=Hail(), runs=runs, name="run")


@pytest.fixture(scope="module")
def whole(base: Path, tmp_path_factory: pytest.TempPathFactory) -> TrainResult:
    return trained(base, tmp_path_factory.mktemp("whole"))


def weights(result: TrainResult) -> bytes:
    return (result.folder / "checkpoints" / "s0003" / WEIGHTS).read_bytes()


def test_a_killed_training_continues_on_the_same_loss_curve(base: Path, tmp_path: Path, whole: TrainResult) -> None:
    """SIGKILL within the second segment: it is begun again from the first checkpoint."""
    command = [sys.executable, __file__, str(base), str(tmp_path)]
    at_work = tmp_path / "run" / "checkpoints" / "s0002.unfinished"
    here = Path(__file__).parent
    found = {"PYTHONPATH": f"{here}{os.pathsep}{here.parent}", "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(command, env={**os.environ, **found})
    patience = time.monotonic() + 300
    while not at_work.exists() and process.poll() is None and time.monotonic() < patience:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert (tmp_path / "run" / "checkpoints" / "s0001").is_dir()
    assert not (tmp_path / "run" / "checkpoints" / "s0002").exists()
    again = trained(base, tmp_path)
    assert (again.folder / LOG).read_bytes() == (whole.folder / LOG).read_bytes()
    assert weights(again) == weights(whole)
    assert again.judge.best.policy == whole.judge.best.policy
    assert not at_work.exists()


def test_a_finished_training_is_rebuilt_from_its_ledger_alone(whole: TrainResult) -> None:
    log = (whole.folder / LOG).read_bytes()
    (whole.folder / LOG).unlink()
    again = train(grpo_config_of(whole), env=Hail(), runs=whole.folder.parent, name="run")
    assert (whole.folder / LOG).read_bytes() == log
    assert again.summary["train_seconds"] == whole.summary["train_seconds"]


def grpo_config_of(result: TrainResult) -> Any:
    from whet.run.train import load_train_config

    return load_train_config(result.folder / "config.toml")


def test_rebuilding_trains_nothing(whole: TrainResult) -> None:
    from whet.run.compose import Given

    assert replay(whole.folder, Given(env=Hail())).summary["segments"] == 3


def test_the_last_checkpoints_stay_and_what_is_wanted(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    for number in range(1, 6):
        shelf.place(number).mkdir()
    shelf.prune(5, 2, [shelf.place(1)])
    assert sorted(place.name for place in tmp_path.iterdir()) == ["s0001", "s0004", "s0005"]


def test_a_full_disk_loses_no_checkpoint_and_the_run_continues(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: TrainResult
) -> None:
    save = GRPOTrainer._save_checkpoint

    def full(self: Any, model: Any, trial: Any) -> None:
        if self.state.global_step > 2:
            (Path(self.args.output_dir) / "checkpoint-4").mkdir(parents=True)
            raise OSError(errno.ENOSPC, "No space left on device")
        save(self, model, trial)

    with monkeypatch.context() as patch:
        patch.setattr(GRPOTrainer, "_save_checkpoint", full)
        with pytest.raises(WhetError, match=r"cannot be written .*No space left.*the checkpoints before it are whole"):
            trained(base, tmp_path)
    assert (tmp_path / "run" / "checkpoints" / "s0001" / WEIGHTS).is_file()
    assert weights(trained(base, tmp_path)) == weights(whole)


def test_out_of_memory_says_what_to_change(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    with monkeypatch.context() as patch:
        patch.setattr(decoder, "logits_of", full)
        with pytest.raises(WhetError, match=r"out of memory in generation: lower grpo.rows \(now 64\)"):
            trained(base, tmp_path / "a")
    with monkeypatch.context() as patch:
        patch.setattr(GRPOTrainer, "_compute_loss", full)
        with pytest.raises(WhetError, match=r"out of memory in the gradient step: lower tune.micro \(now 64\)"):
            trained(base, tmp_path / "b")


def test_plays_that_draw_nothing_end_the_run_with_the_reason(base: Path, tmp_path: Path) -> None:
    config = grpo_config(base, **SETTINGS, control={"target": {"context": 16}})

    class Verbose(Hail):
        def task(self, split: Split, index: int) -> Task:
            task = super().task(split, index)
            return replace(task, messages=task.messages * 20)

    with pytest.raises(WhetError, match=r"0 of 3 groups can be trained on .*nothing was drawn \(context_overflow"):
        train(config, env=Verbose(), runs=tmp_path, name="run")


if __name__ == "__main__":
    torch.set_num_threads(1)
    trained(Path(sys.argv[1]), Path(sys.argv[2]))
