"""Families of problems: each draws a feasible model together with the text that a reader would check it against."""

from __future__ import annotations

from whet.envs.ordebug.families import assignment, blending, covering, flow, lots, production, shifts
from whet.envs.ordebug.families.story import ProblemDraft, ProblemFamily

FAMILIES: dict[str, ProblemFamily] = {
    family.name: family
    for family in (
        blending.FAMILY,
        flow.FAMILY,
        assignment.FAMILY,
        lots.FAMILY,
        shifts.FAMILY,
        covering.FAMILY,
        production.FAMILY,
    )
}

__all__ = ["FAMILIES", "ProblemDraft", "ProblemFamily"]
