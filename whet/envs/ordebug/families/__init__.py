"""Families of problems: the words of a trade, and how a sound model of it is drawn."""

from __future__ import annotations

from whet.envs.ordebug.families.story import Item, ProblemDraft, RowSense, draw
from whet.envs.ordebug.families.vocabulary import HELD_OUT, VOCABULARIES, Trade

FAMILIES: dict[str, Trade] = {vocabulary.name: vocabulary for vocabulary in VOCABULARIES}
SEEN: tuple[str, ...] = tuple(sorted(set(FAMILIES) - set(HELD_OUT)))

__all__ = ["FAMILIES", "HELD_OUT", "SEEN", "Item", "ProblemDraft", "RowSense", "Trade", "draw"]
