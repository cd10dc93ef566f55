"""A prompt on its way to a reply, as a decoder holds it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from whet.models.hf.host_step import Column
from whet.models.hf.pages import Chain
from whet.models.hf.rows import BatchRow


@dataclass(slots=True, eq=False)
class DrawingSequence:
    """All of `ids` up to `done` have keys and values in the pages of `chain`.

    While a row draws that is `noted` in columns, what it draws stands there alone.
    """

    ticket: int
    prompt: Sequence[int]
    row: BatchRow
    ids: list[int]
    done: int = 0
    known: int = 0
    slot: int = -1
    reading: bool = True
    """Whether its tokens are still being read, since it was last given a slot."""
    chain: Chain = field(default_factory=Chain)
    sharpness: float = 0.0
    plain: bool = True
    """Whether the kernel draws for this row: it knows no nucleus and no alternatives."""
    noted: bool = False
    """Whether nobody need look at its tokens before it ends: the kernel draws them, and no text stops it."""

    @property
    def unread(self) -> int:
        return len(self.ids) - self.done


def slots_of(sequences: Sequence[DrawingSequence]) -> Column:
    return np.array([sequence.slot for sequence in sequences], dtype=np.intp)
