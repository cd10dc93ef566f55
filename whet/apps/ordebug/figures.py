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
    """What one policy did: every metric as a mean over tasks with its interval, DA, tokens written an attempt, and how
    much the reward of one task varies from attempt to attempt (None where each was made once)."""

    who: str
    tasks: int
    metrics: dict[str, Estimate]
    diagnosis: float | None
    tokens: float
    group_variance: float | None = None

    def to_data(self) -> dict[str, Any]:
        return {
            "tasks": self.tasks,
            "tokens": self.tokens,
            "DA": self.diagnosis,
            "reward variance": self.group_variance,
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
        values = [metrics.value(metric, each) for each in parts]
        _estimated(found, metric.name, metric.rate, zip(scored, values, strict=True))
    for budget in metrics.TOKENS:
        within = [metrics.within_tokens(s.parts, r.usage.completion_tokens, budget) for r, s in scored]
        _estimated(found, f"repaired in {budget} tokens", True, zip(scored, within, strict=True))
    tokens = [float(rollout.usage.completion_tokens) for rollout, _ in scored]
    tasks = len({rollout.ticket.index for rollout, _ in scored})
    mean_tokens = math.fsum(tokens) / len(tokens) if tokens else 0.0
    rewards: dict[int, list[float]] = {}
    for rollout, score in scored:
        rewards.setdefault(rollout.ticket.index, []).append(score.parts.get("reward_repair", 0.0))
    spread = metrics.group_variance(list(rewards.values()))
    return PolicyFigures(who, tasks, found, metrics.diagnosis(parts), mean_tokens, spread)


def _estimated(
    found: dict[str, Estimate], name: str, rate: bool, values: Iterable[tuple[tuple[Rollout, Any], float | None]]
) -> None:
    """Put the mean over tasks into `found`, where there is one."""
    by_task: dict[int, list[float]] = {}
    for (rollout, _), value in values:
        if value is not None:
            by_task.setdefault(rollout.ticket.index, []).append(value)
    means = [math.fsum(each) / len(each) for each in by_task.values()]
    estimate = mean_estimate(means, span=(0.0, 1.0) if rate else (0.0, max([1.0, *means])))
    if estimate is not None:
        found[name] = estimate


def table(rows: Sequence[PolicyFigures], title: str = "") -> Table:
    """A column for each policy, a line for each metric; intervals for the first, which is the model."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    made = Table(title=title or None, title_justify="left", box=SIMPLE_HEAD, collapse_padding=True)
    made.add_column("")
    for row in rows:
        made.add_column(row.who.removeprefix(BASELINE), justify="right")
    made.add_row("tasks", *(str(row.tasks) for row in rows))
    lines = [(metric.name, metric.rate) for metric in metrics.METRICS]
    for name, rate in [*lines, *((f"repaired in {budget} tokens", True) for budget in metrics.TOKENS)]:
        found = [row.metrics.get(name) for row in rows]
        made.add_row(name, *(_cell(estimate, rate, wide=not place) for place, estimate in enumerate(found)))
    spread = [row.group_variance for row in rows]
    made.add_row("reward variance", *("-" if value is None else f"{value:.3f}" for value in spread))
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
