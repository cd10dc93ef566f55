"""The decider: a champion at work on new tickets. A ticket is decided once, and on record before anybody is told.

    async with open_decider(champion, releases) as decider:
        decision = await decider.decide(line)

The policy is asked by a session as any other: its budget holds, its replies are remembered in the ledger of the
sitting, and what a kill left undecided is not paid for twice. What is decided stands in the trail alone.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from whet.config.load import validate
from whet.config.schema import EvalConfig
from whet.errors import WhetError, typed
from whet.keys import digest, playbook_digest, policy_digest, rollout_key
from whet.ledger.freeze import FROZEN, UNFROZEN, family_of, frozen
from whet.models.base import Model
from whet.outside import shown_line
from whet.release.cases import CODES, OPENED, ReviewCase
from whet.release.champion import RELEASES, Champion, Champions
from whet.release.decision import (
    DECIDED,
    FOLDER,
    REVIEW,
    DecisionRule,
    WorkDecision,
    decision_in,
    reference_path,
    rule_seal,
)
from whet.release.intake import Intake, IntakeTasks, OpenWork, Watch, open_intake
from whet.release.review import put_case
from whet.release.trail import Trail, TrailEntry, TrailTurn
from whet.rollout.cast import open_model
from whet.rollout.claim import Identity, RunStart
from whet.rollout.progress import Quiet
from whet.rollout.session import Session
from whet.rollout.votes import majority
from whet.types import Ticket

KIND = "decide"
PURPOSE = "decide"

SITTINGS = "sittings"
"""The folder of the ledgers of sittings: what was asked and replied. Nothing that was decided depends on them."""

WATCHED_AGAIN = 2000
"""Tickets since the reference that a new sitting watches again; the watch has no state of its own."""


CALIBRATE = "calibrate"
"""The door of a sitting that makes a threshold: it goes by none."""

CALIBRATED = "calibrated"
"""The kind of entry that says which threshold was chosen for a champion, and on how much."""


class NoDecision(WhetError):
    """A ticket on which nothing was decided: the service gave out, or a budget is spent. Sent again, it is tried."""

    def __init__(self, told: str, *, budget: bool, broken: bool = False) -> None:
        super().__init__(told)
        self.budget = budget
        self.broken = broken
        """Whether nothing could be written: this decider decides no more, and another one must be opened."""


class RequesterGone(Exception):
    """Whoever asked first did not wait for the answer; others who wait for it ask anew."""


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
class Decider:
    """A champion at work. Belongs to one event loop; any number of processes may decide beside it."""

    champion: Champion
    rule: DecisionRule
    intake: Intake
    tasks: IntakeTasks
    session: Session
    trail: Trail
    releases: Path
    champion_policy: str
    """The digest of the champion's policy, by which its rollouts are known."""
    playbook: str
    champion_digest: str
    watch: Watch | None = None
    notes: tuple[str, ...] = ()
    """What whoever starts it must know, a line each."""
    _under_way: dict[str, asyncio.Future[WorkDecision]] = field(default_factory=dict)

    async def decide(self, line: bytes) -> WorkDecision:
        """The decision on a ticket. A ticket that is under way is waited for; one that is decided is told again.

        A `WhetError` says what is wrong with the ticket; a `NoDecision`, why none was made on one that is right.
        """
        work = self.intake.read(line)
        try:
            return await self._settled(work)
        except NoDecision:
            raise
        except (WhetError, sqlite3.Error, OSError) as problem:
            raise NoDecision(str(problem), budget=False, broken=True) from None

    async def _settled(self, work: OpenWork) -> WorkDecision:
        while True:
            known = self._known(work.key)
            if known is not None:
                return known
            waiting = self._under_way.get(work.key)
            if waiting is None:
                return await self._first(work)
            with suppress(RequesterGone):
                first = await asyncio.shield(waiting)
                return decision_in(self.trail.entry(first.entry), again=True)

    async def _first(self, work: OpenWork) -> WorkDecision:
        future: asyncio.Future[WorkDecision] = asyncio.get_running_loop().create_future()
        self._under_way[work.key] = future
        try:
            decision = await self._decided(work)
            future.set_result(decision)
            return decision
        except BaseException as error:
            future.set_exception(error if isinstance(error, Exception) else RequesterGone())
            future.exception()  # nobody need be waiting for it
            raise
        finally:
            del self._under_way[work.key]
            self.tasks.take_away(work)

    def _known(self, ticket: str) -> WorkDecision | None:
        with self.trail.reading() as db:
            row = db.execute(
                "SELECT seq FROM decisions WHERE champion = ? AND ticket = ?", (self.champion.name, ticket)
            ).fetchone()
        return None if row is None else decision_in(self.trail.entry(row[0]), again=True)

    async def _decided(self, work: OpenWork) -> WorkDecision:
        return self._record(work, await self.vote(work))

    async def vote(self, work: OpenWork) -> WorkVote:
        """What the policy says about a piece of work; nothing is decided yet."""
        self.tasks.put(work)
        policy, ticket = self.champion.policy, Ticket(PURPOSE, "test", work.index, 0)
        tally = await self.session.work_off(policy, [ticket], "tickets", retry_faults=True)
        key = rollout_key(ticket, self.tasks.fingerprint, self.champion_policy)
        standing = self.session.ledger.rollout(key)
        if standing is None:
            fault = self.session.ledger.open_fault(PURPOSE)
            told = tally.stopped or (f"the model did not answer: {fault}" if fault else "the model did not answer")
            raise NoDecision(shown_line(told, 400), budget=bool(tally.stopped and not tally.failed))
        voting = policy.sampling.votes > 1
        calls = self.session.calls(policy, ticket) if voting else (self.intake.verdict(work.task, standing),)
        found = majority(calls, self.intake.tie)
        reason, cited = self.intake.reason(work, standing)
        share = round(found.votes / max(1, len(calls)) * found.agreement, 6)
        return WorkVote(found.verdict, share, reason if found.verdict else "", cited)

    # ------------------------------------------------------------------------------------------- on record

    def _record(self, work: OpenWork, vote: WorkVote) -> WorkDecision:
        """One transaction: the decision, its case where a person is asked, the alarm where work has drifted."""
        rule, champion = self.rule, self.champion
        changed = self.watch.take(work) if self.watch is not None else ""
        with self.trail.turn() as turn:
            row = turn.db.execute(
                "SELECT seq FROM decisions WHERE champion = ? AND ticket = ?", (champion.name, work.key)
            ).fetchone()
            if row is not None:  # another process was first
                return decision_in(self.trail.entry(row[0]), again=True)
            halted = self._frozen(turn, changed)
            site = rule.site(work.name)
            score, proposed, confidence = vote.score(work), vote.proposed, vote.confidence
            verdict, code = rule.verdict(proposed, self.intake.releases, score, site, halted, confidence)
            if verdict == self.intake.releases and work.suspect:
                verdict, code = REVIEW, "suspect"
            if not code and verdict == self.intake.releases and rule.drawn("audit", work.key, rule.audit):
                code = "audit"
            record = {
                "champion": champion.name,
                "version": champion.version,
                "digest": self.champion_digest,
                "model": str(champion.target["model"]),
                "weights": champion.policy.model,
                "playbook": self.playbook,
                "kind": work.task.label.kind,
                "verdict": verdict,
                "proposed": proposed,
                "releasing": self.intake.releases,
                "code": code,
                "confidence": confidence,
                "gap": round(work.gap, 6),
                "score": score,
                "threshold": None if rule.rule is None else rule.rule.threshold,
                "place": work.site,
                "vendor": work.vendor,
                "submitted": work.submitted,
                "site": site,
                "case": turn.seq + 2 if code else None,
            }
            told = {"name": work.name, "lacks": work.lacks, "ticket": work.row}
            apart = {**told, "reason": vote.reason, "cited": vote.cited}
            entry = turn.append(DECIDED, record, subject=work.key, private=apart)
            turn.db.execute("INSERT INTO decisions VALUES (?, ?, ?, ?)", (champion.name, work.key, entry.seq, site))
            if code:
                self._open_case(turn, entry, code)
        return decision_in(entry)

    def _open_case(self, turn: TrailTurn, entry: TrailEntry, code: str) -> None:
        reviewers = 2 if self.rule.drawn("double", entry.subject, self.rule.double) else 1
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

    def _frozen(self, turn: TrailTurn, changed: str) -> bool:
        """Whether work of this environment is frozen; a change that is just seen freezes it, in this very commit."""
        family = family_of(self.champion.environment)
        asked = "SELECT kind FROM entries WHERE kind IN (?, ?) AND subject = ? ORDER BY seq DESC LIMIT 1"
        row = turn.db.execute(asked, (FROZEN, UNFROZEN, family)).fetchone()
        if row is not None and row[0] == FROZEN:
            return True
        if changed:
            turn.append(
                FROZEN, {"why": f"its work has drifted: {changed}", "champion": self.champion.name}, subject=family
            )
            self.watch = None
        return bool(changed)


