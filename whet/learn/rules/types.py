"""What passes between the loop of rule search and whoever proposes: attempts at the propose pool, cases, a step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from whet.envs.base import Environment
from whet.learn.rules.book import Operation, RuleBook, RuleRefusal
from whet.types import Rollout, Task

if TYPE_CHECKING:
    from whet.learn.rules.config import RulesConfig
    from whet.learn.workshop import Workshop

CaseKind = Literal["confident", "split", "conflict", "wrong"]
"""What a case teaches: the policy is sure and wrong; it does not know; it cannot tell the ticket from one with another
truth; or it is wrong in some other way."""


@dataclass(frozen=True, slots=True)
class PoolAttempt:
    """How the policy judged one ticket of the propose pool. The truth is that of a train task."""

    task: Task
    truth: str
    verdict: str | None
    """What the vote says; None where no draw could be read."""
    votes: tuple[str | None, ...] = ()
    said: str = ""
    """The policy's own words for it."""
    error: str = ""
    """What is wrong with the verdict, in the environment's short code; '' where it is right."""
    rollout: Rollout | None = None

    @property
    def right(self) -> bool:
        return self.verdict == self.truth

    @property
    def confidence(self) -> float:
        """The share of all draws that say what the vote says."""
        if self.verdict is None:
            return 0.0
        return self.votes.count(self.verdict) / len(self.votes) if self.votes else 1.0


@dataclass(frozen=True, slots=True)
class HardCase:
    """An attempt that teaches something, and what. `beside`: the ticket with another truth that it is confused with."""

    attempt: PoolAttempt
    kind: CaseKind
    beside: PoolAttempt | None = None

    @property
    def id(self) -> str:
        return self.attempt.task.id

    @property
    def view(self) -> Mapping[str, Any]:
        """The structured view of the ticket, where the environment has one: what the policy was shown, as data."""
        return self.attempt.task.data


@dataclass(frozen=True, slots=True)
class TriedOperation:
    """An operation that was brought before, and what became of it."""

    operation: Operation
    step: int
    outcome: str
    """`applied`, `passed`, `rejected`, `undecided`, `screened`, or the code of a refusal."""
    effect: float | None = None
    """The mean gain where its rules speak, on the gate pool, or on the screen's tickets, as far as it was measured."""
    book: str = ""
    """The digest of what the book told when it was brought."""

    def bars(self, book: RuleBook) -> bool:
        """Whether it is not to be tried again on a book: on the same one, and on any where it may not help later.

        What did not help may help beside other rules where a few tickets alone spoke against it, and where it removes a
        rule: one that is too strict looks harmless while it blocks by accident what no rule fails yet.
        """
        later = self.operation.op == "remove" or self.outcome == "screened" or (self.effect or 0.0) > 0.0
        return self.book == book.told or not later


@dataclass(frozen=True, slots=True)
class RuleStep:
    """All that a proposer may look at: the book, attempts at the propose pool with their truths, what was tried.

    `shop` is there to consult an optimiser; a proposer that needs none works without it.
    """

    env: Environment
    book: RuleBook
    cases: tuple[HardCase, ...]
    attempts: tuple[PoolAttempt, ...]
    where: str = "s0001"
    """The first part of every purpose in this step."""
    number: int = 1
    tried: tuple[TriedOperation, ...] = ()
    mission: str = ""
    shop: Workshop | None = None
    config: RulesConfig | None = None


@dataclass(slots=True)
class Proposals:
    """What a proposer brought: operations, the best first, and what it brought that is none, with the reason."""

    operations: tuple[Operation, ...] = ()
    refused: list[tuple[Mapping[str, Any], RuleRefusal]] = field(default_factory=list)


class RuleProposer(Protocol):
    """Turns hard cases into operations, at most `most` of them, the best first."""

    name: str
    ranks: bool
    """Whether it counts what each operation is worth, so that the order in which it brings them is a promise."""

    async def propose(self, step: RuleStep, most: int) -> Proposals: ...
