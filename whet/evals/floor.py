"""What policies without skill achieve on the same tasks: a score means something only above this floor.

What an environment's own rules achieve is a reference: beside a score, but no floor under it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from whet.evals.estimate import LEVEL, Estimate
from whet.evals.metric import HARD, Metric
from whet.evals.summary import summarize
from whet.types import Outcome

ORACLE = "oracle"


@dataclass(frozen=True, slots=True)
class FloorPolicy:
    """A trivial policy and what it achieves."""

    name: str
    pass_rate: Estimate
    mean_reward: Estimate
    mean_metric: Estimate | None = None
    """On the metric that a claim beside the floor is about; None where no rollout reports it."""

    @property
    def rank(self) -> tuple[float, float, float, str]:
        on_metric = -self.mean_metric.value if self.mean_metric is not None else math.inf
        return on_metric, -self.pass_rate.value, -self.mean_reward.value, self.name


@dataclass(frozen=True, slots=True)
class Floor:
    """The policies without skill, the best first: by the metric of the claim, then by pass rate, then by reward."""

    policies: tuple[FloorPolicy, ...]
    references: tuple[FloorPolicy, ...] = ()
    """What the environment's own rules achieve, in the same order."""

    @property
    def best(self) -> FloorPolicy:
        return self.policies[0]


def floor_of(
    outcomes: Mapping[str, Sequence[Outcome]],
    references: Mapping[str, Sequence[Outcome]] | None = None,
    *,
    metric: Metric | str = HARD,
    level: float = LEVEL,
) -> Floor | None:
    """The floor from the rollouts of each policy without skill; None where none has a score. The oracle is neither."""

    def ranked(played: Mapping[str, Sequence[Outcome]]) -> tuple[FloorPolicy, ...]:
        policies = []
        for name, rollouts in played.items():
            figures = summarize(rollouts, metric=metric, level=level).overall
            if name != ORACLE and figures.pass_rate is not None and figures.mean_reward is not None:
                policies.append(FloorPolicy(name, figures.pass_rate, figures.mean_reward, figures.mean_metric))
        return tuple(sorted(policies, key=lambda policy: policy.rank))

    policies = ranked(outcomes)
    return Floor(policies, ranked(references or {})) if policies else None
