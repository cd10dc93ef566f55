"""Where a run stands: the current and the best policy with their scores and origins, and the gate's evidence.

`Judge` is the only place where either is replaced. Every learner brings its candidates here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from whet.errors import WhetError
from whet.gate.decision import Decision
from whet.gate.evidence import Arm, Bank
from whet.learn.candidate import Candidate
from whet.learn.workshop import LEAK, THOROUGH, Workshop
from whet.types import Playbook, Policy

Action = Literal["accept_new_best", "accept", "pass", "reject", "force_accept", "undecided", "skip_identical"]
"""What became of a candidate. `pass`: the gate would have it, and another was taken."""

FORCING = "none"
"""The gate that accepts everything: being accepted by it says nothing."""

LOSS = 0.02
"""The mean difference on the gate's tasks that leaving a sentence out may cost."""

ALIKE = "constant"
"""The reason of a gate that saw the same on every task, with and without."""

UNMEASURABLE = ("unreported",)
"""Reasons for which no candidate can ever be decided about."""

_FIGURES = ("verdict", "reason", "metric", "effect", "incumbent_score", "candidate_score", "tasks", "seen")
_MORE_FIGURES = ("better", "worse", "statistic", "threshold", "alpha", "rollouts", "says")


@dataclass(frozen=True, slots=True)
class Standing:
    """A policy, what it scored on the gate's tasks as far as that was measured, and where it came from."""

    policy: Policy
    score: float | None = None
    origin: str = "initial_skill"
    step: int = 0

    @property
    def playbook(self) -> Playbook:
        return self.policy.playbook


@dataclass(frozen=True, slots=True)
class Judgement:
    """One candidate before the gate, and what became of it."""

    purpose: str
    candidate: Candidate
    incumbent: Policy
    decision: Decision
    action: Action
    pruned: bool = False
    """Whether the incumbent had to beat the candidate, which leaves something out, and not the other way round."""

    @property
    def arms(self) -> Mapping[Arm, Policy]:
        """Who stood where before the gate."""
        sides = (self.candidate.policy, self.incumbent) if self.pruned else (self.incumbent, self.candidate.policy)
        return {"incumbent": sides[0], "candidate": sides[1]}

    @property
    def accepted(self) -> bool:
        return self.action in ("accept_new_best", "accept", "force_accept")

    def as_data(self) -> dict[str, Any]:
        found = self.decision.as_data()
        return {
            "purpose": self.purpose,
            "action": self.action,
            "without": self.candidate.without,
            "items": [change.as_data() for change in self.candidate.changes],
            **{name: found[name] for name in (*_FIGURES, *_MORE_FIGURES)},
        }


