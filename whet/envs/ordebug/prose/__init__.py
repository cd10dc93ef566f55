"""Specifications: what a sound model says, told as prose or as a table."""

from __future__ import annotations

import random

from whet.envs.ordebug.families import ProblemDraft
from whet.envs.ordebug.instance import Specification
from whet.envs.ordebug.prose.document import SHORT, prose
from whet.envs.ordebug.prose.table import table


def specifications(rng: random.Random, draft: ProblemDraft) -> tuple[Specification, Specification]:
    """The prose and the table of a sound model; of a small model, a prose that is short too."""
    drafts = [prose(rng, draft) for _ in range(10 if len(draft.model.rows) <= SHORT else 1)]
    return min(drafts, key=lambda written: len(written.text)), table(rng, draft)


__all__ = ["prose", "specifications", "table"]
