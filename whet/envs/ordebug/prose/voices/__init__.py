"""Voices: two banks of phrasings that have no phrase in common. Training problems are told in one of them, problems to
select and to test by in the other, so that a reader of phrases by heart has learned nothing."""

from __future__ import annotations

from whet.envs.ordebug.prose.grammar import Voice
from whet.envs.ordebug.prose.voices.office import OFFICE
from whet.envs.ordebug.prose.voices.yard import YARD
from whet.types import Split

VOICES: tuple[Voice, ...] = (OFFICE, YARD)


def voice_of(split: Split) -> Voice:
    """How problems of a split are told."""
    return OFFICE if split == "train" else YARD


__all__ = ["OFFICE", "VOICES", "YARD", "voice_of"]
