"""What the verdicts on many tickets add up to. Passing is the positive class; invalid is a class of its own.

A *false release* is a failing ticket that was passed, the expensive error (NG); a *false block* a passing one that was
failed (NP). A ticket without a valid verdict is neither: nothing was released and nothing was blocked.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from whet.envs.groupqc.pack.schema import VERDICTS, TicketVerdict
from whet.envs.groupqc.verdict.votes import Votes

ErrorKind = Literal["", "ng", "np", "invalid"]


@dataclass(frozen=True, slots=True)
class VotedTicket:
    """One ticket, its label, and how it was voted on."""

    key: str
    label: TicketVerdict
    votes: Votes

    @property
    def error(self) -> ErrorKind:
        majority = self.votes.majority
        if majority is None:
            return "invalid"
        if majority == self.label:
            return ""
        return "ng" if majority == "pass" else "np"


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a whole; there is no value where there is no whole."""

    part: int
    whole: int

    @property
    def value(self) -> float | None:
        return self.part / self.whole if self.whole else None


@dataclass(frozen=True, slots=True)
class Confusion:
    """Three verdicts by two labels. `tp`, `fn` and `pass_invalid` are truly passing, the others truly failing.

    Cells may be shares as well as counts: what is computed here depends on their proportions alone.
    """

    tp: float = 0
    fn: float = 0
    pass_invalid: float = 0
    fp: float = 0
    tn: float = 0
    fail_invalid: float = 0

    @property
    def cells(self) -> tuple[float, ...]:
        return self.tp, self.fn, self.pass_invalid, self.fp, self.tn, self.fail_invalid

    @property
    def n(self) -> float:
        return sum(self.cells)

    @property
    def passing(self) -> float:
        return self.tp + self.fn + self.pass_invalid

    @property
    def failing(self) -> float:
        return self.fp + self.tn + self.fail_invalid

    @property
    def _verdicts(self) -> tuple[float, float, float]:
        return self.tp + self.fp, self.fn + self.tn, self.pass_invalid + self.fail_invalid

    @property
    def balanced_accuracy(self) -> float | None:
        """The mean of the shares that are right among the passing and among the failing; invalid is not right."""
        if not self.passing or not self.failing:
            return None
        return (self.tp / self.passing + self.tn / self.failing) / 2

    @property
    def mcc(self) -> float | None:
        """Matthews' correlation for three verdicts (Gorodkin's); None where labels or verdicts do not vary."""
        released, blocked, invalid = self._verdicts
        square = self.n * self.n
        verdicts = square - (released**2 + blocked**2 + invalid**2)
        labels = square - (self.passing**2 + self.failing**2)
        if verdicts <= 0 or labels <= 0:
            return None
        by_chance = released * self.passing + blocked * self.failing
        return ((self.tp + self.tn) * self.n - by_chance) / math.sqrt(verdicts * labels)

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa: agreement with the labels beyond what the margins give by chance."""
        released, blocked, _ = self._verdicts
        square = self.n * self.n
        by_chance = released * self.passing + blocked * self.failing
        if square - by_chance <= 0:
            return None
        return ((self.tp + self.tn) * self.n - by_chance) / (square - by_chance)


def confusion(judged: Iterable[VotedTicket]) -> Confusion:
    counts: dict[tuple[TicketVerdict, TicketVerdict | None], int] = {
        (label, call): 0 for label in VERDICTS for call in (*VERDICTS, None)
    }  # in the order of the cells
    for ticket in judged:
        counts[ticket.label, ticket.votes.majority] += 1
    return Confusion(*counts.values())


def shares(matrix: Confusion) -> dict[str, Share]:
    """The rates that are parts of a whole, by name: each says which tickets it is a share of."""
    tp, fn, pass_invalid, fp, tn, fail_invalid = (int(cell) for cell in matrix.cells)
    passing, failing = tp + fn + pass_invalid, fp + tn + fail_invalid
    return {
        "accuracy": Share(tp + tn, passing + failing),
        "false_release_rate": Share(fp, failing),
        "release_precision": Share(tp, tp + fp),
        "false_block_rate": Share(fn, passing),
        "invalid_rate": Share(pass_invalid + fail_invalid, passing + failing),
        "release_rate": Share(tp + fp, passing + failing),
    }


@dataclass(frozen=True, slots=True)
class ConfidenceLevel:
    """Tickets that were decided with one and the same confidence, and how many of them rightly."""

    confidence: float
    decided: Share


@dataclass(frozen=True, slots=True)
class Calibration:
    """How well confidence agrees with the share that is right. Undecided tickets are left out."""

    levels: tuple[ConfidenceLevel, ...]
    expected_error: float
    """Mean distance of confidence and accuracy over the levels, weighted by tickets."""
    brier: float


def calibration(judged: Sequence[VotedTicket]) -> Calibration | None:
    """None where nothing was decided."""
    decided = [(ticket.votes.confidence, ticket.error == "") for ticket in judged if ticket.votes.majority is not None]
    if not decided:
        return None
    levels = []
    for confidence in sorted({confidence for confidence, _ in decided}):
        right = [good for other, good in decided if other == confidence]
        levels.append(ConfidenceLevel(confidence, Share(sum(right), len(right))))
    off = (abs(level.confidence - level.decided.part / level.decided.whole) * level.decided.whole for level in levels)
    squares = ((confidence - good) ** 2 for confidence, good in decided)
    return Calibration(tuple(levels), math.fsum(off) / len(decided), math.fsum(squares) / len(decided))


@dataclass(frozen=True, slots=True)
class Cut:
    """What remains automatic, and how much of it is wrong, when tickets below `threshold` go to a person."""

    threshold: float
    covered: Share
    """Decided here, of all tickets."""
    wrong: Share
    """Of those decided here."""
    false_releases: Share
    """Of all failing tickets."""


def risk_coverage(judged: Sequence[VotedTicket]) -> tuple[Cut, ...]:
    """One cut for each confidence seen, the most confident first."""
    failing = sum(ticket.label == "fail" for ticket in judged)
    cuts = []
    for threshold in sorted(
        {ticket.votes.confidence for ticket in judged if ticket.votes.majority is not None}, reverse=True
    ):
        kept = [
            ticket for ticket in judged if ticket.votes.majority is not None and ticket.votes.confidence >= threshold
        ]
        wrong = sum(ticket.error != "" for ticket in kept)
        released = sum(ticket.error == "ng" for ticket in kept)
        cuts.append(Cut(threshold, Share(len(kept), len(judged)), Share(wrong, len(kept)), Share(released, failing)))
    return tuple(cuts)


def within_budget(cuts: Sequence[Cut], budget: float) -> Cut | None:
    """The cut that decides most tickets while false releases stay within `budget` of the failing ones, if any are."""
    fitting = [cut for cut in cuts if cut.false_releases.value is not None and cut.false_releases.value <= budget]
    return max(fitting, key=lambda cut: cut.covered.part, default=None)


def area_under_risk(cuts: Sequence[Cut]) -> float | None:
    """The mean risk over the coverage that was reached: 0 when every decision is right."""
    if not cuts:
        return None
    steps, before = [], 0
    for cut in cuts:
        steps.append((cut.wrong.value or 0.0) * (cut.covered.part - before))
        before = cut.covered.part
    return math.fsum(steps) / before
