"""Curricula by name: arguments of the environment in stages, each left when the pass rate has reached a mark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whet.errors import WhetError, nearest


@dataclass(frozen=True, slots=True)
class CurriculumStage:
    """Arguments of the environment, and the pass rate on them at which the next stage begins."""

    args: Mapping[str, Any]
    leave_at: float


CURRICULA: Mapping[str, tuple[CurriculumStage, ...]] = {
    "bootstrap": (
        CurriculumStage({"rung": "answer", "difficulty": "primer"}, 0.10),
        CurriculumStage({"rung": "extractor", "difficulty": "primer"}, 0.30),
        CurriculumStage({"rung": "extractor", "difficulty": "easy"}, 0.50),
        CurriculumStage({"rung": "extractor"}, 0.65),
    )
}
"""`bootstrap`: four stages for a model that solves nothing yet."""


def stage_at(curriculum: str, stage: int) -> CurriculumStage:
    """A stage, the first being 1."""
    if curriculum not in CURRICULA:
        raise WhetError(f"soup has no schedule {curriculum!r}.{nearest(curriculum, CURRICULA)}")
    stages = CURRICULA[curriculum]
    if not 1 <= stage <= len(stages):
        raise WhetError(f"soup: schedule {curriculum!r} has the stages 1 to {len(stages)}, not {stage}")
    return stages[stage - 1]


def next_stage(curriculum: str, stage: int, pass_rates: Sequence[float]) -> int:
    """The stage after these measurements, which were made one after the other, from `stage` on.

    A measurement belongs to the stage in which it was made; one that reaches the mark leads to the next stage, at most
    one further. Nothing leads back, and the last stage is not left. A pure function: a run that starts again finds its
    place.
    """
    for rate in pass_rates:
        if stage < len(CURRICULA[curriculum]) and rate >= stage_at(curriculum, stage).leave_at:
            stage += 1
    return stage
