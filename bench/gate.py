"""The gate: how often it accepts what is no better, law by law, and what it gains, shows and costs.

python bench/gate.py [--quick] [--json FILE] [--jobs N] [--only nulls,relief,alphas,power,gains,clear] [--docs FILE]

Null acceptance stands by law (`whet.gate.laws`, the tuned and the held-out half apart), number of tasks, pace, and
first or later decision. Every cell gets 300 trials; one that comes out above half of its alpha is measured afresh with
1,000 trials and other seeds, and one that is then above 0.8 of it with 4,000; the last figure counts. True gain is
measured in the 18 cells of n in {17, 40, 200} x budget in {1,500, 6,000} x three worlds, with proposals that cost
nothing and, for the learners' pace, with proposals of 20 calls each. `relief` is a learner's sequence of two paces:
four nulls that `steady` rejected, then one before `brief` on the bank they left, and what comes before and after.
Needs numpy and the source tree alone. The whole of it takes about three hours of CPU time.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rows import Row, report

from whet.evals.metric import HARD, Metric
from whet.gate import Draw, Gate, GepaGate, PairedGate, Reading, StrictGate, load_world, simulate
from whet.gate.laws import LAWS, SURE, WORLD, NullLaw
from whet.gate.nulls import RELIEF_STAGES, STAGES, LawDraws, NullCount, null_trials, relief_trials, run_trial
from whet.gate.pace import PACES as GATE_PACES

PACES = {"eager": 0.10, "steady": 0.10, "patient": 0.05}
UPPER = {0.05: 0.065, 0.10: 0.12}
SIZES = (12, 17, 25, 40, 60, 100, 200)
OTHER_ALPHAS = {"eager": (0.05, 0.02, 0.2), "steady": (0.05, 0.2), "patient": (0.1, 0.02, 0.01)}
WORLDS = ("eight-points", "four-points", "mixed-nulls")
SELECTS = (17, 40, 200)
BUDGETS = (1500, 6000)
FOLDER = Path(__file__).resolve().parents[1] / "examples" / "worlds"
PARTS = ("nulls", "relief", "alphas", "power", "gains", "clear")
TRAIN_BATCH = 20
"""Target calls of a learner's proposal."""
AGAIN = ((0.5, 1000), (0.8, 4000))
"""Cells above this share of their alpha are measured afresh with so many trials; the last figure counts."""
LEAST = 100
"""Decisions that a cell needs to be shown: where hardly anything was accepted, few stand after an acceptance."""
BEFORE = {"30 of 30": 170, "60 of 60": 300}
"""Rollouts that an earlier version of this gate took for candidates that solve all of what the incumbent fails."""


# ----------------------------------------------------------------------------------------------------- nulls


@dataclass(frozen=True, slots=True)
class NullCell:
    """One law, one number of tasks, one pace."""

    pace: str
    alpha: float
    law: str
    half: str
    tasks: int
    trials: int
    seed: int
    chain: int
    relief: str = ""
    """The pace of every fifth decision, where there is one."""

    @property
    def stages(self) -> Sequence[str]:
        return RELIEF_STAGES if self.relief else STAGES

    def counts(self) -> dict[str, NullCount]:
        law = next(law for law in LAWS if law.name == self.law)
        metric = HARD if law.shades is None else Metric("soft")
        gate = PairedGate(alpha=self.alpha, pace=self.pace, metric=metric)
        if self.relief:
            return relief_trials(gate, replace(gate, pace=self.relief), law, self.tasks, self.trials, self.seed)
        return null_trials(gate, law, self.tasks, self.trials, self.seed, self.chain)


@dataclass(frozen=True, slots=True)
class NullFigure:
    """Null acceptance of a cell at one stage of a run."""

    cell: NullCell
    stage: str
    count: NullCount

    @property
    def upper(self) -> float:
        estimate = self.count.estimate()
        return estimate.interval.high if estimate else 0.0

    def __str__(self) -> str:
        where = f"{self.cell.law}, n = {self.cell.tasks}, {self.stage.replace('_', ' ')}"
        return f"{where}: {self.count.accepted} of {self.count.decided}, upper bound {self.upper:.3f}"


def _counts(cell: NullCell) -> dict[str, NullCount]:
    return cell.counts()


