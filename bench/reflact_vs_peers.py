"""ReflACT against SkillOpt and GEPA at an equal number of target calls, in a world whose truth is known.

    python bench/reflact_vs_peers.py [--quick] [--json FILE] [--workers N] [--runs FILE] [--render]
                                     [--part table|scan|best|null|facts|real] [--seeds N] [--family NAME]
                                     [--system NAME] [--carried FOLDER]

All three talk to one loopback server (`reflact_peers/server.py`): a simulated target whose success follows from the
edits in the skill it is shown, and a simulated optimiser that draws edits by one law from a pool. Every seed has a
pool of its own, drawn in one of four families (`reflact_peers/world.py`). Seeds below 1000 are for choosing settings
(`--part scan` scans those of all three on them), the table is of others; `best` has each peer on the pools of the table
with the setting that did best in the scan, beside Whet's defaults. Helpful edits are likelier to be thought of
where the prompt shows right answers. A score is exact: the mean solve probability, over all tasks there could be, of
the skill exported as best. False accepts are accepted changes whose true effect, within the skill that was accepted,
is zero or less. `null`: a world in which no edit does anything, and how often Whet's gate lets one in. `facts`: three
tasks whose answers only the feedback gives away, with an optimiser that uses what stands in its prompt. `real`: each
system once with a small real model as target.

The peers come from the package index into virtual environments under `.bench/`, made at the first run; `--carried`
names a folder that holds their packages unpacked, a folder for each, where there is no index. Runs are spread over N
processes. With `--runs`, each is a line of that file: what is there is not run again, and `--render` runs nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field, replace
from itertools import count, islice
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from reflact_peers.systems import PINS, SYSTEMS, Outcome, System, run
from reflact_peers.world import FAMILIES, drawn_world
from rows import Row, report

BATCHES = {"skillopt": 30, "gepa": 3, "whet": 20}
"""Train tasks of a step: for SkillOpt the best of a scan; GEPA's and Whet's are their defaults."""

FIRST, CHOOSING, POOLS = 3001, 100, 16
"""The first seed of the table, whose pools were not looked at when a setting was chosen, and the seeds of the scan.

