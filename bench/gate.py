"""The gate against the published rules in simulated worlds: true gain, null acceptance, rollouts, speed.

The grid is n in {17, 40, 200} x budget in {1,500, 6,000} x three worlds, 200 runs a cell; `--quick` takes 6 runs, and 4
where the budget is 6,000.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from rows import Row, arguments, report

from whet.evals.estimate import Estimate, Interval
from whet.gate import SimulatedWorld, SimulationReport, gate_named, load_world, simulate
from whet.gate.world import SimulatedProposal

WORLDS = ("eight-points", "four-points", "mixed-nulls")
SELECTS = (17, 40, 200)
BUDGETS = (1500, 6000)
PEERS = ("strict", "gepa", "rule_search")
FOLDER = Path(__file__).resolve().parents[1] / "examples" / "worlds"
UNSEEN_MIXES = {
    "coins": ((0.2, 0.97), (0.2, 0.03), (0.6, 0.5)),
    "noisy": ((0.5, 0.8), (0.5, 0.2)),
    "certain": ((0.5, 1.0), (0.5, 0.0)),
    "diffuse": ((0.25, 0.2), (0.25, 0.4), (0.25, 0.6), (0.25, 0.8)),
    "easy": ((0.6, 0.97), (0.2, 0.03), (0.2, 0.5)),
}
UNSEEN_SELECTS = (12, 25, 60, 120, 400)
UNSEEN_NULLS = (0.0, 0.02, 0.05, 0.1)


def cells() -> list[SimulatedWorld]:
    return [
        replace(load_world(FOLDER / f"{name}.toml"), select=select, budget=budget)
        for select in SELECTS
        for budget in BUDGETS
        for name in WORLDS
    ]


def measured(quick: bool) -> tuple[list[SimulationReport], float]:
    """Every cell under every gate, and how many decisions a minute the default gate made."""
    reports: list[SimulationReport] = []
    decisions, seconds = 0, 0.0
    for world in cells():
        runs = (6 if world.budget == 1500 else 4) if quick else 200
        began = time.perf_counter()
        ours = simulate(world, [gate_named("paired")], runs, seed=11)
        seconds += time.perf_counter() - began
        decisions += ours.rows[0].decisions
        names = PEERS if quick else (*PEERS, "none")
        theirs = simulate(world, [gate_named(name) for name in names], runs, seed=11)
        reports.append(replace(ours, rows=ours.rows + theirs.rows))
        print(reports[-1].table(), end="\n\n", flush=True)
    return reports, 60.0 * decisions / seconds


def known(estimate: Estimate | None) -> Estimate:
    """A figure; 0 where a short run decided nothing of that kind."""
    return estimate or Estimate(0.0, Interval(0.0, 0.0), 0)


def value(estimate: Estimate | None) -> float:
    return known(estimate).value


def cell_rows(cell: SimulationReport) -> Iterator[Row]:
    """The bars of one cell."""
    ours, strict = cell.row("paired"), cell.row("strict")
    name = f"{cell.world.name}/{cell.world.select}/{cell.world.budget}"
    said = f"{cell.runs} runs"
    best = max(PEERS, key=lambda peer: value(cell.row(peer).gain))
    gain, best_gain = value(ours.gain), value(cell.row(best).gain)
    interval = known(ours.gain).interval
    span = f"{said}, 95 % {interval.low:.3f} to {interval.high:.3f}"
    ratio = gain / best_gain if best_gain > 0 else 0.0
    yield Row(f"gain/{name}", gain, "true mean", best_gain, gain >= best_gain, best, best_gain, ratio, span)
    null, theirs = known(ours.kinds["null"].acceptance), value(strict.kinds["null"].acceptance)
    share, upper = null.value, null.interval.high
    holds = share <= 0.05 and upper <= 0.06
    ratio = share / theirs if theirs else 0.0
    span = f"{said}, upper bound {upper:.4f} (bar 0.06)"
    yield Row(f"null_acceptance/{name}", share, "share", 0.05, holds, "strict", theirs, ratio, span)
    cost, cost_strict = (value(row.kinds["null"].rollouts_rejected) for row in (ours, strict))
    bar = cost_strict / 2 if cell.world.select >= 40 else None
    holds_cost = None if bar is None else cost <= bar
    ratio = cost / cost_strict if cost_strict else 0.0
    yield Row(f"null_rollouts/{name}", cost, "calls", bar, holds_cost, "strict", cost_strict, ratio, said)


def summary_rows(reports: list[SimulationReport], speed: float) -> Iterator[Row]:
    gains = [(value(r.row("paired").gain), max(value(r.row(p).gain) for p in PEERS)) for r in reports]
    below, above = sum(a < b for a, b in gains), sum(a > b for a, b in gains)
    nulls = [known(r.row("paired").kinds["null"].acceptance) for r in reports]
    worst, upper = max(null.value for null in nulls), max(null.interval.high for null in nulls)
    starts = max(value(r.row("paired").null_at_start) for r in reports)
    costs = [
        value(r.row("paired").kinds["null"].rollouts_rejected) / theirs
        for r in reports
        if r.world.select >= 40 and (theirs := value(r.row("strict").kinds["null"].rollouts_rejected))
    ]
    count = len(reports)
    yield Row("null_acceptance_worst", worst, "share", 0.05, worst <= 0.05, condition=f"{count} cells")
    yield Row("null_acceptance_upper_worst", upper, "share", 0.06, upper <= 0.06, condition=f"{count} cells")
    yield Row("null_acceptance_first_incumbent_worst", starts, "share", condition="decisions before the first accept")
    yield Row("cells_below_a_peer", below, "cells", 0, below == 0, condition=f"true gain, of {count} cells")
    yield Row("cells_above_all_peers", above, "cells", count // 2 + 1, above > count / 2, condition=f"of {count}")
    yield Row("null_rollout_ratio_worst", max(costs), "of strict", 0.5, max(costs) <= 0.5, condition="n of 40 and more")
    yield Row("decisions_per_minute", speed, "decisions", 10_000, speed >= 10_000, condition="one core, whole runs")


def unseen_rows(quick: bool) -> Iterator[Row]:
    """Worlds that the defaults were not chosen on: null candidates alone, and among good and bad ones."""
    runs = 4 if quick else 60
    for label, others in (
        ("alone", ()),
        ("among_others", (SimulatedProposal(0.25, 0.08, 0.0), SimulatedProposal(0.3, 0.0, 0.08))),
    ):
        worst, where, over, count = -1.0, "", 0, 0
        for mix_name, mix in UNSEEN_MIXES.items():
            for select in UNSEEN_SELECTS[1::2] if quick else UNSEEN_SELECTS:
                for null in UNSEEN_NULLS[::2] if quick else UNSEEN_NULLS:
                    share = 1.0 - sum(one.share for one in others)
                    world = SimulatedWorld(select, 20 * select, mix, (SimulatedProposal(share, null, null), *others))
                    found = simulate(world, [gate_named("paired")], runs, seed=5).rows[0].kinds["null"].acceptance
                    count, over = count + 1, over + (value(found) > 0.05)
                    if value(found) > worst:
                        worst, where = value(found), f"{mix_name} n={select} ±{100 * null:g} %"
        said = f"{count} worlds of {runs} runs, {over} above 0.05; worst: {where}"
        yield Row(f"null_acceptance_unseen_{label}", worst, "share", 0.06, worst <= 0.06, condition=said)


def rows(quick: bool) -> Iterator[Row]:
    reports, speed = measured(quick)
    yield from summary_rows(reports, speed)
    yield from unseen_rows(quick)
    for one in reports:
        yield from cell_rows(one)


def main() -> int:
    options = arguments(__doc__)
    report(rows(options.quick), options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
