"""Segments and checkpoints: killed and continued, a training is the same; a full disk or memory costs one line."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import SafetensorError
from small_world import Hail, grpo_config, sft_config
from trl import GRPOTrainer, SFTTrainer

from whet.errors import WhetError
from whet.learn.weights.checkpoint import Shelf
from whet.learn.weights.snapshot import Snapshot, SnapshotShelf
from whet.ledger.store import Ledger
from whet.models.hf import decoder
from whet.models.hf.adapter import WEIGHTS
from whet.run.api import train
from whet.run.train import TrainResult
from whet.run.train_runs import replay
from whet.types import Split, Task

TUNE = {"steps": 6, "segment": 3, "save": 1, "lr": 0.005, "dropout": 0.1, "schedule": "linear"}
SETTINGS: dict[str, dict[str, Any]] = {
    "grpo": {"grpo": {"groups": 3, "generations": 4, "refill": 2}, "curriculum": {"rest": 1}, "tune": TUNE},
    "sft": {"sft": {"batch": 4}, "tune": {**TUNE, "micro": 2}},
}
LOG = "training_log.jsonl"


def trained(base: Path, runs: Path, learner: str = "grpo", **more: Any) -> TrainResult:
    made = grpo_config if learner == "grpo" else sft_config
    config = made(base, **SETTINGS[learner], train={"test": 0}, gate={"name": "none"}, **more)
    return train(config, env=Hail(), runs=runs, name="run")


@pytest.fixture(scope="module")
def whole(base: Path, tmp_path_factory: pytest.TempPathFactory) -> TrainResult:
    return trained(base, tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module")
def whole_sft(base: Path, tmp_path_factory: pytest.TempPathFactory) -> TrainResult:
    return trained(base, tmp_path_factory.mktemp("whole"), "sft")


def weights(result: TrainResult) -> bytes:
    return (result.folder / "checkpoints" / "s0002" / WEIGHTS).read_bytes()


def rollouts(result: TrainResult) -> list[tuple[str, str]]:
    with Ledger.read(result.folder) as ledger:
        purposes = [purpose for purpose in ledger.purposes() if purpose.startswith("train/")]
        return sorted((r.key, r.turns[0].reply.text) for p in purposes for r in ledger.rollouts(p))


def killed(base: Path, runs: Path, learner: str) -> Path:
    """Train in another process until there is a snapshot within the second segment; then SIGKILL. Its checkpoints."""
    command = [sys.executable, __file__, str(base), str(runs), learner]
    folder = runs / "run" / "checkpoints"
    here = Path(__file__).parent
    found = {"PYTHONPATH": f"{here}{os.pathsep}{here.parent}", "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(command, env={**os.environ, **found})
    patience = time.monotonic() + 300
    while not [*folder.glob("s0002.step*")] and process.poll() is None and time.monotonic() < patience:
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    return folder


@pytest.mark.parametrize("learner", ["grpo", "sft"])
def test_a_killed_training_continues_on_the_same_loss_curve(
    base: Path, tmp_path: Path, learner: str, request: pytest.FixtureRequest
) -> None:
    """Within the second segment, from its last snapshot: what was done before it is not done again."""
    alone: TrainResult = request.getfixturevalue("whole" if learner == "grpo" else "whole_sft")
    folder = killed(base, tmp_path, learner)
    assert (folder / "s0001").is_dir()
    assert not (folder / "s0002").exists()
    assert [*folder.glob("s0002.step*")]
    again = trained(base, tmp_path, learner)
    assert (again.folder / LOG).read_bytes() == (alone.folder / LOG).read_bytes()
    assert weights(again) == weights(alone)
    assert again.judge.best.policy == alone.judge.best.policy
    assert rollouts(again) == rollouts(alone)
    assert again.summary["train_rollouts"] == alone.summary["train_rollouts"]
    assert sorted(place.name for place in folder.iterdir()) == ["s0001", "s0002"]


def test_a_budget_ends_a_run_within_a_segment_and_raising_it_goes_on(
    base: Path, tmp_path: Path, whole: TrainResult
) -> None:
    short = trained(base, tmp_path, control={"budget": {"tokens": 200}})
    assert "budget of 200 tokens reached" in short.stopped
    left = sorted(place.name for place in (short.folder / "checkpoints").iterdir())
    assert any(".step" in name for name in left)
    again = trained(base, tmp_path)
    assert not again.stopped
    assert (again.folder / LOG).read_bytes() == (whole.folder / LOG).read_bytes()
    assert weights(again) == weights(whole)
    assert rollouts(again) == rollouts(whole)


def test_time_that_is_up_ends_a_run_after_the_step(base: Path, tmp_path: Path) -> None:
    short = trained(base, tmp_path, control={"budget": {"seconds": 0.01}})
    assert "budget of 0.01 seconds reached" in short.stopped
    assert [place.name for place in (short.folder / "checkpoints").glob("*.step*")] == ["s0001.step00001"]


def test_snapshots_are_written_by_a_thread_of_their_own(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writers: list[str] = []
    write = Snapshot.write

    def noted(self: Snapshot, folder: Path) -> None:
        writers.append(threading.current_thread().name)
        write(self, folder)

    monkeypatch.setattr(Snapshot, "write", noted)
    trained(base, tmp_path, "sft")
    assert writers
    assert all(name.startswith("whet-checkpoint") for name in writers)


def test_a_snapshot_that_does_not_fit_is_named_and_the_last_good_one_stays(tmp_path: Path) -> None:
    shelf = SnapshotShelf(tmp_path / "s0001")

    def snapshot(step: int, why: Exception | None = None) -> Any:
        class Made:
            def write(self, folder: Path) -> None:
                folder.mkdir()
                if why:
                    raise why
                (folder / "state.json").write_text("{}")

        made: Any = Made()
        made.step = step
        return made

    shelf.write(lambda: snapshot(1), wait=True)
    said = "No space left on device"
    for why in (OSError(errno.ENOSPC, said), RuntimeError(said), SafetensorError(said)):
        with pytest.raises(WhetError, match=rf"s0001: the checkpoint cannot be written \({said}\)"):
            shelf.write(lambda why=why: snapshot(2, why), wait=True)  # type: ignore[misc]
    assert [place.name for place in tmp_path.iterdir()] == ["s0001.step00001"]
    shelf.write(lambda: snapshot(3), wait=True)
    assert [place.name for place in tmp_path.iterdir()] == ["s0001.step00003"]
    shelf.close()


def test_a_kill_while_a_snapshot_is_removed_leaves_nothing_to_go_on_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checkpoint stands by then, but not its record: half a snapshot that looked whole could not be loaded."""
    shelf = SnapshotShelf(tmp_path / "s0001")
    folder = tmp_path / "s0001.step00002"
    folder.mkdir()
    for name in ("optimizer.pt", "state.json"):
        (folder / name).write_text("{}")

    def killed(*_: Any, **__: Any) -> None:
        (folder / "optimizer.pt").unlink()
        raise KeyboardInterrupt

    monkeypatch.setattr("whet.learn.weights.snapshot.shutil.rmtree", killed)
    with pytest.raises(KeyboardInterrupt):
        shelf.clear()
    shelf.close()
    assert folder.is_dir()
    assert SnapshotShelf(tmp_path / "s0001").latest() is None


