"""Select tickets beyond those that the gate decides on, and where on them two books differ.

A rule with a predicate says which tickets it is about. Followed to the letter, two books give another verdict on few
tickets; on all the others a comparison of their draws is noise. So a change can be looked at closely on many tickets,
and costs draws only where it speaks. Looks are taken at growing numbers of tickets, each with a bar of its own.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from whet.gate.evidence import Reading
from whet.gate.paired import PairedGate
from whet.keys import seed_for
from whet.learn.rules.book import RuleBook, changed
from whet.learn.rules.config import RulesConfig
from whet.learn.rules.predicate import language_of, verdict_by, verdict_of
from whet.learn.workshop import Workshop
from whet.types import Policy, Score, Task

CONFIRM = "confirm"
"""The purpose of draws on further tickets: an incumbent's are taken once."""

LOOKS = (500, 1500)
"""Tickets after which a change is looked at before all of them are gone through."""

Letters = Callable[[Task], tuple[str | None, str | None]]
"""What two books give to the letter, the same twice where no rule that changed speaks of a task."""


@dataclass(slots=True)
class FurtherTickets:
    """The tickets in the order in which they are gone through, and the draws on them."""

    shop: Workshop
    tickets: tuple[int, ...]
    _tasks: dict[int, Task] = field(default_factory=dict)

    @classmethod
    def of(cls, shop: Workshop, config: RulesConfig) -> FurtherTickets:
        return cls(shop, further_tickets(shop, config))

    @property
    def looks(self) -> tuple[int, ...]:
        """How many tickets have been gone through at each look; the last is at all of them."""
        return (*(size for size in LOOKS if size < 0.75 * len(self.tickets)), len(self.tickets))

    def letters(self, before: RuleBook, after: RuleBook | None) -> Letters | None:
        """What both books say to the letter; None where a rule that changed does not say where it speaks."""
        if after is None:
            return None
        new, gone = changed(before, after)
        if any(rule.predicate is None for rule in (*new, *gone)) or not (new or gone):
            return None
        language = language_of(self.shop.env, [self.task(self.shop.select[0])], ())
        safe = self.shop.env.tie

        def both(task: Task) -> tuple[str | None, str | None]:
            if all(verdict_of(language, rule, task) is None for rule in (*new, *gone)):
                return None, None
            held, given = (verdict_by(language, book.active, task, safe) for book in (before, after))
            return held, given

        return both

    async def drawn(self, policy: Policy, tasks: Sequence[int]) -> dict[int, Reading]:
        """What the gate reads of one answer of a policy to each of them."""
        rolled = await self.shop.roll(CONFIRM, policy, tasks, split="select") if tasks else ()
        return {
            rollout.ticket.index: self.shop.gate.read(rollout.score)
            for rollout in rolled
            if isinstance(rollout.score, Score)
        }

    def guarded(self, metric: str) -> int | None:
        """Where a reading of the gate has a guarded metric; None where the gate does not look at it."""
        gate = self.shop.gate
        guards = gate.guards if isinstance(gate, PairedGate) else ()
        found = (place for place, guard in enumerate(guards, start=1) if str(guard.metric).partition("(")[0] == metric)
        return next(found, None)

    def task(self, index: int) -> Task:
        known = self._tasks.get(index)
        if known is None:
            known = self._tasks[index] = self.shop.env.task("select", index)
        return known


def further_tickets(shop: Workshop, config: RulesConfig) -> tuple[int, ...]:
    """Select tickets that the gate does not decide on: as many as are asked for, or as there are."""
    most, size = config.bounds.confirm, shop.env.size("select")
    used = {*shop.select, *config.gate.exclude}
    if not most or not used:
        return ()
    if size is None:
        return tuple(range(max(used) + 1, max(used) + 1 + most))
    rest = [index for index in range(size) if index not in used]
    random.Random(seed_for("rules", CONFIRM, config.train.seed)).shuffle(rest)
    return tuple(rest[:most])


def mean_at(readings: Sequence[Reading], place: int) -> float | None:
    """The mean of what draws read at one place; None where none of them reports it."""
    found = [reading[place] for reading in readings if reading is not None]
    told = [value for value in found if value is not None]
    return math.fsum(told) / len(told) if told else None
