"""Imitation and reinforcement on `ordebug`, arm by arm: what each does on problems that none was trained on.

python bench/rl.py warm --processes 16 --work DIR         problems and worked attempts, made beforehand
python bench/rl.py adopt --work DIR                       problems from another machine, under their names here
python bench/rl.py arm sft --seed 0 --work DIR            trains an arm and measures it; what is made already stays
python bench/rl.py arm grpo --seed 0 --work DIR           from the arm `sft` of the same seed; --seconds 600
python bench/rl.py choose grpo --label fast --seed 0 --work DIR --seconds 600    what `--label fast` made is that arm
python bench/rl.py collect --work DIR --out results/ordebug_rl.json     what arms came to, beside what is there

An arm is a config of examples/rl with what differs set by name, trained by `whet.train` without a gate, and then
played at temperature 0 on problems of split test: every rung on which the specification is a table, a hard mixture, and
trades that no training problem is of. Settings are chosen on other problems: `--rungs small@select,medium@select
--label NAME`, which `collect` leaves out; when the config says what was chosen, `choose` makes it the arm. What an arm
took, in seconds, is that of its training alone. Arms train one after the other: two on one GPU make each slower, and
their memory adds up. With --in-turn an arm that is begun early loads what it needs and waits for its turn, and the next
one trains while it is measured (bench/rl_seed.toml).

Where arms train side by side (under CUDA MPS, say) a clock says nothing of what one took. `--alone S` is what a step
of it takes when it is alone on that machine (`bench/rl_step.py --whole`): its seconds are its steps times that, and an
arm of equal time takes as many steps as would fit. `--alone S P`: P likewise of an attempt that is played beforehand.
For either number stands a file that `rl_step.py --json` wrote as well.
"""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import gc
import json
import math
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from arm_options import arm_parser, read_arm_options
from rl_problems import CONFIGS, PLAYED, RUNGS, SEEDS, adopt, rung_of, wanted, warm, worked_attempts
from rl_records import (
    agreeing,
    arms_of,
    attempts_of,
    circumstances,
    held_in,
    keep,
    keep_adapter,
    kept,
    made_by,
    peak_gib,
    taken_up,
    weights_digest,
    weights_of,
    write_results,
)
from rl_step import Watch
from together import together

import whet
from whet.apps.ordebug.figures import measure
from whet.models import ModelOptions, load_model
from whet.models.base import Model, Request
from whet.run.train import load_train_config
from whet.run.workspace import open_run
from whet.types import Reply

BEGAN = time.monotonic()
FIGURES = {
    "repaired_at_5": "repaired@5",
    "repaired_at_10": "repaired@10",
    "rr_at_5": "RR@5",
    "localisation_recall": "recall",
}
BASE = os.environ.get("RL_BASE", "hf:smollm2")
SLOTS, CONTEXT = int(os.environ.get("RL_SLOTS", "128")), 8192
CACHE = float(os.environ.get("RL_CACHE", "24"))
"""GiB for keys and values of a model that is measured, while others may train beside it."""
NUMBERS = {"dtype": "bfloat16"} if torch.cuda.is_available() else {}
"""On a GPU the base is measured in the numbers in which the arms were trained."""
DRAWS = 8
"""Attempts at each problem at which the imitator plays for itself."""
SAMPLING = (
    "target.sampling.temperature=0",
    "target.sampling.max_tokens=384",
    f"control.target.slots={SLOTS}",
    f"control.target.context={CONTEXT}",
    f"control.processes={min(12, max(0, (os.cpu_count() or 1) - 4))}",
    "eval.floor=false",
)


@dataclass(frozen=True, slots=True)
class Arm:
    """A way to train: its config, the arm that it goes on from, and what is set by name."""

    config: str = ""
    after: str = ""
    overrides: tuple[str, ...] = field(default=())


