"""The language that an environment's rules can be written in, for whoever induces rules from its tasks without a model.

A rule is a sentence that a policy reads and a predicate that a program runs: what it says of a task, or nothing. Which
tasks it fires on can then be measured. A language sees what a policy sees of a task, and never the truth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from whet.types import Task

Predicate = Mapping[str, Any]
"""What a rule decides and when, as plain data in the words of one environment."""


@dataclass(frozen=True, slots=True)
class Feature:
    """Something that a task may show. `fires` has bit n set where task n does; `sort` says what it may stand beside."""

    sort: str
    fires: int
    what: Any
    """What it is about, in the language's own terms."""


@dataclass(frozen=True, slots=True)
class RulePlace:
    """A kind of rule that could be written: its verdict, the tasks it could decide, the features it may speak of.

    With `all` a rule fires where all of its features do, with `any` where one does. `most` bounds how many features of
    a sort a rule has; `core` is the sort that it must have one of.
    """

    kind: str
    verdict: str
    applies: int
    joined: Literal["all", "any"]
    features: tuple[Feature, ...]
    most: Mapping[str, int]
    core: str
    what: Any = None
    yields: bool = False
    """Whether another rule with another verdict goes before it."""


@dataclass(frozen=True, slots=True)
class WrittenRule:
    """A rule as the policy reads it, and as a program runs it."""

    text: str
    predicate: Predicate


class RuleLanguage(Protocol):
    """How rules are written and run for the tasks of one mission."""

    def openings(self, tasks: Sequence[Task]) -> Sequence[RulePlace]:
        """Every kind of rule, with its features as they fire on `tasks`."""
        ...

    def write(self, opening: RulePlace, features: Sequence[Feature]) -> WrittenRule: ...

    def says(self, predicate: Predicate, task: Task) -> str | None:
        """The verdict that a rule gives a task; None where it is silent. Raises ValueError for what is no predicate."""
        ...

    def unruled(self, task: Task) -> str | None:
        """The verdict that a task would get without any such rule, where the environment's own words settle it."""
        ...
