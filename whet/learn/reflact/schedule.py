"""How many edits a step may make: the textual learning rate. The first step gets the most, the last the fewest."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Protocol


class Scheduler(Protocol):
    """Edits of step `number` (from 1) of `total`, between `most` and `fewest`."""

    def __call__(self, number: int, total: int, most: int, fewest: int) -> int: ...


def constant(number: int, total: int, most: int, fewest: int) -> int:
    return most


def linear(number: int, total: int, most: int, fewest: int) -> int:
    return _between(most, fewest, _share(number, total))


def cosine(number: int, total: int, most: int, fewest: int) -> int:
    return _between(most, fewest, (1.0 - math.cos(math.pi * _share(number, total))) / 2.0)


SCHEDULERS: Mapping[str, Scheduler] = {"constant": constant, "linear": linear, "cosine": cosine}


def budget_for(scheduler: str, number: int, total: int, most: int, fewest: int) -> int | None:
    """The budget of a step; None where no schedule sets it (`autonomous`, `none`)."""
    known: Callable[[int, int, int, int], int] | None = SCHEDULERS.get(scheduler)
    return known(number, total, most, min(most, fewest)) if known else None


def _share(number: int, total: int) -> float:
    """How far the run is: 0 at its first step, 1 at its last."""
    return 0.0 if total <= 1 else (number - 1) / (total - 1)


def _between(most: int, fewest: int, share: float) -> int:
    # Half rounds up: `round` would send 3.5 and 2.5 in different directions.
    return math.floor(most + (fewest - most) * share + 0.5)