ARMS = {
    "base": Arm(),
    "sft": Arm("ordebug_sft.toml"),
    "grpo": Arm("ordebug_grpo.toml", "sft"),
    "sft_equal_time": Arm("ordebug_sft.toml", "sft", ("tune.lr=5e-4",)),
    "rejection_sft": Arm("ordebug_sft.toml", "sft", ("sft.source=run", "sft.purpose=eval", "tune.lr=2e-4")),
    "grpo_one_step": Arm("ordebug_grpo.toml", "sft", ("env.args.max_steps=1", "reward.weights.recall=1")),
}


BRIEFLY = ("gate.name=none", "train.select=2")
"""An arm is measured afterwards, on many more problems than a gate would take."""
BY_TIME = ("tune.steps=4800", "tune.segment=4800")
"""More steps than fit into the seconds that an arm is given; what goes down by steps goes down by time then."""
EQUAL = ("sft_equal_time", "rejection_sft", "grpo_one_step")
"""Arms that train for as long as `grpo` of the same seed did, with what they played beforehand."""


# ---------------------------------------------------------------------------------------------- one arm


def run_arm(
    name: str,
    seed: int,
    work: Path,
    overrides: Sequence[str],
    rungs: Sequence[str],
    label: str,
    checkpoint: Path | None = None,
    seconds: float | None = None,
    waits: bool = False,
    alone: Sequence[float] | None = None,
) -> None:
    """Train an arm under a seed and measure what came of it; a checkpoint that is given is measured as it is."""
    place = work / f"{label or name}_{seed}"
    arm, model = ARMS[name], BASE
    told = taken_up(place, "ordebug", ("rungs",), plays=bool(arm.after))
    if not told:
        told = {"arm": label or name, "seed": seed, "overrides": list(overrides), "rungs": {}}
        told |= _made_by(name, work, overrides, seconds)
        if arm.config and checkpoint is not None:
            keep_adapter(checkpoint, place / "adapter")
            told["checkpoint"] = checkpoint.name
        elif arm.config:
            told |= _trained(name, seed, work, place, overrides, seconds, waits, alone)
    if arm.config:
        model = f"{BASE}+{place / 'adapter'}"
        told["adapter"] = weights_digest(place / "adapter")
    told.setdefault("rungs", {})
    keep(place, told)
    missing = [rung for rung in rungs if rung not in told["rungs"]]
    opened = KeptOpen(model) if missing else None
    jobs = {rung: partial(_measured, opened, rung, place) for rung in missing if opened is not None}
    for rung, figures in together(jobs):
        told["rungs"][rung] = figures
        keep(place, told)
    if opened is not None:
        asyncio.run(opened.end())
    print(f"{label or name} {seed}: " + ", ".join(
        f"{rung} {got['repaired_at_10']:.2f}" for rung, got in told["rungs"].items()
    ), flush=True)  # fmt: skip


def choose(name: str, label: str, seed: int, work: Path, seconds: float | None) -> None:
    """What was made under a label becomes an arm of the table: by now its recipe is the arm's own."""
    taken, place = work / f"{label}_{seed}", work / f"{name}_{seed}"
    told = kept(taken)
    if not told:
        raise SystemExit(f"{taken} holds no arm: there is nothing to choose")
    if place.exists():
        raise SystemExit(f"{place} is there already: take it away first")
    if told["config_hash"] != _made_by(name, work, (), seconds)["config_hash"]:
        raise SystemExit(
            f"{label} was made by another recipe than {name}: say it in {ARMS[name].config}, and --seconds"
        )
    taken.rename(place)
    keep(place, told | {"arm": name})
    print(f"{place.name} is what {label} made", flush=True)


def _made_by(name: str, work: Path, overrides: Sequence[str], seconds: float | None) -> dict[str, Any]:
    """By what an arm is made. What it imitates counts by its content, and what it may take as it was asked for."""
    arm, paths = ARMS[name], [said.partition("=")[2] for said in overrides if said.startswith("sft.path=")]
    given = [*arm.overrides, *(said for said in overrides if not said.startswith(("sft.path=", "target.model=")))]
    given += [*BY_TIME, f"seconds={seconds:g}"] if seconds is not None else []
    learnt = None
    if arm.config == "ordebug_sft.toml" and "sft.source=run" not in arm.overrides:
        learnt = Path(paths[-1]) if paths else attempts_of(work)
    return made_by("ordebug", CONFIGS / arm.config if arm.config else None, given, learnt)


