"""The matter of a task from an archetype, a split and an ordinal.

The draft, which is cheap, is redrawn until it belongs to the split; its pages are built once.
"""

from __future__ import annotations

import random
from typing import Any

from whet.envs import splits
from whet.envs.soup1.archetype import Archetype, TaskDraft
from whet.envs.soup1.page import build
from whet.envs.soup1.words import chance
from whet.keys import seed_for
from whet.types import Split

PAIR = 2
"""Tasks of an archetype with a limit come in pairs: the same question, with and without an answer in the page."""


def draw(archetype: Archetype, split: Split, ordinal: int, seed: int) -> TaskDraft:
    """The draft of a task: one of the pair where the archetype draws a limit and its twin."""
    if not archetype.limits:
        return _drawn(archetype, split, ordinal, seed)
    pair, second = divmod(ordinal, PAIR)
    drawn = _drawn(archetype, split, pair, seed)
    limit_first = seed_for("soup twin", archetype.name, split, pair, seed) % PAIR == 0
    return drawn if drawn.twin is None or limit_first != bool(second) else drawn.twin


def _drawn(archetype: Archetype, split: Split, number: int, seed: int) -> TaskDraft:
    names = ("soup", archetype.name, seed)
    return splits.draw(
        names, split, number, lambda drawn: archetype.draw(random.Random(drawn)), lambda draft: draft.content
    )


def pages(archetype: Archetype, draft: TaskDraft, split: Split, ordinal: int, seed: int) -> tuple[str, dict[str, str]]:
    """The first page, and the others by href."""
    rng = random.Random(seed_for("soup page", archetype.name, split, ordinal, seed))
    malformed = archetype.malformed > 0.0 and chance(rng, archetype.malformed)
    first = build(rng, draft.sheet, archetype.size, malformed)
    return first, {href: build(rng, sheet, archetype.size, malformed) for href, sheet in draft.pages.items()}


def truth(draft: TaskDraft) -> dict[str, Any]:
    """What the grader knows: the answer, or why there is none; and the programs of the oracle."""
    if draft.limit is None:
        return {"answer": draft.answer, "code": list(draft.code)}
    limit = {"reasons": list(draft.limit.reasons), "marks": list(draft.limit.marks)}
    return {"limit": limit, "code": list(draft.code)}
