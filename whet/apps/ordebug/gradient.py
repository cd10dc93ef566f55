"""How a model fares on easy, medium and hard: the twelve cells as ordinary evaluations, against expected bands.

Each cell is a run of its own, found again by its identity, so an interrupted gradient continues where it stopped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whet.apps.ordebug.figures import PolicyFigures, measure, share
from whet.config.load import load_config
from whet.config.schema import EvalConfig
from whet.envs.ordebug.family import CELL_NAMES, FAMILY
from whet.envs.ordebug.ladder import DIFFICULTIES
from whet.evals.estimate import Estimate
from whet.rollout.cast import BASELINE
from whet.rollout.progress import Progress
from whet.run.compose import Given
from whet.run.evaluate import run_evaluation
from whet.run.workspace import RUNS, open_run

if TYPE_CHECKING:
    from rich.table import Table

BANDS = {"easy": (0.9, 1.0), "medium": (0.6, 0.8), "hard": (0.3, 0.5)}
"""Where the repairs of a fine-tuned model are expected for each difficulty."""

BAND_METRIC = "repaired@10"
BESIDE = "RR@5"
"""The published rate, which removing rows reaches as well: it stands beside and decides nothing."""
REFERENCES = ("random", "drop-first-iis", "elastic", "greedy", "search", "oracle")
"""Policies that are evaluated beside the model, each as a run of its own that later gradients find again."""


@dataclass(frozen=True, slots=True)
class GradientPlan:
    """What is evaluated on each of the twelve cells: a model, how many problems, and with which settings."""

    model: str
    n: int = 50
    turns: int = 10
    split: str = "select"
    seed: int = 0
    playbook: str = "blank"
    floor: bool = True
    args: tuple[tuple[str, Any], ...] = ()
    overrides: tuple[str, ...] = ()

    def config(self, cell: str) -> EvalConfig:
        base = {
            "env": {"name": f"ordebug/{cell}", "args": self.arguments},
            "target": {"model": self.model},
            "eval": {"n": self.n, "split": self.split, "seed": self.seed, "playbook": self.playbook, "floor": False},
        }
        return load_config(EvalConfig, None, base, self.overrides)

    def reference(self, name: str) -> GradientPlan:
        """The same sample for a reference policy, which has no playbook and no settings of a model's."""
        return replace(self, model=f"{BASELINE}{name}", playbook="blank", overrides=())

    @property
    def arguments(self) -> dict[str, Any]:
        return {"max_steps": self.turns, **dict(self.args)}


@dataclass(frozen=True, slots=True)
class CellRow:
    """One cell: the model's figures and those of the reference policies, and how it stands to its band."""

    cell: str
    folder: Path
    model: PolicyFigures
    others: dict[str, PolicyFigures]

    @property
    def band(self) -> tuple[float, float]:
        return BANDS[self.cell.rpartition("_")[2]]

    @property
    def verdict(self) -> str:
        estimate = self.model.metrics.get(BAND_METRIC)
        return "no data" if estimate is None else against(estimate, self.band)


def against(estimate: Estimate, band: tuple[float, float]) -> str:
    """`in band` by its value, `overlaps` by its interval alone, else on which side it lies."""
    low, high = band
    if low <= estimate.value <= high:
        return "in band"
    if estimate.interval.low <= high and estimate.interval.high >= low:
        return "overlaps"
    return "above" if estimate.value > high else "below"


def gradient(
    plan: GradientPlan, *, runs: Path = RUNS, progress: Progress | None = None, cells: Sequence[str] = CELL_NAMES
) -> list[CellRow]:
    """Evaluate the cells one after the other. `Interrupted` passes through; the same call continues."""
    rows = []
    for cell in cells:
        folder, model = _evaluated(plan, cell, runs, progress)
        names = REFERENCES if plan.floor else ()
        others = {name: _evaluated(plan.reference(name), cell, runs, progress)[1] for name in names}
        rows.append(CellRow(cell, folder, model, others))
    return rows


def _evaluated(plan: GradientPlan, cell: str, runs: Path, progress: Progress | None) -> tuple[Path, PolicyFigures]:
    env = FAMILY.build(cell, "", plan.arguments)
    result = run_evaluation(plan.config(cell), Given(env=env), runs=runs, progress=progress)
    return result.folder, measure(open_run(result.folder))[0]


def to_data(plan: GradientPlan, rows: Sequence[CellRow]) -> dict[str, Any]:
    return {
        "model": plan.model,
        "n": plan.n,
        "turns": plan.turns,
        "split": plan.split,
        "cells": {
            row.cell: {
                "band": list(row.band),
                "verdict": row.verdict,
                "run": row.folder.name,
                "model": row.model.to_data(),
                "baselines": {name: figures.to_data() for name, figures in row.others.items()},
            }
            for row in rows
        },
    }


def tables(plan: GradientPlan, rows: Sequence[CellRow]) -> list[Table]:
    """The model: what it repairs, with its band and the published rates beside. Below, what each reference repairs."""
    k = 10 if plan.turns <= 10 else 20
    repaired = f"repaired@{k}"
    title = f"{plan.model}: {plan.n} problems a cell, {plan.turns} steps, {plan.split}"
    model = _table(title, BAND_METRIC, "band", "", BESIDE, f"feasible@{k}", "recall", "DA")
    for row in rows:
        low, high = row.band
        found = row.model.metrics
        model.add_row(
            row.cell,
            _cell(found.get(BAND_METRIC)),
            f"{100 * low:.0f}-{100 * high:.0f}",
            row.verdict,
            *(_cell(found.get(name)) for name in (BESIDE, f"feasible@{k}", "recall")),
            "-" if row.model.diagnosis is None else f"{100 * row.model.diagnosis:.0f} %",
        )
    shown = [name for name in REFERENCES if any(name in row.others for row in rows)]
    if not shown:
        return [model]
    references = _table(f"{repaired} of the reference policies", *shown)
    for row in rows:
        references.add_row(row.cell, *(_value(row.others.get(name), repaired) for name in shown))
    return [model, references]


def _table(title: str, *headings: str) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    made = Table(title=title, title_justify="left", box=SIMPLE_HEAD, collapse_padding=True)
    made.add_column("cell", no_wrap=True)
    for heading in headings:
        made.add_column(heading, justify="right" if heading else "left", no_wrap=True)
    return made


def steps(rows: Sequence[CellRow], metric: str = BAND_METRIC) -> dict[str, float]:
    """The mean of a rate over the types, for each difficulty: the gradient in three numbers."""
    found: dict[str, float] = {}
    for difficulty in DIFFICULTIES:
        values = [row.model.metrics[metric].value for row in rows if row.cell.endswith(difficulty) if row.model.tasks]
        if values:
            found[difficulty] = sum(values) / len(values)
    return found


def _cell(estimate: Estimate | None) -> str:
    return "-" if estimate is None else share(estimate)


def _value(figures: PolicyFigures | None, metric: str) -> str:
    estimate = figures.metrics.get(metric) if figures else None
    return "-" if estimate is None else f"{100 * estimate.value:.0f} %"
