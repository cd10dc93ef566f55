"""What each preset of GRPO is worth in equal time, a curriculum against the flat mix, and the twelve cells, on a GPU.

python bench/rl_ablation.py warm --processes 16 --work DIR       problems, beforehand
python bench/rl_ablation.py adopt --work DIR                     problems from another machine, under their names here
python bench/rl_ablation.py all --seconds 75 --until 1500 --work DIR     every arm that is missing, as far as time goes
python bench/rl_ablation.py arm token_loss --seed 0 --seconds 75 --work DIR   one arm
python bench/rl_ablation.py collect --work DIR --out results/ablation.json

All arms go on from one adapter of imitation (`DIR/sft_0/adapter`, or --adapter). `start` measures it on tiny problems
of each fault type, on select tasks, and chooses the type that it repairs nearest to half of: a preset can show nothing
where all is repaired or none. Of that type it is then measured on the tasks of all arms, as it must be known whether
any has learnt at all. An arm of a preset is examples/rl/ordebug_ablation.toml for so many seconds of training
(`tune.seconds`), then played at temperature 0 on 100 select tasks of that type: the same for all. `flat`, `band` and
`stages` are examples/rl/ordebug_grpo.toml with and without a curriculum, measured on tiny, small and medium; `stages`
needs to know its steps beforehand and takes as many as `flat` did under the same seed. `gradient` plays the twelve
cells with the adapter. The test split stays closed.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from arm_options import arm_parser, read_arm_options
from rl import SAMPLING, KeptOpen
from rl_arm import BASE, train_arm
from rl_problems import CONFIGS, TABLE, Wanted, adopt, make_all
from rl_records import (
    agreeing,
    arms_of,
    circumstances,
    held_in,
    keep,
    kept,
    machine,
    made_by,
    taken_up,
    weights_digest,
    weights_of,
    write_results,
)
from together import together

import whet
from whet.apps.ordebug.figures import measure
from whet.apps.ordebug.gradient import BAND_METRIC, BANDS, against
from whet.envs.ordebug.family import CELL_NAMES, FAMILY
from whet.envs.ordebug.ladder import FAULT_KINDS
from whet.evals.estimate import Estimate, Interval
from whet.evals.sample import stratified_sample
from whet.learn.weights.presets import GRPO_PRESETS
from whet.models.base import Model
from whet.run.train import load_train_config
from whet.run.workspace import open_run

CONFIG, MIX = CONFIGS / "ordebug_ablation.toml", CONFIGS / "ordebug_grpo.toml"
LADDER = ("tiny_near", "small_near", "medium_near")
SIZES = ("tiny", "small", "medium")
CURRICULA: dict[str, tuple[str, ...]] = {
    "flat": (),
    "band": (
        "curriculum.kind=band",
        f"curriculum.ladder={json.dumps(LADDER)}",
        "curriculum.low=0.2",
        "curriculum.high=0.5",
    ),
    "stages": (
        "curriculum.kind=stages",
        f"curriculum.stages={json.dumps([LADDER[:1], LADDER[:2], LADDER[1:], LADDER[2:]])}",
    ),
}
"""`band` climbs where more than half is repaired in a step and steps down where less than a fifth is."""
MIXED = (
    *("grpo.groups=16", "grpo.updates=2", "grpo.rows=256"),
    *("control.target.slots=256", "tune.micro=8"),
)
ALONE = ("gate.name=none", "train.select=4", "tune.save=0")
"""No arm is judged against where it began: that takes as long as measuring it, which is done for all alike."""
SEEDS = (0, 1, 2)
TASKS, PROBE, EACH, CELL = (int(os.environ.get("RL_N", n)) for n in (100, 25, 60, 20))
"""Select tasks of an arm, of each type in `start`, of each size of a curriculum's arm, of each cell."""
TOKENS = int(os.environ.get("RL_TOKENS", "384"))
RECIPE = ("grpo.", "curriculum.", "env.")
"""What an arm is, of what is set by name; the steps of `stages` are as many as `flat` took under its seed."""
ROOM = 60.0
"""Seconds that an arm takes beside its training: weights are loaded, graphs recorded, tasks played."""


def tiny(kind: str) -> dict[str, Any]:
    return {"size": "tiny", "subtlety": "near", "type": kind}


# ---------------------------------------------------------------------------------------------- measured


def played(model: Model, args: Mapping[str, Any], n: int, runs: Path) -> dict[str, Any]:
    """What is repaired of select tasks, at temperature 0."""
    began = time.monotonic()
    given = [f"env.args.{key}={value}" for key, value in (dict(args) | TABLE).items()]
    given += [*SAMPLING, f"target.sampling.max_tokens={TOKENS}"]
    made = whet.evaluate("ordebug", model, n=n, split="select", overrides=given, runs=runs)
    figures = measure(open_run(str(made.folder), runs))[0]
    found = figures.metrics[BAND_METRIC]
    return {
        "repaired": found.value,
        "interval": [found.interval.low, found.interval.high],
        "malformed": figures.metrics["malformed"].value,
        "n": figures.tasks,
        "seconds": round(time.monotonic() - began, 1),
    }


