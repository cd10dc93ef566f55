"""The environment's own figures, made from the parts of scores: what the general table does not have.

Each metric is a mean over rollouts of a value that some rollouts may not have; `DA`, as published, is a ratio of sums.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

Parts = Mapping[str, float]

STEPS = (1, 5, 10, 15, 20)
"""The k of every figure `@k`: steps of the play, not samples."""


@dataclass(frozen=True, slots=True)
class RepairMetric:
    """One figure. `value` of a rollout's parts is None where the rollout does not count; `rate`: in [0, 1]."""

    name: str
    about: str
    value: Callable[[Parts], float | None]
    rate: bool = True


def _within(part: str, steps: str, k: int) -> Callable[[Parts], float]:
    return lambda parts: float(parts[part] > 0.0 and 0.0 < parts[steps] <= k)


def _part(name: str) -> Callable[[Parts], float]:
    return lambda parts: parts[name]


def _share(name: str) -> Callable[[Parts], float]:
    return lambda parts: parts[name] / parts["steps"] if parts["steps"] else 0.0


def _kept(parts: Parts) -> float | None:
    """OP is published for successes alone: a model that became optimal."""
    return parts["op"] if parts["first_optimal"] else None


def _kept_unspecified(parts: Parts) -> float | None:
    return None if parts["specified"] else parts["kept"]


def _cost_of_repair(parts: Parts) -> float | None:
    return parts["edit_cost"] if parts["repaired"] else None


METRICS: tuple[RepairMetric, ...] = (
    *(
        RepairMetric(
            f"repaired@{k}", f"submitted within {k} steps, equivalent to the original", _within("repaired", "steps", k)
        )
        for k in STEPS
    ),
    *(
        RepairMetric(
            f"feasible@{k}", f"submitted within {k} steps with an optimal solution", _within("feasible", "steps", k)
        )
        for k in STEPS
    ),
    *(
        RepairMetric(
            f"RR@{k}", f"published: optimal at some step up to {k}", _within("first_optimal", "first_optimal", k)
        )
        for k in STEPS
    ),
    RepairMetric("kept", "without specification: feasible, objective kept, in as few edits", _kept_unspecified),
    RepairMetric("reward", "mean of the reward `repair`", _part("reward_repair")),
    RepairMetric("minimal", "repaired with as few edits as the certificate says are needed", _part("minimal")),
    RepairMetric("precision", "of the elements blamed, the share that is wrong", _part("precision")),
    RepairMetric("recall", "of the elements that are wrong, the share blamed", _part("recall")),
    RepairMetric("OP", "published: how near the objective came to the original's, over optimal models", _kept),
    RepairMetric("submitted", "ended with submit", _part("submitted")),
    RepairMetric("malformed", "share of steps that said no action", _share("malformed")),
    RepairMetric("refused", "share of steps that the model could not take", _share("refused")),
    RepairMetric("steps", "steps taken", _part("steps"), rate=False),
    RepairMetric("edit cost", "elements changed in repaired models", _cost_of_repair, rate=False),
    RepairMetric("drops", "rows dropped", _part("drops"), rate=False),
)


NOTHING: Parts = {"specified": 1.0} | dict.fromkeys(
    (
        *("submitted", "feasible", "repaired", "minimal", "precision", "recall", "steps", "malformed", "refused"),
        *("edit_cost", "drops", "first_optimal", "da_hits", "da_rows", "op", "kept", "reward_repair"),
    ),
    0.0,
)
"""What an attempt counts as that a limit ended before it could be graded."""


def value(metric: RepairMetric, parts: Parts) -> float | None:
    """The metric's value for one rollout."""
    return metric.value({**NOTHING, **parts})


TOKENS = (1_000, 2_000, 4_000, 8_000)
"""Budgets of written tokens of the figure `repaired within N tokens`."""


def within_tokens(parts: Parts, written: int, budget: int) -> float:
    """Whether an attempt ended in a repair with at most so many tokens written."""
    return float({**NOTHING, **parts}["repaired"] > 0.0 and written <= budget)


def group_variance(rewards: Sequence[Sequence[float]]) -> float | None:
    """The mean over tasks of the variance of the reward among the attempts at one task; None where each has one."""
    groups = [group for group in rewards if len(group) > 1]
    if not groups:
        return None
    return math.fsum(statistics.pvariance(group) for group in groups) / len(groups)


def diagnosis(scores: Iterable[Parts]) -> float | None:
    """DA as published: rows of the subsystem that were edited, over all rows of the subsystem, both added up."""
    pairs = [(parts.get("da_hits", 0.0), parts.get("da_rows", 0.0)) for parts in scores]
    rows = sum(size for _, size in pairs)
    return sum(hits for hits, _ in pairs) / rows if rows else None
