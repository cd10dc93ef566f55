"""A kind of task: a function from a site to the question, the oracle and the pages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from whet.envs.soup.desk import Address, Desk, TaskPlan
from whet.envs.soup.site import Size

Difficulty = Literal["primer", "easy", "medium", "hard"]

ADDRESSES: dict[Difficulty, tuple[Address, ...]] = {
    "primer": ("given",),
    "easy": ("given", "described", "meaning", "meaning"),
    "medium": ("given", "described", "described", "meaning", "meaning", "meaning"),
    "hard": ("described", "meaning", "meaning"),
}
"""How often the tasks of a difficulty say where to look in which way."""

SIZES: dict[Difficulty, tuple[Size, ...]] = {
    "primer": ("bare",),
    "easy": ("small", "small", "large"),
    "medium": ("small", "large"),
    "hard": ("small", "large", "large", "huge"),
}


@dataclass(frozen=True, slots=True)
class TaskKind:
    """An archetype: its name is `family.name`."""

    name: str
    difficulty: Difficulty
    plan: Callable[[Desk], TaskPlan]
    sizes: tuple[Size, ...]
    """What its pages are drawn from."""

    @property
    def family(self) -> str:
        return self.name.partition(".")[0]

    @property
    def about(self) -> str:
        return (self.plan.__doc__ or "").strip().splitlines()[0]


def kind(difficulty: Difficulty, sizes: tuple[Size, ...] = ()) -> Callable[[Callable[[Desk], TaskPlan]], TaskKind]:
    """Makes a planning function the kind of its name, in the family that its module is."""

    def made(plan: Callable[[Desk], TaskPlan]) -> TaskKind:
        return TaskKind(
            f"{plan.__module__.rpartition('.')[2]}.{plan.__name__}", difficulty, plan, sizes or SIZES[difficulty]
        )

    return made
