"""Where a run stands: the current and the best playbook with their scores and origins, and the gate's evidence.

`Judge` is the only place where either is replaced.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from whet.errors import WhetError
from whet.gate.decision import Decision
from whet.gate.evidence import Bank
from whet.learn.reflact.memory import Tried
from whet.learn.reflact.records import Item
from whet.learn.workshop import Workshop
from whet.types import Playbook

Action = Literal["accept_new_best", "accept", "reject", "force_accept", "undecided", "skip_identical"]


FORCING = "none"
"""The gate that accepts everything: being accepted by it says nothing."""

UNMEASURABLE = ("unreported",)
"""Reasons for which no candidate can ever be decided about."""


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
    without: bool = False
    """Whether the candidate is the playbook without `items` instead of with them."""

    @property
    def changes(self) -> tuple[str, ...]:
        """What an acceptance changed, in words."""
        sign = "-" if self.without else "+"
        return tuple(f"{sign} {' '.join(str(item).split())}" for item in self.items) or ("+ guidance",)

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
            "without": self.without,
            "items": [item.as_data() for item in self.items],
            **{name: found[name] for name in (*kept, *more)},
        }

    def tried(self) -> Tried:
        before, after = self.decision.incumbent_score, self.decision.candidate_score
        return Tried(self.items, self.accepted, _known(before), _known(after), self.decision.seen, self.without)


@dataclass(slots=True)
class Judge:
    """Brings candidates to the gate one after the other and keeps what is accepted."""

    shop: Workshop
    current: Held
    best: Held
    bank: Bank
    judged: list[Judged] = field(default_factory=list)

    @classmethod
    def start(cls, shop: Workshop, initial: Playbook) -> Judge:
        held = Held(initial)
        return cls(shop, held, held, shop.gate.open(len(shop.select)))

    async def bring(
        self,
        purpose: str,
        candidate: Playbook,
        items: tuple[Item, ...],
        origin: str,
        step: int,
        *,
        share: float = 1.0,
        without: bool = False,
    ) -> Judged:
        """The gate's decision on `candidate`; an accepted one is the current playbook from here on."""
        incumbent = self.current.playbook
        decision = await self.shop.decide(purpose, self.bank, incumbent, candidate, share)
        if decision.reason == "identical":
            return Judged(purpose, items, incumbent, candidate, decision, "skip_identical", without)
        if decision.reason in UNMEASURABLE:
            raise WhetError(f"the gate can never decide: {decision.detail}; mend [gate] in the config")
        self.bank = self.shop.gate.carry(self.bank, decision)
        action: Action = "undecided" if decision.verdict == "cannot_decide" else "reject"
        if decision.accepted:
            held = Held(candidate, _known(decision.candidate_score), origin, step)
            action = self._accept(held, forced=decision.gate == FORCING)
        elif self.bank.score is not None:
            self._measured(self.bank.score)
        judged = Judged(purpose, items, incumbent, candidate, decision, action, without)
        self.judged.append(judged)
        return judged

    def force(self, playbook: Playbook, origin: str, step: int) -> None:
        """Replace the current playbook without evidence: its score is unknown, and the best stays what it is."""
        self.current = Held(playbook, None, origin, step)
        self.bank = replace(self.shop.gate.open(len(self.shop.select)), decisions=self.bank.decisions)

    def _measured(self, score: float) -> None:
        """The current playbook as the gate has it on record, the best with it while they are the same."""
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
