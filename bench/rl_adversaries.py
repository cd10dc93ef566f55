"""What programs that learn nothing do on the very problems that the arms of `bench/rl.py` are measured on.

python bench/rl_adversaries.py [--processes 2] [--rungs tiny,small] [--out results/adversaries.json]

Reference policies play them under the same arguments and within the same ten steps: those that act blindly, a search
over edits that is told when it has the repair, and the oracle, which knows it. A compiler of the table is not played:
it holds every line of the specification against the model, and its edit is judged as a repair is. Fingers point at one
element and see the model, its subsystem and a solver, not the specification; chance points blindly at what a solver
cannot tell apart. Theirs stands beside what a policy blames.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean
from typing import Any

import ordebug_compiler as compiler
from ordebug_adversaries import FINGERS, chance
from rl_problems import RUNGS, in_parts, rung_of
from rl_records import environment_code

from whet.envs.ordebug.environment import instance_of
from whet.envs.ordebug.family import FAMILY
from whet.evals.sample import stratified_sample
from whet.rollout.drive import drive
from whet.rollout.workbench import Workbench
from whet.types import Task

HERE = Path(__file__).parents[1]
POLICIES = ("random", "drop-first-iis", "elastic", "greedy", "search", "oracle")
COMPILER = "compiler of the table"
CHANCE = "chance"

Said = dict[str, dict[str, float]]
"""Of one problem: who repairs it, and who points at something wrong."""


def looked_at(job: tuple[str, Sequence[int]]) -> list[Said]:
    """Some problems of a rung, in a process of a pool."""
    rung, indices = job
    args, split, _ = rung_of(rung)
    env = FAMILY.build("", "", args)
    with Workbench() as perform:
        return [_of(env, env.task(split, index), perform) for index in indices]


def _of(env: Any, task: Task, perform: Any) -> Said:
    instance, known = instance_of(task), env.baselines()
    repaired: dict[str, float] = {}
    for name in POLICIES:
        answer = known[name]
        driven = drive(env.play(task), lambda said, _, answer=answer: answer(task, said), perform)
        repaired[name] = float(driven.score.hard)
    repaired[COMPILER] = float(compiler.attempt(instance, "table").repaired)
    pointing = {name: float(finger(instance) in instance.elements) for name, finger in FINGERS.items()}
    return {"repaired": repaired, "pointing": {CHANCE: chance(instance), **pointing}}


def measured(rungs: Sequence[str], processes: int) -> dict[str, Any]:
    """Shares by name and rung."""
    found: dict[str, Any] = {"repaired": {}, "pointing": {}, "n": {}}
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for rung in rungs:
            began = time.monotonic()
            said = [one for part in pool.map(looked_at, _jobs(rung)) for one in part]
            found["n"][rung] = len(said)
            for kind in ("repaired", "pointing"):
                for name in said[0][kind]:
                    found[kind].setdefault(name, {})[rung] = fmean(one[kind][name] for one in said)
            print(f"{rung}: {len(said)} problems, {time.monotonic() - began:.0f} s", flush=True)
    return found | {"environment": environment_code("ordebug")}


def _jobs(rung: str) -> Iterator[tuple[str, Sequence[int]]]:
    args, split, n = rung_of(rung)
    indices = stratified_sample(FAMILY.build("", "", args), split, n, 0)
    yield from ((rung, part) for part in in_parts(sorted(indices), 5))


def told(found: Mapping[str, Any]) -> str:
    """A line for each program."""
    rungs = list(found["n"])
    lines = [f"{'':24}" + "".join(f"{rung:>10}" for rung in rungs)]
    for kind in ("repaired", "pointing"):
        lines += [
            f"{name:24}" + "".join(f"{shares[rung]:10.3f}" for rung in rungs) for name, shares in found[kind].items()
        ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--rungs", default=",".join(RUNGS))
    parser.add_argument("--out", type=Path, default=HERE / "results" / "adversaries.json")
    given = parser.parse_args()
    rungs = [name for name in given.rungs.split(",") if name]
    if given.processes < 1 or not rungs or any(name not in RUNGS for name in rungs):
        parser.error(f"--processes: at least 1; --rungs: of {', '.join(RUNGS)}")
    found = measured(rungs, given.processes)
    given.out.write_text(json.dumps(found, indent=1) + "\n")
    print(told(found))
    print(given.out)


if __name__ == "__main__":
    main()
    sys.exit(0)
