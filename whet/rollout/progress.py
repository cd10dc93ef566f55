"""How far a plan of rollouts is: who is told of it, and what became of it in the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from whet.types import Rollout, Split, Ticket


class Progress(Protocol):
    """Whoever shows how far a plan is. Called on the loop: be quick."""

    def expect(self, ahead: Mapping[Split, int]) -> None:
        """How many rollouts the run may still take, at most, on each split; unsaid where a run is one plan."""

    def began(self, total: int, what: str) -> None: ...

    def replayed(self, ticket: Ticket) -> None:
        """A ticket was answered in an earlier session."""

    def finished(self, rollout: Rollout) -> None: ...

    def ended(self) -> None: ...


class Quiet:
    """Shows nothing."""

    def expect(self, ahead: Mapping[Split, int]) -> None: ...

    def began(self, total: int, what: str) -> None: ...

    def replayed(self, ticket: Ticket) -> None: ...

    def finished(self, rollout: Rollout) -> None: ...

    def ended(self) -> None: ...


@dataclass(slots=True)
class Tally:
    """What became of a plan."""

    planned: int
    replayed: int = 0
    done: int = 0
    faults: int = 0
    stopped: str = ""
    """Why the plan was not worked off to its end; '' when it was."""
    failed: bool = False
    """Whether it stopped because a service gave out: a budget that is reached is no failure."""

    def add(self, other: Tally) -> None:
        """Count another plan in; the last one to stop says why."""
        self.planned += other.planned
        self.replayed += other.replayed
        self.done += other.done
        self.faults += other.faults
        self.stopped = other.stopped or self.stopped
        self.failed = other.failed or self.failed
