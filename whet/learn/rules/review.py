"""The review of a round's candidates: a few tickets of the propose pool, further ones where they speak, and the gate.

A proposer that counts on the propose pool what each operation is worth brings the best first. Then what stands behind
one that has passed waits: the next book is another, and it would have to be judged against that one anyway.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from whet.gate.decide import DECISION
from whet.gate.paired import PairedGate
from whet.keys import digest
from whet.learn.candidate import Candidate
from whet.learn.judge import Judge, Judgement
from whet.learn.rules.config import RulesConfig
from whet.learn.rules.gains import GainWatch, drawn_again, harmless, waits
from whet.learn.rules.records import BranchRound, Fate, OperationRecord
from whet.learn.rules.releases import ReleaseWatch
from whet.learn.rules.screen import TicketScreen, regressions
from whet.learn.rules.types import TriedOperation
from whet.learn.workshop import Workshop

ORIGIN = "rule_search"

SPOKEN = "gain_where_it_speaks"
"""The reason of an acceptance that rests on the tickets which the changed rules speak of."""

REMEMBERED: tuple[Fate, ...] = ("screened", "rejected", "undecided", "harmful", "golden", "declined", "applied")


@dataclass(slots=True)
class RuleReview:
    """Brings candidates before the gate and remembers what became of them. `share`: of the gate's alpha, for each."""

    shop: Workshop
    judge: Judge
    config: RulesConfig
    watch: ReleaseWatch
    hearing: GainWatch | None
    """None where the gate is not one with a promise that could be kept on further tickets."""
    share: float
    tried: list[TriedOperation] = field(default_factory=list)
    flips: float = 0.0
    """The noise floor: the share of the gate's tickets on which a book differs from itself."""

    def spend(self, share: float, alpha: float) -> None:
        """From here on a decision may use so much: a share of the gate's alpha, and on further tickets alpha itself."""
        self.share = share
        if self.hearing is not None:
            self.hearing.alpha = alpha

    async def hear(self, where: str, part: BranchRound, chosen: Sequence[OperationRecord], ranked: bool) -> None:
        """All candidates, in the order in which they were brought; `ranked` where that is the order of their worth."""
        screen = TicketScreen.of(self.shop, self.config, part, chosen, where)
        passed = 0
        for record in chosen:
            if ranked and self.config.rules.race and passed == self.config.train.beam:
                self.settle(part, record, "outrun", "one that promises more has passed before it came to the gate")
            elif await self._worth_the_gate(part, record, screen) and await self._passes(where, part, record):
                passed += 1

    async def _worth_the_gate(self, part: BranchRound, record: OperationRecord, screen: TicketScreen) -> bool:
        assert record.operation is not None
        found = record.screen = await screen.read(record)
        if found is None or found.passes(record.operation):
            return True
        told = f"on {found.tickets} tickets of the propose pool it mends {found.fixed} and breaks {found.broken}"
        self.settle(part, record, "screened", told)
        return False

    async def _passes(self, where: str, part: BranchRound, record: OperationRecord) -> bool:
        """Whether it helps and harms nothing: where it speaks, and on the gate's tickets."""
        branch = part.branch
        assert record.operation is not None
        assert record.policy is not None
        record.releases = await self.watch.read(branch, record)
        if record.releases is not None and record.releases.hopeless:
            self.settle(part, record, "harmful", str(record.releases))
            return False
        record.gains = await self.hearing.read(branch, record) if self.hearing is not None else None
        if record.gains is not None and not record.gains.shown:
            self.settle(part, record, "rejected", str(record.gains))
            return False
        candidate = Candidate(record.policy, (record.operation,), ORIGIN, record.round)
        purpose = f"{where}/c{record.index}"
        judged = await self.judge.weigh(purpose, candidate, branch.policy, branch.bank, share=self.share)
        record.judgement = judged
        if judged.action == "skip_identical":
            self.settle(part, record, "identical", "the policy would be told the same")
            return False
        gate = self.shop.gate
        if record.gains is not None and waits(judged.decision) and isinstance(gate, PairedGate):
            again = await drawn_again(self.shop, gate.guards, branch, record.policy, judged.decision)
            judged = self._instead(judged, replace(judged, decision=again))
        record.regressions = regressions(self.shop, branch, judged)
        judged = record.judgement = self._heard(record, judged)
        passed = judged.action == "pass"
        if passed:
            record.fate, record.detail = "passed", str(judged.decision)
            record.releases = await self.watch.read(branch, record)
            branch.bank = branch.bank.extended(judged.decision.draws)
        elif judged.decision.draws:
            branch.bank = self.shop.gate.carry(branch.bank, judged.decision)
        if not passed:
            self.settle(part, record, "undecided" if judged.action == "undecided" else "rejected", str(judged.decision))
        elif record.releases is not None and not record.releases.holds:
            self.settle(part, record, "harmful", str(record.releases))
        return record.fate == "passed"

    def _heard(self, record: OperationRecord, judged: Judgement) -> Judgement:
        """The judgement, or an acceptance in its place: a gain was shown where the rules speak, and the gate, which
        cannot see it among all its tickets, rules out the harm that it bounds there."""
        decision, most = judged.decision, self.config.bounds.regressions
        if record.gains is None or not harmless(decision, len(record.regressions), most, self.flips):
            return judged
        heard = replace(decision, verdict="accept", reason=SPOKEN, detail=str(record.gains), alpha=self.alpha)
        found = self._instead(judged, replace(judged, decision=heard, action="pass"))
        purpose = f"{judged.purpose}/spoken"
        key, ledger = digest(DECISION, purpose), self.shop.ledger
        if ledger.effect(key, "", purpose) is None:
            ledger.add_effect(key, DECISION, purpose, "", replace(heard, draws=()).as_data())
        return found

    def _instead(self, judged: Judgement, found: Judgement) -> Judgement:
        """`found` in the place of a judgement, also where the judge keeps it."""
        self.judge.judgements[self.judge.judgements.index(judged)] = found
        return found

    @property
    def alpha(self) -> float | None:
        return self.hearing.alpha if self.hearing is not None else None

    def settle(self, part: BranchRound, record: OperationRecord, fate: Fate, detail: str) -> None:
        record.fate, record.detail = fate, detail
        if fate in REMEMBERED and record.operation is not None:
            told = part.branch.book.told
            self.tried.append(TriedOperation(record.operation, record.round, fate, record.effect, told))
