"""What a simulation found, with intervals: as data for a file and as a table for a person."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from whet.gate.world import Kind, World

KINDS: tuple[Kind, ...] = ("good", "null", "bad")
Z95 = 1.959963984540054


class DecisionRecord(NamedTuple):
    """One decision of a simulated run. `effect` is what the candidate truly does to the population's mean."""

    kind: Kind
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


class Estimate(NamedTuple):
    """A mean over runs with its 95 % interval; all None where there was nothing to average."""

    value: float | None
    low: float | None
    high: float | None

    def __str__(self) -> str:
        return "-" if self.value is None else f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True, slots=True)
class KindRow:
    """How a gate treated one kind of candidate."""

    decisions: int
    accepted: int
    acceptance: Estimate
    rollouts: Estimate
    rollouts_rejected: Estimate
    effect: float | None
    """The mean true effect of the candidates of this kind, as proposed."""


@dataclass(frozen=True, slots=True)
class GateRow:
    """What a gate did in a world."""

    gate: str
    gain: Estimate
    kinds: dict[Kind, KindRow]
    null_at_start: Estimate
    """Acceptance of null candidates while the first incumbent stands: no later, easier decisions in it."""
    inflation: Estimate
    """The incumbent's score on record at the end, minus its true mean."""
    false_accepts: Estimate
    """Null and bad candidates accepted in a run."""
    expected_false_accepts: float | None
    """What the gate itself promises at most: its alphas, added up over a run."""
    decisions: int
    rollouts: float


@dataclass(frozen=True, slots=True)
class SimulationReport:
    """One row a gate."""

    world: World
    runs: int
    seed: int
    rows: tuple[GateRow, ...]

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
        return "\n".join([title, *body])


def summarise(gate: str, runs: Sequence[RunRecord]) -> GateRow:
    """Add up the runs of a gate."""
    alphas = [one.alpha for run in runs for one in run.decisions]
    known = [alpha for alpha in alphas if alpha is not None]
    recorded = [run.recorded - run.end for run in runs if run.recorded is not None]
    false = [float(sum(one.accepted and one.kind != "good" for one in run.decisions)) for run in runs]
    return GateRow(
        gate=gate,
        gain=mean_of([run.end - run.start for run in runs]),
        kinds={kind: _kind_row([[d for d in run.decisions if d.kind == kind] for run in runs]) for kind in KINDS},
        null_at_start=_share([[d.accepted for d in _before_accept(run) if d.kind == "null"] for run in runs]),
        inflation=mean_of(recorded),
        false_accepts=mean_of(false),
        expected_false_accepts=sum(known) / len(runs) if len(known) == len(alphas) else None,
        decisions=len(alphas),
        rollouts=float(np.mean([run.rollouts for run in runs])),
    )


def _before_accept(run: RunRecord) -> Sequence[DecisionRecord]:
    """Decisions up to and with the first acceptance."""
    first = next((i for i, one in enumerate(run.decisions) if one.accepted), len(run.decisions))
    return run.decisions[: first + 1]


def _kind_row(runs: Sequence[Sequence[DecisionRecord]]) -> KindRow:
    every = [one for run in runs for one in run]
    return KindRow(
        decisions=len(every),
        accepted=sum(one.accepted for one in every),
        acceptance=_share([[one.accepted for one in run] for run in runs]),
        rollouts=_ratio([[float(one.rollouts) for one in run] for run in runs]),
        rollouts_rejected=_ratio([[float(one.rollouts) for one in run if not one.accepted] for run in runs]),
        effect=float(np.mean([one.effect for one in every])) if every else None,
    )


def mean_of(values: Sequence[float]) -> Estimate:
    """The mean of independent runs."""
    if not values:
        return Estimate(None, None, None)
    mean = float(np.mean(values))
    half = Z95 * float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.inf
    return Estimate(mean, mean - half, mean + half)


def _ratio(runs: Sequence[Sequence[float]]) -> Estimate:
    """The mean over all decisions; the interval counts runs, because decisions of one run share its draws."""
    count = sum(len(run) for run in runs)
    if not count:
        return Estimate(None, None, None)
    mean = sum(sum(run) for run in runs) / count
    clusters = len(runs)
    off = sum((sum(run) - mean * len(run)) ** 2 for run in runs) * clusters / max(clusters - 1, 1)
    half = Z95 * math.sqrt(off) / count
    return Estimate(mean, mean - half, mean + half)


def _share(runs: Sequence[Sequence[bool]]) -> Estimate:
    """A share of decisions, as `_ratio`; where all agree, the interval of Wilson."""
    share = _ratio([[float(one) for one in run] for run in runs])
    if share.value is None or share.low is None or share.high is None:
        return share
    if share.value not in (0.0, 1.0):
        return Estimate(share.value, max(share.low, 0.0), min(share.high, 1.0))
    count = sum(len(run) for run in runs)
    edge = Z95**2 / (count + Z95**2)
    return Estimate(0.0, 0.0, edge) if share.value == 0.0 else Estimate(1.0, 1.0 - edge, 1.0)


def _cells(row: GateRow, runs: int) -> tuple[str, ...]:
    shares = [str(row.kinds[kind].acceptance) for kind in KINDS]
    cost = row.kinds["null"].rollouts_rejected.value
    return (
        row.gate,
        str(row.gain),
        *shares,
        "-" if cost is None else f"{cost:.1f}",
        str(row.inflation),
        f"{row.decisions / runs:.1f}/run",
    )


def _row_out(row: GateRow) -> dict[str, Any]:
    def out(kind: KindRow) -> dict[str, Any]:
        return {
            "decisions": kind.decisions,
            "accepted": kind.accepted,
            "acceptance": list(kind.acceptance),
            "rollouts": list(kind.rollouts),
            "rollouts_rejected": list(kind.rollouts_rejected),
            "true_effect": kind.effect,
        }

    return {
        "gate": row.gate,
        "gain": list(row.gain),
        "kinds": {kind: out(one) for kind, one in row.kinds.items()},
        "null_at_start": list(row.null_at_start),
        "inflation": list(row.inflation),
        "false_accepts": list(row.false_accepts),
        "expected_false_accepts": row.expected_false_accepts,
        "decisions": row.decisions,
        "rollouts": row.rollouts,
    }
