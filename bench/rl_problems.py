"""What the arms of `ordebug` learn from and are measured on: problems and worked attempts, made beforehand.

Problems lie in the environment's cache, under names that follow from the generator and the version of its libraries.
So those that were made on one machine are not found on another whose numpy is another: there each is made anew when it
is first asked for, in the middle of a training, which took more time than all else. `adopt` files them under the names
of the machine that it runs on. They are the same problems, certified where they were made; where the generator or its
solver is another one, they are not, and nothing is filed.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from whet.apps.ordebug.traces import write_traces
from whet.envs.closure import Part
from whet.envs.fingerprint import closure_of
from whet.envs.ordebug import cache
from whet.envs.ordebug.environment import GeneratedInstances, OrDebug
from whet.envs.ordebug.family import FAMILY
from whet.evals.sample import stratified_sample
from whet.keys import digest
from whet.run.train import load_train_config

HERE = Path(__file__).parents[1]
CONFIGS = HERE / "examples" / "rl"
TABLE = {"spec": "table", "max_steps": 10}
RUNGS: dict[str, tuple[dict[str, Any], int]] = {
    "tiny": ({"size": "tiny", "subtlety": "near"}, 100),
    "small": ({"size": "small", "subtlety": "near"}, 200),
    "medium": ({"size": "medium", "subtlety": "near"}, 200),
    "hard": ({"difficulty": "hard"}, 40),
    "held_out": ({"up_to": "medium", "subtlety": "near", "families": "held_out"}, 90),
}
"""What an arm is measured on: arguments of the environment, and how many problems."""
TRACES = int(os.environ.get("RL_TRACES", "2000"))
LOOKED_UP = float(os.environ.get("RL_LOOKED_UP", "1"))
"""Share of them that look requirements up: with all, imitation repaired more, and reinforcement rose faster."""
PLAYED = int(os.environ.get("RL_PLAYED", "400"))
"""Train problems at which the imitator plays for itself, in the arm that learns from its own solved plays."""
SEEDS = (0, 1, 2)

GENERATOR = "generator.json"
"""In a work folder: by what its problems were made."""

Wanted = tuple[Mapping[str, Any], Any, Sequence[int]]
"""Arguments, a split, and places in it."""


def rung_of(name: str) -> tuple[dict[str, Any], Any, int]:
    """Arguments, split and number of problems of a rung: 'small' of test, 'small@select' of problems to choose by."""
    rung, _, split = name.partition("@")
    if rung not in RUNGS or split not in ("", "select"):
        raise KeyError(name)
    args, n = RUNGS[rung]
    return args | TABLE, split or "test", n


def wanted(rungs: Sequence[str], seeds: Sequence[int] = SEEDS, tasks: Sequence[int] = ()) -> Iterator[Wanted]:
    """Every problem that arms under these seeds will ask for.

    `tasks`: where a recipe sets another number of train tasks than its config, that number; they are other problems.
    """
    for name in rungs:
        args, split, n = rung_of(name)
        yield args, split, stratified_sample(FAMILY.build("", "", args), split, n, 0)
    for config in (load_train_config(CONFIGS / f"ordebug_{name}.toml", None, ()) for name in ("sft", "grpo")):
        env, args = FAMILY.build("", "", config.env.args), config.env.args
        for seed in seeds:
            yield args, "select", stratified_sample(env, "select", config.train.select, seed)
            yield args, "train", stratified_sample(env, "train", config.train.tasks, seed)
            yield args, "train", stratified_sample(env, "train", PLAYED, seed)
            if config.learner == "grpo":
                yield from ((args, "train", stratified_sample(env, "train", count, seed)) for count in tasks)


def warm(
    work: Path, processes: int, rungs: Sequence[str], seeds: Sequence[int] = SEEDS, tasks: Sequence[int] = ()
) -> None:
    """Every problem that arms will ask for, into the cache; by what they were named, into the work folder."""
    make_all(work, processes, wanted(rungs, seeds, tasks))


def make_all(work: Path, processes: int, asked: Iterable[Wanted]) -> None:
    """Make what is asked for, in so many processes; by what it was named is written into the work folder."""
    began = time.monotonic()
    jobs = [(args, split, part) for args, split, indices in asked for part in in_parts(sorted(set(indices)), 10)]
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        done = sum(pool.map(make_problems, jobs))
    (work / GENERATOR).write_text(json.dumps(generator()))
    print(f"{done} problems, {time.monotonic() - began:.0f} s", flush=True)


def generator() -> dict[str, str]:
    """What problems are named by on this machine, and that without numpy, from which they take no chance."""
    return {"name": cache.generator_digest(), "kept": closure_of(Part(cache.GENERATOR)).digest(("numpy",))}


def worked_attempts(work: Path, processes: int) -> None:
    """Worked attempts at train problems, once."""
    began, traces = time.monotonic(), work / "traces.jsonl"
    if not traces.exists():
        args = dict(load_train_config(CONFIGS / "ordebug_sft.toml", None, ()).env.args)
        told = write_traces(traces, n=TRACES, args=args, processes=processes, looked_up=LOOKED_UP)
        took = time.monotonic() - began
        print(f"{told.count} worked attempts, {told.replies:.2f} replies each, {took:.0f} s", flush=True)


def adopt(work: Path, asked: Iterable[Wanted]) -> int:
    """File problems that were made elsewhere under the names that they have here; how many are missing."""
    began, ours = time.monotonic(), generator()
    try:
        theirs = json.loads((work / GENERATOR).read_text())
    except FileNotFoundError:
        raise SystemExit(
            f"{work / GENERATOR} is missing: it comes with the problems, from the folder of `warm`"
        ) from None
    if theirs["kept"] != ours["kept"]:
        raise SystemExit(f"{work}: its problems are of another generator or solver than the one here; make them anew")
    store = cache.Cache(cache.default_folder())
    known = filed = missing = 0
    for args, split, indices in asked:
        env = FAMILY.build("", "", args)
        assert isinstance(env, OrDebug)
        for index in indices:
            place = _place(env, split, index)
            name = digest(ours["name"], *place)
            if (store.folder / "names" / name).exists():
                known += 1
            elif (found := store.get(digest(theirs["name"], *place))) is not None:
                store.put(name, found)
                filed += 1
            else:
                missing += 1
    took = time.monotonic() - began
    print(f"{known} problems known, {filed} filed, {missing} missing, {took:.1f} s", flush=True)
    return missing


def _place(env: OrDebug, split: Any, index: int) -> tuple[Any, ...]:
    """What a problem is asked for by, as the cache spells it."""
    source = env._source
    assert isinstance(source, GeneratedInstances)
    turn, place = divmod(index, len(source._cells))
    return source._cells[place].name, split, turn, list(source.families(split)), 0


def in_parts(indices: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    for start in range(0, len(indices), size):
        yield indices[start : start + size]


def make_problems(job: Wanted) -> int:
    """Make problems that are not there yet, in a process of a pool."""
    args, split, indices = job
    env = FAMILY.build("", "", args)
    for index in indices:
        env.task(split, index)
    return len(indices)