Seeds from 2001 to 2032 were an earlier table, which showed that the race drops bundles of many small edits."""

BUDGET = 1500
PARTS = ("table", "null", "facts", "real")

SCAN: dict[System, dict[str, dict[str, Any]]] = {
    "gepa": {
        "default": {},
        "minibatch 6": {"reflection_minibatch_size": 6},
        "minibatch 10": {"reflection_minibatch_size": 10},
        "minibatch 20": {"reflection_minibatch_size": 20},
        "merge": {"use_merge": True},
        "minibatch 10, merge": {"reflection_minibatch_size": 10, "use_merge": True},
        "current best": {"candidate_selection_strategy": "current_best"},
        "epsilon greedy": {"candidate_selection_strategy": "epsilon_greedy"},
        "top 5": {"candidate_selection_strategy": "top_k_pareto"},
        "equal accepted": {"acceptance_criterion": "improvement_or_equal"},
    },
    "skillopt": {
        "default": {},
        "batch 10": {"batch_size": 10},
        "batch 20": {"batch_size": 20},
        "batch 60": {"batch_size": 60},
        "edits 2": {"edit_budget": 2},
        "edits 8": {"edit_budget": 8},
        "no slow update": {"use_slow_update": False},
        "no slow update, no memo": {"use_slow_update": False, "use_meta_skill": False},
        "slow update gated": {"slow_update_gate_with_selection": True},
        "constant": {"lr_scheduler": "constant"},
    },
    "whet": {
        "default": {},
        "evidence off": {"update": {"evidence": False}},
        "2 probes": {"update": {"probes": 2}},
        "8 probes": {"update": {"probes": 8}},
        "probes of 12": {"update": {"probe_tasks": 12, "probes": 2}},
        "minibatch 8": {"reflect": {"minibatch": 8}},
        "enough 10": {"reflect": {"enough": 10}},
        "rounds": {"gate": {"pace": "brief"}},
        "credit": {"update": {"credit": True}},
        "halves": {"update": {"bring": "halves"}},
    },
}
"""Settings tried on pools for choosing, as many for each system."""


# --------------------------------------------------------------------------------------------- runs


@dataclass(frozen=True, slots=True)
class Job:
    """One run to be made; `family` '' is that of the seed."""

    system: System
    seed: int
    budget: int = BUDGET
    variant: str = "default"
    family: str = ""
    settings: dict[str, Any] = field(default_factory=dict, hash=False, compare=False)

    @property
    def name(self) -> str:
        return f"{self.system}/{self.variant}/{self.family or family_of(self.seed)}/{self.seed}/{self.budget}"


def family_of(seed: int) -> str:
    return list(FAMILIES)[seed % len(FAMILIES)]


def held_out(options: argparse.Namespace) -> list[int]:
    """Seeds of the table; with `--family` as many of that family alone."""
    seeds = (seed for seed in count(FIRST) if options.family in ("", family_of(seed)))
    return list(islice(seeds, options.seeds))


def made(job: Job, carried: Path | None) -> Outcome:
    world = drawn_world(job.family or family_of(job.seed), job.seed)
    return run(job.system, world, job.seed, job.budget, BATCHES[job.system], settings=job.settings, carried=carried)


def outcomes(jobs: Sequence[Job], options: argparse.Namespace) -> dict[str, Outcome]:
    """Every run by its name, those on file as they are; none is made with `--render`."""
    file: Path = options.runs
    lines = file.read_text().splitlines() if file.exists() else []
    known = {row["name"]: Outcome(**row["outcome"]) for row in map(json.loads, lines)}
    missing = [job for job in jobs if job.name not in known]
    if missing and not options.render:
        with ProcessPoolExecutor(options.workers) as pool, file.open("a") as out:
            waiting = {pool.submit(made, job, options.carried): job for job in missing}
            for done in as_completed(waiting):
                name = waiting[done].name
                try:
                    outcome = done.result()
                except RuntimeError as problem:  # one run that fails costs no other
                    print(f"{name}: {problem}", file=sys.stderr)
                    continue
                known[name] = outcome
                print(json.dumps({"name": name, "outcome": asdict(outcome)}), file=out, flush=True)
                print(f"{name}: {outcome.score:.3f}, {outcome.optimizer_tokens} optimiser tokens", file=sys.stderr)
    return {job.name: known[job.name] for job in jobs if job.name in known}


# --------------------------------------------------------------------------------------------- the table


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure of a run; `more` says whether more of it is better, None that it is told without a bar."""

    name: str
    unit: str
    of: Callable[[Outcome], float]
    more: bool | None = False


MEASURES = (
    Measure("true_score", "solved", lambda found: found.score, more=True),
    Measure("optimizer_tokens", "tokens", lambda found: found.optimizer_tokens),
    Measure("optimizer_calls", "calls", lambda found: found.optimizer_calls, more=None),
    Measure("target_calls", "calls", lambda found: found.target_calls),
    Measure("target_tokens", "tokens", lambda found: found.target_tokens, more=None),
    Measure("false_accepts", "edits", lambda found: found.false_accepts),
    Measure("useless_exported", "edits", lambda found: found.useless, more=None),
    Measure("playbook", "bytes", lambda found: found.bytes, more=None),
    Measure("accepted", "edits", lambda found: found.accepted, more=None),
    Measure("cpu", "s", lambda found: found.cpu, more=None),
    Measure("wall", "s", lambda found: found.wall, more=None),
)


def interval(pairs: Sequence[float]) -> tuple[float, float]:
    """A bootstrap interval (95 %) of the mean over seeds."""
    rng = np.random.default_rng(1)
    means = rng.choice(np.asarray(pairs), (4000, len(pairs))).mean(axis=1)
    return float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975))


