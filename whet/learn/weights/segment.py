"""One segment of a training: from a checkpoint to the next, in the hands of TRL's trainers.

A segment is a function of the config, the base and its parent's checkpoint. It begins by loading them and ends by
writing its own checkpoint, so a segment that was cut short is simply begun again.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from transformers import PrinterCallback, TrainerCallback

from whet.errors import BudgetReached
from whet.learn.weights.again import WorkedAgain
from whet.learn.weights.checkpoint import Shelf, disk_error, read_state
from whet.learn.weights.config import TuneSection
from whet.learn.weights.finite import FiniteGuard, steady_attention
from whet.learn.weights.labelled import labels_alone
from whet.learn.weights.live import out_of_memory, ran_out
from whet.learn.weights.snapshot import SnapshotShelf, take_snapshot
from whet.models.hf.folder import Folder
from whet.screen import libraries_hushed
from whet.types import Policy, Rollout, Usage

FIGURES = (
    *("step", "loss", "grad_norm", "learning_rate", "entropy", "kl", "reward", "reward_std", "mean_token_accuracy"),
    *("sft_loss", "completions/mean_length", "completions/clipped_ratio", "clip_ratio/region_mean"),
    *("sampling/sampling_logp_difference/mean", "sampling/importance_sampling_ratio/mean"),
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
    limit: Callable[[Usage], str] = lambda used: ""
    """Why the run must end now that the segment has used so much; '' where it may go on. Asked after each step."""
    remember: Callable[[Sequence[Policy], Sequence[Rollout]], None] = lambda policies, rollouts: None
    """Puts attempts on record before a snapshot is taken that is past them."""
    most: int | None = None
    """Rollouts that the segment may take."""
    batch: int = 0
    """Rollouts that the next batch takes at least."""
    stride: int = 1
    """Steps that are taken from one batch of attempts: only between two batches may a training be interrupted."""
    seconds: float | None = None
    """Seconds that the segment may take: it ends with the step in which they are over."""
    tell: Callable[[dict[str, Any]], object] = lambda row: None
    """Hears of each step, as its row of the log."""

    @property
    def first(self) -> int:
        return (self.number - 1) * self.tune.segment

    @property
    def snapshots(self) -> SnapshotShelf:
        return SnapshotShelf(self.shelf.place(self.number))


@dataclass(frozen=True, slots=True)
class SegmentPlays:
    """What was played in a segment: how much, what it used, and the attempts that are not on record yet."""

    rollouts: int = 0
    used: Usage = Usage()
    new: tuple[Rollout, ...] = ()
    policies: tuple[Policy, ...] = ()
    """Those that made the new attempts: one for each version of the weights."""


@dataclass(frozen=True, slots=True)
class SegmentParts:
    """What a learner brings to a segment: its trainer, what its snapshots must hold, and what it plays."""

    build: Callable[[Path, SegmentClock], Any]
    state: Callable[[], dict[str, Any]] = dict
    rows: Callable[[Sequence[dict[str, Any]]], list[dict[str, Any]]] = list
    """The rows of the log with the learner's own figures."""
    played: Callable[[], SegmentPlays] = SegmentPlays
    over: Callable[[], str] = str
    """Why there is no use in going on; '' where there is. Asked after each step."""


@dataclass(frozen=True, slots=True)
class SegmentResult:
    """What came of a segment that ended after `step`. `log` has a row for each step of it."""

    checkpoint: Path
    step: int
    log: tuple[dict[str, Any], ...]
    played: SegmentPlays = SegmentPlays()
    trains: str = ""
    told: tuple[str, ...] = ()
    seconds: float = 0.0
    over: str = ""
    """Why the training ends with this segment, whatever was planned."""


class SegmentHalt(Exception):
    """The run must end within a segment, for the reason given; it goes on from the last snapshot when continued."""


