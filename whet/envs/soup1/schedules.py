"""Curricula by name: arguments of the environment in stages, each left when the pass rate has reached a mark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whet.errors import WhetError, nearest


@dataclass(frozen=True, slots=True)
class Stage:
    """Arguments of the environment, and the pass rate on them at which the next stage begins."""

    args: Mapping[str, Any]
    leave_at: float


SCHEDULES: Mapping[str, tuple[Stage, ...]] = {
    "bootstrap": (
        Stage({"mode": "bootstrap", "difficulty": "primer"}, 0.10),
        Stage({"mode": "bootstrap"}, 0.30),
        Stage({"mode": "tiered"}, 0.50),
        Stage({"mode": "all"}, 0.65),
    )
}
"""`bootstrap`: four stages for a model that solves nothing yet."""


def stage_args(schedule: str, stage: int) -> dict[str, Any]:
    """The arguments of a stage, the first being 1."""
    if schedule not in SCHEDULES:
        raise WhetError(f"soup@1 has no schedule {schedule!r}.{nearest(schedule, SCHEDULES)}")
    stages = SCHEDULES[schedule]
    if not 1 <= stage <= len(stages):
        raise WhetError(f"soup@1: schedule {schedule!r} has the stages 1 to {len(stages)}, not {stage}")
    return dict(stages[stage - 1].args)


def stage_after(schedule: str, pass_rates: Sequence[float]) -> int:
    """The stage after these measurements, in order: a pure function, so that a run that starts again finds its place.

    A measurement belongs to the stage in which it was made. The last stage is not left; past its mark the schedule is
    done, which is one more than the number of stages.
    """
    stage = 1
    for rate in pass_rates:
        if stage <= len(SCHEDULES[schedule]) and rate >= SCHEDULES[schedule][stage - 1].leave_at:
            stage += 1
    return stage