def compared(name: str, measure: Measure, ours: list[float], theirs: list[float], peer: str, lead: bool) -> Row:
    """A row; `lead`: a score must be ahead with an interval above 0, else only not behind beyond noise."""
    mine, other = fmean(ours), fmean(theirs)
    pairs = [own - their for own, their in zip(ours, theirs, strict=True)]
    low, high = interval(pairs)
    if measure.more is None:
        holds = None
    elif measure.more:
        holds = low > 0.0 if lead else high >= 0.0
    else:
        holds = mine <= other
    return Row(
        name=name,
        value=mine,
        unit=measure.unit,
        bar=None if measure.more is None else other,
        holds=holds,
        peer=PINS[peer].replace("==", " "),
        peer_value=other,
        ratio=mine / other if other else 0.0,
        condition=f"{len(pairs)} seeds, difference {fmean(pairs):+.4g}, 95 % {low:+.4g} to {high:+.4g}",
    )


def table(options: argparse.Namespace) -> Iterator[Row]:
    """One row for each measure and peer, then the score by family."""
    seeds = held_out(options)
    jobs = [Job(system, seed) for seed in seeds for system in SYSTEMS]
    found = outcomes(jobs, options)
    whole = [seed for seed in seeds if all(Job(system, seed).name in found for system in SYSTEMS)]

    def figures(system: System, measure: Measure, some: Sequence[int]) -> list[float]:
        return [measure.of(found[Job(system, seed).name]) for seed in some]

    for measure in MEASURES if whole else ():
        for peer in PINS:
            ours, theirs = figures("whet", measure, whole), figures(peer, measure, whole)
            yield compared(f"{measure.name}/{BUDGET}/{peer}", measure, ours, theirs, peer, lead=True)
    for family in FAMILIES:
        some = [seed for seed in whole if family_of(seed) == family]
        for peer in PINS if some else ():
            ours, theirs = figures("whet", MEASURES[0], some), figures(peer, MEASURES[0], some)
            yield compared(f"family/{family}/{peer}", MEASURES[0], ours, theirs, peer, lead=False)
    gone = [outcome for outcome in found.values() if outcome.target_calls > BUDGET]
    yield Row(f"over_budget/{BUDGET}", len(gone), "runs", 0, not gone, condition="target calls by the server's count")


# --------------------------------------------------------------------------------------------- other parts


def scan_jobs(system: System, variant: str) -> list[Job]:
    """The runs of a setting on the pools for choosing."""
    seeds = range(CHOOSING, CHOOSING + POOLS)
    return [Job(system, seed, variant=variant, settings=SCAN[system][variant]) for seed in seeds]


def scan(options: argparse.Namespace) -> Iterator[Row]:
    """Every setting of every system on the same pools for choosing."""
    systems = [system for system in SCAN if not options.system or system in options.system]
    asked = [(system, variant) for system in systems for variant in SCAN[system]]
    found = outcomes([job for setting in asked for job in scan_jobs(*setting)], options)
    for system, variant in asked:
        mine = [found[job.name] for job in scan_jobs(system, variant) if job.name in found]
        if mine:
            tokens = fmean(outcome.optimizer_tokens for outcome in mine)
            told = f"{len(mine)} seeds for choosing, {tokens:.0f} optimiser tokens"
            yield Row(f"scan/{system}/{variant}", fmean(outcome.score for outcome in mine), "solved", condition=told)


def best(options: argparse.Namespace) -> Iterator[Row]:
    """Each peer with its best setting of the scan on file, beside Whet's defaults on the pools of the table."""
    seeds = held_out(options)
    for peer in PINS:
        system: System = "gepa" if peer == "gepa" else "skillopt"
        known = outcomes([job for variant in SCAN[system] for job in scan_jobs(system, variant)], _rendering(options))
        means = {
            variant: fmean(known[job.name].score for job in scan_jobs(system, variant))
            for variant in SCAN[system]
            if all(job.name in known for job in scan_jobs(system, variant))
        }
        if not means:
            continue
        chosen = max(means, key=lambda variant: means[variant])
        pairs = [
            (Job("whet", seed), Job(system, seed, variant=chosen, settings=SCAN[system][chosen])) for seed in seeds
        ]
        found = outcomes([job for pair in pairs for job in pair], options)
        whole = [pair for pair in pairs if all(job.name in found for job in pair)]
        for measure in MEASURES[:2] if whole else ():
            ours, theirs = ([measure.of(found[pair[at].name]) for pair in whole] for at in (0, 1))
            row = compared(f"best/{measure.name}/{peer}", measure, ours, theirs, peer, lead=True)
            yield replace(row, condition=f"{row.condition}; {peer} with {chosen!r}, {means[chosen]:.3f} in the scan")


