"""A pass over a GPU as plain numbers, before it is brought there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

RowChoice = tuple[float, int, int]
"""How a row draws: 1 / temperature or 0 for the likeliest token, its seed, and how many tokens it has drawn."""


@dataclass(slots=True)
class HostStep:
    """A pass: the new tokens of all sequences, how many each brings and then has, its pages, and how it draws."""

    ids: list[int]
    counts: list[tuple[int, int]]
    table: np.ndarray[Any, np.dtype[np.int32]]
    choices: list[RowChoice]
