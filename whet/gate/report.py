"""What a simulation found, with intervals: as data for a file and as a table for a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from whet.evals.estimate import Estimate, clustered_estimate, clustered_share, normal_estimate, ranged
from whet.gate.world import ProposalKind, SimulatedWorld

KINDS: tuple[ProposalKind, ...] = ("good", "null", "bad")


class DecisionRecord(NamedTuple):
    """One decision of a simulated run. `effect` is what the candidate truly does to the population's mean."""

    kind: ProposalKind
    accepted: bool
    rollouts: int
    effect: float
    alpha: float | None


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One simulated run. `recorded` is the incumbent's score on record at the end, None when it was never measured."""

    decisions: tuple[DecisionRecord, ...]
    start: float
    end: float
    recorded: float | None
    rollouts: int


@dataclass(frozen=True, slots=True)
class KindRow:
    """How a gate treated one kind of candidate."""

    decisions: int
    accepted: int
    acceptance: Estimate | None
    rollouts: Estimate | None
    rollouts_rejected: Estimate | None
    effect: float | None
    """The mean true effect of the candidates of this kind, as proposed."""


@dataclass(frozen=True, slots=True)
class GateRow:
    """What a gate did in a world."""

    gate: str
    gain: Estimate | None
    kinds: dict[ProposalKind, KindRow]
    null_at_start: Estimate | None
    """Acceptance of null candidates while the first incumbent stands: no later, easier decisions in it."""
    inflation: Estimate | None
    """The incumbent's score on record at the end, minus its true mean."""
    false_accepts: Estimate | None
    """Null and bad candidates accepted in a run."""
    expected_false_accepts: float | None
    """What the gate itself promises at most: its alphas, added up over a run."""
    decisions: int
    rollouts: float
    alpha: float | None = None
    """The largest alpha of its decisions; None for a rule without one."""


@dataclass(frozen=True, slots=True)
class SimulationReport:
    """One row a gate."""

    world: SimulatedWorld
    runs: int
    seed: int
    rows: tuple[GateRow, ...]

    def __repr__(self) -> str:
        return f"SimulationReport({self.world.name!r}, runs={self.runs}, gates={[row.gate for row in self.rows]})"

    def row(self, gate: str) -> GateRow:
        return next(row for row in self.rows if row.gate == gate)

    def as_data(self) -> dict[str, Any]:
        world = {
            "name": self.world.name,
            "select": self.world.select,
            "budget": self.world.budget,
            "tasks": {"population": self.world.population, "mix": [list(pair) for pair in self.world.mix]},
            "candidates": [{"share": c.share, "up": c.up, "down": c.down} for c in self.world.candidates],
        }
        return {"world": world, "runs": self.runs, "seed": self.seed, "gates": [_row_out(row) for row in self.rows]}

    def table(self) -> str:
        """The report as lines of text."""
        world = self.world
        size = f"{world.select} select tasks, {world.budget} target calls"
        title = f"{world.name}: {size}, {self.runs} runs, seed {self.seed}"
        head = (
            "gate",
            "true gain",
            "good accepted",
            "null accepted",
            "null at start",
            "bad accepted",
            "calls/null",
            "inflation",
            "decisions",
        )
        lines = [head] + [_cells(row, self.runs) for row in self.rows]
        widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
        body = (
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
        )
        return "\n".join([title, *body, *self._worst()])

    def _worst(self) -> list[str]:
        """Where a gate with a promise let most nulls through while its first incumbent stood."""
        promised = [row for row in self.rows if row.alpha is not None and row.null_at_start is not None]
        if not promised:
            return []
        worst = max(promised, key=lambda row: row.null_at_start.value if row.null_at_start else 0.0)
        assert worst.null_at_start is not None
        interval = worst.null_at_start.interval
        return [
            f"worst first decisions: {worst.gate} accepts {worst.null_at_start.value:.3f} of the nulls while its first "
            f"incumbent stands (95 % {interval.low:.3f} to {interval.high:.3f}); promised: at most {worst.alpha:g}"
        ]


def summarise(gate: str, runs: Sequence[RunRecord]) -> GateRow:
    """Add up the runs of a gate."""
    alphas = [decision.alpha for run in runs for decision in run.decisions]
    known = [alpha for alpha in alphas if alpha is not None]
    recorded = [run.recorded - run.end for run in runs if run.recorded is not None]
    false = [float(sum(d.accepted and d.kind != "good" for d in run.decisions)) for run in runs]
    return GateRow(
        gate=gate,
        gain=normal_estimate([run.end - run.start for run in runs]),
        kinds={kind: _kind_row([[d for d in run.decisions if d.kind == kind] for run in runs]) for kind in KINDS},
        null_at_start=clustered_share([[d.accepted for d in _before_accept(run) if d.kind == "null"] for run in runs]),
        inflation=normal_estimate(recorded),
        false_accepts=normal_estimate(false),
        expected_false_accepts=sum(known) / len(runs) if len(known) == len(alphas) else None,
        decisions=len(alphas),
        rollouts=float(np.mean([run.rollouts for run in runs])),
        alpha=max(known, default=None) if len(known) == len(alphas) else None,
    )


def _before_accept(run: RunRecord) -> Sequence[DecisionRecord]:
    """Decisions up to and with the first acceptance."""
    first = next((i for i, decision in enumerate(run.decisions) if decision.accepted), len(run.decisions))
    return run.decisions[: first + 1]


def _kind_row(runs: Sequence[Sequence[DecisionRecord]]) -> KindRow:
    every = [decision for run in runs for decision in run]
    return KindRow(
        decisions=len(every),
        accepted=sum(decision.accepted for decision in every),
        acceptance=clustered_share([[d.accepted for d in run] for run in runs]),
        rollouts=clustered_estimate([[float(d.rollouts) for d in run] for run in runs]),
        rollouts_rejected=clustered_estimate([[float(d.rollouts) for d in run if not d.accepted] for run in runs]),
        effect=float(np.mean([decision.effect for decision in every])) if every else None,
    )


def _cells(row: GateRow, runs: int) -> tuple[str, ...]:
    good, null, bad = (ranged(row.kinds[kind].acceptance, 3) for kind in KINDS)
    cost = row.kinds["null"].rollouts_rejected
    return (
        row.gate,
        ranged(row.gain, 3),
        good,
        null,
        ranged(row.null_at_start, 3),
        bad,
        "-" if cost is None else f"{cost.value:.1f}",
        ranged(row.inflation, 3),
        f"{row.decisions / runs:.1f}/run",
    )


def _row_out(row: GateRow) -> dict[str, Any]:
    def out(kind: KindRow) -> dict[str, Any]:
        return {
            "decisions": kind.decisions,
            "accepted": kind.accepted,
            "acceptance": _triple(kind.acceptance),
            "rollouts": _triple(kind.rollouts),
            "rollouts_rejected": _triple(kind.rollouts_rejected),
            "true_effect": kind.effect,
        }

    return {
        "gate": row.gate,
        "gain": _triple(row.gain),
        "kinds": {kind: out(figures) for kind, figures in row.kinds.items()},
        "null_at_start": _triple(row.null_at_start),
        "inflation": _triple(row.inflation),
        "false_accepts": _triple(row.false_accepts),
        "expected_false_accepts": row.expected_false_accepts,
        "decisions": row.decisions,
        "rollouts": row.rollouts,
        "alpha": row.alpha,
    }


def _triple(estimate: Estimate | None) -> list[float | None]:
    """Value, low and high; all None where there was nothing to average."""
    return [None] * 3 if estimate is None else [estimate.value, estimate.interval.low, estimate.interval.high]
