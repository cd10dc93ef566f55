"""Where the time of a step of reinforcement goes on a GPU: passes that read, passes that draw, works, the gradient.

python bench/rl_step.py examples/rl/ordebug_grpo.toml --work DIR [--steps 5] [--profile] [--set KEY=VALUE ...]

A training by a config as it stands, without a gate, of so many steps; what it passes through is timed from outside.
Seconds are of a clock, with the GPU waited for at the end of each part, so the parts add up to the step. `--profile`
has two further steps looked at by torch's profiler, one while it plays and one while it learns, and names the kernels
that took most. The first step records graphs and compiles kernels: leave it out.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

import whet
from whet.learn.weights.grpo import GroupRollouts
from whet.learn.weights.play_trainer import PlayTrainer
from whet.rollout.continuous import _Floor

TOP = 18
"""Kernels that are named."""


@dataclass(slots=True)
class StepTimes:
    """Seconds of one step by part, and how often each kind of pass was run."""

    began: float = 0.0
    plays: float = 0.0
    scoring: float = 0.0
    """TRL's own work on what was played, before the gradient."""
    gradient: float = 0.0
    parts: int = 0
    waiting: float = 0.0
    """For works, with nothing to draw."""
    passes: Counter[str] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)
    rows: Counter[str] = field(default_factory=Counter)


def synced() -> float:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()


class Watch:
    """Times what a training passes through; `steps` has a record for each step that was begun."""

    def __init__(self, played: int | None = None, learnt: int | None = None) -> None:
        self.steps: list[StepTimes] = []
        self.attempts = 0
        """Of a step."""
        self._played, self._learnt = played, learnt
        self.profiles: dict[str, str] = {}

    @contextmanager
    def in_place(self) -> Iterator[None]:
        held = [
            (GroupRollouts, "__call__", self._plays),
            (PlayTrainer, "_generate_and_score_completions", self._scoring),
            (PlayTrainer, "training_step", self._learning),
            (_Floor, "_gather", self._gathering),
        ]
        if torch.cuda.is_available():
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
    def now(self) -> StepTimes:
        return self.steps[-1]

    def _plays(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        def plays(rollouts: Any, *given: Any) -> Any:
            with self._profiled("plays", self._played):
                began = synced()
                made = plain(rollouts, *given)
                self.now.plays += synced() - began
            return made

        return plays

    def _scoring(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        def scoring(trainer: Any, inputs: Any) -> Any:
            if self.steps:
                print(told(len(self.steps), self.now, self.attempts), flush=True)
            if len(self.steps) == 1:
                print(f"attempts stand in lines: {trainer.lines}, {_memory()}", flush=True)
            self.attempts = trainer.args.generation_batch_size
            began = synced()
            self.steps.append(StepTimes(began))
            made = plain(trainer, inputs)
            self.now.scoring += synced() - began - self.now.plays
            return made

        return scoring

    def _learning(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        def learning(trainer: Any, *given: Any, **named: Any) -> Any:
            known = len(self.steps)
            began = synced()
            at = known if trainer._step % trainer.args.steps_per_generation else known + 1
            with self._profiled("gradient", self._learnt if at == known else None):
                loss = plain(trainer, *given, **named)
            took = synced() - began
            now = self.now
            now.gradient += took - (now.plays + now.scoring if len(self.steps) > known else 0.0)
            now.parts += float(loss.detach()) != 0.0
            return loss

        return learning

    def _pass(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        def run(graphs: Any, step: Any, repeat: int) -> Any:
            if not self.steps:
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
            if patiently and self.steps:
                self.now.waiting += time.perf_counter() - began

        return gather

    @contextmanager
    def _profiled(self, what: str, step: int | None) -> Iterator[None]:
        if step is None or len(self.steps) != step or what in self.profiles:
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
    return f"peak of memory {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB" if torch.cuda.is_available() else ""


def told(number: int, step: StepTimes, rows: int) -> str:
    passes = ", ".join(
        f"{kind} {step.seconds[kind]:.2f} s ({step.passes[kind]} passes, {step.rows[kind]:,} tokens)"
        for kind in sorted(step.passes)
    )
    driven = step.plays - sum(step.seconds.values()) - step.waiting
    plays = f"plays {step.plays:.2f} s of {rows} attempts ({passes}; works {step.waiting:.2f} s, host {driven:.2f} s)"
    rest = f"scoring {step.scoring:.2f} s, gradient {step.gradient:.2f} s in {step.parts} parts"
    return f"step {number}: {synced() - step.began:.2f} s; {plays}, {rest}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--profile", action="store_true", help="two further steps are looked at more closely")
    parser.add_argument("--set", action="append", default=[], dest="overrides")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    last = given.steps + 2 * given.profile
    if given.profile:
        begin_profiler()
    watch = Watch(given.steps + 1 if given.profile else None, last if given.profile else None)
    steps = ("gate.name=none", "train.select=2", f"tune.steps={last}", f"tune.segment={last}", "reward.check=false")
    with watch.in_place():
        run = whet.train(given.config, overrides=[*steps, *given.overrides], runs=given.work / "runs")
    log = [json.loads(line) for line in (Path(run.folder) / "training_log.jsonl").read_text().splitlines()]
    print(told(len(watch.steps), watch.now, watch.attempts))
    for line in watch.profiles.values():
        print(line)
    for row in log:
        print({key: round(value, 4) for key, value in row.items() if isinstance(value, int | float)})
    print(_memory())
    if given.json:
        given.json.write_text(json.dumps({"steps": [asdict(step) for step in watch.steps], "log": log}, indent=1))


if __name__ == "__main__":
    main()
