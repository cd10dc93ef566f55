"""What a learner brings before the gate: a policy, and how it came about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from whet.types import Policy


class Change(Protocol):
    """One change in a candidate: `str` says it in a line, `as_data` for a file."""

    def as_data(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Candidate:
    """A policy to be judged. `origin` names the stage that made it, `step` when."""

    policy: Policy
    changes: Sequence[Change] = ()
    origin: str = ""
    step: int = 0
    without: bool = False
    """Whether it is the incumbent without `changes` instead of with them."""
    title: str = ""
    """What it changes, where that is no list of changes."""

    def words(self) -> tuple[str, ...]:
        """What accepting it changes, a line each."""
        sign = "-" if self.without else "+"
        said = tuple(f"{sign} {' '.join(str(change).split())}" for change in self.changes)
        return said or (f"+ {self.title or self.origin}",)