def all_played(address: str, jobs: Mapping[str, tuple[Mapping[str, Any], int]], runs: Path) -> dict[str, Any]:
    """Several evaluations over one model, at once."""
    opened = KeptOpen(address)
    given = {key: (lambda job=job: played(opened, *job, runs)) for key, job in jobs.items()}  # type: ignore[misc]
    found = {}
    for key, told in together(given):
        found[key] = told
        print(f"  {key}: {told['repaired']:.2f} of {told['n']}, {told['seconds']:.0f} s", flush=True)
    asyncio.run(opened.end())
    return {key: found[key] for key in jobs}


# ---------------------------------------------------------------------------------------------- arms


def start(work: Path, adapter: Path) -> str:
    """The fault type of all arms: that of which the weights that they begin with repair nearest to half."""
    place = work / "start"
    told = taken_up(place, "ordebug", ("types", "begun"), plays=True)
    if not told:
        jobs = {kind: (tiny(kind), PROBE) for kind in FAULT_KINDS}
        found = all_played(f"{BASE}+{adapter}", jobs, place / "runs")
        chosen = min(found, key=lambda kind: abs(found[kind]["repaired"] - 0.5))
        told = {"arm": "start", "seed": 0, "types": found, "type": chosen, **_measures(adapter)}
        keep(place, told)
    if told["start"] != weights_digest(adapter):
        raise SystemExit(
            f"{place} is of other weights than {adapter}: take it away, with all arms that went on from it"
        )
    if "begun" not in told:
        jobs = {told["type"]: (tiny(told["type"]), TASKS)}
        [begun] = all_played(f"{BASE}+{adapter}", jobs, place / "runs").values()
        told["begun"] = begun | {"device": machine()["device"]}
        keep(place, told)
    print(f"start: type {told['type']}", flush=True)
    return str(told["type"])


def gradient(work: Path, adapter: Path) -> None:
    """The twelve cells under the weights of imitation, beside the bands that were expected of fine-tuned ones."""
    place = work / "gradient"
    if taken_up(place, "ordebug", ("cells",), plays=False).get("cells"):
        return
    jobs = {cell: ({"cell": cell}, CELL) for cell in CELL_NAMES}
    cells = all_played(f"{BASE}+{adapter}", jobs, place / "runs")
    keep(place, {"arm": "gradient", "seed": 0, "cells": cells, **_measures(adapter)})


def _measures(adapter: Path) -> dict[str, Any]:
    return {**made_by("ordebug", None), "start": weights_digest(adapter)}


def run_arm(name: str, seed: int, work: Path, adapter: Path, seconds: float, overrides: Sequence[str]) -> None:
    """Train a preset or a curriculum under a seed for so many seconds, and measure it."""
    place = work / f"{name}_{seed}"
    told, kind = taken_up(place, "ordebug", (), plays=True), "" if name in CURRICULA else start(work, adapter)
    if not told:
        given = [f"train.seed={seed}", f"target.model={BASE}+{adapter}", f"tune.seconds={seconds}", *ALONE]
        if name in CURRICULA:
            steps = kept(work / f"flat_{seed}").get("steps", 0) if name == "stages" else 1000
            if not steps:
                raise SystemExit(f"stages takes as many steps as flat did: make flat under seed {seed} first")
            given += [*MIXED, *CURRICULA[name], f"tune.steps={steps}", f"tune.segment={steps}"]
        else:
            given += [f"grpo.preset={name}", f"env.args.type={kind}"]
        config = MIX if name in CURRICULA else CONFIG
        recipe = [
            f"seconds={seconds:g}",
            weights_digest(adapter),
            *(said for said in given if said.startswith(RECIPE)),
            *overrides,
        ]
        made = train_arm("ordebug", config, [*given, *overrides], place, recipe)
        told = {"arm": name, "seed": seed, "type": kind, **made}
        keep(place, told)
    if "figures" not in told:
        jobs = {kind: (tiny(kind), TASKS)}
        if name in CURRICULA:
            jobs = {size: ({"size": size, "subtlety": "near"}, EACH) for size in SIZES}
        told["figures"] = all_played(f"{BASE}+{place / 'adapter'}", jobs, place / "runs")
        keep(place, told)
    shown = ", ".join(f"{key} {found['repaired']:.2f}" for key, found in told["figures"].items())
    print(f"{name} {seed}: {shown}; {told['steps']} steps in {told['seconds']:.0f} s", flush=True)


def run_all(work: Path, adapter: Path, seconds: float, until: float, overrides: Sequence[str]) -> None:
    """Every arm that is missing, seed by seed; none is begun that would not be done in time."""
    began = time.monotonic()
    start(work, adapter)
    arms = [(name, seed) for seed in SEEDS for name in GRPO_PRESETS]
    gradient(work, adapter)
    for name, seed in [*arms, *((name, seed) for seed in SEEDS for name in CURRICULA)]:
        told = kept(work / f"{name}_{seed}")
        need = ROOM if told else seconds + ROOM
        if "figures" in told:
            continue
        if time.monotonic() - began + need > until:
            print(f"{name} {seed} is left for another sitting", flush=True)
            return
        run_arm(name, seed, work, adapter, seconds, overrides)


