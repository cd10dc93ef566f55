"""The review queue: cases that a person decides, and what they decide as labels with where they came from."""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from whet.errors import WhetError
from whet.evals.estimate import exact_upper
from whet.files import write_atomically
from whet.release.cases import CLAIMED, COLUMNS, RESOLVED, RETURNED, ReviewCase
from whet.release.decision import WorkDecision, decision_in
from whet.release.trail import Trail, TrailTurn

CONFIDENCE = 0.95


def put_case(turn: TrailTurn, case: ReviewCase) -> None:
    """Write a case to its table, in the transaction of the entry that made it so."""
    places = ", ".join("?" * (COLUMNS.count(",") + 1))
    turn.db.execute(f"INSERT OR REPLACE INTO cases ({COLUMNS}) VALUES ({places})", case.row)


@dataclass(frozen=True, slots=True)
class ReviewFigures:
    """How the queue stands. Audits estimate what automatic passes let through; doubles how far reviewers agree."""

    states: dict[str, int]
    codes: dict[str, int]
    audited: int
    audited_wrong: int
    doubled: int
    doubled_agreed: int

    @property
    def wrong_at_most(self) -> float | None:
        """The upper bound of the share of automatic passes that should not have passed; None: nothing was audited."""
        return exact_upper(self.audited_wrong, self.audited, CONFIDENCE) if self.audited else None

    def lines(self) -> Iterator[str]:
        yield ", ".join(f"{count} {state}" for state, count in self.states.items()) or "no cases"
        for code, count in self.codes.items():
            yield f"  {count} wait: {code}"
        if self.audited:
            yield (
                f"of {self.audited} automatic passes that were audited {self.audited_wrong} should not have passed: at "
                f"most {100 * (self.wrong_at_most or 0):.1f} % of all, with 95 % confidence"
            )
        if self.doubled:
            yield f"two reviewers agreed on {self.doubled_agreed} of {self.doubled} cases"


