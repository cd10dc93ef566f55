"""Specifications: what a sound model says, told as prose or as a table."""

from __future__ import annotations

import random

from whet.envs.ordebug.families import FAMILIES, ProblemDraft
from whet.envs.ordebug.instance import Specification
from whet.envs.ordebug.prose.comprehension import misread, understood
from whet.envs.ordebug.prose.document import SHORT, prose
from whet.envs.ordebug.prose.grammar import Voice
from whet.envs.ordebug.prose.table import table
from whet.errors import WhetError

READ_BACK = 100
"""Up to this many rows a document is read back before it is handed out."""

TRIES = 40
"""Documents that are written until one is read back as it was meant; one or two are usual."""


def specifications(rng: random.Random, draft: ProblemDraft, voice: Voice) -> tuple[Specification, Specification]:
    """The prose and the table of a sound model; of a small model, a prose that is short too.

    What could be misunderstood is written anew: whether a text is handed out does not depend on the fault.
    """
    brief, long = len(draft.model.rows) <= SHORT, len(draft.model.rows) > READ_BACK
    for _ in range(TRIES):
        drafts = sorted((prose(rng, draft, voice) for _ in range(10 if brief else 1)), key=lambda told: len(told.text))
        sound = next((told for told in drafts if long or not faults_of(told, draft, voice)), None)
        if sound is not None:
            return sound, table(rng, draft)
    raise WhetError(f"no unambiguous prose of a {draft.family} problem came out in {TRIES} attempts")


def faults_of(written: Specification, draft: ProblemDraft, voice: Voice) -> list[str]:
    """What a reader who knows the voice would not find in the text, or would find in it twice."""
    return misread(understood(written.text, FAMILIES[draft.family], (voice,)), draft.model)


__all__ = ["Voice", "faults_of", "prose", "specifications", "table"]