@dataclass(slots=True)
class Judge:
    """Brings candidates to the gate one after the other and keeps what is accepted."""

    shop: Workshop
    initial: Policy
    current: Standing
    best: Standing
    bank: Bank
    judgements: list[Judgement] = field(default_factory=list)
    final: Judgement | None = None
    """The comparison of the current policy with the best at the end, where there was one."""
    ends: int = 0
    """How often learning has come to an end: more than once in a run that was continued."""
    chosen: tuple[int, ...] = ()
    """How many draws of the bank, by task, are of the decision that made the current policy what it is."""

    @classmethod
    def start(cls, shop: Workshop, initial: Policy) -> Judge:
        standing = Standing(initial)
        return cls(shop, initial, standing, standing, shop.gate.open(len(shop.select)))

    async def bring(self, purpose: str, candidate: Candidate, *, share: float = 1.0, pace: str = "") -> Judgement:
        """The gate's decision on `candidate`; an accepted one is the current policy from here on.

        `share` is the part of the gate's alpha that this decision may use, where several come of one proposal; `pace`
        is another than the gate's own, which looks only at draws that no acceptance has chosen.
        """
        bank = self.bank.since(self.chosen) if pace and self.chosen else self.bank
        judgement = await self.weigh(purpose, candidate, self.current.policy, bank, share=share, pace=pace)
        decision = judgement.decision
        if judgement.action == "pass":
            return self.adopt(judgement, self.shop.gate.carry(self.bank, decision))
        if judgement.action != "skip_identical" and decision.reason != LEAK:
            self.bank = self.shop.gate.carry(self.bank, decision)
            if self.bank.score is not None:
                self._measured(self.bank.score)
        return judgement

    async def weigh(
        self, purpose: str, candidate: Candidate, incumbent: Policy, bank: Bank, *, share: float = 1.0, pace: str = ""
    ) -> Judgement:
        """The gate's decision on `candidate` beside any incumbent, whose draws stand in `bank`; nothing is replaced."""
        leak = self.shop.leak(purpose, incumbent, candidate.policy)
        if leak is not None:
            self.judgements.append(Judgement(purpose, candidate, incumbent, leak, "reject"))
            return self.judgements[-1]
        decision = await self.shop.decide(purpose, bank, incumbent, candidate.policy, share, pace=pace)
        if decision.reason == "identical":
            return Judgement(purpose, candidate, incumbent, decision, "skip_identical")
        if decision.reason in UNMEASURABLE:
            raise WhetError(f"the gate can never decide: {decision.detail}; mend [gate] in the config")
        undecided = decision.verdict == "cannot_decide"
        action: Action = "pass" if decision.accepted else "undecided" if undecided else "reject"
        self.judgements.append(Judgement(purpose, candidate, incumbent, decision, action))
        return self.judgements[-1]

    def adopt(self, judgement: Judgement, bank: Bank) -> Judgement:
        """What passed becomes the current policy, with `bank` for its next candidate."""
        candidate, decision = judgement.candidate, judgement.decision
        standing = Standing(candidate.policy, known(decision.candidate_score), candidate.origin, candidate.step)
        taken = replace(judgement, action=self._accept(standing, forced=decision.gate == FORCING))
        self.judgements[self.judgements.index(judgement)] = taken
        self.bank, self.chosen = bank, bank.held
        return taken

    async def prune(self, purpose: str, candidate: Candidate, *, share: float = 1.0) -> Judgement:
        """`candidate` leaves something out. What stands must be better than it, or it takes its place.

        The burden is on the text: a sentence goes where both sides have had every task, the gate cannot tell it from
        none, and leaving it out has cost at most `LOSS`.
        """
        current = self.current
        bank = replace(self.shop.gate.open(len(self.shop.select)), decisions=self.bank.decisions)
        decision = await self.shop.decide(purpose, bank, candidate.policy, current.policy, share, pace=THOROUGH)
        action: Action = "undecided" if decision.verdict == "cannot_decide" else "reject"
        told_apart = decision.verdict != "reject" and decision.reason != ALIKE
        if not told_apart and decision.effect <= LOSS:
            score = known(decision.incumbent_score)
            action = self._accept(Standing(candidate.policy, score, candidate.origin, candidate.step), forced=False)
            self.bank = self.shop.gate.carry(bank, decision)
            self.chosen = self.bank.held
        judgement = Judgement(purpose, candidate, current.policy, decision, action, pruned=True)
        self.judgements.append(judgement)
        return judgement

    def force(self, policy: Policy, origin: str, step: int) -> None:
        """Replace the current policy without evidence: its score is unknown, and the best stays what it is.

        Text of held-out tasks does not come in this way either: then the current policy stays.
        """
        if self.shop.leak(f"{origin}/force", self.current.policy, policy) is not None:
            return
        self.current = Standing(policy, None, origin, step)
        self.bank = replace(self.shop.gate.open(len(self.shop.select)), decisions=self.bank.decisions)
        self.chosen = ()

    async def validate(self) -> None:
        """A current policy that never had to beat the best is compared with it, and promoted if it is better."""
        current, best = self.current, self.best
        self.ends, self.final = self.ends + 1, None
        if current.policy == best.policy:
            return
        purpose = "final/decision" if self.ends == 1 else f"final/{self.ends}/decision"
        bank = self.shop.gate.open(len(self.shop.select))
        decision = await self.shop.decide(purpose, bank, best.policy, current.policy)
        forced = decision.gate == FORCING
        better = decision.candidate_score > decision.incumbent_score if forced else decision.accepted
        candidate = Candidate(current.policy, (), current.origin, current.step)
        action: Action = "accept_new_best" if better else "reject"
        self.final = Judgement(purpose, candidate, best.policy, decision, action)
        if better:
            self.best = replace(current, score=known(decision.candidate_score))

    def _measured(self, score: float) -> None:
        """The current policy as the gate has it on record, the best with it while they are the same."""
        same = self.best.policy == self.current.policy
        self.current = replace(self.current, score=score)
        if same:
            self.best = replace(self.best, score=score)

    def _accept(self, standing: Standing, *, forced: bool) -> Action:
        was_best = self.best.policy == self.current.policy
        self.current = standing
        improved = standing.score is not None and (self.best.score is None or standing.score > self.best.score)
        if improved or (was_best and not forced):
            self.best = standing
            return "force_accept" if forced else "accept_new_best"
        return "force_accept" if forced else "accept"


def known(value: float) -> float | None:
    return None if math.isnan(value) else value
