"""The panel that cells of `ordebug` are measured by, as rows: chance, adversaries without and with the specification,
policies, a verdict.

Functions for `bench/ordebug.py`. Every figure is of problems from a seed that nothing was tuned on; classifiers are
trained on three quarters of a cell's problems and asked about the fourth, in turns.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np
from ordebug_adversaries import FINGERS, new_classifier
from ordebug_opinion import Opinion

MARGIN = 0.10
"""How far the best adversary without specification may be above chance."""

COMPILED = 0.20
"""What the compiler of patterns may repair of prose."""

ENOUGH = 20
"""Problems without which no cell is called publishable."""

FOLDS = 4
POINTING = (*FINGERS, "boosted trees", "forest")
"""The adversaries without specification."""

READING = ("patterns", "grammar", "table", "search", "drop", "oracle")
"""Those who repair, in the order of the table's columns."""


@dataclass(frozen=True, slots=True)
class PanelRow:
    """A cell's figures, as shares; what was not asked is not there."""

    name: str
    problems: int
    rows: str
    suspects: float
    figures: dict[str, float]
    asked: int
    """Problems that another engine was asked about."""

    @property
    def best(self) -> tuple[str, float] | None:
        """The adversary without specification that points best; where nothing contradicts, there is none."""
        known = [name for name in POINTING if name in self.figures]
        name = max(known, key=lambda adversary: self.figures[adversary], default=None)
        return (name, self.figures[name]) if name else None

    @property
    def above_chance(self) -> float:
        return self.best[1] - self.figures["chance"] if self.best else 0.0

    @property
    def error(self) -> float:
        """The standard error of the best adversary's share."""
        share = min(max(self.best[1] if self.best else 0.0, 1 / self.problems), 1 - 1 / self.problems)
        return math.sqrt(share * (1 - share) / self.problems)

    @property
    def verdict(self) -> str:
        """Whether the cell may be published: `open` where so few problems cannot tell.

        The best of five is above chance by about one standard error where nobody knows anything.
        """
        if self.figures.get("patterns", 0.0) >= COMPILED or self.above_chance - 3 * self.error > MARGIN:
            return "no"
        return "yes" if self.above_chance <= MARGIN and self.problems >= ENOUGH else "open"


def panel_row(name: str, opinions: Sequence[Opinion]) -> PanelRow:
    """The figures of a group of problems."""
    figures: dict[str, float] = {"blind": fmean(each.uniform for each in opinions)}
    asked = [each.agrees for each in opinions if each.agrees is not None]
    if all(each.suspects for each in opinions):
        figures["chance"] = fmean(each.chance for each in opinions)
        figures |= {finger: fmean(each.fingers[finger] for each in opinions) for finger in FINGERS}
        if len(opinions) >= 2 * FOLDS:
            figures |= {"boosted trees": trained("boosted", opinions), "forest": trained("forest", opinions)}
    for reader, told in _REPAIRED.items():
        answers = [told(each) for each in opinions]
        if None not in answers:
            figures[reader] = fmean(map(bool, answers))
    if asked:
        figures["agrees"] = fmean(asked)
    sizes = [each.rows for each in opinions]
    extent = f"{min(sizes):,}–{max(sizes):,}" if min(sizes) < max(sizes) else f"{min(sizes):,}"
    return PanelRow(name, len(opinions), extent, fmean(each.suspects for each in opinions), figures, len(asked))


_REPAIRED: dict[str, Callable[[Opinion], bool | None]] = {
    "patterns": lambda each: each.patterns,
    "grammar": lambda each: each.grammar,
    "table": lambda each: each.table,
    "search": lambda each: each.search,
    "drop": lambda each: each.dropped,
    "oracle": lambda each: each.oracle,
    "sound": lambda each: each.sound,
}


def trained(kind: str, opinions: Sequence[Opinion]) -> float:
    """How often a classifier points at something wrong, in problems that it was not trained on."""
    hits = []
    order = random.Random(1).sample(range(len(opinions)), len(opinions))
    for fold in range(FOLDS):
        held = order[fold::FOLDS]
        outside = set(order) - set(held)
        hits += pointed(kind, [opinions[place] for place in sorted(outside)], [opinions[place] for place in held])
    return fmean(hits)


def pointed(kind: str, known: Sequence[Opinion], asked: Sequence[Opinion]) -> list[bool]:
    """Whether a classifier that was trained on some problems points right in others."""
    width = max(len(values) for each in (*known, *asked) for values in each.features.values())
    inputs = np.concatenate([_table(each, width) for each in known])
    targets = np.array([name in each.wrong for each in known for name in each.features])
    machine = new_classifier(kind).fit(inputs, targets)
    hits = []
    for each in asked:
        likely = machine.predict_proba(_table(each, width))[:, 1]
        hits.append(list(each.features)[int(np.argmax(likely))] in each.wrong)
    return hits


def _table(said: Opinion, width: int) -> np.ndarray[Any, Any]:
    """A row for each element of a problem, filled up with zeros: of some less can be said than of others."""
    return np.array([[*values, *[0.0] * (width - len(values))] for values in said.features.values()])


COLUMNS = (
    *("cell", "problems", "rows", "suspects", "chance", "best without text", "above chance"),
    *("patterns", "grammar", "table", "search", "drop", "oracle", "CBC", "published"),
)
LEFT = ("cell", "best without text", "published")


def markdown(rows: Sequence[PanelRow]) -> str:
    """The panel as a table."""
    head = " | ".join(COLUMNS)
    rule = "|".join("---" if name in LEFT else "--:" for name in COLUMNS)
    return "\n".join([f"| {head} |", f"|{rule}|", *map(_line, rows)])


def _line(row: PanelRow) -> str:
    shares = " | ".join(_percent(row.figures.get(key)) for key in READING)
    pointing = "– | – | – | –"
    if row.best is not None:
        name, value = row.best
        above = f"{100 * row.above_chance:+.0f} ± {100 * row.error:.0f}"
        pointing = f"{row.suspects:.1f} | {_percent(row.figures['chance'])} | {_percent(value)} ({name}) | {above}"
    agrees = f"{round(row.figures['agrees'] * row.asked)} of {row.asked}" if row.asked else "–"
    return f"| `{row.name}` | {row.problems} | {row.rows} | {pointing} | {shares} | {agrees} | {row.verdict} |"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f} %"
