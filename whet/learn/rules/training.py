"""Rule search: attempt the propose pool, show hard cases to a proposer, judge what it brings, apply the best; again.

Departures from the published loop, whose thresholds are `preset = "published"`: proposals come from one pool of tickets
and are judged on another; the gate is a paired test with bounds on either error among the tickets concerned, and caps
regressions where the published one caps every change; of what passes the best is applied, not the last; what was
rejected is remembered; what was filtered is on record; a run that is started again goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from whet.errors import WhetError, typed
from whet.gate.paired import PairedGate
from whet.keys import digest
from whet.learn.judge import Judge, Standing, known
from whet.learn.learner import Training
from whet.learn.rules.approval import approved
from whet.learn.rules.artifacts import RuleFiles
from whet.learn.rules.book import ABLATION, Operation, RuleBook, RuleRefusal
from whet.learn.rules.cases import hard_cases
from whet.learn.rules.config import RulesConfig
from whet.learn.rules.distil import DistilledChats, distil
from whet.learn.rules.filters import PoolWords, admitted
from whet.learn.rules.gains import GainWatch
from whet.learn.rules.mission import first_book, one_mission, refuse_strange_golden
from whet.learn.rules.noise import NoiseFloor, measure_noise
from whet.learn.rules.pool import ProposePool
from whet.learn.rules.proposers import proposer_named
from whet.learn.rules.records import Branch, BranchRound, OperationRecord, Round
from whet.learn.rules.releases import ReleaseWatch
from whet.learn.rules.report import round_text, summary_of
from whet.learn.rules.review import RuleReview
from whet.learn.rules.spare import idle_rules
from whet.learn.rules.types import PoolAttempt, RuleProposer, RuleStep
from whet.learn.workshop import Spent, Workshop
from whet.rollout.session import Halted

FIRST = "b0"
MOMENT = "moment"
"""The kind of effect that remembers when something happened first."""


@dataclass(slots=True)
class RuleSearch(Training):
    """A run of rule search. Everything it holds is made anew from the ledger when it is started again."""

    shop: Workshop
    judge: Judge
    config: RulesConfig
    tasks: tuple[int, ...]
    moved: Callable[[], None] = lambda: None
    mission: str = ""
    proposer: RuleProposer | None = None
    rounds: list[Round] = field(default_factory=list)
    branches: list[Branch] = field(default_factory=list)
    books: list[tuple[int, RuleBook, str]] = field(default_factory=list)
    """The leading book after each edit: its step, what it is, and when it came."""
    noise: NoiseFloor | None = None
    audited: tuple[PoolAttempt, ...] = ()
    chats: DistilledChats | None = None
    steps_done: int = 0
    idle: int = 0
    """Rounds since a book was last gained."""
    spent: str = ""
    files: RuleFiles = field(init=False)
    pool: ProposePool = field(init=False)
    review: RuleReview = field(init=False)
    _fresh: int = 1
    _names: int = 0
    _told: int = 0
    _noise_told: bool = False

    def __post_init__(self) -> None:
        self.files = RuleFiles()
        self.pool = ProposePool(self.shop, self.config, self.tasks)
        env = self.shop.env
        if not self.tasks:
            raise WhetError(f"{env.name}: there are no train tasks to propose from")
        if not env.chooses:
            raise WhetError(f"{env.name}: its answers are no choices; rule search needs tasks whose answer is one")
        self.mission = one_mission(env, {"train": self.tasks, "select": self.shop.select})
        refuse_strange_golden(env, self.config.rules.golden)
        start = self.judge.initial
        book = first_book(env, self.tasks, start.playbook, self.mission)
        start = replace(start, playbook=book.within(start.playbook))
        self.judge.initial = start
        self.judge.current = self.judge.best = Standing(start, origin="initial_book")
        self._fresh = book.fresh
        self.branches = [Branch(FIRST, start, book, self.judge.bank)]
        self.books = [(0, book, self._moment("start"))]
        watch = ReleaseWatch.of(self.shop, self.config)
        paired = isinstance(self.shop.gate, PairedGate)
        hearing = GainWatch(self.config, watch.more, self.alpha) if paired else None
        self.review = RuleReview(self.shop, self.judge, self.config, watch, hearing, self.share)
        if not self.config.rules.audit_only and self.proposer is None:
            self.proposer = proposer_named(self.config.train.proposer)

    # ------------------------------------------------------------------------------------------- the loop

    async def run(self) -> None:
        """Rounds until nothing is gained any more, then the chats; or the baseline alone."""
        if self.config.rules.audit_only:
            rolled = await self.pool.attempts(self.branches[0].policy, self.tasks, "audit")
            self.audited = tuple(sorted(rolled, key=lambda attempt: attempt.task.index))
            self.steps_done = 1
            self.moved()
            return
        try:
            if self.config.rules.floor:
                self.noise = await measure_noise(self.shop, self.branches[0].policy, self.alpha)
                self.review.flips = self.noise.flips
                self.moved()
            for number in range(1, self.config.train.steps + 1):
                self.review.spend(self.share, self.alpha)
                gained = await self._round(number)
                self.idle = 0 if gained else self.idle + 1
                if self.idle >= self.config.train.patience:
                    break
            await self.judge.validate()
        except Spent as spent:
            self.spent = str(spent)
        if self.config.distill.use:
            await self._distil()
        self.moved()

    @property
    def share(self) -> float:
        """The part of the gate's alpha that one decision may use now.

        Rounds that gain nothing, one after the other, share one alpha: a run in which nothing helps ends with them, and
        changes its book no more often than that. The first has most of it, for that is where most gains are shown.
        """
        rounds = sum(1.0 / number for number in range(1, self.config.train.patience + 1))
        return 1.0 / (self.idle + 1) / rounds / (self.config.rules.candidates * self.config.train.beam)

    @property
    def alpha(self) -> float:
        gate = self.shop.gate
        return gate.promise * self.share if isinstance(gate, PairedGate) else 0.05

    async def _round(self, number: int) -> bool:
        """One round over all branches; whether a book was gained."""
        state = Round(number, self._moment(f"s{number:04d}"))
        self.rounds.append(state)
        try:
            for branch in self.branches:
                part = BranchRound(branch)
                state.parts.append(part)
                await self._grow(number, part)
                await self._choose(state, part)
            self._survive(state)
        except (Spent, Halted) as stop:
            state.stopped = str(stop)
            raise
        state.complete = True
        self.steps_done = number
        self.moved()
        return bool(state.applied)

    async def _grow(self, number: int, part: BranchRound) -> None:
        """Attempts, cases, proposals, candidates, and the gate's word on each."""
        branch, section = part.branch, self.config.rules
        where = f"s{number:04d}/{branch.name}"
        part.attempts = await self.pool.seen(branch.policy, self.pool.of_round(number), where)
        part.cases = hard_cases(part.attempts, section.hard_cases, section.order)
        if not part.attempts:
            return
        assert self.proposer is not None
        tried = tuple(self.review.tried)
        env = self.shop.env
        step = RuleStep(
            *(env, branch.book, part.cases, part.attempts, where, number, tried, self.mission, self.shop, self.config)
        )
        proposals = await self.shop.timed(f"{where}/propose", self.proposer.propose(step, section.candidates))
        for raw, refusal in proposals.refused:
            self._record(part, number, None, refusal=refusal, raw=raw)
        chosen = self._candidates(number, part, (*branch.carried, *proposals.operations))
        await self.review.hear(where, part, chosen, self.proposer.ranks)

    def _candidates(self, number: int, part: BranchRound, operations: Sequence[Operation]) -> list[OperationRecord]:
        """Operations that may be tried, the spare places filled with removals; whatever is not tried is on record."""
        words = PoolWords.of(part.attempts)
        brought = (*operations, *self._ablations(part))
        chosen: list[OperationRecord] = []
        for operation, refusal in admitted(
            brought, part.branch.book, words, self.review.tried, self.config.rules.candidates
        ):
            record = self._record(part, number, operation, refusal=refusal)
            if refusal is None and self._apply(part.branch, record):
                chosen.append(record)
        return chosen

    def _ablations(self, part: BranchRound) -> list[Operation]:
        """A removal of each rule that was learnt, the oldest first; not of one that the propose pool speaks for."""
        if not self.config.rules.ablations:
            return []
        why = "does the book do without it?"
        spare = idle_rules(self.shop.env, part) if self.config.rules.race else part.branch.book.learnt
        return [Operation("remove", target=rule.id, reason=why, source=ABLATION) for rule in spare]

    def _apply(self, branch: Branch, record: OperationRecord) -> bool:
        """Make the candidate: the book after the operation, and the policy that is told it."""
        assert record.operation is not None
        made = replace(branch.book, fresh=max(branch.book.fresh, self._fresh)).apply(record.operation, branch.step + 1)
        if isinstance(made, RuleRefusal):
            record.refusal, record.detail = made, str(made)
            return False
        self._fresh = max(self._fresh, made.fresh)
        record.book = made
        record.policy = replace(branch.policy, playbook=made.within(branch.policy.playbook))
        return True

    async def _choose(self, state: Round, part: BranchRound) -> None:
        """Of what passed, the best by utility becomes a book of its own, with a beam also the next best."""
        passed = [record for record in part.records if record.fate == "passed"]
        passed.sort(key=lambda record: (-record.utility, record.index))
        taken: list[OperationRecord] = []
        for record in passed:
            if len(taken) == self.config.train.beam:
                break
            assert record.policy is not None
            if broken := await self.pool.golden_broken(part.branch.policy, record.policy):
                self.review.settle(part, record, "golden", f"it breaks {', '.join(broken)}, which no rule may")
                continue
            if not self._approved(part, record):
                continue
            taken.append(record)
            self._born(state, part, record)
            state.applied.append(record)
        taken_operations = [record.operation for record in taken]
        left = tuple(
            replace(record.operation, source="carried")
            for record in passed
            if record.operation is not None and record.fate == "passed" and record.operation not in taken_operations
        )
        for record in taken:
            assert record.child is not None
            record.child.carried = left
        if not taken:
            part.branch.carried = ()

    def _born(self, state: Round, part: BranchRound, record: OperationRecord) -> None:
        """The child of a branch: another book, measured afresh."""
        judged, branch = record.judgement, part.branch
        assert judged is not None
        assert record.book is not None
        assert record.policy is not None
        bank = self.shop.gate.carry(branch.bank, judged.decision)
        self._names += 1
        child = Branch(
            *(f"b{self._names}", record.policy, record.book, bank, branch.step + 1),
            score=known(judged.decision.candidate_score),
            judgement=judged,
        )
        record.child = child
        self.pool.stand((branch.policy, branch.book), (record.policy, record.book))
        self.review.settle(part, record, "applied", str(judged.decision))

    def _survive(self, state: Round) -> None:
        """The best books live on; the one that leads is the current policy of the run."""
        born = [record.child for record in state.applied if record.child is not None]
        grown = {part.branch.name for part in state.parts if any(record.child for record in part.records)}
        old = [branch for branch in self.branches if self.config.train.beam > 1 or branch.name not in grown]
        ranked = sorted((*born, *old), key=lambda branch: -(branch.score if branch.score is not None else -1.0))
        distinct = {branch.book.told: branch for branch in reversed(ranked)}
        self.branches = [branch for branch in ranked if distinct[branch.book.told] is branch][: self.config.train.beam]
        leader = self.branches[0]
        state.leader = leader
        if leader.policy != self.judge.current.policy and leader.judgement is not None:
            leader.judgement = self.judge.adopt(leader.judgement, leader.bank)
            self._relink(leader)
            self.books.append((leader.step, leader.book, self._moment(f"s{state.number:04d}/applied")))
        elif leader.policy == self.judge.current.policy and leader.bank.score is not None:
            self.judge.bank = leader.bank

    def _relink(self, leader: Branch) -> None:
        """The record of what was adopted says so."""
        for state in self.rounds:
            for record in state.records:
                if record.child is leader:
                    record.judgement = leader.judgement

    async def _distil(self) -> None:
        """The chats for fine-tuning: what the best book answers on the propose pool."""
        policy = self.judge.best.policy
        try:
            attempts = await self.pool.attempts(policy, self.pool.to_distil(), "distil")
        except Spent as spent:
            self.spent = self.spent or str(spent)
            attempts = self.pool.made(policy)
        self.chats = distil(self.mission, policy, attempts)

    # ------------------------------------------------------------------------------------------- what is remembered

    def _approved(self, part: BranchRound, record: OperationRecord) -> bool:
        """Whether a person has said yes, where one is asked. Without an answer the run stops and waits for it."""
        if not self.config.rules.approval:
            return True
        assert record.policy is not None
        assert record.operation is not None
        purpose = f"s{record.round:04d}/{record.branch}/c{record.index}"
        said = approved(self.shop, purpose, record.policy)
        if said is None:
            record.fate = "awaiting"
            self.moved()
            folder = self.shop.session.folder
            raise Halted(
                f"{purpose} waits for a person: {record.operation}; "
                f"whet rules approve {typed(folder)} {typed(purpose)}, or the same with --decline, then start the run "
                "again"
            )
        if not said.yes:
            self.review.settle(part, record, "declined", said.words)
        return said.yes

    def _moment(self, purpose: str) -> str:
        """When this came about first, in UTC: remembered, so that files are the same after any restart."""
        key = digest(MOMENT, purpose)
        found: Any = self.shop.ledger.effect(key, "", purpose)
        if found is None:
            found = {"at": datetime.now(UTC).isoformat(timespec="seconds")}
            self.shop.ledger.add_effect(key, MOMENT, purpose, "", found)
        return str(found["at"])

    def _record(
        self,
        part: BranchRound,
        number: int,
        operation: Operation | None,
        *,
        refusal: RuleRefusal | None = None,
        raw: Mapping[str, Any] | None = None,
    ) -> OperationRecord:
        record = OperationRecord(number, part.branch.name, len(part.records), operation, raw or {}, refusal)
        record.detail = str(refusal) if refusal else ""
        part.records.append(record)
        return record

    # ------------------------------------------------------------------------------------------- what others see

    def news(self) -> list[str]:
        lines = []
        if self.noise is not None and not self._noise_told:
            self._noise_told = True
            lines.append(str(self.noise))
        for state in self.rounds[self._told :]:
            if not (state.complete or state.stopped):
                break
            self._told += 1
            lines.append(round_text(state))
        return lines

    def write(self, folder: Path) -> None:
        self.files.write(folder, self)

    def summary(self) -> dict[str, Any]:
        return summary_of(self)
