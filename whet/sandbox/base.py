"""The contract of a sandbox: jobs in, results out, and a plain report of which walls stand."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from whet.types import WorkResult

Performer = Callable[[Mapping[str, Any]], Awaitable[WorkResult]]


@dataclass(frozen=True, slots=True)
class Wall:
    """One wall: what it keeps apart, whether it stands, and how it is held up or why it is missing."""

    name: str
    stands: bool
    how: str


@dataclass(frozen=True, slots=True)
class Walls:
    """The walls of a sandbox, by name of the kind of isolation that holds them up."""

    kind: str
    walls: tuple[Wall, ...]

    @property
    def missing(self) -> tuple[str, ...]:
        return tuple(wall.name for wall in self.walls if not wall.stands)

    def lines(self) -> list[str]:
        """A line for each wall, for a person."""
        width = max(len(wall.name) for wall in self.walls)
        return [f"{'stands ' if wall.stands else 'MISSING'}  {wall.name:{width}}  {wall.how}" for wall in self.walls]


class Sandbox(Protocol):
    """Runs untrusted code. Calls do not block each other; what the host does wrong is raised as a fault."""

    async def run(self, payload: Mapping[str, Any]) -> WorkResult:
        """Run a job (`whet.sandbox.jobs`). What a limit ended has it in `error`, and the value holds what was seen."""
        ...

    def walls(self) -> Walls:
        """Which walls stand."""
        ...

    async def close(self) -> None:
        """End what is under way and give everything back."""
        ...


def performer(sandbox: Sandbox) -> Performer:
    """What the rollout room calls for works of the kind `sandbox`."""
    return sandbox.run