def _trained(
    name: str,
    seed: int,
    work: Path,
    place: Path,
    overrides: Sequence[str],
    seconds: float | None,
    waits: bool = False,
    alone: Sequence[float] | None = None,
) -> dict[str, Any]:
    arm, played, start = ARMS[name], 0.0, ""
    given = [*BRIEFLY, *arm.overrides, f"train.seed={seed}", f"target.model={BASE}"]
    if arm.after:
        begun = [said.partition("+")[2] for said in overrides if said.startswith("target.model=")]
        adapter = Path(begun[-1]) if begun else weights_of(work, arm.after, seed)
        given.append(f"target.model={BASE}+{adapter}")
        start = weights_digest(adapter)
    turn = Turn(place.parent / "turn" if waits else None)
    if "sft.source=run" in arm.overrides:
        began = time.monotonic()
        given.append(f"sft.path={_own_plays(work, seed, place)}")
        given += _env_of("ordebug_grpo.toml")  # the number of a task names another problem under other arguments
        played = DRAWS * PLAYED * alone[1] if alone and len(alone) > 1 else time.monotonic() - began
    elif arm.config == "ordebug_sft.toml":
        given.append(f"sft.path={work / 'traces.jsonl'}")
    if name in EQUAL:
        seconds = _as_long_as_grpo(name, seed, work, seconds)
    if seconds is not None and played >= seconds:
        raise SystemExit(
            f"{name}: what it played beforehand took {played:.0f} of its {seconds:.0f} seconds; give it more"
        )
    if seconds is not None and alone is not None:
        steps = _whole_batches((seconds - played) / alone[0], CONFIGS / arm.config, [*given, *BY_TIME, *overrides])
        given += [f"tune.steps={steps}", f"tune.segment={steps}"]
    elif seconds is not None:
        given += [*BY_TIME, f"tune.seconds={seconds - played:.1f}"]
    began = time.monotonic()
    with Watch(closely=False).in_place():
        run = whet.train(
            CONFIGS / arm.config, overrides=[*given, *overrides], runs=place / "runs", name="train", watch=turn.say
        )
    turn.end()
    gc.collect()  # measuring it needs none of what training held
    torch.cuda.empty_cache()
    folder = place / "runs" / "train"
    last = json.loads((folder / "weights.json").read_text())["last"]
    log = [json.loads(line) for line in (folder / "training_log.jsonl").read_text().splitlines()]
    keep_adapter(Path(last.partition("+")[2]), place / "adapter")
    return {
        "start": start,
        "seconds": round((run.summary["train_seconds"] if alone is None else alone[0] * len(log)) + played, 1),
        "alone": alone,
        "wall": round(time.monotonic() - began, 1),
        "peak_gib": peak_gib(),
        "steps": len(log),
        "log": log,
        "rollouts": run.summary["train_rollouts"],
        "stopped": run.stopped,
    }


def _whole_batches(steps: float, config: Path, given: Sequence[str]) -> int:
    """As many steps, to a whole batch of attempts: a checkpoint stands between two of them."""
    grpo = getattr(load_train_config(config, None, given), "grpo", None)
    each = grpo.updates * grpo.iterations if grpo is not None else 1
    return max(1, round(steps / each)) * each


def _as_long_as_grpo(name: str, seed: int, work: Path, seconds: float | None) -> float:
    made = work / f"grpo_{seed}" / "arm.json"
    if seconds is None and not made.exists():
        raise SystemExit(f"{name} takes as long as grpo of seed {seed}, which has not been made; or give --seconds")
    return json.loads(made.read_text())["seconds"] if seconds is None else seconds


