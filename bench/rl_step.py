"""Where the time of reinforcement goes on a GPU, batch by batch: passes that read or draw, works, the gradient.

python bench/rl_step.py examples/rl/ordebug_grpo.toml --work DIR [--batches 5] [--profile] [--set KEY=VALUE ...]

A training by a config as it stands, without a gate, of so many batches of attempts. What it passes through is timed
from outside. Seconds are of a clock, with the GPU waited for at the end of each part; what is left of the plays is the
host's. In a training the host works beside the GPU: `--whole` says what a batch takes then. `--profile` has two more
batches looked at by torch's profiler, one while it plays and one while it learns, and names the kernels that took most.
The first batch records graphs and compiles kernels: leave it out. What a step took in the others, from the end of one
to the end of the next, is said at the end, and stands as `alone` in the file that `--json` names, with what an attempt
took to play as `attempt`; `bench/rl.py --alone FILE` reads both.

Imitation plays nothing: of it ten steps are a batch, and `alone` is all that is told.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

import torch

import whet
from whet.errors import WhetError
from whet.learn.weights.grpo import GroupRollouts, figures_of
from whet.learn.weights.play_trainer import PlayTrainer
from whet.learn.weights.segment import SegmentClock
from whet.rollout.continuous import _Floor
from whet.run.train import load_train_config

TEN = 10
"""Steps of imitation that are timed as one batch."""
TOP = 18
"""Kernels that are named."""


@dataclass(slots=True)
class BatchTimes:
    """Seconds of one batch of attempts by part, and how often each kind of pass was run."""

    began: float = 0.0
    ended: float = 0.0
    plays: float = 0.0
    scoring: float = 0.0
    """TRL's own work on what was played, before the gradient."""
    gradient: float = 0.0
    parts: int = 0
    waiting: float = 0.0
    """For works, with nothing to draw."""
    solved: float = 0.0
    signal: float = 0.0
    passes: Counter[str] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)
    rows: Counter[str] = field(default_factory=Counter)


def synced() -> float:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()