def changed_rule(releases: Path, champion: str) -> str:
    """What is wrong with the threshold that a champion goes by: it must be the one that was calibrated; '' if it is."""
    entries = Trail.of(releases).entries(CALIBRATED, champion)
    if rule_seal(releases, champion) == (entries[-1].record.get("seal") if entries else ""):
        return ""
    return (
        f"{releases / FOLDER / champion}.json: is not what was calibrated, or its reference is not; restore them from "
        f"a copy, or make them again: whet decide {typed(champion)} --calibrate LABELLED"
    )


def voter_of(champion: Champion, intake: Intake) -> str:
    """Who decides, and how: a threshold that was chosen for one voter says nothing about another."""
    return digest(intake.fingerprint, champion.content)


@asynccontextmanager
async def open_decider(
    champion: Champion,
    releases: Path = RELEASES,
    *,
    door: str = "batch",
    model: Model | None = None,
    control: Mapping[str, Any] | None = None,
    base_url: str = "",
) -> AsyncIterator[Decider]:
    """Have a champion at work. `door` names the sitting: one process at a time works at each."""
    intake = open_intake(champion.environment, champion.arguments)
    tasks = IntakeTasks(intake)
    config = decision_config(champion, releases, control or {}, base_url)
    answering = model or open_model(config.target, config.control.target, tasks)
    fresh = door == CALIBRATE
    if not fresh and (changed := changed_rule(releases, champion.name)):
        raise WhetError(changed)
    named = DecisionRule() if fresh else DecisionRule.of(releases, champion.name)
    rule = named.for_voter(voter_of(champion, intake))
    notes = []
    if rule.rule is None or rule.rule.threshold is None:
        why = "its threshold was chosen for another version" if named.rule is not None else "it has no threshold"
        notes.append(
            f"{champion.title} releases nothing: {why}; whet decide {typed(champion.name)} --calibrate LABELLED"
        )
    halted = frozen(releases, champion.environment)
    if halted:
        notes.append(f"{champion.title} releases nothing: frozen ({halted})")
    identity = Identity(
        config.identity(), intake.fingerprint, answering.fingerprint, playbook_digest(champion.policy.playbook)
    )
    folder = releases / SITTINGS / f"{champion.name}-v{champion.version}-{door}"
    start = RunStart(KIND, folder, config, identity, tasks, answering, champion.policy.playbook, takes_over=True)
    with Trail.of(releases) as trail:
        with trail.turn():  # refuses a trail that is not sound, before anything is asked
            pass
        watch = None if halted or rule.rule is None else _watch(intake, rule, trail, champion, releases)
        if watch is None and not halted and rule.rule is not None:
            notes.append(f"{champion.title} is not watched for drift: its threshold was chosen on too little work")
        async with Session.open(start, Quiet()) as session:
            digests = (policy_digest(champion.policy), identity.playbook, champion.digest)
            yield Decider(champion, rule, intake, tasks, session, trail, releases, *digests, watch, tuple(notes))