def _rendering(options: argparse.Namespace) -> argparse.Namespace:
    return argparse.Namespace(**{**vars(options), "render": True})


def null(options: argparse.Namespace) -> Iterator[Row]:
    """How often a candidate gets through where no edit does anything: the level of the gate is 0.1 a decision."""
    jobs = [Job("whet", seed, family="null") for seed in range(FIRST, FIRST + options.seeds)]
    found = outcomes(jobs, options).values()
    decisions = sum(outcome.decisions for outcome in found)
    accepted = sum(outcome.acceptances for outcome in found)
    if found:
        told = f"{accepted} of {decisions} decisions in {len(found)} runs"
        share = accepted / decisions if decisions else 0.0
        yield Row("null/accepted", share, "share", 0.1, accepted <= 0.1 * decisions, condition=told)


def facts(options: argparse.Namespace) -> Iterator[Row]:
    """The sealed test of the fact tasks at the defaults."""
    from fact_tasks import TASKS, learnt

    for task in TASKS if not options.render else ():
        with tempfile.TemporaryDirectory() as folder:
            summary = learnt(task, Path(folder)).summary
        told = f"start {summary['baseline_test_hard']:.2f}, defaults, an optimiser that only reads"
        score = summary["test_hard"]
        yield Row(f"facts/{task.name}", score, "solved", 0.85, score >= 0.85, condition=told)


def real(options: argparse.Namespace) -> Iterator[Row]:
    from reflact_peers.real import tried_on_real_model

    yield from tried_on_real_model(options.quick) if not options.render else ()


def rows(options: argparse.Namespace) -> Iterator[Row]:
    if "table" in options.part:
        for family in FAMILIES:
            world = drawn_world(family, FIRST)
            yield Row(f"start/{family}", world.score(()), "solved", condition="the skill that all begin with")
            yield Row(f"ceiling/{family}", world.ceiling(), "solved", condition="all edits that help, added greedily")
    for part in options.part:
        yield from {"table": table, "scan": scan, "best": best, "null": null, "facts": facts, "real": real}[part](
            options
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few seeds: the same rows, wider intervals")
    parser.add_argument("--json", type=Path, help="also write the rows here")
    parser.add_argument("--workers", type=int, default=1, help="runs at a time, a process each")
    parser.add_argument("--runs", type=Path, help="a file with a line for each run: what is there is not run again")
    parser.add_argument("--render", action="store_true", help="run nothing: rows of what --runs holds")
    parser.add_argument(
        "--part", action="append", choices=(*PARTS, "scan", "best"), help="default: all but scan and best"
    )
    parser.add_argument("--seeds", type=int, help="seeds of the table, 32 unless told")
    parser.add_argument("--family", default="", choices=("", *FAMILIES), help="the table and best of this family only")
    parser.add_argument("--system", action="append", choices=SYSTEMS, help="scan the settings of this one only")
    parser.add_argument("--carried", type=Path, help="a folder with the packages of each peer, unpacked")
    options = parser.parse_args()
    options.part = options.part or PARTS
    options.seeds = options.seeds or (2 if options.quick else 32)
    with tempfile.TemporaryDirectory() as folder:
        options.runs = options.runs or Path(folder) / "runs.jsonl"
        report(rows(options), options.json)


if __name__ == "__main__":
    sys.exit(main())
