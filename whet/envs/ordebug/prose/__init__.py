"""Specifications: what a sound model says, told as prose or as a table."""

from __future__ import annotations

import random

from whet.envs.ordebug.families import ProblemDraft
from whet.envs.ordebug.instance import Specification
from whet.envs.ordebug.prose.document import prose
from whet.envs.ordebug.prose.table import table


def specifications(rng: random.Random, draft: ProblemDraft) -> tuple[Specification, Specification]:
    """The prose and the table of a sound model."""
    return prose(rng, draft), table(rng, draft)


__all__ = ["prose", "specifications", "table"]