def test_a_finished_training_is_rebuilt_from_its_ledger_alone(whole: TrainResult) -> None:
    log = (whole.folder / LOG).read_bytes()
    (whole.folder / LOG).unlink()
    again = train(grpo_config_of(whole), env=Hail(), runs=whole.folder.parent, name="run")
    assert (whole.folder / LOG).read_bytes() == log
    assert again.summary["train_seconds"] == whole.summary["train_seconds"]


def test_a_sound_training_verifies(whole: TrainResult) -> None:
    """It is rebuilt elsewhere for that, and its files name the place of its checkpoints."""
    from whet.run.compose import Given
    from whet.run.verify import verify_run

    assert verify_run(whole.folder, given=Given(env=Hail())) == []


def grpo_config_of(result: TrainResult) -> Any:
    from whet.run.train import load_train_config

    return load_train_config(result.folder / "config.toml")


def test_rebuilding_trains_nothing(whole: TrainResult) -> None:
    from whet.run.compose import Given

    assert replay(whole.folder, Given(env=Hail())).summary["segments"] == 2


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
        if self.state.global_step > 3:
            (Path(self.args.output_dir) / "checkpoint-6").mkdir(parents=True)
            raise OSError(errno.ENOSPC, "No space left on device")
        save(self, model, trial)

    with monkeypatch.context() as patch:
        patch.setattr(GRPOTrainer, "_save_checkpoint", full)
        with pytest.raises(WhetError, match=r"cannot be written .*No space left.*the checkpoints before it are whole"):
            trained(base, tmp_path)
    assert (tmp_path / "run" / "checkpoints" / "s0001" / WEIGHTS).is_file()
    assert weights(trained(base, tmp_path)) == weights(whole)