class Watch:
    """Times what a training passes through; `batches` has a record for each that was begun.

    `closely`: pass by pass. Each is waited for then, so the host does nothing beside it: plays take longer.
    """

    def __init__(self, played: int | None = None, learnt: int | None = None, *, closely: bool = True) -> None:
        self.batches: list[BatchTimes] = []
        self.attempts = 0
        """Of a batch."""
        self.ends: list[float] = []
        """When each step was over."""
        self._playing = False
        self._closely = closely
        self._played, self._learnt = played, learnt
        self.profiles: dict[str, str] = {}

    @contextmanager
    def in_place(self) -> Iterator[None]:
        held = [
            (GroupRollouts, "__call__", self._plays),
            (PlayTrainer, "_generate_and_score_completions", self._scoring),
            (PlayTrainer, "training_step", self._learning),
            (SegmentClock, "on_step_end", self._step_end),
        ]
        if self._closely:
            held.append((_Floor, "_gather", self._gathering))
        if self._closely and torch.cuda.is_available():
            from whet.models.hf.graphs import StepGraphs

            held.append((StepGraphs, "run", self._pass))
        before = [(owner, name, getattr(owner, name)) for owner, name, _ in held]
        for (owner, name, wrap), (_, _, plain) in zip(held, before, strict=True):
            setattr(owner, name, wrap(plain))
        try:
            yield
        finally:
            for owner, name, plain in before:
                setattr(owner, name, plain)

    @property
    def now(self) -> BatchTimes:
        return self.batches[-1]

    def _plays(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        def plays(rollouts: Any, *given: Any) -> Any:
            with self._profiled("plays", self._played):
                began, self._playing = synced(), True
                try:
                    made = plain(rollouts, *given)
                finally:
                    self._playing = False
                self.now.plays += synced() - began
            [figures] = figures_of(rollouts.batches[-1:]).values()
            self.now.solved, self.now.signal = figures["solved"], figures["signal"]
            return made

        return plays

    def _scoring(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        def scoring(trainer: Any, inputs: Any) -> Any:
            if self.batches:
                print(told(len(self.batches), self.now, self.attempts), flush=True)
            if len(self.batches) == 1:
                print(f"attempts stand in lines: {trainer.lines}, {_memory()}", flush=True)
            self.attempts = trainer.args.generation_batch_size
            began = synced()
            self.batches.append(BatchTimes(began))
            made = plain(trainer, inputs)
            self.now.scoring += synced() - began - self.now.plays
            return made

        return scoring

    def _learning(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        def learning(trainer: Any, *given: Any, **named: Any) -> Any:
            known = len(self.batches)
            began = synced()
            at = known if trainer._step % trainer.args.steps_per_generation else known + 1
            with self._profiled("gradient", self._learnt if at == known else None):
                loss = plain(trainer, *given, **named)
            now, now_at = self.now, synced()
            took, now.ended = now_at - began, now_at
            now.gradient += took - (now.plays + now.scoring if len(self.batches) > known else 0.0)
            now.parts += float(loss.detach()) != 0.0
            return loss

        return learning

    def _step_end(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        def step_end(clock: Any, *given: Any, **named: Any) -> None:
            self.ends.append(synced())
            plain(clock, *given, **named)

        return step_end

    def _pass(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        def run(graphs: Any, step: Any, repeat: int) -> Any:
            if not self._playing:  # the select tasks of the run, after its training
                return plain(graphs, step, repeat)
            began = synced()
            made = plain(graphs, step, repeat)
            kind = "draws" if len(step.ids) == len(step.new) else "reads"
            now = self.now
            now.seconds[kind] += synced() - began
            now.passes[kind] += repeat
            now.rows[kind] += repeat * (len(step.new) if kind == "draws" else len(step.ids))
            return made

        return run

    def _gathering(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        def gather(floor: Any, *, patiently: bool) -> None:
            began = time.perf_counter()
            plain(floor, patiently=patiently)
            if patiently and self._playing:
                self.now.waiting += time.perf_counter() - began

        return gather

    @contextmanager
    def _profiled(self, what: str, batch: int | None) -> Iterator[None]:
        if batch is None or len(self.batches) != batch or what in self.profiles:
            yield
            return
        from torch.profiler import ProfilerActivity, profile

        began = time.perf_counter()
        with profile(activities=[ProfilerActivity.CUDA]) as seen:
            yield
            torch.cuda.synchronize()
        took = time.perf_counter() - began
        kernels = sorted(seen.key_averages(), key=lambda it: -it.self_device_time_total)
        busy = sum(it.self_device_time_total for it in kernels) / 1e6
        lines = [f"{what}: {took:.2f} s by the clock, kernels {busy:.2f} s"]
        lines += [f"  {it.self_device_time_total / 1e6:7.3f} s {it.count:8d} x  {it.key[:110]}" for it in kernels[:TOP]]
        self.profiles[what] = "\n".join(lines)


def begin_profiler() -> None:
    """In the thread that loaded torch: a profiler that is begun in another first sees nothing."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]):
        torch.zeros(1, device="cuda")


def _memory() -> str:
    peak = torch.cuda.max_memory_allocated() if torch.cuda.is_available() else 0
    return f"peak of memory {peak / 2**30:.1f} GiB"


def told(number: int, batch: BatchTimes, attempts: int) -> str:
    plays = f"plays {batch.plays:.2f} s of {attempts} attempts"
    if batch.passes:
        passes = ", ".join(
            f"{kind} {batch.seconds[kind]:.2f} s ({batch.passes[kind]} passes, {batch.rows[kind]:,} tokens)"
            for kind in sorted(batch.passes)
        )
        host = batch.plays - sum(batch.seconds.values()) - batch.waiting
        plays += f" ({passes}; works {batch.waiting:.2f} s, host {host:.2f} s)"
    rest = f"scoring {batch.scoring:.2f} s, gradient {batch.gradient:.2f} s in {batch.parts} parts"
    found = f"solved {batch.solved:.3f}, signal {batch.signal:.2f}"
    return f"batch {number}: {batch.ended - batch.began:.2f} s; {found}; {plays}, {rest}"


def alone_of(ends: Sequence[float], steps: int) -> float | None:
    """What a step took, of so many from a batch, by when each was over; None of the first batch, which compiles."""
    later = ends[steps - 1 :]
    return round((later[-1] - later[0]) / (len(later) - 1), 4) if len(later) > 1 else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--batches", type=int, default=5)
    parser.add_argument("--whole", action="store_true", help="no pass is waited for: what a batch takes, without parts")
    parser.add_argument("--profile", action="store_true", help="two further batches are looked at more closely")
    parser.add_argument("--set", action="append", default=[], dest="overrides")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    if given.batches < 1:
        parser.error("--batches: give at least 1")
    try:
        config = load_train_config(given.config, None, given.overrides)
    except WhetError as problem:
        parser.error(str(problem))
    plays = config.learner == "grpo"
    if config.learner not in ("grpo", "sft") or (given.profile and not plays):
        what = "whose plays could be profiled" if given.profile else "that could be timed"
        parser.error(f"{given.config}: learner = {config.learner!r} takes no steps {what}")
    if given.profile and not torch.cuda.is_available():
        parser.error("--profile names kernels of a GPU, and there is none here")
    last = given.batches + 2 * given.profile
    each = config.grpo.updates * config.grpo.iterations if plays else TEN
    steps = last * each
    if given.profile:
        begin_profiler()
    looked = (given.batches + 1, last) if given.profile else (None, None)
    watch = Watch(*looked, closely=not given.whole)
    briefly = ["gate.name=none", "train.select=2", f"tune.steps={steps}", f"tune.segment={steps}"]
    briefly += ["reward.check=false"] if plays else []
    try:
        with watch.in_place():
            run = whet.train(given.config, overrides=[*briefly, *given.overrides], runs=given.work / "runs")
    except WhetError as problem:
        raise SystemExit(f"rl_step.py: {problem}") from None
    log = [json.loads(line) for line in (Path(run.folder) / "training_log.jsonl").read_text().splitlines()]
    if plays:
        print(told(len(watch.batches), watch.now, watch.attempts))
    for line in watch.profiles.values():
        print(line)
    for row in log:
        print({key: round(value, 4) for key, value in row.items() if isinstance(value, int | float)})
    if torch.cuda.is_available():
        print(_memory())
    alone = alone_of(watch.ends[: given.batches * each], each)
    later = [batch.plays / watch.attempts for batch in watch.batches[1 : given.batches]]
    attempt = round(fmean(later), 5) if later else None
    if alone is not None:
        print(f"a step took {alone} s" + (f", an attempt {attempt} s to play" if attempt else ""))
    if given.json:
        batches = [asdict(batch) for batch in watch.batches]
        known = {"alone": alone, "attempt": attempt, "batches": batches, "log": log}
        given.json.write_text(json.dumps(known, indent=1))


if __name__ == "__main__":
    main()
