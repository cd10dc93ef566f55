"""A training caught between two steps, written beside it: a kill or a full purse within a segment costs little.

What a trainer needs to go on (weights that train, optimizer, schedule, random state, its own counters) is copied in
memory; a thread writes the copy while the next step runs. A place on the disk appears in one rename, and the one before
it is removed only then, so the last good one is never lost.
"""

from __future__ import annotations

import copy
import random
import shutil
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from peft import PeftModel, get_peft_model_state_dict
from safetensors import SafetensorError
from safetensors.torch import save_file

from whet.files import write_json
from whet.learn.weights.checkpoint import STATE, disk_error
from whet.models.hf.adapter import WEIGHTS
from whet.models.hf.folder import read_json


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A copy of all that a trainer holds after a step. `state` is ours: log, supply, what was played so far."""

    step: int
    module: Any
    weights: Mapping[str, torch.Tensor]
    optimizer: Mapping[str, Any]
    schedule: Mapping[str, Any]
    random: Mapping[str, Any]
    trainer: Any
    state: Mapping[str, Any]

    def write(self, folder: Path) -> None:
        """In the layout that a trainer resumes from."""
        folder.mkdir(parents=True)
        if isinstance(self.module, PeftModel):
            save_file(dict(self.weights), folder / WEIGHTS, {"format": "pt"})
            self.module.peft_config["default"].save_pretrained(str(folder))
        else:
            self.module.save_pretrained(str(folder), state_dict=dict(self.weights))
        torch.save(self.optimizer, folder / "optimizer.pt")
        torch.save(self.schedule, folder / "scheduler.pt")
        torch.save(self.random, folder / "rng_state.pth")
        self.trainer.save_to_json(str(folder / "trainer_state.json"))
        write_json(folder / STATE, dict(self.state))


def take_snapshot(module: Any, optimizer: Any, schedule: Any, trainer: Any, state: Mapping[str, Any]) -> Snapshot:
    """Copies, so that the next step may change everything."""
    held = get_peft_model_state_dict(module) if isinstance(module, PeftModel) else module.state_dict()
    drawn = {"python": random.getstate(), "numpy": np.random.get_state(), "cpu": torch.random.get_rng_state()}
    if torch.cuda.is_available():
        drawn["cuda"] = torch.cuda.random.get_rng_state()
    return Snapshot(
        trainer.global_step,
        module,
        {name: tensor.detach().to("cpu", copy=True).contiguous() for name, tensor in held.items()},
        copy.deepcopy(optimizer.state_dict()),
        copy.deepcopy(schedule.state_dict()),
        drawn,
        copy.deepcopy(trainer),
        state,
    )


class SnapshotShelf:
    """The snapshots of one segment, beside its checkpoint: `s0002.step00030`. At most one is there, or two for a
    moment."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._pool = ThreadPoolExecutor(1, "whet-checkpoint")
        self._writing: Future[None] | None = None

    def latest(self) -> Path | None:
        """The last whole one; None where there is none."""
        whole = [folder for folder in self._all() if (folder / STATE).is_file()]
        return max(whole, default=None)

    def state(self) -> dict[str, Any]:
        latest = self.latest()
        return read_json(latest / STATE) if latest else {}

    def write(self, snapshot: Callable[[], Snapshot], *, wait: bool = False) -> None:
        """Have a snapshot written. Where the one before is still being written, this one is left out, unless `wait`.

        What went wrong with an earlier one is raised here: a training must not go on for hours without a net.
        """
        if self._writing is not None and (wait or self._writing.done()):
            self._settle()
        if self._writing is None:
            self._writing = self._pool.submit(self._write, snapshot())
        if wait:
            self._settle()

    def close(self) -> None:
        """Wait for what is being written; whether it worked no longer matters."""
        self._pool.shutdown()

    def clear(self) -> None:
        self._remove(self._all())

    def _settle(self) -> None:
        writing, self._writing = self._writing, None
        if writing is None:
            return
        try:
            writing.result()
        except (OSError, RuntimeError, SafetensorError) as problem:
            said = getattr(problem, "strerror", None) or " ".join(str(problem).split())[:160]
            raise disk_error(self._place, said) from None

    def _write(self, snapshot: Snapshot) -> None:
        beside = self._place.with_name(f".{self._place.name}.unfinished")
        shutil.rmtree(beside, ignore_errors=True)
        try:
            snapshot.write(beside)
            target = self._place.with_name(f"{self._place.name}.step{snapshot.step:05d}")
            shutil.rmtree(target, ignore_errors=True)
            beside.replace(target)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
        self._remove(folder for folder in self._all() if folder != target)

    def _remove(self, folders: Iterable[Path]) -> None:
        """First what says that one is whole: a kill amid a removal must not leave half of it to go on from."""
        for folder in folders:
            (folder / STATE).unlink(missing_ok=True)
            shutil.rmtree(folder, ignore_errors=True)

    def _all(self) -> list[Path]:
        return sorted(self._place.parent.glob(f"{self._place.name}.step*"))