def no_room_on_a_gpu() -> None:
    raise torch.OutOfMemoryError("CUDA out of memory")


def no_room_on_a_processor() -> None:
    torch.empty(10**14)  # torch has no exception of its own for this


@pytest.mark.parametrize("take", [no_room_on_a_gpu, no_room_on_a_processor])
def test_out_of_memory_says_what_to_change(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, take: Callable[[], None]
) -> None:
    def full(*_: Any, **__: Any) -> None:
        take()

    with monkeypatch.context() as patch:
        patch.setattr(decoder, "logits_of", full)
        with pytest.raises(WhetError, match=r"out of memory in generation: lower grpo.rows \(now 64\)"):
            trained(base, tmp_path / "a")
    with monkeypatch.context() as patch:
        patch.setattr(GRPOTrainer, "_compute_loss", full)
        with pytest.raises(WhetError, match=r"out of memory in the gradient step: lower tune.micro \(now 64\)"):
            trained(base, tmp_path / "b")


@pytest.mark.parametrize(("learner", "trainer", "part"), [
    ("grpo", GRPOTrainer, "_compute_loss"),
    ("sft", SFTTrainer, "compute_loss"),
])  # fmt: skip
@pytest.mark.parametrize("at", [1, 4])  # the first part plays a batch; the fourth adds to what is gathered already
def test_a_part_that_found_no_memory_is_worked_again_and_nothing_is_another(
    learner: str, trainer: Any, part: str, at: int, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:  # fmt: skip
    plain, calls = getattr(trainer, part), 0

    def short(self: Any, *given: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        loss = plain(self, *given, **named)
        if calls in (at, at + 1):  # half of the way back
            loss.backward()
            raise torch.OutOfMemoryError("CUDA out of memory")
        return loss

    with monkeypatch.context() as patch:
        patch.setattr(trainer, part, short)
        made = trained(base, tmp_path, learner)
    wanted = request.getfixturevalue("whole" if learner == "grpo" else "whole_sft")
    assert weights(made) == weights(wanted)
    assert (made.folder / LOG).read_bytes() == (wanted.folder / LOG).read_bytes()
    told = [line for segment in made.training.segments for line in segment.told]  # type: ignore[attr-defined]
    assert "2 parts of steps were worked again: there was no memory for them at first" in told


def test_plays_that_draw_nothing_end_the_run_with_the_reason(base: Path, tmp_path: Path) -> None:
    config = grpo_config(base, **SETTINGS["grpo"], control={"target": {"context": 16}})

    class Verbose(Hail):
        def task(self, split: Split, index: int) -> Task:
            task = super().task(split, index)
            return replace(task, messages=task.messages * 20)

    with pytest.raises(WhetError, match=r"0 of 3 groups can be trained on .*nothing was drawn \(context_overflow"):
        train(config, env=Verbose(), runs=tmp_path, name="run")


if __name__ == "__main__":
    torch.set_num_threads(1)
    trained(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
