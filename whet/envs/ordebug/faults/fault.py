"""A fault, seen from the broken model: which elements of a contradiction could be the wrong one, and what each would
then have been.

The broken model comes first and the culprit is drawn afterwards, evenly among all elements that could be it. So nothing
in the broken model tells which one it is: only the specification does.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from whet.envs.ordebug.edits import Edit
from whet.envs.ordebug.families import RowSense
from whet.envs.ordebug.iis import Iis
from whet.envs.ordebug.model import LinearProgram


@dataclass(frozen=True, slots=True)
class Correction:
    """What a wrong element should have been: the edits that make it so, and how the mistake is called."""

    form: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Scene:
    """A broken model with one contradiction in it, and what its rows mean."""

    model: LinearProgram
    iis: Iis
    meanings: dict[str, RowSense]


Correct = Callable[[random.Random, Scene, str], Correction | None]
"""What the element of that name could have been, such that the model then has a solution; None: nothing."""


@dataclass(frozen=True, slots=True)
class FaultType:
    """One of the fault types: what it is about, whom it may concern, how it is corrected. `forms` in words."""

    kind: str
    about: str
    concerns: Callable[[Scene], tuple[str, ...]]
    """The elements of the contradiction that a fault of this type may be in, as `row:NAME` or `column:NAME`."""
    correct: Correct
    forms: dict[str, str]


def rows_shown(scene: Scene) -> tuple[str, ...]:
    return tuple(f"row:{name}" for name in scene.iis.row_names)