def null_figures(cells: Sequence[NullCell], pool: ProcessPoolExecutor) -> list[NullFigure]:
    """All stages of all cells; those near their bar on fresh and more trials."""
    kept: list[NullFigure] = []
    for share, trials in (*AGAIN, (math.inf, 0)):
        figures = _measured(cells, pool)
        near = {f.cell for f in figures if f.count.decided >= LEAST and f.count.share > share * f.cell.alpha}
        kept += [figure for figure in figures if figure.cell not in near]
        cells = [replace(cell, trials=trials, seed=cell.seed + 1) for cell in cells if cell in near]
        if not cells:
            break
    return kept


def _measured(cells: Sequence[NullCell], pool: ProcessPoolExecutor) -> list[NullFigure]:
    ordered = sorted(cells, key=lambda cell: -cell.tasks * cell.trials)
    found = zip(ordered, pool.map(_counts, ordered), strict=True)
    return [NullFigure(cell, stage, counts[stage]) for cell, counts in found for stage in cell.stages]


def null_cells(pace: str, alpha: float, trials: int, quick: bool, chain: int, halves: Sequence[str]) -> list[NullCell]:
    sizes = (12, 40) if quick else SIZES
    laws: Sequence[NullLaw] = LAWS[::3] if quick else LAWS
    return [
        NullCell(pace, alpha, law.name, law.half, n, trials, 7, chain)
        for n in sizes
        for law in laws
        if law.half in halves
    ]


def worst_of(figures: Sequence[NullFigure]) -> NullFigure:
    return max(figures, key=lambda figure: figure.count.share)


def null_rows(figures: Sequence[NullFigure], pace: str, alpha: float) -> Iterator[Row]:
    """The worst cells of both halves, at the first decision and later."""
    for half in ("tuned", "held_out"):
        for first in (True, False):
            mine = [
                f for f in figures if f.cell.half == half and (f.stage == "first") == first and f.count.decided >= LEAST
            ]
            if mine:
                worst, upper = worst_of(mine), max(figure.upper for figure in mine)
                name = f"null/{pace}/{alpha:g}/{half}/{'first' if first else 'later'}"
                said = f"{len(mine)} cells, worst: {worst}"
                yield Row(name, worst.count.share, "share", alpha, worst.count.share <= alpha, condition=said)
                if alpha in UPPER:
                    bar = UPPER[alpha]
                    yield Row(f"{name}/upper", upper, "share", bar, upper <= bar, condition="largest upper 95 % bound")


def relief_rows(figures: Sequence[NullFigure], alpha: float) -> Iterator[Row]:
    """The worst cell of each stage of a sequence with two paces."""
    for stage in RELIEF_STAGES:
        mine = [figure for figure in figures if figure.stage == stage and figure.count.decided >= LEAST]
        if mine:
            worst = worst_of(mine)
            said = f"{len(mine)} cells, worst: {worst}"
            yield Row(f"relief/{stage}", worst.count.share, "share", alpha, worst.count.share <= alpha, condition=said)


# ----------------------------------------------------------------------------------------------------- power


@dataclass(frozen=True, slots=True)
class PowerCell:
    """A candidate that truly gains `effect`: a fraction of the failing tasks of the grid's world is raised to 0.97."""

    pace: str
    alpha: float
    tasks: int
    effect: float
    trials: int

    def measured(self) -> tuple[float, float]:
        """The share accepted, and the mean number of rollouts."""
        accepted = rollouts = 0
        gate = PairedGate(alpha=self.alpha, pace=self.pace)
        for trial in range(self.trials):
            rng = np.random.default_rng((3, trial))
            incumbent = WORLD(self.tasks, rng)
            share = self.effect / (0.4 * 0.94 + 0.2 * 0.47)
            raised = (incumbent < 0.6) & (rng.random(self.tasks) < share)
            draws = LawDraws(rng, None)
            bank = gate.open(self.tasks)
            decision = run_trial(gate, bank, draws, incumbent, np.where(raised, 0.97, incumbent))
            accepted += decision.accepted
            rollouts += decision.rollouts()
        return accepted / self.trials, rollouts / self.trials


def _power(cell: PowerCell) -> tuple[float, float]:
    return cell.measured()


POWER_BARS = {("patient", 40, 0.1): 0.48, ("patient", 100, 0.05): 0.48}


def power_figures(trials: int, pool: ProcessPoolExecutor) -> list[tuple[PowerCell, float, float]]:
    cells = [
        PowerCell(pace, alpha, tasks, effect, trials)
        for pace, alpha in PACES.items()
        for tasks in (17, 40, 100)
        for effect in (0.05, 0.1, 0.2)
    ]
    return [(cell, *found) for cell, found in zip(cells, pool.map(_power, cells), strict=True)]


