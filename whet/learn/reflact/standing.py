"""Where a run stands: the current and the best playbook with their scores and origins, and the gate's evidence.

`Judge` is the only place where either is replaced.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from whet.gate.decision import Decision
from whet.gate.evidence import Bank
from whet.learn.reflact.memory import Tried
from whet.learn.reflact.records import Item
from whet.learn.workshop import Workshop
from whet.types import Playbook

Action = Literal["accept_new_best", "accept", "reject", "force_accept", "skip_identical"]


@dataclass(frozen=True, slots=True)
class Held:
    """A playbook, what it scored on the gate's tasks as far as that was measured, and where it came from."""

    playbook: Playbook
    score: float | None = None
    origin: str = "initial_skill"
    step: int = 0


@dataclass(frozen=True, slots=True)
class Judged:
    """One candidate before the gate."""

    purpose: str
    items: tuple[Item, ...]
    incumbent: Playbook
    playbook: Playbook
    decision: Decision
    action: Action

    @property
    def accepted(self) -> bool:
        return self.action in ("accept_new_best", "accept", "force_accept")

    def as_data(self) -> dict[str, Any]:
        found = self.decision.as_data()
        kept = ("verdict", "reason", "metric", "effect", "incumbent_score", "candidate_score", "tasks", "seen")
        more = ("better", "worse", "statistic", "threshold", "alpha", "rollouts", "says")
        return {
            "purpose": self.purpose,
            "action": self.action,
            "items": [item.as_data() for item in self.items],
            **{name: found[name] for name in (*kept, *more)},
        }

    def tried(self) -> Tried:
        before, after = self.decision.incumbent_score, self.decision.candidate_score
        return Tried(self.items, self.accepted, _known(before), _known(after), self.decision.seen)


@dataclass(slots=True)
class Judge:
    """Brings candidates to the gate one after the other and keeps what is accepted."""

    shop: Workshop
    current: Held
    best: Held
    bank: Bank
    judged: list[Judged] = field(default_factory=list)
    first_score: float | None = None
    """What the initial playbook scored when it was first compared."""

    @classmethod
    def start(cls, shop: Workshop, initial: Playbook) -> Judge:
        held = Held(initial)
        return cls(shop, held, held, shop.gate.open(len(shop.select)))

    async def bring(self, purpose: str, candidate: Playbook, items: tuple[Item, ...], origin: str, step: int) -> Judged:
        """The gate's decision on `candidate`; an accepted one is the current playbook from here on."""
        incumbent = self.current.playbook
        decision = await self.shop.decide(purpose, self.bank, incumbent, candidate)
        if decision.reason == "identical":
            return Judged(purpose, items, incumbent, candidate, decision, "skip_identical")
        self.bank = self.shop.gate.carry(self.bank, decision)
        if self.first_score is None and self.current.origin == "initial_skill":
            self.first_score = _known(decision.incumbent_score)
        self._measured(_known(decision.incumbent_score))
        action: Action = "reject"
        if decision.accepted:
            held = Held(candidate, _known(decision.candidate_score), origin, step)
            action = self._accept(held, forced=decision.gate == "none")
        judged = Judged(purpose, items, incumbent, candidate, decision, action)
        self.judged.append(judged)
        return judged

    def force(self, playbook: Playbook, origin: str, step: int) -> None:
        """Replace the current playbook without evidence: its score is unknown, and the best stays what it is."""
        self.current = Held(playbook, None, origin, step)
        self.bank = replace(self.shop.gate.open(len(self.shop.select)), decisions=self.bank.decisions)

    def _measured(self, score: float | None) -> None:
        """The current playbook as measured last, the best with it while they are the same."""
        same = self.best.playbook == self.current.playbook
        self.current = replace(self.current, score=score)
        if same:
            self.best = replace(self.best, score=score)

    def _accept(self, held: Held, *, forced: bool) -> Action:
        was_best = self.best.playbook == self.current.playbook
        self.current = held
        improved = held.score is not None and (self.best.score is None or held.score > self.best.score)
        if improved or (was_best and not forced):
            self.best = held
            return "force_accept" if forced else "accept_new_best"
        return "force_accept" if forced else "accept"


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
