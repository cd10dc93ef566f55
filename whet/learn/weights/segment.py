"""One segment of a training: from a checkpoint to the next, in the hands of TRL's trainers.

A segment is a function of the config, the base and its parent's checkpoint. It begins by loading them and ends by
writing its own checkpoint, so a segment that was cut short is simply begun again.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from transformers import PrinterCallback, TrainerCallback

from whet.learn.weights.checkpoint import Shelf, disk_error
from whet.learn.weights.config import TuneSection
from whet.learn.weights.live import out_of_memory
from whet.models.hf.folder import Folder
from whet.screen import libraries_hushed
from whet.types import Policy, Rollout

FIGURES = (
    *("step", "loss", "grad_norm", "learning_rate", "entropy", "kl", "reward", "reward_std", "mean_token_accuracy"),
    *("completions/mean_length", "completions/clipped_ratio", "clip_ratio/region_mean"),
)
"""What is kept of a trainer's log, in its words. All of it follows from the config and the replies; no clock."""


@dataclass(frozen=True, slots=True)
class SegmentOrder:
    """What a segment is asked to do: train from the checkpoint `parent`, or from the base, up to the step `last`."""

    number: int
    last: int
    parent: Path | None
    shelf: Shelf
    tune: TuneSection
    seed: int
    stop: threading.Event = field(default_factory=threading.Event)

    @property
    def first(self) -> int:
        return (self.number - 1) * self.tune.segment


@dataclass(frozen=True, slots=True)
class SegmentResult:
    """What came of a segment. `log` has a row for each step, `rollouts` all attempts that were made for it."""

    checkpoint: Path
    log: tuple[dict[str, Any], ...]
    trains: str
    rollouts: tuple[Rollout, ...] = ()
    policies: tuple[Policy, ...] = ()
    """Those that made the rollouts: one for each version of the weights."""
    told: tuple[str, ...] = ()
    seconds: float = 0.0


class SegmentHalt(Exception):
    """The run was asked to end; the segment is begun again when it is continued."""


class SegmentClock(TrainerCallback):  # type: ignore[misc]
    """Ends training at the segment's last step, with a checkpoint; or at once, without, when it is asked to stop."""

    def __init__(self, order: SegmentOrder) -> None:
        self._order = order
        self.log: list[dict[str, Any]] = []

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self._order.stop.is_set():
            control.should_training_stop = True
        elif state.global_step >= self._order.last:
            control.should_save = control.should_training_stop = True

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_: Any) -> None:
        if logs and "loss" in logs:
            known = {"step": state.global_step, **logs}
            self.log.append({name: known[name] for name in FIGURES if name in known})


def common_arguments(order: SegmentOrder, work: Path, device: str, rows: int) -> dict[str, Any]:
    """What both trainers are told. `rows` go into a step, `tune.micro` of them at once."""
    tune = order.tune
    micro = min(tune.micro, rows)
    return {
        "output_dir": str(work),
        "per_device_train_batch_size": micro,
        "gradient_accumulation_steps": rows // micro,
        "max_steps": tune.steps,
        "learning_rate": tune.lr,
        "lr_scheduler_type": tune.schedule,
        "warmup_steps": round(tune.warmup * tune.steps),
        "weight_decay": tune.decay,
        "max_grad_norm": tune.clip,
        "gradient_checkpointing": tune.recompute,
        "logging_steps": 1,
        "save_strategy": "no",
        "report_to": "none",
        "disable_tqdm": True,
        "bf16": device.startswith("cuda"),
        "use_cpu": device == "cpu",
        "dataloader_pin_memory": False,
        "seed": order.seed,
    }


def work_off(
    order: SegmentOrder,
    base: Folder,
    build: Callable[[Path, SegmentClock], Any],
    state: Callable[[], dict[str, Any]],
) -> tuple[Path, tuple[dict[str, Any], ...], float]:
    """Train with what `build` makes, and keep the checkpoint with `state` in it. Returns the place and the log."""
    began = time.monotonic()
    work = order.shelf.clear(order.number)
    clock = SegmentClock(order)
    with quiet():
        trainer = build(work, clock)
        trainer.remove_callback(PrinterCallback)
        try:
            trainer.train(resume_from_checkpoint=str(order.parent) if order.parent else None)
        except torch.OutOfMemoryError as full:
            remedy = f"lower tune.micro (now {order.tune.micro}), or set tune.recompute = true"
            raise out_of_memory("the gradient step", remedy) from full
    if order.stop.is_set():
        raise SegmentHalt
    made = work / f"checkpoint-{order.last}"
    place = order.shelf.keep(order.number, made, base, {"segment": order.number, "step": order.last, **state()})
    return place, tuple(clock.log), time.monotonic() - began


class SavesWhole:
    """For a trainer: a checkpoint that the disk has no room for is one line, not a trace."""

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        try:
            super()._save_checkpoint(model, trial)  # type: ignore[misc]
        except (OSError, RuntimeError, SafetensorError) as problem:
            said = " ".join(str(problem).split())[:160]
            raise disk_error(Path(self.args.output_dir), said) from None  # type: ignore[attr-defined]


@contextmanager
def quiet() -> Iterator[None]:
    """The trainers' own bars, notices and warnings stay off the terminal."""
    os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
    with libraries_hushed("transformers", "trl", "accelerate", "peft", "datasets"):
        yield