def power_rows(figures: Sequence[tuple[PowerCell, float, float]]) -> Iterator[Row]:
    for cell, power, rollouts in figures:
        bar = POWER_BARS.get((cell.pace, cell.tasks, cell.effect))
        said = f"{rollouts:.0f} rollouts, {cell.trials} trials; a fraction of the tasks raised to 0.97"
        name = f"power/{cell.pace}/{cell.tasks}/{cell.effect:g}"
        yield Row(name, power, "share", bar, None if bar is None else power >= bar, condition=said)


# ----------------------------------------------------------------------------------------------------- gains


@dataclass(frozen=True, slots=True)
class GainCell:
    """Whole runs under one gate in one world of the grid."""

    gate: str
    world: str
    select: int
    budget: int
    runs: int
    proposal: int = 0

    def measured(self) -> dict[str, float]:
        loaded = load_world(FOLDER / f"{self.world}.toml")
        world = replace(loaded, select=self.select, budget=self.budget, proposal=self.proposal)
        made: Gate = (
            StrictGate() if self.gate == "strict" else GepaGate() if self.gate == "gepa" else PairedGate(pace=self.gate)
        )
        began = time.process_time()
        row = simulate(world, [made], self.runs, seed=11).rows[0]
        null, cost, start = row.kinds["null"].acceptance, row.kinds["null"].rollouts_rejected, row.null_at_start
        return {
            "gain": row.gain.value if row.gain else 0.0,
            "error": (row.gain.interval.high - row.gain.value) / 1.96 if row.gain else 0.0,
            "null": null.value if null else 0.0,
            "null_at_start": start.value if start else 0.0,
            "cost": cost.value if cost else 0.0,
            "per_minute": 60.0 * row.decisions / max(1e-9, time.process_time() - began),
        }


def _gain(cell: GainCell) -> dict[str, float]:
    return cell.measured()


GATES = ("eager", "steady", "strict", "gepa")
GainFigures = dict[tuple[str, int, int], dict[str, dict[str, float]]]


def gain_figures(
    runs: int, quick: bool, gates: Sequence[str], pool: ProcessPoolExecutor, proposal: int = 0
) -> GainFigures:
    budgets = BUDGETS[:1] if quick else BUDGETS
    cells = [
        GainCell(gate, world, n, budget, runs, proposal)
        for n in SELECTS
        for budget in budgets
        for world in WORLDS
        for gate in gates
    ]
    cells.sort(key=lambda cell: -cell.budget)
    figures: GainFigures = {}
    for cell, found in zip(cells, pool.map(_gain, cells), strict=True):
        figures.setdefault((cell.world, cell.select, cell.budget), {})[cell.gate] = found
    return figures


def dear_rows(figures: GainFigures, runs: int) -> Iterator[Row]:
    """The learners' pace where a proposal costs a train batch."""
    differences = [cell["steady"]["gain"] - cell["strict"]["gain"] for cell in figures.values()]
    above, lowest, bar = sum(d > 0 for d in differences), min(differences), 14 * len(differences) // 18
    said = f"of {len(differences)} cells, {runs} runs each, {TRAIN_BATCH} calls a proposal"
    yield Row("gain/steady/dear/cells_above_strict", above, "cells", bar, above >= bar, condition=said)
    yield Row("gain/steady/dear/lowest_against_strict", lowest, "true mean", -0.05, lowest >= -0.05, condition=said)


def gain_rows(figures: GainFigures, runs: int) -> Iterator[Row]:
    for pace in ("eager", "steady"):
        against = [(cell[pace]["gain"], cell["strict"]["gain"]) for cell in figures.values()]
        above = sum(ours > strict for ours, strict in against)
        lowest = min(ours - strict for ours, strict in against)
        bar = 14 * len(against) // 18
        said = f"of {len(against)} cells, {runs} runs each"
        yield Row(f"gain/{pace}/cells_above_strict", above, "cells", bar, above >= bar, condition=said)
        yield Row(f"gain/{pace}/lowest_against_strict", lowest, "true mean", -0.05, lowest >= -0.05, condition=said)
        costs = [
            cell[pace]["cost"] / cell["strict"]["cost"]
            for (_, select, _), cell in figures.items()
            if select >= 40 and cell["strict"]["cost"]
        ]
        yield Row(
            f"gain/{pace}/null_cost", max(costs), "of strict", 0.25, max(costs) <= 0.25, condition="n >= 40, worst"
        )
        starts = max(cell[pace]["null_at_start"] for cell in figures.values())
        yield Row(f"gain/{pace}/null_at_start", starts, "share", 0.10, starts <= 0.10, condition="worst cell")
    speed = min(cell["eager"]["per_minute"] for cell in figures.values())
    yield Row("decisions_per_minute", speed, "decisions", 10_000, speed >= 10_000, condition="one core, slowest cell")
    for (world, select, budget), cell in figures.items():
        for pace in ("eager", "steady"):
            ours, strict = cell[pace], cell["strict"]
            said = f"{runs} runs, s.e. {ours['error']:.3f}; calls a rejected null {ours['cost']:.1f}"
            ratio = ours["gain"] / strict["gain"] if strict["gain"] > 0 else 0.0
            name = f"gain/{pace}/{world}/{select}/{budget}"
            yield Row(name, ours["gain"], "true mean", None, None, "strict", strict["gain"], ratio, said)


