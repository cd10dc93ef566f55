"""What policies that do not think achieve on the same tasks: a score means something only above this floor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from whet.evals.intervals import LEVEL, Estimate
from whet.evals.summary import summarize
from whet.types import Outcome

ORACLE = "oracle"


@dataclass(frozen=True, slots=True)
class Trivial:
    """One trivial policy and what it achieves."""

    name: str
    pass_rate: Estimate
    mean_reward: Estimate


@dataclass(frozen=True, slots=True)
class Floor:
    """The trivial policies, the best first: by pass rate, then by reward."""

    policies: tuple[Trivial, ...]

    @property
    def best(self) -> Trivial:
        return self.policies[0]


def floor_of(outcomes: Mapping[str, Sequence[Outcome]], *, level: float = LEVEL) -> Floor | None:
    """The floor from the rollouts of each trivial policy; None where none has a score. The oracle is no floor."""
    policies = []
    for name, rollouts in outcomes.items():
        figures = summarize(rollouts, level=level).overall
        if name != ORACLE and figures.pass_rate is not None and figures.mean_reward is not None:
            policies.append(Trivial(name, figures.pass_rate, figures.mean_reward))
    ranked = sorted(policies, key=lambda one: (-one.pass_rate.value, -one.mean_reward.value, one.name))
    return Floor(tuple(ranked)) if ranked else None