class ReviewQueue:
    """The cases of a trail. Every move is an entry; a move that cannot be made changes nothing."""

    def __init__(self, trail: Trail) -> None:
        self.trail = trail

    def cases(self, *, state: str = "", limit: int = 1000) -> list[ReviewCase]:
        """Cases by priority, then by age."""
        where, bound = ("WHERE state = ?", [state]) if state else ("", [])
        asked = f"SELECT {COLUMNS} FROM cases {where} ORDER BY priority DESC, number LIMIT ?"
        if not self.trail.path.is_file():
            return []
        with self.trail.reading() as db:
            return [ReviewCase.of(row) for row in db.execute(asked, [*bound, limit])]

    def case(self, number: int) -> ReviewCase:
        with self.trail.reading() as db:
            row = db.execute(f"SELECT {COLUMNS} FROM cases WHERE number = ?", (number,)).fetchone()
        if row is None:
            raise WhetError(f"there is no case {number}; see: whet review list")
        return ReviewCase.of(row)

    def decision(self, case: ReviewCase) -> WorkDecision:
        return decision_in(self.trail.entry(case.decision))

    def choices(self, case: ReviewCase) -> tuple[str, ...]:
        from whet.release.champion import Champions
        from whet.release.intake import open_intake

        champion = Champions(self.trail.path.parent).get(case.champion)
        return open_intake(champion.environment, champion.arguments).choices

    def claim(self, number: int, reviewer: str) -> ReviewCase:
        """Take a case; one that somebody is at is refused."""
        return self._move(CLAIMED, number, reviewer)

    def hand_back(self, number: int, reviewer: str) -> ReviewCase:
        """Give a case back undecided."""
        return self._move(RETURNED, number, reviewer)

    def resolve(
        self, number: int, reviewer: str, verdict: str, *, comment: str = "", ticket: str = "", as_it_was: bool = False
    ) -> ReviewCase:
        """Decide a case. `ticket` is the work that the reviewer looked at; another one is refused."""
        case = self.case(number)
        choices = self.choices(case)
        if verdict not in choices:
            raise WhetError(f"case {number}: {verdict!r} is no verdict; say {' or '.join(choices)}")
        return self._move(RESOLVED, number, reviewer, verdict, comment, ticket, as_it_was)

    def _move(
        self,
        kind: str,
        number: int,
        reviewer: str,
        verdict: str = "",
        comment: str = "",
        ticket: str = "",
        as_it_was: bool = False,
    ) -> ReviewCase:
        who = _named(reviewer)
        with self.trail.turn() as turn:
            row = turn.db.execute(f"SELECT {COLUMNS} FROM cases WHERE number = ?", (number,)).fetchone()
            if row is None:
                raise WhetError(f"there is no case {number}; see: whet review list")
            case = ReviewCase.of(row)
            if kind == RESOLVED:
                if ticket and ticket != case.ticket:
                    raise WhetError(
                        f"case {number}: is about ticket {case.ticket[:12]}, and you looked at {ticket[:12]}: it "
                        "changed; look again"
                    )
                self._refuse_changed(turn, case, as_it_was)
                moved = case.resolved(who, verdict)
            elif kind == CLAIMED:
                _refuse_same_person(case, who)
                moved = case.claimed(who)
            else:
                moved = case.returned(who)
            told: dict[str, Any] = {"case": number, "reviewer": who} | ({"verdict": verdict} if verdict else {})
            apart = {"comment": " ".join(comment.split())} if comment.strip() else {}
            turn.append(kind, told, subject=case.ticket, private=apart)
            put_case(turn, moved)
        return moved

    def _refuse_changed(self, turn: TrailTurn, case: ReviewCase, as_it_was: bool) -> None:
        """A site that was handed in again since, with other evidence, is not the one that the case is about."""
        own = self.trail.entry(case.decision)
        later = turn.db.execute(
            "SELECT seq FROM decisions WHERE champion = ? AND site = ? AND seq > ? ORDER BY seq DESC LIMIT 1",
            (case.champion, own.record["site"], case.decision),
        ).fetchone()
        if later is not None and not as_it_was:
            raise WhetError(
                f"case {case.number}: the site was handed in again with other evidence (entry {later[0]}); decide "
                "that one, or this one as it was: --as-it-was"
            )

    # ------------------------------------------------------------------------------------------- what comes of it

    def figures(self) -> ReviewFigures:
        cases = self.cases(limit=1 << 30)
        states = {state: sum(case.state == state for case in cases) for state in ("open", "claimed", "resolved")}
        waiting = [case for case in cases if case.state != "resolved"]
        codes = {code: sum(case.code == code for case in waiting) for code in sorted({case.code for case in waiting})}
        audits = [case for case in cases if case.state == "resolved" and self._was_audit(case)]
        wrong = sum(case.outcome != self.decision(case).verdict for case in audits)
        doubled = [case.votes[:2] for case in cases if len(case.votes) > 1]
        return ReviewFigures(
            {state: count for state, count in states.items() if count},
            codes,
            len(audits),
            wrong,
            len(doubled),
            sum(first[1] == second[1] for first, second in doubled),
        )

    def _was_audit(self, case: ReviewCase) -> bool:
        return bool(self.trail.entry(case.decision).record["code"] == "audit")

    def labels(self) -> Iterator[dict[str, Any]]:
        """What was decided, as labelled lines of the environment's own kind, each with where its label came from.

        A ticket that was redacted gives none.
        """
        from whet.release.champion import Champions
        from whet.release.intake import Intake, open_intake

        champions, intakes = Champions(self.trail.path.parent), dict[str, Intake]()
        resolved = {entry.record["case"]: entry.at for entry in self.trail.entries(RESOLVED)}
        for case in sorted(self.cases(state="resolved", limit=1 << 30), key=lambda case: case.number):
            decided = self.trail.entry(case.decision)
            if "ticket" not in decided.private:
                continue
            if case.champion not in intakes:
                champion = champions.get(case.champion)
                intakes[case.champion] = open_intake(champion.environment, champion.arguments)
            stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(resolved[case.number]))
            line = intakes[case.champion].labelled(
                decided.private["ticket"], case.outcome, f"review:{case.code}", stamp
            )
            yield {
                **line,
                "provenance": {
                    "case": case.number,
                    "entry": case.decision,
                    "ticket": case.ticket,
                    "champion": f"{case.champion}@v{decided.record['version']}",
                    "proposed": decided.record["proposed"],
                    "reviewers": [who for who, _ in case.votes],
                    "verdicts": [said for _, said in case.votes],
                },
            }


def _refuse_same_person(case: ReviewCase, who: str) -> None:
    """Nobody decides a case twice by spelling a name in another way."""
    if any(_spelled(who) == _spelled(other) for other, _ in case.votes):
        raise WhetError(f"case {case.number}: {who} has decided it already; another reviewer must")


def _spelled(name: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def _named(reviewer: str) -> str:
    """A reviewer's name, for the record: short, on one line, with nothing that cannot be seen."""
    who = " ".join(reviewer.split())
    if not who or len(who) > 80 or not who.isprintable():
        raise WhetError("say who reviews, in at most 80 plain characters: --as NAME")
    return who


def write_labels(queue: ReviewQueue, out: Path) -> int:
    """Write the labels to a file; returns how many there are."""
    rows = list(queue.labels())
    try:
        write_atomically(out, b"".join(orjson.dumps(row) + b"\n" for row in rows))
    except OSError as problem:
        raise WhetError(f"{out}: cannot be written ({problem.strerror})") from None
    return len(rows)


def queue_of(releases: Path) -> ReviewQueue:
    return ReviewQueue(Trail.of(releases))
