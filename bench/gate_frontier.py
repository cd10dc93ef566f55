"""Draws docs/decisions/gate-frontier.png: true gain against null acceptance, the default gate at several alphas.

python bench/gate_frontier.py [FILE]    (about five minutes; needs matplotlib)
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

from whet.gate import PairedGate, gate_named, load_world, simulate
from whet.gate.report import GateRow

ROOT = Path(__file__).resolve().parents[1]
ALPHAS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35)
PEERS = {"strict": "s", "gepa": "^", "rule_search": "D"}
SELECTS = (17, 40, 200)
RUNS = 60
LINE, PEER, ALPHA = "#1f5fa8", "#b4472e", "#888888"


def point(row: GateRow) -> tuple[float, float]:
    null, gain = row.kinds["null"].acceptance, row.gain
    return 100.0 * (null.value if null else 0.0), 100.0 * (gain.value if gain else 0.0)


def main() -> int:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "decisions" / "gate-frontier.png"
    figure, axes = plt.subplots(1, len(SELECTS), figsize=(11, 3.8), sharey=True, layout="constrained")
    for axis, select in zip(axes, SELECTS, strict=True):
        world = replace(load_world(ROOT / "examples" / "worlds" / "mixed-nulls.toml"), select=select, budget=1500)
        gates = [PairedGate(alpha=alpha, name=f"paired {alpha:g}") for alpha in ALPHAS]
        report = simulate(world, [*gates, *(gate_named(name) for name in PEERS)], RUNS, seed=3)
        line = [point(row) for row in report.rows[: len(ALPHAS)]]
        axis.plot(*zip(*line, strict=True), "o-", color=LINE, ms=4, label="paired, by alpha")
        for (x, y), alpha in zip(line, ALPHAS, strict=True):
            print(f"n={select} paired alpha={alpha:g}: null {x:.2f} %, gain {y:+.1f}")
            if alpha in (0.005, 0.05, 0.35):
                axis.annotate(f"{alpha:g}", (x, y), xytext=(6, -10), textcoords="offset points", color=LINE, fontsize=8)
        axis.plot(*line[ALPHAS.index(0.05)], "o", ms=11, mfc="none", mec=LINE, mew=1.5, label="default, alpha 0.05")
        for name, marker in PEERS.items():
            x, y = point(report.row(name))
            print(f"n={select} {name}: null {x:.2f} %, gain {y:+.1f}")
            axis.plot(x, y, marker, color=PEER, ms=7, ls="none", label=name)
            axis.annotate(name, (x, y), xytext=(7, 5), textcoords="offset points", color=PEER, fontsize=8)
        axis.axvline(5, color=ALPHA, lw=0.8, ls="--")
        axis.set_title(f"{select} select tasks", fontsize=10)
        axis.set_xlabel("null candidates accepted, %")
        axis.set_xlim(left=-0.8)
        axis.margins(x=0.18)
    axes[0].set_ylabel("true gain of a run, points")
    figure.suptitle("1,500 target calls, 45 % of proposals help 5 % of the tasks and hurt as many", fontsize=10)
    handles, labels = axes[0].get_legend_handles_labels()
    axes[-1].legend(handles[:2], labels[:2], loc="lower right", fontsize=8, frameon=False)
    figure.savefig(target, dpi=130)
    print(f"wrote {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
