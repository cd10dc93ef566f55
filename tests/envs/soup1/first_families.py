"""The archetypes of the families under test, and pages of theirs that are small enough to parse by the hundred."""

from __future__ import annotations

import random

from envs.soup1.first_trying import drawn

from whet.envs.soup1.archetype import Archetype, TaskDraft
from whet.envs.soup1.archetypes import archetypes
from whet.envs.soup1.page import build

FAMILIES = ("traversal", "tables", "gotchas", "forms", "jsonld", "advanced", "hard", "multipage", "i18n", "limit")

ALL = [one for one in archetypes().values() if one.family in FAMILIES]


def named(one: Archetype) -> str:
    return one.name


def drafts(one: Archetype, count: int, start: int = 0) -> list[TaskDraft]:
    """Drafts; those of limits with their twins."""
    made = [drawn(one, seed) for seed in range(start, start + count)]
    return made + [draft.twin for draft in made if draft.twin is not None]


def little(draft: TaskDraft, seed: int, malformed: bool = False) -> dict[str, str]:
    """The pages of a draft with hardly any filler: the first under "", the others by href."""
    rng = random.Random(seed)
    return {href: build(rng, sheet, "small", malformed) for href, sheet in {"": draft.sheet, **draft.pages}.items()}
