"""Whet among others: python bench/scale.py --part verifiers --v0 PYTHON --v1 PYTHON [--quick] [--json FILE].

`--v0` and `--v1` are interpreters of virtual environments that hold verifiers 0.3.1 and 0.4.0 with this Whet. Scripted
transcripts go through an environment at home and abroad, and the scores are compared task by task: one of ours in each
line, five of theirs in ours (one takes several turns, two raise in their grader, one brings tools). Then the rollouts a
second of a taskset of theirs in our loop, beside their own chat harness on the same tasks, server and machine.

`--part ray` needs neither: what Ray costs, what two workers bring, what is left after kills (`scale_ray.py`).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rows import Row, report

ROOT = Path(__file__).resolve().parent.parent
THEIRS = ROOT / "tests" / "interop" / "theirs"
sys.path[:0] = [str(ROOT / "tests" / "interop"), str(ROOT / "examples")]

from script import respond, serving  # noqa: E402

from whet.apps.interop.package import export_verifiers  # noqa: E402
from whet.envs.base import Environment  # noqa: E402
from whet.envs.registry import load_environment  # noqa: E402
from whet.errors import FaultError  # noqa: E402
from whet.ledger.writer import LedgerWriter  # noqa: E402
from whet.models.load import load_model  # noqa: E402
from whet.models.options import ModelOptions  # noqa: E402
from whet.rollout.drive import drive  # noqa: E402
from whet.rollout.engine import Engine  # noqa: E402
from whet.rollout.player import Players, Seat  # noqa: E402
from whet.rollout.progress import Quiet  # noqa: E402
from whet.rollout.purse import Purse  # noqa: E402
from whet.rollout.workbench import Workbench  # noqa: E402
from whet.rollout.works import Works  # noqa: E402
from whet.types import SPLITS, Policy, Ticket  # noqa: E402

Json = dict[str, Any]


def at_home(python: Path, folder: Path, *words: object) -> Json:
    """What their harness makes of it."""
    program = [str(python), str(ROOT / "tests" / "interop" / "home.py"), *map(str, words)]
    path = f"{python.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}"  # their harness wants uv
    done = subprocess.run(
        program, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"verifiers did not run {words[1]}:\n{done.stderr[-2000:]}")
    found: Json = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def here(env: Environment, tasks: int) -> dict[int, float | None]:
    """Our score of each row of theirs; None for a fault."""
    scores: dict[int, float | None] = {}
    with Workbench() as bench:
        for split in SPLITS:
            for index in range(env.size(split) or 0):
                task = env.task(split, index)
                if task.data["row"] >= tasks:
                    continue
                try:
                    scores[task.data["row"]] = drive(env.play(task), respond, bench).score.reward
                except FaultError as error:
                    if error.fault.kind != "grader_raised":
                        raise
                    scores[task.data["row"]] = None
    return scores


def agreement(home: list[Json], ours: dict[int, float | None], silent: bool = False) -> tuple[int, int]:
    """Tasks on which both say the same, and those on which the grader raised. `silent`: their line says 0 for that."""
    same = raised = 0
    for number, score in enumerate(home):
        mine = ours[number]
        raised += mine is None
        if mine is None:
            same += (not score["ok"]) or (silent and score["reward"] == 0.0)
        else:
            same += score["ok"] and abs(score["reward"] - mine) < 1e-9
    return same, raised


MODULES = {"vf0_hunt": "v0", "vf0_raises": "v0", "vf1_sums": "v1", "vf1_raises": "v1", "vf1_tools": "v1"}

BY_SERVERS = 20
"""Tasks with tools that their harness plays at most: it starts a server for each attempt, 15 s of CPU."""


def theirs(url: str, pythons: dict[str, Path], modules: list[str], tasks: int, few: int) -> Iterator[Row]:
    for module in modules:
        line = MODULES[module]
        scheme = "verifiers0" if line == "v0" else "verifiers"
        os.chdir(THEIRS)
        env = load_environment(f"{scheme}:{module}", {"python": str(pythons[line])})
        ours = here(env, tasks)
        ways = {  # the sums go by harness below
            "vf1_sums": ("score",),
            "vf1_raises": ("score", "harness"),
            "vf1_tools": ("harness",),
        }
        for how in ways.get(module, ("evaluate",)):
            many = few if how == "harness" else tasks
            many = min(many, BY_SERVERS) if module == "vf1_tools" else many
            home = at_home(pythons[line], THEIRS, line, module, url, many, 8, how)["scores"]
            same, raised = agreement(home, ours, silent=line == "v0")
            condition = f"{many} transcripts, home by {how}; its grader raised on {raised}"
            yield Row(f"theirs_{module}_{how}", same / many, "agree", 1.0, same == many, condition=condition)


def ours_abroad(url: str, pythons: dict[str, Path], tasks: int, few: int) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as place:
        package = export_verifiers(f"{ROOT}/examples/sums.py:Sums", Path(place) / "package", {})
        env = load_environment(f"{ROOT}/examples/sums.py:Sums")
        home = [drive(env.play(env.task("train", index)), respond).score.reward for index in range(tasks)]
        for line, how in (("v0", "evaluate"), ("v1", "score"), ("v1", "harness")):
            many = few if how == "harness" else tasks
            abroad = at_home(pythons[line], package.folder, line, package.module, url, many, 8, how)["scores"]
            same = sum(score["ok"] and score["reward"] == mine for score, mine in zip(abroad, home, strict=False))
            solved = sum(home[:many])
            condition = f"{many} transcripts, {solved:g} solved, abroad by {how}"
            yield Row(f"ours_sums_{line}_{how}", same / many, "agree", 1.0, same == many, condition=condition)


def rate(url: str, python: Path, few: int) -> Iterator[Row]:
    """Rollouts a second through the engine and the ledger, and through their harness, started and loaded both."""
    os.chdir(THEIRS)
    env = load_environment("verifiers:vf1_sums", {"python": str(python), "args": {"n": 400}})
    plan = [Ticket("eval", split, index) for split in SPLITS for index in range(env.size(split) or 0)]

    async def play() -> float:
        model = load_model("openai:m", ModelOptions(base_url=url))
        works = Works()
        with tempfile.TemporaryDirectory() as folder, LedgerWriter.create(Path(folder) / "run") as ledger:
            seat = Seat(Policy(model.fingerprint), Players().add(model))
            engine = Engine(env, {"target": seat}, ledger, Purse(journal=ledger.journal), works, concurrency=32)
            await engine.run(plan[:1], progress=Quiet())
            began = time.perf_counter()
            tally = await engine.run(plan[1:], progress=Quiet())
            seconds = time.perf_counter() - began
            assert tally.done == len(plan) - 1, tally
        await works.close()
        await model.close()
        return (len(plan) - 1) / seconds

    mine = asyncio.run(play())
    home = at_home(python, THEIRS, "v1", "vf1_sums", url, few, 32, "harness")
    peer = few / home["seconds"]
    named = "verifiers 0.4.0, null harness"
    condition = f"{len(plan)} rollouts against {few}, concurrency 32, one server, both after a first attempt"
    bar = 20 * peer
    yield Row("verifiers_tasks_per_second", mine, "rollouts/s", bar, mine >= bar, named, peer, mine / peer, condition)
    same, raised = agreement(home["scores"], here(env, few))
    condition = f"{few} transcripts, home by harness; its grader raised on {raised}"
    yield Row("theirs_vf1_sums_harness", same / few, "agree", 1.0, same == few, condition=condition)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--part", choices=("verifiers", "ray"), default="verifiers")
    parser.add_argument("--only", choices=("theirs", "ours", "rate", *MODULES, "cost", "overhead", "smallest", "kills"))
    parser.add_argument("--v0", type=Path, help="interpreter with verifiers 0.3.1 and Whet")
    parser.add_argument("--v1", type=Path, help="interpreter with verifiers 0.4.0 and Whet")
    parser.add_argument("--quick", action="store_true", help="their harness on 8 tasks instead of 50")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.part == "ray":
        import scale_ray

        report(scale_ray.rows(options.quick, options.only), options.json)
        return
    if not (options.v0 and options.v1):
        parser.error("--part verifiers needs --v0 and --v1")
    pythons = {"v0": options.v0.absolute(), "v1": options.v1.absolute()}
    few = 8 if options.quick else 50

    def rows(url: str) -> Iterator[Row]:
        chosen = (
            list(MODULES) if options.only in (None, "theirs") else [name for name in MODULES if name == options.only]
        )
        yield from theirs(url, pythons, chosen, 50, few)
        if options.only in (None, "ours"):
            yield from ours_abroad(url, pythons, 50, few)
        if options.only in (None, "rate"):
            yield from rate(url, pythons["v1"], few)

    with serving() as url:
        report(rows(url), options.json.absolute() if options.json else None)


if __name__ == "__main__":
    main()