def asked() -> Iterator[Wanted]:
    """Every problem that arms will ask for."""
    config, mix = load_train_config(CONFIG, None, ()), load_train_config(MIX, None, ())
    wanted: list[tuple[Mapping[str, Any], Any, int, int]] = []
    for kind in FAULT_KINDS:
        wanted.append((tiny(kind) | TABLE, "select", max(TASKS, PROBE), 0))
        wanted += [(tiny(kind) | TABLE, "train", config.train.tasks, seed) for seed in SEEDS]
    wanted += [({"size": size, "subtlety": "near"} | TABLE, "select", EACH, 0) for size in SIZES]
    wanted += [(mix.env.args, "train", mix.train.tasks, seed) for seed in SEEDS]
    wanted += [({"cell": cell} | TABLE, "select", CELL, 0) for cell in CELL_NAMES]
    for args, split, n, seed in wanted:
        yield args, split, stratified_sample(FAMILY.build("", "", args), split, n, seed)


# ---------------------------------------------------------------------------------------------- what they came to


def collect(work: Path, out: Path) -> None:
    """Presets and curricula with a value for each seed, and the cells; what `out` held stays where it is the same."""
    kept_arms, left_out = agreeing(held_in(out), arms_of(work))
    made = {(told["arm"], told["seed"]): told for told in kept_arms}
    arms = {
        name: [told for (arm, _), told in sorted(made.items()) if arm == name and "figures" in told]
        for name in (*GRPO_PRESETS, *CURRICULA)
    }
    found: dict[str, Any] = {"presets": [_preset(name, arms[name]) for name in GRPO_PRESETS if arms[name]]}
    found["curriculum"] = {name: _curriculum(arms[name]) for name in CURRICULA if arms[name]}
    if ("gradient", 0) in made:
        found["gradient"] = {cell: _cell(cell, told) for cell, told in made["gradient", 0]["cells"].items()}
    if ("start", 0) in made:
        begun = made["start", 0]
        found |= {"begun": begun["begun"]} if "begun" in begun else {}
        found |= {"type": begun["type"], "start": {kind: told["repaired"] for kind, told in begun["types"].items()}}
    found["seconds"] = {name: [told["seconds"] for told in own] for name, own in arms.items() if own}
    counts = ", ".join(f"{name} {len(own)}" for name, own in arms.items() if own)
    write_results(out, {**found, **circumstances(kept_arms), "made": kept_arms}, left_out, counts)


def _preset(name: str, made: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A row as `whet ablate` writes them, of arms of equal time."""
    return {
        "preset": name,
        "seeds": [next(iter(told["figures"].values()))["repaired"] for told in made],
        "under": [told["seed"] for told in made],
        "steps": [told["steps"] for told in made],
        "rollouts": sum(told["rollouts"] for told in made),
        "signal": fmean(told["signal"] for told in made),
        "stability": fmean(told["stability"] for told in made),
        "seconds": fmean(told["seconds"] for told in made),
    }


def _curriculum(made: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    rungs = {size: [told["figures"][size]["repaired"] for told in made] for size in SIZES}
    return {
        "seeds": [fmean(values) for values in zip(*rungs.values(), strict=True)],
        "under": [told["seed"] for told in made],
        "rungs": rungs,
        "steps": [told["steps"] for told in made],
        "seconds": fmean(told["seconds"] for told in made),
    }


def _cell(cell: str, told: Mapping[str, Any]) -> dict[str, Any]:
    band = BANDS[cell.rpartition("_")[2]]
    low, high = told["interval"]
    verdict = against(Estimate(told["repaired"], Interval(low, high), told["n"]), band)
    return {
        "repaired": told["repaired"],
        "interval": [low, high],
        "n": told["n"],
        "band": list(band),
        "verdict": verdict,
    }


def main() -> None:
    what = ("warm", "adopt", "all", "arm", "start", "gradient", "collect")
    parser = arm_parser(__doc__, what, (*GRPO_PRESETS, *CURRICULA), "ablation.json")
    parser.add_argument("--seconds", type=float, default=75.0, help="of training, for each arm")
    parser.add_argument("--until", type=float, default=1500.0, help="all: seconds after which no arm is begun")
    parser.add_argument("--adapter", type=Path, help="of imitation; default: sft_0/adapter of the work folder")
    given, work = read_arm_options(parser)
    if given.what == "warm":
        make_all(work, given.processes, asked())
    elif given.what == "adopt":
        sys.exit(min(1, adopt(work, asked())))
    elif given.what == "collect":
        collect(work, given.out)
    else:
        on_weights(given, work, given.adapter.resolve() if given.adapter else weights_of(work, "sft", 0))


def on_weights(given: Namespace, work: Path, adapter: Path) -> None:
    if given.what == "start":
        start(work, adapter)
    elif given.what == "gradient":
        gradient(work, adapter)
    elif given.what == "all":
        run_all(work, adapter, given.seconds, given.until, given.overrides)
    else:
        run_arm(given.name, given.seed, work, adapter, given.seconds, given.overrides)


if __name__ == "__main__":
    main()
