"""A fault as it is planted: an in-place change of a model, with the edits that take it back."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from whet.envs.ordebug.edits import Edit, element
from whet.envs.ordebug.model import LinearProgram


@dataclass(frozen=True, slots=True)
class Planting:
    """One way to break a model: what it then looks like, and the edits that undo it (each on another element)."""

    form: str
    model: LinearProgram
    repair: tuple[Edit, ...]

    @property
    def elements(self) -> frozenset[str]:
        return frozenset(element(edit) for edit in self.repair)


Plant = Callable[[random.Random, LinearProgram], Iterator[Planting]]
"""Ways to break a model, in random order. Whether one makes it infeasible is for the caller to find out."""


@dataclass(frozen=True, slots=True)
class FaultType:
    """One of the fault types: what it is about, and how it is planted. `forms` says each form in words."""

    kind: str
    about: str
    plant: Plant
    forms: dict[str, str]