class Turn:
    """Trainings that name one file wait for one another; loading before it and what comes after do not wait."""

    def __init__(self, file: Path | None) -> None:
        self._held = None if file is None else file.open("w")
        if self._held is not None:
            fcntl.flock(self._held, fcntl.LOCK_EX)

    def say(self, course: Any) -> None:
        """Print what a training tells; when it has ended, it is the next one's turn."""
        for line in course.news():
            print(f"{time.monotonic() - BEGAN:6.0f} s  {line[:300]}", flush=True)
            if line.startswith("segment"):
                self.end()

    def end(self) -> None:
        if self._held is not None:
            self._held.close()
            self._held = None


def _say(course: Any) -> None:
    Turn(None).say(course)


def _env_of(config: str) -> list[str]:
    args = load_train_config(CONFIGS / config, None, ()).env.args
    return [f"env.args.{name}={value}" for name, value in args.items()]


def _own_plays(work: Path, seed: int, place: Path) -> Path:
    """Attempts of the imitator at train problems, at temperature 1: those that it solved are learnt from."""
    room = load_train_config(CONFIGS / "ordebug_grpo.toml", None, ()).control.target
    said = ["target.sampling.temperature=1", *SAMPLING[1:], f"eval.seed={seed}"]
    said += [f"control.target.slots={room.slots}", f"control.target.context={room.context}"]
    model = f"{BASE}+{work / f'sft_{seed}' / 'adapter'}"
    made = whet.evaluate(
        "ordebug", model, n=PLAYED, repeats=DRAWS, split="train", overrides=[*_env_of("ordebug_grpo.toml"), *said],
        runs=place / "runs",
    )  # fmt: skip
    return Path(made.folder)


class KeptOpen(Model):
    """Weights that stay in memory from one evaluation to the next: what was recorded for them serves all."""

    def __init__(self, address: str) -> None:
        self._model = load_model(address, ModelOptions(slots=SLOTS, context=CONTEXT, extra=NUMBERS, cache=CACHE))
        self.name, self.fingerprint, self.width = self._model.name, self._model.fingerprint, self._model.width
        self.price = self._model.price

    async def complete(self, request: Request) -> Reply:
        return await self._model.complete(request)

    async def close(self) -> None:
        """Each evaluation closes what it was given; this one is still wanted."""

    async def end(self) -> None:
        await self._model.close()


def _measured(model: Model, rung: str, place: Path) -> dict[str, Any]:
    args, split, n = rung_of(rung)
    n = int(os.environ.get("RL_N", n))
    given = [f"env.args.{name}={value}" for name, value in args.items()]
    began = time.monotonic()
    made = whet.evaluate("ordebug", model, n=n, split=split, overrides=[*given, *SAMPLING], runs=place / "runs")
    figures = measure(open_run(str(made.folder), place / "runs"))[0]
    found = {key: figures.metrics[name].value for key, name in FIGURES.items() if name in figures.metrics}
    spread = figures.metrics["repaired@10"].interval
    return found | {
        "da": figures.diagnosis,
        "n": figures.tasks,
        "interval": [spread.low, spread.high],
        "tokens": figures.tokens,
        "malformed": figures.metrics["malformed"].value,
        "submitted": figures.metrics["submitted"].value,
        "seconds": round(time.monotonic() - began, 1),
    }


# ---------------------------------------------------------------------------------------------- what they came to

LADDER = ("tiny", "small", "medium", "hard")
LISTED = (*FIGURES, "da")


def collect(work: Path, out: Path) -> None:
    """Arms by name, a value for each seed, into one file; what it held stays where it is the same comparison."""
    after = {name: arm.after for name, arm in ARMS.items()}
    made, left_out = agreeing(held_in(out), [told for told in arms_of(work) if told["arm"] in ARMS], after)
    arms: dict[str, Any] = {}
    for name in ARMS:
        mine = [told for told in made if told["arm"] == name]
        if mine:
            arms[name] = {"seeds": [told["seed"] for told in mine], **_by_rung(mine)}
            arms[name]["gpu_seconds"] = [told.get("seconds", 0.0) for told in mine]
    counts = ", ".join(f"{name} {len(found['seeds'])}" for name, found in arms.items())
    write_results(out, {"arms": arms, "made": made, **circumstances(made)}, left_out, counts)


