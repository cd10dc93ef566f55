"""The panel that cells of `ordebug` are measured by: chance, adversaries without and with the specification, policies.

Functions for `bench/ordebug.py`. Every figure is of problems from a seed that nothing was tuned on; classifiers are
trained on three quarters of a cell's problems and asked about the fourth, in turns.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np
import ordebug_compiler as compiler
import orjson
from ordebug_adversaries import FINGERS, Features, chance, features, new_classifier, uniform

from whet.envs.ordebug import maker
from whet.envs.ordebug.instance import Instance
from whet.envs.ordebug.ladder import Cell
from whet.envs.ordebug.maker import make
from whet.envs.ordebug.search import search
from whet.keys import digest

MARGIN = 0.10
"""How far the best adversary without specification may be above chance."""

COMPILED = 0.20
"""What the compiler of patterns may repair of prose."""

ENOUGH = 20
"""Problems without which no cell is called publishable."""

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
    wrong: list[str]
    patterns: bool
    grammar: bool
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
    def error(self) -> float:
        """The standard error of the best adversary's share."""
        share = min(max(self.best[1], 1 / self.problems), 1 - 1 / self.problems)
        return math.sqrt(share * (1 - share) / self.problems)

    @property
    def verdict(self) -> str:
        """Whether the cell may be published: `open` where so few problems cannot tell.

        The best of five is above chance by about one standard error where nobody knows anything.
        """
        if self.figures["patterns"] >= COMPILED or self.above_chance - 3 * self.error > MARGIN:
            return "no"
        return "yes" if self.above_chance <= MARGIN and self.problems >= ENOUGH else "open"


def opinion(job: tuple[Cell, int, int]) -> Opinion:
    """Make a problem and have it looked at by everybody who needs no training."""
    cell, index, seed = job
    return opinion_of(make(cell, "test", index, seed))


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
        sorted(instance.elements),
        compiler.attempt(instance, "prose", "patterns").repaired,
        compiler.attempt(instance, "prose", "grammar").repaired,
        compiler.attempt(instance, "table").repaired,
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
        "grammar": fmean(each.grammar for each in opinions),
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


@dataclass(frozen=True, slots=True)
class Notebook:
    """Opinions on disk, a line for each problem: a panel that was interrupted goes on where it stopped."""

    folder: Path

    @property
    def _digest(self) -> str:
        """The code that problems and opinions come from; with another one, everything is looked at anew."""
        room = Path(maker.__file__).parent
        files = [*(room / "prose").rglob("*.py"), *(room / "families").glob("*.py"), *(room / "faults").glob("*.py")]
        files += [room / "maker.py", *Path(__file__).parent.glob("ordebug_[ac]*.py")]
        return digest(*(path.read_text(encoding="utf-8") for path in sorted(files)))[:12]

    def _path(self, name: str, seed: int) -> Path:
        return self.folder / f"{name}-{seed}-{self._digest}.jsonl"

    def held(self, name: str, seed: int) -> list[Opinion]:
        path = self._path(name, seed)
        lines = path.read_bytes().splitlines() if path.exists() else []
        return [Opinion(**orjson.loads(line)) for line in lines]

    def keep(self, name: str, seed: int, made: Opinion) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._path(name, seed).open("ab") as file:
            file.write(orjson.dumps(made) + b"\n")


def panel(
    cells: Sequence[tuple[str, Sequence[Cell], int]], seed: int, notebook: Notebook, within: float = math.inf
) -> Iterator[PanelRow]:
    """A row for each name: so many problems of its cells in turn.

    `within`: seconds of CPU time after which no further problem is looked at; a row then has those that there are.
    """
    for name, members, n in cells:
        held = notebook.held(name, seed)
        for place in range(len(held), n):
            if time.process_time() > within:
                break
            made = opinion((members[place % len(members)], place // len(members), seed))
            notebook.keep(name, seed, made)
            held.append(made)
        if len(held) >= FOLDS:
            yield panel_row(name, held[:n])


def markdown(rows: Sequence[PanelRow]) -> str:
    """The panel as a table."""
    head = (
        "| cell | problems | rows | suspects | chance | best without text | above chance | patterns | grammar "
        "| table | search | drop | published |\n|---|--:|--:|--:|--:|---|--:|--:|--:|--:|--:|--:|---|"
    )
    lines = []
    for row in rows:
        name, value = row.best
        shares = " | ".join(_percent(row.figures[key]) for key in ("patterns", "grammar", "table", "search", "drop"))
        lines.append(
            f"| `{row.name}` | {row.problems} | {row.rows} | {row.suspects:.1f} | {_percent(row.figures['chance'])} "
            f"| {_percent(value)} ({name}) | {100 * row.above_chance:+.0f} ± {100 * row.error:.0f} | {shares} "
            f"| {row.verdict} |"
        )
    return "\n".join([head, *lines])


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
