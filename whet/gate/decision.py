"""What a gate answers: a decision with all its evidence, or the draws it needs before it can decide."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from whet.gate.evidence import Draw, DrawReadings

GateVerdict = Literal["accept", "reject", "cannot_decide"]

_SAID = {"accept": "accepted", "reject": "rejected", "cannot_decide": "cannot decide"}


@dataclass(frozen=True, slots=True)
class GateLook:
    """A look at a complete prefix of the plan: the statistic there, and the bounds for rejecting and accepting."""

    at: str
    tasks: int
    rollouts: int
    statistic: float
    reject_below: float
    accept_from: float | None = None


@dataclass(frozen=True, slots=True)
class GuardReading:
    """How a guarded metric moved: the mean difference over the tasks concerned, and how much harm its bound allows.

    With a `level`, `harm` is the upper bound of the mean at that level. Where nothing was read there is no harm to see,
    and no bound is broken.
    """

    metric: str
    difference: float
    harm: float
    bound: float
    level: float | None = None
    among: str = ""
    tasks: int = 0

    @property
    def held(self) -> bool:
        return not self.harm > self.bound

    @property
    def why(self) -> str:
        """What is wrong where it does not hold."""
        if self.level is None:
            return f"{self.metric} got worse by {self.harm:.3f}, more than {self.bound:g}"
        concerned = f"on {self.tasks} tasks{f' ({self.among})' if self.among else ''}"
        return (
            f"{self.metric} may have got worse by {self.harm:.3f} {concerned}, {100 * self.level:g} % bound, more than "
            f"{self.bound:g}"
        )


@dataclass(frozen=True, slots=True)
class Decision:
    """The end of a trial. `reason` is a short stable code; `detail` says it for a person.

    `effect` is the plain mean difference over the tasks seen, `better` and `worse` count the tasks by its sign.
    """

    verdict: GateVerdict
    gate: str
    reason: str
    detail: str = ""
    metric: str = "hard"
    alpha: float | None = None
    tasks: int = 0
    seen: int = 0
    effect: float = math.nan
    incumbent_score: float = math.nan
    candidate_score: float = math.nan
    better: int = 0
    worse: int = 0
    statistic: float = math.nan
    threshold: float = math.nan
    guards: tuple[GuardReading, ...] = ()
    looks: tuple[GateLook, ...] = ()
    draws: DrawReadings = ()
    pace: str | None = None
    missing: tuple[int, int] = (0, 0)
    """Draws of the incumbent and of the candidate that read nothing; each counts as least favourable to acceptance."""
    left_out: tuple[int, ...] = ()
    """Tasks left out for both arms because the incumbent read nothing there, by their place among the tasks."""
    excluded: tuple[int, ...] = ()
    """Tasks of the split that the config excludes for both arms."""

    @property
    def accepted(self) -> bool:
        return self.verdict == "accept"

    def rollouts(self, arm: str | None = None) -> int:
        """Rollouts that this decision took, of one arm or of both."""
        return sum(arm in (None, draw.arm) for draw, _ in self.draws)

    def as_data(self) -> dict[str, Any]:
        """The decision as JSON-like data, with every draw it rests on; NaN becomes None."""
        return {
            "verdict": self.verdict,
            "gate": self.gate,
            "reason": self.reason,
            "detail": self.detail,
            "metric": self.metric,
            "alpha": self.alpha,
            "pace": self.pace,
            "tasks": self.tasks,
            "seen": self.seen,
            "effect": _plain(self.effect),
            "incumbent_score": _plain(self.incumbent_score),
            "candidate_score": _plain(self.candidate_score),
            "better": self.better,
            "worse": self.worse,
            "statistic": _plain(self.statistic),
            "threshold": _plain(self.threshold),
            "rollouts": {arm: self.rollouts(arm) for arm in ("incumbent", "candidate")},
            "missing": dict(zip(("incumbent", "candidate"), self.missing, strict=True)),
            "left_out": list(self.left_out),
            "excluded": list(self.excluded),
            "guards": [_guard_out(guard) for guard in self.guards],
            "looks": [_look_out(look) for look in self.looks],
            "draws": [[*draw, None if reading is None else list(reading)] for draw, reading in self.draws],
            "says": str(self),
        }

    def __str__(self) -> str:
        said = f"{_SAID[self.verdict]} by {self.gate} ({self.reason}): {self.detail}".rstrip(": ")
        parts = [said]
        if self.seen:
            parts.append(
                f"{self.metric} {self.incumbent_score:.3f} → {self.candidate_score:.3f} on {self.seen} of {self.tasks} "
                f"tasks ({self.better} better, {self.worse} worse)"
            )
        if not math.isnan(self.statistic) and not math.isnan(self.threshold):
            looks = f" at the last of {len(self.looks)} looks" if len(self.looks) > 1 else ""
            parts.append(f"statistic {self.statistic:.2f}{looks}, accepted from {self.threshold:.2f}")
        if self.alpha is not None:
            parts.append(f"alpha {self.alpha:g}: of candidates that are no better at most {100 * self.alpha:g} % pass")
        if any(self.missing):
            parts.append(f"{sum(self.missing)} draws read nothing and count against it")
        if out := len(self.left_out) + len(self.excluded):
            parts.append(f"{out} tasks left out for both")
        parts += [f"guard {guard.metric}: harm {guard.harm:+.3f}, bound {guard.bound:g}" for guard in self.guards]
        parts.append(f"{self.rollouts('candidate')} + {self.rollouts('incumbent')} rollouts")
        return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class NeedDraws:
    """No decision yet: these draws of the plan are missing. They may be taken in any order, at any concurrency."""

    draws: tuple[Draw, ...]


Answer = Decision | NeedDraws


def expected_false_accepts(decisions: Iterable[Decision]) -> float | None:
    """How many acceptances at most to expect of a run whose candidates are all no better: the alphas, added up.

    None when a decision came from a rule without an alpha: nothing bounds its errors.
    """
    alphas = [decision.alpha for decision in decisions if decision.reason != "identical"]
    known = [alpha for alpha in alphas if alpha is not None]
    return sum(known) if len(known) == len(alphas) else None


def _plain(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _guard_out(guard: GuardReading) -> dict[str, Any]:
    return {
        "metric": guard.metric,
        "difference": _plain(guard.difference),
        "harm": _plain(guard.harm),
        "bound": guard.bound,
        "level": guard.level,
        "among": guard.among,
        "tasks": guard.tasks,
        "held": guard.held,
    }


def _look_out(look: GateLook) -> dict[str, Any]:
    return {
        "at": look.at,
        "tasks": look.tasks,
        "rollouts": look.rollouts,
        "statistic": _plain(look.statistic),
        "reject_below": _plain(look.reject_below),
        "accept_from": look.accept_from,
    }