def _by_rung(made: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A list of values for each figure of each rung; `overall` is the mean over the rungs of the ladder that it has."""
    found: dict[str, Any] = {}
    for rung in RUNGS:
        rows = [told["rungs"].get(rung) for told in made]
        if all(rows):  # a value of every seed, or it cannot be told of which seed a value is
            found[rung] = {figure: [row[figure] for row in rows] for figure in LISTED}
            found[rung]["n"] = [row["n"] for row in rows]
    ladder = [rung for rung in LADDER if all(rung in told["rungs"] for told in made)]
    if ladder:
        found["overall"] = {
            figure: [fmean(told["rungs"][rung][figure] for rung in ladder) for told in made] for figure in LISTED
        }
    return found


def seconds_alone(said: str, of: str = "alone") -> float:
    """A number of seconds, or the file of `rl_step.py --json` in which it stands, of a step or of an attempt."""
    try:
        found = float(said)
    except ValueError:
        try:
            found = float(json.loads(Path(said).read_text())[of])
        except (OSError, ValueError, KeyError, TypeError):
            raise argparse.ArgumentTypeError(
                f"{said} is neither seconds nor a file of rl_step.py --json of two batches or more"
                + (" of attempts" if of == "attempt" else "")
            ) from None
    if not 0 < found < math.inf:
        raise argparse.ArgumentTypeError(f"{said}: nothing takes {found:g} s; give what it takes alone")
    return found


class Alone(argparse.Action):
    """Seconds of a step and, where they are given as well, of an attempt."""

    def __call__(self, parser: Any, given: Any, values: Any, option: str | None = None) -> None:
        try:
            if len(values) > 2:
                raise argparse.ArgumentTypeError("what a step takes and what an attempt takes, and nothing else")
            of = ("alone", "attempt")
            setattr(given, self.dest, [seconds_alone(said, name) for said, name in zip(values, of, strict=False)])
        except argparse.ArgumentTypeError as problem:
            raise argparse.ArgumentError(self, str(problem)) from None


def main() -> None:
    parser = arm_parser(__doc__, ("warm", "adopt", "arm", "choose", "collect"), tuple(ARMS), "ordebug_rl.json")
    parser.add_argument("--rungs", default=",".join(RUNGS))
    parser.add_argument("--checkpoint", type=Path, help="of a training that was cut short: measured as it is")
    parser.add_argument("--seconds", type=float, help="of training; arms of equal time take those of grpo by default")
    parser.add_argument(
        "--alone", action=Alone, nargs="+", help="seconds of a step, and of an attempt, without company; or files"
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS, help="warm, adopt: of these alone")
    parser.add_argument(
        "--tasks", type=int, nargs="+", default=(), help="warm, adopt: numbers of train tasks that are set"
    )
    parser.add_argument("--in-turn", action="store_true", help="wait for other trainings in the same work folder")
    given, work = read_arm_options(parser)
    rungs = [name for name in given.rungs.split(",") if name]
    for name in rungs:
        try:
            rung_of(name)
        except KeyError:
            parser.error(f"--rungs: there is no {name}; there are {', '.join(RUNGS)}, each also as NAME@select")
    if given.what == "warm":
        worked_attempts(work, given.processes)
        warm(work, given.processes, rungs, given.seeds, given.tasks)
    elif given.what == "adopt":
        sys.exit(min(1, adopt(work, wanted(rungs, given.seeds, given.tasks))))
    elif given.what == "collect":
        collect(work, given.out)
    elif given.what == "choose":
        if not given.label:
            parser.error("choose: say by --label which")
        choose(given.name, given.label, given.seed, work, given.seconds)
    else:
        rest = given.checkpoint, given.seconds, given.in_turn, given.alone
        run_arm(given.name, given.seed, work, given.overrides, rungs, given.label, *rest)


if __name__ == "__main__":
    main()
    sys.exit(0)
