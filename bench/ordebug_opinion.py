"""What everybody on the panel of `ordebug` has to say about one problem: adversaries, compilers, policies, another
engine.

Functions for `bench/ordebug.py`. A problem is looked at once, by itself, so that many can be looked at side by side.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import ordebug_cbc as cbc
import ordebug_compiler as compiler
from ordebug_adversaries import FINGERS, Features, chance, features, uniform
from ordebug_play import SHOWN, repaired

from whet.envs.ordebug.certificate import verify
from whet.envs.ordebug.families import FAMILIES, SEEN, draw
from whet.envs.ordebug.instance import Instance
from whet.envs.ordebug.ladder import EXTENTS, MISSING, Cell
from whet.envs.ordebug.maker import ATTEMPTS, broken, make
from whet.envs.ordebug.search import search
from whet.keys import seed_for

TRIES = 128
"""Edits that the search may try."""


@dataclass(frozen=True, slots=True)
class Group:
    """One row of the panel: so many problems of some cells, in turn. `rows`: so many in each model, where told."""

    name: str
    cells: tuple[Cell, ...]
    problems: int
    families: tuple[str, ...] = SEEN
    rows: int | None = None
    second: int = 5
    """Problems of the group that another engine is asked about."""


@dataclass(frozen=True, slots=True)
class Job:
    """The problem at a place of a group."""

    group: Group
    place: int
    seed: int


@dataclass(frozen=True, slots=True)
class Opinion:
    """What was said about a problem; None from those who were not asked.

    `sound`: its certificate holds on a second look. `agrees`: so says CBC.
    """

    kind: str
    family: str
    rows: int
    suspects: int
    chance: float
    uniform: float
    fingers: dict[str, bool]
    features: Features
    wrong: list[str]
    patterns: bool | None
    grammar: bool | None
    table: bool | None
    search: bool | None
    dropped: bool
    sound: bool
    oracle: bool
    agrees: bool | None


def opinion(job: Job) -> Opinion:
    """Make a problem and have it looked at by everybody who needs no training."""
    return opinion_of(instance_for(job), job.place < job.group.second)


def instance_for(job: Job) -> Instance:
    cells = job.group.cells
    cell, index = cells[job.place % len(cells)], job.place // len(cells)
    if job.group.rows is not None:
        return made_with(cell, job.group.rows, index, job.seed)
    return make(cell, "test", index, job.seed, job.group.families)


def made_with(cell: Cell, rows: int, index: int, seed: int) -> Instance:
    """A problem of a cell with exactly so many rows: the ends of a size are drawn too seldom to wait for."""
    for attempt in range(ATTEMPTS):
        rng = random.Random(seed_for("ordebug bench", seed, cell.name, rows, index, attempt))
        draft = draw(rng, FAMILIES[rng.choice(SEEN)], rows, round(rows * EXTENTS[cell.sizes[0]].columns))
        instance = broken(rng, cell, draft)
        if instance is not None:
            return instance
    raise RuntimeError(f"no problem of {cell.name} with {rows} rows came out")


def opinion_of(instance: Instance, asks_another: bool = False) -> Opinion:
    told = instance.certificate
    read = len(instance.sabotaged.rows) <= SHOWN
    contradicts = instance.kind != MISSING
    return Opinion(
        instance.kind,
        instance.family,
        len(instance.sabotaged.rows),
        min(map(len, told.suspects)) if contradicts else 0,
        chance(instance) if contradicts else 0.0,
        uniform(instance),
        {name: finger(instance) in instance.elements for name, finger in FINGERS.items()} if contradicts else {},
        features(instance) if contradicts else {},
        sorted(instance.elements),
        compiler.attempt(instance, "prose", "patterns").repaired if read else None,
        compiler.attempt(instance, "prose", "grammar").repaired if read else None,
        compiler.attempt(instance, "table").repaired if read else None,
        search(instance, TRIES).edits is not None if read else None,
        told.drop_first,
        not verify(instance),
        repaired((instance, "oracle")),
        cbc.agrees(instance) if asks_another else None,
    )


def ordered(groups: Sequence[Group], seed: int, stride: int = 20) -> list[Job]:
    """All problems, some of every group before more of any: a panel that is ended early has something of each."""
    jobs = [Job(group, place, seed) for group in groups for place in range(group.problems)]
    return sorted(jobs, key=lambda job: job.place // stride)
