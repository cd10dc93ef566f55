"""The gate against the published rules in simulated worlds: true gain, null acceptance, rollouts, speed.

python bench/gate.py [--quick] [--json FILE] [--cells FILE]

Quick: 24 runs a cell instead of 200, and budgets of 1,500 stand in for 6,000 with 8 runs there; same rows.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from whet.gate import Gate, SimulationReport, World, gate_named, load_world, simulate
from whet.gate.report import GateRow
from whet.gate.world import Proposal

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
UNSEEN_SELECTS = (10, 25, 60, 120, 400)
UNSEEN_NULLS = (0.0, 0.02, 0.05, 0.1)


def row(name: str, value: float, unit: str, bar: float | None, holds: bool | None, **more: Any) -> dict[str, Any]:
    blank = {"peer": None, "peer_value": None, "ratio": None, "condition": ""}
    return {"name": name, "value": value, "unit": unit, "bar": bar, "holds": holds} | blank | more


def cells() -> list[World]:
    return [
        replace(load_world(FOLDER / f"{name}.toml"), select=select, budget=budget)
        for select in SELECTS
        for budget in BUDGETS
        for name in WORLDS
    ]


def where(world: World) -> str:
    return f"{world.name}/{world.select}/{world.budget}"


def measured(runs: int, quick: bool) -> tuple[list[SimulationReport], float]:
    """Every cell under every gate, and how many decisions a minute the default gate made."""
    reports: list[SimulationReport] = []
    decisions, seconds = 0, 0.0
    for world in cells():
        many = max(8, runs // 3) if quick and world.budget > 1500 else runs
        began = time.perf_counter()
        ours = simulate(world, [gate_named("paired")], many, seed=11)
        seconds += time.perf_counter() - began
        decisions += ours.rows[0].decisions
        peers: list[Gate] = [gate_named(name) for name in PEERS]
        if not quick:
            peers.append(gate_named("none"))
        theirs = simulate(world, peers, many, seed=11)
        report = replace(ours, rows=ours.rows + theirs.rows)
        print(report.table(), end="\n\n", flush=True)
        reports.append(report)
    return reports, 60.0 * decisions / seconds


def cell_rows(report: SimulationReport) -> list[dict[str, Any]]:
    """The bars of one cell."""
    ours, name = report.row("paired"), where(report.world)
    best = max(PEERS, key=lambda peer: report.row(peer).gain.value)
    best_gain, gain = report.row(best).gain.value, ours.gain.value
    null = ours.kinds["null"].acceptance
    strict_cost = report.row("strict").kinds["null"].rollouts_rejected.value
    cost = ours.kinds["null"].rollouts_rejected.value
    needed = report.world.select >= 40
    said = f"{report.runs} runs, seed {report.seed}"
    return [
        row(f"gain/{name}", gain, "true mean", best_gain, gain >= best_gain, peer=best, peer_value=best_gain,
            ratio=gain / best_gain if best_gain > 0 else None, condition=f"{said}, 95 % {ours.gain.low:.3f} to {ours.gain.high:.3f}"),
        row(f"null_acceptance/{name}", null.value, "share", 0.05, null.value <= 0.05 and null.high <= 0.06, peer="strict",
            peer_value=report.row("strict").kinds["null"].acceptance.value, condition=f"{said}, upper bound {null.high:.4f} (bar 0.06)"),
        row(f"rollouts_per_rejected_null/{name}", cost, "target calls", strict_cost / 2 if needed else None,
            cost <= strict_cost / 2 if needed else None, peer="strict", peer_value=strict_cost, ratio=cost / strict_cost, condition=said),
    ]  # fmt: skip


def summary_rows(reports: list[SimulationReport], speed: float) -> list[dict[str, Any]]:
    gains = [(r.row("paired").gain.value, [r.row(peer).gain.value for peer in PEERS]) for r in reports]
    below = sum(ours < max(peers) for ours, peers in gains)
    above = sum(ours > max(peers) for ours, peers in gains)
    nulls = [r.row("paired").kinds["null"].acceptance for r in reports]
    ratios = [
        r.row("paired").kinds["null"].rollouts_rejected.value / r.row("strict").kinds["null"].rollouts_rejected.value
        for r in reports
        if r.world.select >= 40
    ]
    starts = max(r.row("paired").null_at_start.value or 0.0 for r in reports)
    return [
        row("null_acceptance_worst", max(n.value for n in nulls), "share", 0.05, all(n.value <= 0.05 for n in nulls)),
        row("null_acceptance_upper_worst", max(n.high for n in nulls), "share", 0.06, all(n.high <= 0.06 for n in nulls)),
        row("null_acceptance_first_incumbent_worst", starts, "share", None, None, condition="no later decisions in it"),
        row("cells_with_gain_below_a_peer", below, "cells", 0, below == 0, condition=f"of {len(reports)}"),
        row("cells_with_gain_above_all_peers", above, "cells", len(reports) // 2 + 1, above > len(reports) / 2),
        row("null_rollout_ratio_worst", max(ratios), "ratio to strict", 0.5, max(ratios) <= 0.5, condition="n of 40 and more"),
        row("decisions_per_minute", speed, "decisions", 10_000, speed >= 10_000, condition="one core, budgets included"),
    ]  # fmt: skip


def unseen_rows(runs: int, quick: bool) -> list[dict[str, Any]]:
    """Null candidates alone, in worlds that the defaults were not chosen on."""
    worst: tuple[float, str, GateRow | None] = (-1.0, "", None)
    over = count = 0
    for mix_name, mix in UNSEEN_MIXES.items():
        for select in UNSEEN_SELECTS[::2] if quick else UNSEEN_SELECTS:
            for null in UNSEEN_NULLS[::3] if quick else UNSEEN_NULLS:
                world = World(select, 20 * select, mix, (Proposal(1.0, null, null),), name=f"{mix_name}±{null:g}")
                found = simulate(world, [gate_named("paired")], runs, seed=5).rows[0]
                share = found.kinds["null"].acceptance.value or 0.0
                count, over = count + 1, over + (share > 0.05)
                worst = max(worst, (share, where(world), found), key=lambda one: one[0])
    said = f"{count} worlds, {runs} runs each, {over} above 0.05; worst in {worst[1]}"
    return [row("null_acceptance_unseen_worst", worst[0], "share", 0.06, worst[0] <= 0.06, condition=said)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="under a minute, same rows, wider intervals")
    parser.add_argument("--json", type=Path, help="write the rows to this file")
    parser.add_argument("--cells", type=Path, help="write the full reports of all cells to this file")
    options = parser.parse_args()
    reports, speed = measured(24 if options.quick else 200, options.quick)
    rows = summary_rows(reports, speed)
    rows += unseen_rows(8 if options.quick else 60, options.quick)
    rows += [one for report in reports for one in cell_rows(report)]
    for one in rows:
        holds = "" if one["holds"] is None else "holds" if one["holds"] else "MISSED"
        bar = "" if one["bar"] is None else f"bar {one['bar']:.4g}"
        print(f"{one['name']:58} {one['value']:10.4g} {one['unit']:16} {bar:12} {holds:7} {one['condition']}")
    if options.json:
        options.json.write_text(json.dumps({"rows": rows}, indent=1) + "\n")
    if options.cells:
        options.cells.write_text(json.dumps([report.as_data() for report in reports], indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
