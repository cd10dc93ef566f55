"""The panel that cells of `ordebug` are measured by: chance, adversaries without and with the specification, policies.

Functions for `bench/ordebug.py`. Every figure is of problems from a seed that nothing was tuned on; classifiers are
trained on three quarters of a cell's problems and asked about the fourth, in turns.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from statistics import fmean

import numpy as np
import ordebug_compiler as compiler
from ordebug_adversaries import FINGERS, Features, chance, features, new_classifier, uniform

from whet.envs.ordebug.instance import Instance
from whet.envs.ordebug.ladder import Cell
from whet.envs.ordebug.maker import make
from whet.envs.ordebug.search import search

MARGIN = 0.10
"""How far the best adversary without specification may be above chance."""

COMPILED = 0.20
"""What the compiler of patterns may repair of prose."""

TRIES = 128
FOLDS = 4


@dataclass(frozen=True, slots=True)
class Opinion:
    """What the panel has to say about one problem."""

    kind: str
    rows: int
    suspects: int
    chance: float
    uniform: float
    fingers: dict[str, bool]
    features: Features
    wrong: frozenset[str]
    patterns: bool
    inverse: bool
    table: bool
    search: bool
    dropped: bool


@dataclass(frozen=True, slots=True)
class PanelRow:
    """A cell's figures, as shares."""

    name: str
    problems: int
    rows: str
    suspects: float
    figures: dict[str, float]

    @property
    def best(self) -> tuple[str, float]:
        """The adversary without specification that points best."""
        names = (*FINGERS, "boosted trees", "forest")
        name = max(names, key=lambda adversary: self.figures[adversary])
        return name, self.figures[name]

    @property
    def above_chance(self) -> float:
        return self.best[1] - self.figures["chance"]

    @property
    def holds(self) -> bool:
        return self.above_chance <= MARGIN and self.figures["patterns"] < COMPILED


def opinion(job: tuple[Cell, int, int]) -> Opinion:
    """Make a problem and have it looked at by everybody who needs no training."""
    cell, index, seed = job
    instance = make(cell, None, index, seed)
    return opinion_of(instance)


def opinion_of(instance: Instance) -> Opinion:
    told = instance.certificate
    return Opinion(
        instance.kind,
        len(instance.sabotaged.rows),
        min(map(len, told.suspects)),
        chance(instance),
        uniform(instance),
        {name: finger(instance) in instance.elements for name, finger in FINGERS.items()},
        features(instance),
        instance.elements,
        compiler.repairs(instance, "prose", resolve=False),
        compiler.repairs(instance, "prose"),
        compiler.repairs(instance, "table"),
        search(instance, TRIES).edits is not None,
        told.drop_first,
    )


def panel_row(name: str, opinions: Sequence[Opinion]) -> PanelRow:
    figures = {
        "chance": fmean(each.chance for each in opinions),
        "blind": fmean(each.uniform for each in opinions),
        **{finger: fmean(each.fingers[finger] for each in opinions) for finger in FINGERS},
        "boosted trees": trained("boosted", opinions),
        "forest": trained("forest", opinions),
        "patterns": fmean(each.patterns for each in opinions),
        "inverse": fmean(each.inverse for each in opinions),
        "table": fmean(each.table for each in opinions),
        "search": fmean(each.search for each in opinions),
        "drop": fmean(each.dropped for each in opinions),
    }
    sizes = [each.rows for each in opinions]
    return PanelRow(
        name, len(opinions), f"{min(sizes)}–{max(sizes)}", fmean(each.suspects for each in opinions), figures
    )


def trained(kind: str, opinions: Sequence[Opinion]) -> float:
    """How often a classifier points at something wrong, in problems that it was not trained on."""
    hits = []
    order = random.Random(1).sample(range(len(opinions)), len(opinions))
    for fold in range(FOLDS):
        held = set(order[fold::FOLDS])
        known = [each for place, each in enumerate(opinions) if place not in held]
        inputs = np.array([values for each in known for values in each.features.values()])
        targets = np.array([name in each.wrong for each in known for name in each.features])
        machine = new_classifier(kind).fit(inputs, targets)
        for place in held:
            each = opinions[place]
            likely = machine.predict_proba(np.array(list(each.features.values())))[:, 1]
            hits.append(list(each.features)[int(np.argmax(likely))] in each.wrong)
    return fmean(hits)


def panel(cells: Sequence[tuple[str, Sequence[Cell], int]], seed: int, pool: ProcessPoolExecutor) -> Iterator[PanelRow]:
    """A row for each name: so many problems of its cells in turn."""
    for name, members, n in cells:
        jobs = [(members[place % len(members)], place // len(members), seed) for place in range(n)]
        yield panel_row(name, list(pool.map(opinion, jobs, chunksize=4)))


def markdown(rows: Sequence[PanelRow]) -> str:
    """The panel as a table."""
    head = (
        "| cell | problems | rows | suspects | chance | best without text | above chance | patterns | inverse "
        "| table | search | drop |\n|---|--:|--:|--:|--:|---|--:|--:|--:|--:|--:|--:|"
    )
    lines = []
    for row in rows:
        name, value = row.best
        shares = " | ".join(_percent(row.figures[key]) for key in ("patterns", "inverse", "table", "search", "drop"))
        lines.append(
            f"| `{row.name}` | {row.problems} | {row.rows} | {row.suspects:.1f} | {_percent(row.figures['chance'])} "
            f"| {_percent(value)} ({name}) | {100 * row.above_chance:+.0f} | {shares} |"
        )
    return "\n".join([head, *lines])


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