def decision_config(champion: Champion, releases: Path, control: Mapping[str, Any], base_url: str = "") -> EvalConfig:
    """The config of a sitting: who answers and how it is reached, as the champion has it or where it is now."""
    address = champion.address(Champions(releases).place(champion))
    data = {
        "env": {"name": champion.environment, "args": dict(champion.arguments)},
        "target": {**champion.target, "model": address},
        "control": {**control, "target": {**champion.endpoint, **({"base_url": base_url} if base_url else {})}},
    }
    return validate(EvalConfig, data, champion.title)


def _watch(intake: Intake, rule: DecisionRule, trail: Trail, champion: Champion, releases: Path) -> Watch | None:
    """The watch over a champion's work, where it stood: what came since its reference is watched again."""
    path = reference_path(releases, champion.name)
    if not path.is_file():
        return None
    watch = intake.watch([line for line in path.read_bytes().split(b"\n") if line.strip()], rule.alpha)
    if watch is None:
        return None
    begun = [entry.seq for kind in (CALIBRATED, UNFROZEN) for entry in trail.entries(kind)]
    entries = [entry for entry in trail.entries(DECIDED) if entry.seq > max(begun, default=0)]
    for work in _works(intake, [entry for entry in entries if entry.record["champion"] == champion.name]):
        watch.take(work)
    return watch


def _works(intake: Intake, entries: Sequence[TrailEntry]) -> list[OpenWork]:
    rows = [entry.private.get("ticket") for entry in entries[-WATCHED_AGAIN:]]
    return [intake.read(orjson.dumps(row)) for row in rows if row is not None]
