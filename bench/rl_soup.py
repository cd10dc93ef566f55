"""Imitation and reinforcement on `soup`, arm by arm: programs that read pages, by a model of 135 million parameters.

python bench/rl_soup.py warm --processes 16 --work DIR      worked attempts, by an author who sees what an attempt sees
python bench/rl_soup.py arm base --work DIR                 the base as it comes
python bench/rl_soup.py arm sft --seed 0 --work DIR         imitation of the worked attempts
python bench/rl_soup.py arm grpo --seed 0 --work DIR        reinforcement from the arm `sft` of the same seed
python bench/rl_soup.py collect --work DIR --out results/soup_rl.json

An arm is a config of examples/rl, trained by `whet.train` and then played at temperature 0 on tasks of split test,
whose sites, words, labels and wordings no arm has met. Tools are called by the fenced protocol. What is made already
stays, a rung at a time. Programs run in the sandbox: `whet doctor` says whether the machine has walls, and RL_WEAK=1
goes on without them.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from arm_options import arm_parser, read_arm_options
from rl import BRIEFLY, KeptOpen
from rl_arm import BASE, train_arm
from rl_problems import CONFIGS
from rl_records import (
    agreeing,
    arms_of,
    attempts_of,
    circumstances,
    held_in,
    keep,
    made_by,
    taken_up,
    weights_of,
    write_results,
)
from soup_author import write_attempts
from together import together

import whet
from whet.models.base import Model
from whet.run.train import load_train_config
from whet.run.workspace import open_run
from whet.types import Score, Split

SFT, GRPO = CONFIGS / "soup_sft.toml", CONFIGS / "soup_grpo.toml"
TRAINED = {"sft": SFT, "grpo": GRPO}
ARMS = ("base", *TRAINED)
RUNGS: dict[str, tuple[dict[str, Any], int]] = {
    "primer": ({"difficulty": "primer", "limits": False}, 105),
    "easy": ({"difficulty": "easy", "address": "given", "limits": False}, 84),
    "easy_any": ({"difficulty": "easy"}, 84),
}
"""What an arm is measured on, and how many tasks: `easy` names the region's class, as the worked attempts do; in
`easy_any` questions go by class, by words or by meaning, and one task in eight cannot be answered."""
FIGURES = ("solved", "pages", "submitted", "ran")
HANDED_IN = ("correct", "partly", "wrong", "crashed")
TRACES = int(os.environ.get("RL_TRACES", "2000"))
WEAK = bool(os.environ.get("RL_WEAK"))
"""Where the machine has no walls and nothing to lose: programs run with limits alone."""
WALLS = ("control.sandbox.allow_weak=true",) if WEAK else ()
PLAYED = (
    "target.tools=fenced",
    "target.sampling.temperature=0",
    "target.sampling.max_tokens=320",
    "control.target.slots=128",
    f"control.target.context={os.environ.get('RL_CONTEXT', '4096')}",
    "eval.floor=false",
    *WALLS,
)


def warm(work: Path, processes: int) -> None:
    """Worked attempts at train tasks, once."""
    file, began = work / "traces.jsonl", time.monotonic()
    if not file.exists():
        made = write_attempts(file, load_train_config(SFT, None, ()).env.args, TRACES, processes, weak=WEAK)
        told = f"{made.count} worked attempts at {made.tasks} tasks"
        print(f"{told}, {time.monotonic() - began:.0f} s", flush=True)


def sound(place: Path) -> None:
    """The oracle's programs must be right here: where the sandbox lacks a library, every program crashes, and no arm
    would be told from another."""
    found = measured("baseline:oracle", "primer", place, split="select", most=3)
    if found["solved"] < 1:
        raise SystemExit(f"the oracle's own programs end as {found['reasons']} here: what can the sandbox not import?")


def run_arm(name: str, seed: int, work: Path, overrides: Sequence[str], rungs: Sequence[str], label: str) -> None:
    """Make an arm under a seed, and measure it on the rungs that it has not been measured on."""
    place = work / f"{label or name}_{seed}"
    told = taken_up(place, "soup", ("rungs",), plays=name == "grpo")
    if not told:
        told = {"arm": label or name, "seed": seed, "rungs": {}}
        told |= {} if name in TRAINED else made_by("soup", None)
        if name in TRAINED:
            start = BASE if name == "sft" else f"{BASE}+{weights_of(work, 'sft', seed)}"
            given = [*BRIEFLY, f"train.seed={seed}", f"target.model={start}"]
            learnt = attempts_of(work) if name == "sft" else None
            given += [f"sft.path={learnt}"] if learnt else []
            told |= train_arm("soup", TRAINED[name], [*given, *WALLS, *overrides], place, overrides, learnt)
        keep(place, told)
    told.setdefault("rungs", {})
    missing = [rung for rung in rungs if rung not in told["rungs"]]
    if missing:
        opened = KeptOpen(f"{BASE}+{place / 'adapter'}" if name in TRAINED else BASE)
        for rung, found in together({rung: partial(measured, opened, rung, place) for rung in missing}):
            told["rungs"][rung] = found
            keep(place, told)
        asyncio.run(opened.end())
    shown = ", ".join(f"{rung} {found['solved']:.2f}" for rung, found in told["rungs"].items())
    print(f"{label or name} {seed}: solved {shown}", flush=True)


def measured(model: str | Model, rung: str, place: Path, split: Split = "test", most: int = 1000) -> dict[str, Any]:
    args, n = RUNGS[rung]
    began = time.monotonic()
    given = [f"env.args.{name}={json.dumps(value)}" for name, value in args.items()]
    played = PLAYED if not isinstance(model, str) else ("eval.floor=false", *WALLS)
    made = whet.evaluate(
        "soup", model, n=min(n, most, int(os.environ.get("RL_N", n))), split=split, overrides=[*given, *played],
        runs=place / "runs",
    )  # fmt: skip
    scores = [rollout.outcome for rollout in open_run(made.folder, place / "runs").rollouts()]
    found = figures([score for score in scores if isinstance(score, Score)], faults=len(scores))
    return found | {"seconds": round(time.monotonic() - began, 1)}


def figures(scores: Sequence[Score], faults: int = 0) -> dict[str, Any]:
    """Solved: every page right; pages: the share of unseen pages that are; submitted: a program was handed in; ran:
    one that ran on some page. `faults` is how many there are with those that met a fault of the machine."""
    count, reasons = len(scores), Counter(score.reason for score in scores)
    handed = sum(reasons[reason] for reason in HANDED_IN)
    return {
        "n": count,
        "faults": max(0, faults - count),
        "solved": sum(score.hard for score in scores) / max(1, count),
        "pages": sum(max(0.0, score.reward) for score in scores) / max(1, count),
        "submitted": handed / max(1, count),
        "ran": (handed - reasons["crashed"]) / max(1, count),
        "reasons": dict(reasons.most_common()),
    }


def collect(work: Path, out: Path) -> None:
    """What arms came to, as lists with a value for each seed; what `out` held stays where it is the same comparison."""
    fresh = [told for told in arms_of(work) if told["arm"] in ARMS]
    made, left_out = agreeing(held_in(out), fresh, {"grpo": "sft"})
    arms: dict[str, Any] = {}
    for name in ARMS:
        own = [told for told in made if told["arm"] == name]
        if own:
            arms[name] = {rung: by_seed(own, rung) for rung in RUNGS if all(rung in told["rungs"] for told in own)}
            arms[name]["seeds"] = [told["seed"] for told in own]
    seconds = {name: [told.get("seconds", 0.0) for told in made if told["arm"] == name] for name in arms}
    found = {"arms": arms, "seconds": seconds, **circumstances(made), "made": made}
    write_results(out, found, left_out, ", ".join(f"{name} {len(seconds[name])}" for name in arms))


def by_seed(made: Sequence[Mapping[str, Any]], rung: str) -> dict[str, list[float]]:
    return {figure: [told["rungs"][rung][figure] for told in made] for figure in (*FIGURES, "n")}


def main() -> None:
    parser = arm_parser(__doc__, ("warm", "arm", "collect"), tuple(ARMS), "soup_rl.json")
    parser.add_argument("--rungs", default=",".join(RUNGS))
    given, work = read_arm_options(parser)
    if given.what == "warm":
        warm(work, given.processes)
    elif given.what == "collect":
        collect(work, given.out)
    else:
        sound(work / f"{given.label or given.name}_{given.seed}")
        run_arm(given.name, given.seed, work, given.overrides, given.rungs.split(","), given.label)


if __name__ == "__main__":
    main()
