"""The docket: what was voted on and is to be decided, entered in the trail in one commit for each turn of the loop.

All that is ready at the same moment goes into one transaction, and nobody is told before it is committed: under load a
commit is shared, without load nobody waits for another. What a champion decides by, its threshold and its watch over
drift, is looked up again when the trail says that it was calibrated or freed since.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from whet.ledger.freeze import FROZEN, UNFROZEN, family_of
from whet.release.cases import CODES, OPENED, ReviewCase
from whet.release.champion import Champion
from whet.release.decision import CALIBRATED, DECIDED, REVIEW, WorkDecision, decision_in
from whet.release.intake import OpenWork, Watch
from whet.release.review import put_case
from whet.release.terms import DecisionTerms
from whet.release.trail import Trail, TrailEntry, TrailTurn

MEANWHILE = 0.1
"""Seconds after which tickets are looked at that the model is still busy with: those that came meanwhile, in a row."""


@dataclass(frozen=True, slots=True)
class WorkVote:
    """What a policy says about a piece of work, and how surely: the share of its draws that say so."""

    proposed: str | None
    confidence: float
    reason: str
    cited: tuple[str, ...]

    def score(self, work: OpenWork) -> float:
        """What a threshold is compared with: a policy that is always sure is no surer than its evidence."""
        return round(self.confidence * (1.0 - work.gap), 6)


@dataclass(slots=True)
class Docket:
    """Enters decisions for one champion. Belongs to one event loop."""

    champion: Champion
    playbook: str
    releasing: str
    """The choice that gets a piece of work past without a person."""
    trail: Trail
    renew: Callable[[], DecisionTerms]
    """Looks up what the champion decides by."""
    terms: DecisionTerms = field(init=False)
    watch: Watch | None = field(init=False)
    _waiting: list[tuple[OpenWork, WorkVote, asyncio.Future[WorkDecision]]] = field(default_factory=list)
    _unseen: dict[str, OpenWork] = field(default_factory=dict)
    """Work that is under way and that the watch has not been shown, in the order in which it came."""
    _looked_at: set[str] = field(default_factory=set)
    _changed: str = ""
    """What the watch has seen and no entry says yet."""
    _since: int = 0
    """The last entry that said what the champion decides by."""
    _told: dict[str, Any] = field(init=False)
    _family: str = field(init=False)

    def __post_init__(self) -> None:
        self._family = family_of(self.champion.environment)
        self._told = {
            "champion": self.champion.name,
            "version": self.champion.version,
            "digest": self.champion.digest,
            "model": str(self.champion.target["model"]),
            "weights": self.champion.policy.model,
            "playbook": self.playbook,
            "releasing": self.releasing,
        }
        self._since = self._last_change()
        self._take_terms()

    def known(self, ticket: str) -> WorkDecision | None:
        """The decision on a ticket, where there is one."""
        with self.trail.reading() as db:
            row = db.execute(
                "SELECT seq FROM decisions WHERE champion = ? AND ticket = ?", (self.champion.name, ticket)
            ).fetchone()
        return None if row is None else decision_in(self.trail.entry(row[0]), again=True)

    def meanwhile(self, work: OpenWork) -> None:
        """Have its evidence weighed, and the watch look at it, while the model is busy with it."""
        self._unseen[work.key] = work
        if len(self._unseen) == 1:
            asyncio.get_running_loop().call_later(MEANWHILE, self._look_early)

    def leave(self, work: OpenWork) -> None:
        """Nothing will be decided on it now; what the watch has not seen of it, it is not shown."""
        self._unseen.pop(work.key, None)

    def _look_early(self) -> None:
        """One ticket a turn of the loop, so that no answer waits for more; several in a row find the watch at hand."""
        if not self._unseen:
            return
        work = self._unseen.pop(next(iter(self._unseen)))
        if self._unseen:
            asyncio.get_running_loop().call_soon(self._look_early)
        work.weigh()
        self.look_at(work)

    def look_at(self, work: OpenWork) -> None:
        """Let the watch see a ticket, once; what it finds freezes the environment with the next commit."""
        if self.watch is None or work.key in self._looked_at:
            return
        self._looked_at.add(work.key)
        self._changed = self.watch.take(work) or self._changed

    async def enter(self, work: OpenWork, vote: WorkVote) -> WorkDecision:
        """The decision on a piece of work, once it is committed."""
        loop = asyncio.get_running_loop()
        entered: asyncio.Future[WorkDecision] = loop.create_future()
        self._waiting.append((work, vote, entered))
        if len(self._waiting) == 1:
            loop.call_soon(self._commit)
        return await entered

    # ------------------------------------------------------------------------------------------- on record

    def _commit(self) -> None:
        waiting, self._waiting = self._waiting, []
        try:
            made = self._entered([(work, vote) for work, vote, _ in waiting])
        except Exception as problem:  # noqa: BLE001 - nothing of it was committed: whoever waits is told why
            for *_, entered in waiting:
                if not entered.done():
                    entered.set_exception(problem)
            return
        for (*_, entered), decision in zip(waiting, made, strict=True):
            if not entered.done():
                entered.set_result(decision)

    def _entered(self, voted: list[tuple[OpenWork, WorkVote]]) -> list[WorkDecision]:
        """One transaction: decisions, cases where a person is asked, the alarm where work has drifted."""
        if (since := self._last_change()) != self._since:
            self._take_terms()
            self._since = since
        for work, _ in voted:
            self.look_at(work)
        self._looked_at.difference_update(work.key for work, _ in voted)
        with self.trail.turn() as turn:
            halted = self._halted(turn)
            return [self._decision(turn, work, vote, halted) for work, vote in voted]

    def _decision(self, turn: TrailTurn, work: OpenWork, vote: WorkVote, halted: bool) -> WorkDecision:
        row = turn.db.execute(
            "SELECT seq FROM decisions WHERE champion = ? AND ticket = ?", (self.champion.name, work.key)
        ).fetchone()
        if row is not None:  # another process was first
            return decision_in(self.trail.entry(row[0]), again=True)
        rule, evidence = self.terms.rule, work.weigh()
        site, score = rule.site(work.name), vote.score(work)
        verdict, code = rule.verdict(vote.proposed, self.releasing, score, site, halted, vote.confidence)
        if verdict == self.releasing and evidence.suspect:
            verdict, code = REVIEW, "suspect"
        if not code and verdict == self.releasing and rule.drawn("audit", work.key, rule.audit):
            code = "audit"
        record = self._told | {
            "kind": work.task.label.kind,
            "verdict": verdict,
            "proposed": vote.proposed,
            "code": code,
            "confidence": vote.confidence,
            "gap": round(evidence.gap, 6),
            "score": score,
            "threshold": None if rule.rule is None else rule.rule.threshold,
            "place": work.site,
            "vendor": evidence.vendor,
            "submitted": work.submitted,
            "site": site,
            "case": turn.seq + 2 if code else None,
        }
        told = {"name": work.name, "lacks": evidence.lacks, "ticket": work.row}
        apart = {**told, "reason": vote.reason, "cited": vote.cited}
        entry = turn.append(DECIDED, record, subject=work.key, private=apart)
        turn.db.execute("INSERT INTO decisions VALUES (?, ?, ?, ?)", (self.champion.name, work.key, entry.seq, site))
        if code:
            self._open_case(turn, entry, code)
        return decision_in(entry)

    def _open_case(self, turn: TrailTurn, entry: TrailEntry, code: str) -> None:
        rule = self.terms.rule
        reviewers = 2 if rule.drawn("double", entry.subject, rule.double) else 1
        told = {
            "decision": entry.seq,
            "champion": self.champion.name,
            "code": code,
            "priority": CODES[code],
            "reviewers": reviewers,
        }
        opened = turn.append(OPENED, told, subject=entry.subject)
        put_case(
            turn, ReviewCase(opened.seq, entry.seq, self.champion.name, entry.subject, code, CODES[code], reviewers)
        )

    def _halted(self, turn: TrailTurn) -> bool:
        """Whether work of this environment is frozen; a change that was just seen freezes it, in this very commit."""
        asked = "SELECT kind FROM entries WHERE kind IN (?, ?) AND subject = ? ORDER BY seq DESC LIMIT 1"
        row = turn.db.execute(asked, (FROZEN, UNFROZEN, self._family)).fetchone()
        if row is not None and row[0] == FROZEN:
            return True
        changed, self._changed = self._changed, ""
        if changed:
            why = f"its work has drifted: {changed}"
            turn.append(FROZEN, {"why": why, "champion": self.champion.name}, subject=self._family)
            self.watch = None
        return bool(changed)

    # ------------------------------------------------------------------------------------------- by what

    def _last_change(self) -> int:
        """The last entry that chose a threshold for the champion or ended a freeze of its work."""
        asked = "SELECT max(seq) FROM entries WHERE (kind = ? AND subject = ?) OR (kind = ? AND subject = ?)"
        with self.trail.reading() as db:
            row = db.execute(asked, (CALIBRATED, self.champion.name, UNFROZEN, self._family)).fetchone()
        return row[0] or 0

    def _take_terms(self) -> None:
        self.terms = self.renew()
        self.watch, self._changed = self.terms.watch, ""
        self._looked_at.clear()