# ----------------------------------------------------------------------------------------------------- clear cases


def clear_rows() -> Iterator[Row]:
    """Candidates that solve everything the incumbent fails, and policies without noise."""
    for pace in PACES:
        for tasks, kept in ((30, 1), (60, 0)):
            found = _solving(PairedGate(pace=pace), tasks, kept)
            before = BEFORE[f"{tasks} of {tasks}"]
            share = found.rollouts() / before
            said = f"{found.rollouts('candidate')} + {found.rollouts('incumbent')} rollouts, {before} before"
            holds = found.accepted and share <= 0.4
            yield Row(f"clear/{pace}/{tasks - kept}_of_{tasks}", share, "of before", 0.4, holds, condition=said)
        sure = PairedGate(pace=pace, deterministic=True)
        repeats = 0
        for trial in range(200):
            rng = np.random.default_rng((5, trial))
            incumbent = SURE(40, rng)
            raised = np.where(rng.random(40) < 0.15, 1.0, incumbent)
            decision = run_trial(sure, sure.open(40), LawDraws(rng, None), incumbent, raised)
            repeats = max(repeats, sum(draw.draw > 0 for draw, _ in decision.draws))
        said = "second draws, worst of 200 decisions; 3 tasks of either arm are the check"
        yield Row(f"deterministic/{pace}", repeats, "draws", 6, repeats <= 6, condition=said)


def _solving(gate: PairedGate, tasks: int, kept: int) -> Any:
    """The decision on a candidate that solves all tasks, where the incumbent solves `kept` of them."""

    def read(draw: Draw) -> Reading:
        return (1.0,) if draw.arm == "candidate" or draw.task < kept else (0.0,)

    trial = gate.trial(gate.open(tasks))
    try:
        batch = next(trial)
        while True:
            batch = trial.send([read(draw) for draw in batch])
    except StopIteration as end:
        return end.value


# ----------------------------------------------------------------------------------------------------- tables


def null_table(figures: Sequence[NullFigure], pace: str, alpha: float) -> list[str]:
    sizes = sorted({figure.cell.tasks for figure in figures})
    lines = [f"**{pace}, alpha {alpha:g}**", ""]
    lines += ["| laws | decision |" + "".join(f" n = {n} |" for n in sizes), "|---|---|" + "---|" * len(sizes)]
    for half in ("tuned", "held_out"):
        for stage in figures[0].cell.stages:
            row = []
            for n in sizes:
                mine = [
                    f
                    for f in figures
                    if (f.cell.half, f.stage, f.cell.tasks) == (half, stage, n) and f.count.decided >= LEAST
                ]
                row.append(f"{worst_of(mine).count.share:.3f}" if mine else "-")
            lines.append(f"| {half.replace('_', ' ')} | {stage.replace('_', ' ')} | " + " | ".join(row) + " |")
    worst = sorted((f for f in figures if f.count.decided >= LEAST), key=lambda f: -f.count.share)[:3]
    return [*lines, "", "Worst cells: " + "; ".join(str(figure) for figure in worst) + ".", ""]


def power_table(figures: Sequence[tuple[PowerCell, float, float]]) -> list[str]:
    lines = ["| pace | n | +0.05 | +0.1 | +0.2 |", "|---|---|---|---|---|"]
    for pace, tasks in dict.fromkeys((cell.pace, cell.tasks) for cell, _, _ in figures):
        row = [f"{p:.2f} ({calls:.0f})" for cell, p, calls in figures if (cell.pace, cell.tasks) == (pace, tasks)]
        lines.append(f"| {pace} | {tasks} | " + " | ".join(row) + " |")
    return [*lines, ""]