class SegmentClock(TrainerCallback):  # type: ignore[misc]
    """Looks up after each step: is the segment over, is the run to end, is it time for a snapshot?"""

    def __init__(self, order: SegmentOrder, parts: SegmentParts, before: dict[str, Any], shelf: SnapshotShelf) -> None:
        self._order, self._parts, self._before, self._shelf = order, parts, before, shelf
        self._rows: list[dict[str, Any]] = []
        self._guard = FiniteGuard()
        self._began = time.monotonic()
        self.halted = self.over = ""

    @property
    def log(self) -> list[dict[str, Any]]:
        """A row for each step of the segment, those of earlier sittings included."""
        return [*self._before.get("log", ()), *self._parts.rows(self._rows)]

    @property
    def rollouts(self) -> int:
        return int(self._before.get("rollouts", 0)) + self._parts.played().rollouts

    @property
    def used(self) -> Usage:
        """What the segment has used, earlier sittings included."""
        return Usage(**self._before.get("used", {})) + self._parts.played().used

    @property
    def seconds(self) -> float:
        """How long the segment has taken, earlier sittings included."""
        return float(self._before.get("seconds", 0.0)) + time.monotonic() - self._began

    @property
    def share(self) -> float:
        """How much of the seconds that the whole training was given is over; 0 where it takes as long as it takes."""
        given, left = self._order.tune.seconds, self._order.seconds
        return 0.0 if given is None or left is None else min(1.0, (given - left + self.seconds) / given)

    @property
    def told(self) -> tuple[str, ...]:
        """What a user should know of the steps of this sitting."""
        return self._guard.told()

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
        self._guard.look(model, state.global_step + 1)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        order = self._order
        full = order.most is not None and self.rollouts + order.batch > order.most
        late = order.seconds is not None and self.seconds >= order.seconds
        if self._between(state):
            self.over = self._parts.over()
        if state.global_step >= order.last or ((full or late or self.over) and self._between(state)):
            control.should_save = control.should_training_stop = True

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **held: Any) -> None:
        if not logs or "loss" not in logs:
            return
        known = {"step": state.global_step, **logs}
        self._rows.append({name: known[name] for name in FIGURES if name in known})
        self._order.tell(self._parts.rows(self._rows[-1:])[0])
        if control.should_save or not self._between(state):
            return
        self.halted = "stopped within a segment" if self._order.stop.is_set() else self._order.limit(self.used)
        every = self._order.tune.save
        if self.halted:
            self._save(state, held, wait=True)
            control.should_training_stop = True
        elif every and (state.global_step - self._order.first) % every == 0:
            self._save(state, held, wait=False)

    def _between(self, state: Any) -> bool:
        return bool(state.global_step % self._order.stride == 0)

    def _save(self, state: Any, held: dict[str, Any], *, wait: bool) -> None:
        played = self._parts.played()
        self._order.remember(played.policies, played.new)
        used = {name: getattr(self.used, name) for name in ("calls", "prompt_tokens", "completion_tokens")}
        own = {"step": state.global_step, "log": self.log, "rollouts": self.rollouts, "used": used}
        own |= {} if self._order.seconds is None else {"seconds": round(self.seconds, 3)}
        module, optimizer, schedule = held["model"], held["optimizer"], held["lr_scheduler"]
        whole = own | self._parts.state()
        self._shelf.write(lambda: take_snapshot(module, optimizer, schedule, state, whole), wait=wait)


def resumed_state(order: SegmentOrder) -> dict[str, Any]:
    """What is known when a segment begins: that of its own last snapshot, or of the checkpoint before it."""
    own = order.snapshots.state()
    if own:
        return own
    return read_state(order.parent) if order.parent else {}


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


def work_off(order: SegmentOrder, base: Folder, parts: SegmentParts) -> SegmentResult:
    """Train with what `parts` build, from the last snapshot where there is one, and keep the checkpoint."""
    work = order.shelf.clear(order.number)
    shelf = order.snapshots
    before = shelf.state()
    clock = SegmentClock(order, parts, before, shelf)
    start = shelf.latest() or order.parent
    try:
        with quiet(), steady_attention():
            trainer = parts.build(work, clock)
            trainer.clock = clock
            trainer.remove_callback(PrinterCallback)
            trainer.train(resume_from_checkpoint=str(start) if start else None)
    except (RuntimeError, MemoryError) as problem:
        if not ran_out(problem):
            raise
        remedy = f"lower tune.micro (now {order.tune.micro}), or set tune.recompute = true"
        raise out_of_memory("the gradient step", remedy) from problem
    except BudgetReached as reached:
        raise SegmentHalt(str(reached)) from None
    finally:
        shelf.close()
    if clock.halted:
        raise SegmentHalt(clock.halted)
    step = int(trainer.state.global_step)
    state = {"segment": order.number, "step": step, **parts.state()}
    place = order.shelf.keep(order.number, work / f"checkpoint-{step}", base, state)
    shelf.clear()
    played = replace(parts.played(), rollouts=clock.rollouts, used=clock.used)
    told = clock.told
    if trainer.repeats:
        told += (f"{trainer.repeats} parts of steps were worked again: there was no memory for them at first",)
    return SegmentResult(place, step, tuple(clock.log), played, told=told, seconds=clock.seconds, over=clock.over)


class SegmentSteps(WorkedAgain):
    """What both trainers do differently from TRL's: scores where nothing is learnt, a rate's schedule, a full disk, and
    a part for which there is no memory just now."""

    clock: SegmentClock | None = None

    def training_step(self, *given: Any, **named: Any) -> Any:
        with labels_alone():
            return super().training_step(*given, **named)

    def create_scheduler(self, num_training_steps: int, optimizer: Any = None) -> Any:
        """A training that ends by time has its rate go down by time too: how many steps will fit is not known."""
        schedule = super().create_scheduler(num_training_steps, optimizer)  # type: ignore[misc]
        if self.clock is not None and self.clock.share:
            schedule.lr_lambdas = [by_time(rate, num_training_steps, self.clock) for rate in schedule.lr_lambdas]
        return schedule

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        try:
            super()._save_checkpoint(model, trial)  # type: ignore[misc]
        except (OSError, RuntimeError, SafetensorError) as problem:
            said = " ".join(str(problem).split())[:160]
            raise disk_error(Path(self.args.output_dir), said) from None  # type: ignore[attr-defined]


def by_time(rate: Callable[[int], float], steps: int, clock: SegmentClock) -> Callable[[int], float]:
    """A schedule over `steps` that is as far as its step or as the clock, whichever is further."""
    return lambda step: rate(max(step, int(clock.share * steps)))


@contextmanager
def quiet() -> Iterator[None]:
    """The trainers' own bars, notices and warnings stay off the terminal."""
    os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
    with libraries_hushed("transformers", "trl", "accelerate", "peft", "datasets"):
        yield
