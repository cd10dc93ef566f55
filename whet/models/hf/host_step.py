"""A pass over a GPU as plain numbers, before it is brought there, and rows in columns, from which it is made."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

Column = np.ndarray[Any, Any]


@dataclass(slots=True)
class HostStep:
    """A pass: the new tokens of all sequences, how many each brings and then has, its pages, and how it draws.

    A row draws by 1 / temperature (0: the likeliest token), its seed, and how many tokens it has drawn.
    """

    ids: Column
    new: Column
    total: Column
    table: Column
    sharpness: Column
    seeds: Column
    steps: Column


class RowColumns:
    """The rows of all slots, a column for each thing that a pass asks of them.

    Hundreds of rows take part in every pass, and a pass of a small model takes less than a walk through as many
    objects. So what rows draw is noted here, all at once, and told to an object when its row ends or leaves.
    """

    def __init__(self, slots: int, ends: Collection[int]) -> None:
        self._ends = np.array(sorted(ends), dtype=np.int32)
        whole = [np.zeros(slots, dtype=np.int32) for _ in range(6)]
        self.length, self.most, self.pages, self.drawn, self.limit, self.last = whole
        """Tokens of prompt and reply now and at most, pages held, tokens of the reply now and at most, the last one."""
        self.seed = np.zeros(slots, dtype=np.uint64)
        self.sharpness = np.zeros(slots)
        self._tokens = np.zeros((slots, 0), dtype=np.int32)
        self._logprobs = np.zeros((slots, 0), dtype=np.float32)

    def lacking(self, slots: Column, repeat: int, page: int) -> Column:
        """How many pages rows lack that draw so many tokens more."""
        lacking: Column = -(-np.minimum(self.length[slots] + (repeat - 1), self.most[slots]) // page)
        return lacking - self.pages[slots]

    def begin(self, slot: int, tokens: Collection[int], logprobs: Collection[float]) -> None:
        """A row takes a slot. It has drawn so much before, if it was there already."""
        self.drawn[slot] = len(tokens)
        if tokens:
            self._widen(len(tokens))
            self._tokens[slot, : len(tokens)] = list(tokens)
            self._logprobs[slot, : len(logprobs)] = list(logprobs)

    def take(self, slots: Column, tokens: Column, logprobs: Column) -> Column:
        """Note what rows drew, `[repeat, rows]`, up to where each ends: by an end token or at its limit. Who ended."""
        repeat, rows = tokens.shape
        drawn, places = self.drawn[slots], np.arange(repeat)
        self._widen(int(drawn.max(initial=0)) + repeat)
        where = slots[:, None], drawn[:, None] + places
        self._tokens[where] = tokens.T
        self._logprobs[where] = logprobs.T
        over = (tokens[..., None] == self._ends).any(-1) | (drawn + (places[:, None] + 1) >= self.limit[slots])
        ended: Column = over.any(0)
        taken = np.where(ended, over.argmax(0) + 1, repeat)
        self.drawn[slots] += taken
        self.length[slots] += taken
        self.last[slots] = tokens[taken - 1, np.arange(rows)]
        return ended

    def note(self, slot: int, length: int, drawn: int, last: int) -> None:
        """A row that is looked at each time has come so far."""
        self.length[slot], self.drawn[slot], self.last[slot] = length, drawn, last

    def told(self, slot: int) -> tuple[list[int], list[float]]:
        """What the row of a slot has drawn, with log-probabilities."""
        count = self.drawn[slot]
        return self._tokens[slot, :count].tolist(), self._logprobs[slot, :count].tolist()

    def _widen(self, width: int) -> None:
        more = width - self._tokens.shape[1]
        if more > 0:
            more = max(more, self._tokens.shape[1], 64)
            self._tokens = np.pad(self._tokens, ((0, 0), (0, more)))
            self._logprobs = np.pad(self._logprobs, ((0, 0), (0, more)))