def gain_table(figures: GainFigures) -> list[str]:
    gates = list(next(iter(figures.values())))
    lines = ["| world | n | budget | " + " | ".join(gates) + " | calls a rejected null: " + ", ".join(gates) + " |"]
    lines.append("|---|---|---|" + "---|" * (len(gates) + 1))
    for (world, select, budget), cell in sorted(figures.items(), key=lambda item: (item[0][1], item[0][2], item[0][0])):
        gains = " | ".join(f"{cell[gate]['gain']:+.3f}" for gate in gates)
        costs = ", ".join(f"{cell[gate]['cost']:.1f}" for gate in gates)
        lines.append(f"| {world} | {select} | {budget:,} | {gains} | {costs} |")
    return [*lines, ""]


# ----------------------------------------------------------------------------------------------------- all of it


@dataclass(slots=True)
class Bench:
    """What was asked for, and the tables that come of it."""

    options: argparse.Namespace
    pool: ProcessPoolExecutor
    tables: dict[str, list[str]]

    def rows(self) -> Iterator[Row]:
        quick, only = self.options.quick, self.options.only
        trials = self.options.trials or (60 if quick else 300)
        runs = self.options.runs or (6 if quick else 60)
        if "nulls" in only:
            for pace, alpha in PACES.items():
                if pace in self.options.paces:
                    figures = null_figures(
                        null_cells(pace, alpha, trials, quick, 0 if quick else 2, self.options.halves), self.pool
                    )
                    self.tables[f"nulls {pace}"] = null_table(figures, pace, alpha)
                    yield from null_rows(figures, pace, alpha)
        if "relief" in only:
            cells = null_cells("steady", 0.1, trials, quick, 0, self.options.halves)
            figures = null_figures([replace(cell, relief="brief") for cell in cells], self.pool)
            self.tables["relief"] = null_table(figures, "steady, then brief", 0.1)
            yield from relief_rows(figures, 0.1)
        if "alphas" in only:
            for pace, alphas in OTHER_ALPHAS.items():
                for alpha in alphas if pace in self.options.paces else ():
                    figures = null_figures(null_cells(pace, alpha, trials, True, 0, self.options.halves), self.pool)
                    yield from null_rows(figures, pace, alpha)
        if "power" in only:
            powers = power_figures(6 * trials, self.pool)
            self.tables["power"] = power_table(powers)
            yield from power_rows(powers)
        if "gains" in only:
            gains = gain_figures(runs, quick, self.options.gates, self.pool)
            self.tables["gains"] = gain_table(gains)
            yield from gain_rows(gains, runs)
            dear = gain_figures(runs, quick, ("eager", "steady", "strict"), self.pool, TRAIN_BATCH)
            self.tables["gains of dear proposals"] = gain_table(dear)
            yield from dear_rows(dear, runs)
        if "clear" in only:
            yield from clear_rows()


def set_constants(assignments: Sequence[str]) -> None:
    """Try other constants of a pace, such as eager.net=2, in this process."""
    for assignment in assignments:
        name, _, value = assignment.partition("=")
        pace, _, constant = name.partition(".")
        GATE_PACES[pace] = replace(GATE_PACES[pace], **{constant: json.loads(value)})


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a few minutes: fewer cells, wider intervals")
    parser.add_argument("--json", type=Path, help="also write the rows here")
    parser.add_argument("--docs", type=Path, help="also write the tables here, as Markdown")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--only", type=lambda text: text.split(","), default=PARTS, help=f"of {', '.join(PARTS)}")
    parser.add_argument("--paces", type=lambda text: text.split(","), default=tuple(PACES), help="of the null cells")
    parser.add_argument("--trials", type=int, help="of a null cell at first; 300 by default")
    parser.add_argument("--set", action="append", default=[], help="a constant of a pace, such as eager.net=2")
    parser.add_argument(
        "--halves", type=lambda text: text.split(","), default=("tuned", "held_out"), help="of the laws"
    )
    parser.add_argument("--gates", type=lambda text: text.split(","), default=GATES, help="of the gain cells")
    parser.add_argument("--runs", type=int, help="of a gain cell; 60 by default")
    options = parser.parse_args()
    with ProcessPoolExecutor(options.jobs, initializer=set_constants, initargs=(options.set,)) as pool:
        bench = Bench(options, pool, {})
        report(bench.rows(), options.json)
    if options.docs is not None:
        options.docs.write_text("\n".join(line for table in bench.tables.values() for line in table) + "\n")
    print(json.dumps({"tables": list(bench.tables)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
