"""GEPA, ACE and ReflACT as learners of one house: the same tasks, optimiser, gate, budget and sealed test.

    python bench/methods.py [--quick] [--json FILE] [--part worlds|facts|null|scan] [--seeds N]
                            [--page FILE] [--render FILE]

`worlds`: three simulated tasks whose truth is known (`reflact_peers/world.py`): pools in which helpful edits are as
many as useless ones, few, or mixed with many that harm. Each seed draws its pool, its tasks and its chances; a learner
has `BUDGET` attempts at train and select tasks, the gate's among them. What is claimed comes from a sealed test of 200
tasks that learning does not pay for; the true score beside it is exact. `facts`: three tasks whose answers only the
feedback gives away, with an optimiser that writes down what it is shown. `null`: a world in which no edit does
anything, and how often the gate accepts what each of them brings. `scan`: settings on seeds for choosing. With
`--page`, the table is written into that page between its marks; `--render` takes the runs of an earlier `--json`
instead of making them.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from reflact_peers.optimizer import Optimizer
from reflact_peers.world import Task as WorldTask
from reflact_peers.world import World, drawn_world
from rows import Row, report

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))

from builders import FromFunction
from fact_methods import learnt_by
from fact_tasks import TASKS, FactTask
from loopback import share

from whet.config.load import merge, validate
from whet.envs.base import Environment, Play, ask
from whet.learn.learner import learner_named
from whet.models.base import Request
from whet.run.api import train
from whet.run.train import TrainResult
from whet.types import Label, Playbook, Split, Task, failed, solved, user

METHODS = ("reflact", "ace", "gepa")
WORLDS = ("even", "sparse", "rough")
SIZES = {"train": 60, "select": 42, "test": 200}
BUDGET, FACT_BUDGET = 900, 400
FIRST, CHOOSING = 5002, 700
"""The first seed of the table, whose pools were not looked at when a setting was chosen, and that of the scan."""

SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "reflact": {"train": {"epochs": 100}},
    "ace": {"train": {"epochs": 100}},
    "gepa": {"gepa": {"calls": 100_000}},
}
"""Defaults, with more epochs and attempts than the budget pays for: it ends the learning of each."""

RACE, ROUNDS = {"gate": {"pace": "steady", "alpha": 0.1}}, {"gate": {"pace": "brief", "alpha": 0.05}}
SCAN: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "ace": {
        "default": {},
        "a race": RACE,
        "alpha 0.05": ROUNDS,
        "every step": {"ace": {"bring": "step"}},
        "12 operations": {"ace": {"operations": 12}},
        "patience 4": {"ace": {"patience": 4}},
    },
    "gepa": {
        "default": {},
        "a race": RACE,
        "alpha 0.05": ROUNDS,
        "validation 0.3": {"gepa": {"validation": 0.3}},
        "minibatch 6": {"gepa": {"minibatch": 6}},
    },
}
"""Settings tried on pools for choosing."""

NULL_RUNS = {"reflact": 8, "ace": 12, "gepa": 48}
"""GEPA brings one candidate a run, the others many."""

MARKS = "<!-- methods -->", "<!-- /methods -->"


class NoteTasks(Environment):
    """The tasks of a world and a seed."""

    name = "notes"

    def __init__(self, tasks: Mapping[str, Sequence[WorldTask]], named: str) -> None:
        self._tasks = tasks
        self.fingerprint = named

    def size(self, split: Split) -> int | None:
        return len(self._tasks[split])

    def label(self, split: Split, index: int) -> Label:
        return Label(self._tasks[split][index].kind)

    def task(self, split: Split, index: int) -> Task:
        found = self._tasks[split][index]
        return Task(split, index, Label(found.kind), (user(found.question),), found.answer)

    def play(self, task: Task) -> Play:
        reply = yield from ask(task.messages)
        return solved() if str(task.truth) in reply.text else failed("wrong")


@dataclass(frozen=True, slots=True)
class MethodRun:
    """One run of a method: what it claims, what is true, what it cost."""

    method: str
    task: str
    seed: int
    start: float
    best: float
    ceiling: float
    claimed: float
    low: float
    high: float
    shown: bool
    """Whether the sealed test shows a gain."""
    calls: int
    consultations: int
    decisions: int
    accepted: int
    bytes: int
    cpu: float

    @property
    def share(self) -> float:
        """The part of what could be gained that was."""
        return (self.best - self.start) / (self.ceiling - self.start) if self.ceiling > self.start else 0.0


# --------------------------------------------------------------------------------------------- runs


def models(world: World, tasks: Mapping[str, Sequence[WorldTask]], seed: int) -> tuple[FromFunction, FromFunction]:
    """The target, whose luck hangs on the draw, and the simulated optimiser."""
    by_question = {task.question: task for some in tasks.values() for task in some}
    optimizer = Optimizer(world, seed)

    def target(request: Request) -> str:
        task = by_question[request.messages[-1].text]
        present = world.present("\n".join(message.text for message in request.messages[:-1]))
        luck = share(seed, task.id, ",".join(sorted(present)), request.sampling.seed)
        return task.answer if luck < world.chance(present, task.kind, task.z) else "0"

    def propose(request: Request) -> str:
        first, last = request.messages[0], request.messages[-1]
        return optimizer.reply(first.text if first.author == "system" else "", last.text)

    made = FromFunction(target), FromFunction(propose)
    made[1].fingerprint = "simulated-optimizer"
    return made


def played(method: str, family: str, seed: int, budget: int, settings: Mapping[str, Any], test: int) -> MethodRun:
    """A learner in a world, from the starting text to its sealed test."""
    world = drawn_world(family, seed)
    tasks = world.tasks(seed, {**SIZES, "test": max(1, test)})
    section = {"max_rollouts": budget, "seed": seed, "test": "all" if test else 0}
    data: dict[str, Any] = {"learner": method, "env": {"name": "notes"}, "train": section}
    data |= {"target": {"model": "test:function"}, "optimizer": {"model": "test:function"}}
    merge(data, SETTINGS[method])
    merge(data, settings)
    target, optimizer = models(world, tasks, seed)
    env = NoteTasks(tasks, f"notes/{family}/{seed}")
    with tempfile.TemporaryDirectory() as place:
        began = time.process_time()
        result = train(
            validate(learner_named(method).config, data, "bench"),
            env=env,
            model=target,
            optimizer=optimizer,
            playbook=Playbook(world.start),
            runs=Path(place),
        )
        text = "\n".join((result.best.body, result.best.hindsight, *result.best.reminders))
        truth = world.true_score(world.start), world.true_score(text), world.ceiling()
        return _run(method, family, seed, truth, result, time.process_time() - began)


def learnt_facts(method: str, task: FactTask) -> MethodRun:
    with tempfile.TemporaryDirectory() as place:
        began = time.process_time()
        data = dict(SETTINGS[method])
        data["train"] = {**data.get("train", {}), "max_rollouts": FACT_BUDGET}
        result = learnt_by(method, task, Path(place), **data)
        best = result.summary["test_metric"]
        return _run(method, task.name, 0, (0.0, best, 1.0), result, time.process_time() - began)


def _run(
    method: str, task: str, seed: int, truth: tuple[float, float, float], result: TrainResult, cpu: float
) -> MethodRun:
    if result.stopped:
        raise RuntimeError(f"{method} on {task}: {result.stopped}")
    summary = result.summary
    low, high = summary["test_delta_interval"] or (0.0, 0.0)
    asked = [used["calls"] for stage, used in summary["token_summary"].items() if stage not in OF_TARGET]
    judged = result.judge.judgements
    return MethodRun(
        *(method, task, seed, *truth),
        *(summary["test_delta_metric"] or 0.0, low, high, low > 0.0),
        calls=summary["learning_rollouts"],
        consultations=sum(asked),
        decisions=sum(judgement.action != "skip_identical" for judgement in judged),
        accepted=sum(judgement.accepted for judgement in judged),
        bytes=len(result.best.body.encode()),
        cpu=cpu,
    )


OF_TARGET = ("_total", "rollout", "select", "test", "floor", "slow_update_rollout")


# --------------------------------------------------------------------------------------------- what it comes to


def table(runs: Sequence[MethodRun]) -> str:
    """One line for each method and task: means over seeds."""
    lines = [
        "| task | learner | start | best, true | of what can be had | claimed on the sealed test | gain shown "
        "| attempts | consultations | accepted | bytes |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for task in dict.fromkeys(run.task for run in runs):
        for method in METHODS:
            some = [run for run in runs if (run.task, run.method) == (task, method)]
            lines.append(
                f"| {task} | {method} | {mean(some, 'start'):.3f} | {mean(some, 'best'):.3f} "
                f"| {mean(some, 'share'):.0%} "
                f"| {mean(some, 'claimed'):+.3f} [{mean(some, 'low'):+.3f}, {mean(some, 'high'):+.3f}] "
                f"| {sum(run.shown for run in some)} of {len(some)} | {mean(some, 'calls'):.0f} "
                f"| {mean(some, 'consultations'):.0f} | {sum(run.accepted for run in some)} of "
                f"{sum(run.decisions for run in some)} | {mean(some, 'bytes'):.0f} |"
            )
    return "\n".join(lines)


def mean(runs: Sequence[MethodRun], name: str) -> float:
    return fmean(getattr(run, name) for run in runs)


def into_page(page: Path, text: str) -> None:
    """Between the marks of a page."""
    first, last = map(re.escape, MARKS)
    said, times = re.subn(f"(?s){first}.*?{last}", lambda _: f"{MARKS[0]}\n{text}\n{MARKS[1]}", page.read_text())
    if not times:
        raise SystemExit(f"{page}: there is no place for the table; write {MARKS[0]} and {MARKS[1]}")
    page.write_text(said)


def rows(runs: Sequence[MethodRun], part: str) -> Iterator[Row]:
    for method in METHODS:
        some = [run for run in runs if run.method == method]
        if part == "null":
            judged, taken = sum(run.decisions for run in some), sum(run.accepted for run in some)
            rate = taken / judged if judged else 0.0
            holds = taken <= upper(judged, ALPHA)
            told = f"{taken} of {judged} decisions on edits without effect, alpha {ALPHA}; {len(some)} runs"
            yield Row(f"null: accepted by the gate, {method}", rate, "share", ALPHA, holds, condition=told)
            continue
        told = f"{len(some)} runs over {len({run.task for run in some})} tasks, {mean(some, 'calls'):.0f} attempts each"
        yield Row(f"{part}: share of what can be had, {method}", mean(some, "share"), "share", condition=told)
        yield Row(f"{part}: claim on the sealed test, {method}", mean(some, "claimed"), "points", condition=told)
        spent = max(run.calls for run in some)
        bar = FACT_BUDGET if part == "facts" else BUDGET
        yield Row(f"{part}: most attempts of a run, {method}", spent, "attempts", bar, spent <= bar, condition=told)


ALPHA = 0.1


def upper(trials: int, chance: float) -> int:
    """The most acceptances that chance gives in 99 of 100 such benches."""
    from scipy.stats import binom

    return int(binom.ppf(0.99, trials, chance)) if trials else 0


def read(file: Path) -> dict[str, list[MethodRun]]:
    """The runs of an earlier bench by part."""
    found: dict[str, list[MethodRun]] = {"worlds": [], "facts": [], "null": []}
    for fields in json.loads(file.read_text())["runs"]:
        part = "worlds" if fields["task"] in WORLDS else "null" if fields["task"] == "null" else "facts"
        found[part].append(MethodRun(**fields))
    return found


def scan(seeds: Sequence[int]) -> None:
    for method, variants in SCAN.items():
        for name, settings in variants.items():
            some = [played(method, family, seed, BUDGET, settings, 0) for seed in seeds for family in WORLDS]
            cpu, accepted = sum(run.cpu for run in some), sum(run.accepted for run in some)
            judged = sum(run.decisions for run in some)
            print(f"{method:8} {name:16} {mean(some, 'share'):.3f}  {accepted} of {judged}  {cpu:.0f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="under a minute: the same rows, fewer seeds")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--part", choices=("worlds", "facts", "null", "scan"))
    parser.add_argument("--seeds", type=int, default=0)
    parser.add_argument("--page", type=Path, help="a page to write the table into")
    parser.add_argument("--render", type=Path, help="a file of an earlier --json: nothing is run")
    options = parser.parse_args()
    parts = (options.part,) if options.part else ("worlds", "facts", "null")
    number = options.seeds or (1 if options.quick else 6)
    if parts == ("scan",):
        scan(range(CHOOSING, CHOOSING + number))
        return
    seeds = range(FIRST, FIRST + number)
    makers: dict[str, Callable[[], list[MethodRun]]] = {
        "worlds": lambda: [
            played(method, family, seed, BUDGET, {}, SIZES["test"])
            for family in WORLDS
            for seed in seeds
            for method in METHODS
        ],
        "facts": lambda: [learnt_facts(method, task) for task in TASKS for method in METHODS],
        "null": lambda: [
            played(method, "null", seed, BUDGET, {}, 0)
            for method in METHODS
            for seed in range(FIRST, FIRST + (number if options.quick else NULL_RUNS[method]))
        ],
    }
    runs = read(options.render) if options.render else {part: makers[part]() for part in parts}
    shown = table([run for part in ("worlds", "facts") for run in runs.get(part, ())])
    if options.page:
        into_page(options.page, shown)
    print(shown)
    report((row for part in parts for row in rows(runs[part], part)), options.json)
    if options.json:
        kept = json.loads(options.json.read_text())
        kept["runs"] = [asdict(run) for part in parts for run in runs[part]]
        options.json.write_text(json.dumps(kept, indent=2) + "\n")


if __name__ == "__main__":
    main()
