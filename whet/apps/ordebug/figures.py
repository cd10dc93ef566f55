"""The environment's own figures of a run, for the model and for every reference policy that played its tasks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from whet.envs.ordebug import metrics
from whet.errors import WhetError
from whet.evals.estimate import Estimate, mean_estimate
from whet.rollout.cast import BASELINE
from whet.run.floor import FLOOR, REFERENCE
from whet.run.workspace import EVAL, Run
from whet.types import Rollout

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True, slots=True)
class PolicyFigures:
    """What one policy did: every metric as a mean over tasks with its interval, DA, and tokens written an attempt."""

    who: str
    tasks: int
    metrics: dict[str, Estimate]
    diagnosis: float | None
    tokens: float

    def to_data(self) -> dict[str, Any]:
        return {
            "tasks": self.tasks,
            "tokens": self.tokens,
            "DA": self.diagnosis,
            **{
                name: {"value": estimate.value, "low": estimate.interval.low, "high": estimate.interval.high}
                for name, estimate in self.metrics.items()
            },
        }


def measure(run: Run) -> list[PolicyFigures]:
    """The run's model first, then the reference policies that played beside it."""
    if not run.config.env.name.startswith("ordebug"):
        raise WhetError(f"{run.name} is a run of {run.config.env.name}, not of ordebug")
    purposes = sorted({outcome.ticket.purpose for outcome in _all_outcomes(run)})
    others = [purpose for purpose in purposes if purpose.startswith((FLOOR, REFERENCE))]
    found = [figures(run.config.target.model, run.rollouts(EVAL))]
    return found + [figures(BASELINE + purpose.partition("/")[2], run.rollouts(purpose)) for purpose in others]


def _all_outcomes(run: Run) -> Iterable[Any]:
    with run.ledger() as ledger:
        yield from ledger.outcomes()


def figures(who: str, rollouts: Iterable[Rollout]) -> PolicyFigures:
    """Add up rollouts; faults are not in any denominator, and draws of one task are averaged first."""
    scored = [(rollout, rollout.score) for rollout in rollouts if rollout.score is not None]
    parts = [score.parts for _, score in scored]
    found: dict[str, Estimate] = {}
    for metric in metrics.METRICS:
        by_task: dict[int, list[float]] = {}
        for (rollout, _), values in zip(scored, parts, strict=True):
            value = metrics.value(metric, values)
            if value is not None:
                by_task.setdefault(rollout.ticket.index, []).append(value)
        means = [math.fsum(values) / len(values) for values in by_task.values()]
        estimate = mean_estimate(means, span=(0.0, 1.0) if metric.rate else (0.0, max([1.0, *means])))
        if estimate is not None:
            found[metric.name] = estimate
    tokens = [float(rollout.usage.completion_tokens) for rollout, _ in scored]
    tasks = len({rollout.ticket.index for rollout, _ in scored})
    mean_tokens = math.fsum(tokens) / len(tokens) if tokens else 0.0
    return PolicyFigures(who, tasks, found, metrics.diagnosis(parts), mean_tokens)


def table(rows: Sequence[PolicyFigures], title: str = "") -> Table:
    """A column for each policy, a line for each metric; intervals for the first, which is the model."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    made = Table(title=title or None, title_justify="left", box=SIMPLE_HEAD, collapse_padding=True)
    made.add_column("")
    for row in rows:
        made.add_column(row.who.removeprefix(BASELINE), justify="right")
    made.add_row("tasks", *(str(row.tasks) for row in rows))
    for metric in metrics.METRICS:
        found = [row.metrics.get(metric.name) for row in rows]
        made.add_row(
            metric.name, *(_cell(estimate, metric.rate, wide=not place) for place, estimate in enumerate(found))
        )
    made.add_row("DA", *("-" if row.diagnosis is None else f"{100 * row.diagnosis:.0f} %" for row in rows))
    made.add_row("tokens", *(f"{row.tokens:.0f}" for row in rows))
    return made


def _cell(estimate: Estimate | None, rate: bool, wide: bool) -> str:
    if estimate is None:
        return "-"
    if not rate:
        return f"{estimate.value:.1f}"
    return share(estimate) if wide else f"{100 * estimate.value:.0f} %"


def share(estimate: Estimate) -> str:
    """`46 % [33-60]`."""
    low, high = estimate.interval.low, estimate.interval.high
    return f"{100 * estimate.value:.0f} % [{100 * low:.0f}-{100 * high:.0f}]"
