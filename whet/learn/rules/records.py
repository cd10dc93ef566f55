"""What a run of rule search came through: rounds, in each the operations that were brought, and what became of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from whet.gate.evidence import Bank
from whet.learn.judge import Judgement
from whet.learn.rules.book import Operation, RuleBook, RuleRefusal
from whet.learn.rules.types import HardCase, PoolAttempt
from whet.types import Policy

Fate = Literal[
    "refused",
    "screened",
    "rejected",
    "undecided",
    "harmful",
    "passed",
    "outrun",
    "golden",
    "awaiting",
    "declined",
    "applied",
    "identical",
]
"""What became of an operation. `passed`: the gate would have it, and another was taken; it is carried to the next.
`outrun`: one that promised more passed before it came to the gate. `harmful`: that it releases more was not ruled out.
`golden`: it breaks a ticket that no rule may break. `awaiting`, `declined`: a person has not decided, or decided no."""


@dataclass(frozen=True, slots=True)
class ScreenReading:
    """A candidate beside fresh draws of its incumbent on tickets of the propose pool."""

    tickets: int
    fixed: int
    broken: int

    @property
    def gain(self) -> float:
        return (self.fixed - self.broken) / self.tickets if self.tickets else 0.0

    def passes(self, operation: Operation) -> bool:
        """Whether it is worth the gate: it mends some of the tickets that it names, or of those a removal would mend.

        A proposal that names no ticket may well be about none of those here: it is dropped for harm alone.
        """
        blind = not operation.evidence and operation.op != "remove"
        return self.fixed > self.broken or (blind and self.broken <= self.fixed + 1)


@dataclass(frozen=True, slots=True)
class ReleaseReading:
    """How a change moves false releases on the tickets that its rules speak of, as a share of all failing tickets."""

    tickets: int
    """Failing tickets that it could release, on the gate pool and beyond."""
    failing: float
    """All failing tickets, those beyond the gate pool by the gate pool's share of them."""
    rise: float
    upper: float
    limit: float
    lower: float
    """What is past the limit where this is: at a look that is not the last the lower bound, at the last the rise."""

    @property
    def holds(self) -> bool:
        return self.upper <= self.limit

    @property
    def hopeless(self) -> bool:
        """Whether what was seen is past the limit already."""
        return self.lower > self.limit

    def __str__(self) -> str:
        return (
            f"false releases move by {self.rise:+.4f} of the failing tickets, at most by {self.upper:.4f}; "
            f"{self.limit:.4f} is the limit ({self.tickets} failing tickets that it speaks of)"
        )


@dataclass(frozen=True, slots=True)
class GainReading:
    """Pairs of answers on tickets on which two books differ to the letter, and how often chance would do as well."""

    tickets: int
    better: int
    worse: int
    chance: float
    alpha: float
    worth: float
    """The sum of what the pairs differ by in utility, 0 where nothing prices errors."""

    @property
    def shown(self) -> bool:
        return self.chance <= self.alpha and self.worth >= 0.0

    def __str__(self) -> str:
        return (
            f"where its rules speak {self.better} of {self.tickets} tickets are better and {self.worse} worse; chance "
            f"does that {self.chance:.2g} of the time, and {self.alpha:.2g} is the limit"
        )


@dataclass(slots=True)
class Branch:
    """A book that lives: the policy that is told it, its draws on the gate pool, and what waits to be tried on it."""

    name: str
    policy: Policy
    book: RuleBook
    bank: Bank
    step: int = 0
    """Edits that led to it."""
    score: float | None = None
    judgement: Judgement | None = None
    """What brought it in; None for the first."""
    carried: tuple[Operation, ...] = ()


@dataclass(slots=True)
class OperationRecord:
    """One operation of a round: what it is, and how far it came."""

    round: int
    branch: str
    index: int
    operation: Operation | None
    raw: Mapping[str, Any] = field(default_factory=dict)
    """What a proposer brought that is no operation."""
    refusal: RuleRefusal | None = None
    book: RuleBook | None = None
    policy: Policy | None = None
    screen: ScreenReading | None = None
    judgement: Judgement | None = None
    releases: ReleaseReading | None = None
    gains: GainReading | None = None
    fate: Fate = "refused"
    detail: str = ""
    regressions: tuple[Mapping[str, Any], ...] = ()
    child: Branch | None = None

    @property
    def effect(self) -> float | None:
        """What it gained as far as it came: where its rules speak, if that was shown there. The gate's mean is over all
        tickets, and moves by itself by more than a right rule moves it."""
        if self.gains is not None and self.gains.shown:
            return (self.gains.better - self.gains.worse) / self.gains.tickets
        if self.judgement is not None and self.judgement.decision.seen:
            return self.judgement.decision.effect
        return self.screen.gain if self.screen is not None else None

    @property
    def utility(self) -> float:
        """What accepting it is worth: the gain of utility where it was read, else of the gate's metric."""
        assert self.judgement is not None
        decision = self.judgement.decision
        priced = [guard for guard in decision.guards if guard.metric.startswith("utility(") and guard.tasks]
        return priced[0].difference if priced else decision.effect

    def __str__(self) -> str:
        what = str(self.operation) if self.operation is not None else "no operation"
        return f"{self.fate}: {what}" + (f" ({self.detail})" if self.detail else "")


@dataclass(slots=True)
class BranchRound:
    """One branch in one round."""

    branch: Branch
    attempts: tuple[PoolAttempt, ...] = ()
    cases: tuple[HardCase, ...] = ()
    records: list[OperationRecord] = field(default_factory=list)


@dataclass(slots=True)
class Round:
    """One round over all branches. `leader` is the branch that led after it."""

    number: int
    moment: str = ""
    parts: list[BranchRound] = field(default_factory=list)
    applied: list[OperationRecord] = field(default_factory=list)
    leader: Branch | None = None
    complete: bool = False
    stopped: str = ""

    @property
    def records(self) -> list[OperationRecord]:
        return [record for part in self.parts for record in part.records]
