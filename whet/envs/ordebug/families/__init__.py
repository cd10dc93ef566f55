"""Families of problems: each draws a feasible model together with the text that a reader would check it against."""

from __future__ import annotations

from whet.envs.ordebug.families import assignment, blending, covering, flow, lots, production, shifts
from whet.envs.ordebug.families.story import Draft, Family

FAMILIES: dict[str, Family] = {
    one.name: one
    for one in (
        blending.FAMILY,
        flow.FAMILY,
        assignment.FAMILY,
        lots.FAMILY,
        shifts.FAMILY,
        covering.FAMILY,
        production.FAMILY,
    )
}

__all__ = ["FAMILIES", "Draft", "Family"]
