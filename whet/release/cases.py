"""The cases of the review queue as their entries make them: open, claimed, resolved. Pure: the same entries, the same.

A case asks one reviewer or two. Two who disagree are followed by a third, and the majority of the three stands. Nobody
reviews a case twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import orjson

from whet.errors import WhetError
from whet.release.trail import TrailEntry

CaseState = Literal["open", "claimed", "resolved"]

OPENED, CLAIMED, RETURNED, RESOLVED = "case_opened", "case_claimed", "case_returned", "case_resolved"
"""The kinds of entries that a case is made of."""

CODES: Mapping[str, int] = {
    "disagreement": 90,
    "drift": 80,
    "suspect": 70,
    "low_agreement": 60,
    "below_threshold": 50,
    "no_threshold": 40,
    "no_verdict": 40,
    "audit": 20,
}
"""Why a person is asked, and how soon: the higher the earlier.

* `disagreement`: two reviewers differ
* `drift`: new work is unlike what the threshold was chosen on
* `suspect`: its evidence holds words of a verdict
* `low_agreement`: the votes are divided
* `below_threshold`: the evidence has gaps
* `no_threshold`: nothing bounds false releases
* `no_verdict`: no reply could be read
* `audit`: drawn among automatic passes
"""

COLUMNS = "number, decision, champion, ticket, code, priority, reviewers, state, holder, votes, outcome"


@dataclass(frozen=True, slots=True)
class ReviewCase:
    """One case. `number` is its opening entry, `decision` the entry that it is about; `votes` are who said what."""

    number: int
    decision: int
    champion: str
    ticket: str
    code: str
    priority: int
    reviewers: int
    state: CaseState = "open"
    holder: str = ""
    votes: tuple[tuple[str, str], ...] = ()
    outcome: str = ""

    @property
    def row(self) -> tuple[Any, ...]:
        """The case as its table has it."""
        return (
            *(self.number, self.decision, self.champion, self.ticket, self.code, self.priority, self.reviewers),
            *(self.state, self.holder, orjson.dumps(self.votes).decode(), self.outcome),
        )

    @classmethod
    def of(cls, row: tuple[Any, ...]) -> ReviewCase:
        *about, told, outcome = row
        made = cls(*about)
        return replace(made, votes=tuple((who, said) for who, said in orjson.loads(told)), outcome=outcome)

    def claimed(self, reviewer: str) -> ReviewCase:
        """Taken by a reviewer; refused where another has it, or this one has spoken already."""
        self._refuse_resolved()
        if self.state == "claimed" and self.holder != reviewer:
            raise WhetError(f"case {self.number}: {self.holder} is at it; take another, or ask for it to be returned")
        if reviewer in dict(self.votes):
            raise WhetError(f"case {self.number}: {reviewer} has decided it already; another reviewer must")
        return replace(self, state="claimed", holder=reviewer)

    def returned(self, reviewer: str) -> ReviewCase:
        """Given back undecided."""
        self._refuse_other(reviewer)
        return replace(self, state="open", holder="")

    def resolved(self, reviewer: str, verdict: str) -> ReviewCase:
        """Decided by its holder: done, or open again for the next reviewer."""
        self._refuse_other(reviewer)
        votes = (*self.votes, (reviewer, verdict))
        if len(votes) < self.reviewers:
            return replace(self, state="open", holder="", votes=votes)
        counts = Counter(said for _, said in votes).most_common()
        if len(counts) > 1 and counts[0][1] == counts[1][1]:
            code, priority = "disagreement", CODES["disagreement"]
            return replace(
                self, state="open", holder="", votes=votes, reviewers=len(votes) + 1, code=code, priority=priority
            )
        return replace(self, state="resolved", holder="", votes=votes, outcome=counts[0][0])

    def _refuse_resolved(self) -> None:
        if self.state == "resolved":
            raise WhetError(f"case {self.number}: is resolved already ({self.outcome})")

    def _refuse_other(self, reviewer: str) -> None:
        self._refuse_resolved()
        if self.state != "claimed":
            raise WhetError(f"case {self.number}: nobody has claimed it; claim it first")
        if self.holder != reviewer:
            raise WhetError(f"case {self.number}: {self.holder} is at it, not {reviewer}")


def case_after(cases: Mapping[int, ReviewCase], entry: TrailEntry) -> ReviewCase | None:
    """The case that an entry makes or moves; None where it is about none."""
    told = entry.record
    if entry.kind == OPENED:
        about = (told["champion"], entry.subject, told["code"], told["priority"], told["reviewers"])
        return ReviewCase(entry.seq, told["decision"], *about)
    if entry.kind not in (CLAIMED, RETURNED, RESOLVED):
        return None
    case = cases[told["case"]]
    if entry.kind == CLAIMED:
        return case.claimed(told["reviewer"])
    return (
        case.returned(told["reviewer"]) if entry.kind == RETURNED else case.resolved(told["reviewer"], told["verdict"])
    )


def case_rows(entries: Iterable[TrailEntry]) -> dict[int, tuple[Any, ...]]:
    """The whole table, made anew."""
    cases: dict[int, ReviewCase] = {}
    for entry in entries:
        case = case_after(cases, entry)
        if case is not None:
            cases[case.number] = case
    return {number: case.row for number, case in cases.items()}
