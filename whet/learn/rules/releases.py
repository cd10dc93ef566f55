"""Whether a change releases more than before, looked at where its rules speak and on more tickets than the gate has.

The gate bounds false releases among all failing tickets, and noise on those that a change has nothing to do with hides
a rise of one or two in a hundred. Only on tickets that the change would release if the books were followed to the
letter are both compared here: on the gate's own draws, and on further select tickets that no decision has looked at. A
change without a predicate has the gate's bound alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from whet.gate.evidence import Reading
from whet.learn.rules.book import RuleBook
from whet.learn.rules.config import RulesConfig
from whet.learn.rules.further import FurtherTickets, mean_at
from whet.learn.rules.records import Branch, OperationRecord, ReleaseReading
from whet.learn.workshop import Workshop
from whet.types import Task

METRIC = "false_release"

LEAST = 0.5
"""Tickets released on balance that never count against a change: with few tickets a smaller limit could not be met."""

EARLY = 0.1
"""The share of the error of `bounds.level` that each look but the last may make, either way."""


@dataclass(slots=True)
class ReleaseWatch:
    """Both books on the tickets that a change could release."""

    shop: Workshop
    config: RulesConfig
    more: FurtherTickets

    @classmethod
    def of(cls, shop: Workshop, config: RulesConfig) -> ReleaseWatch:
        return cls(shop, config, FurtherTickets.of(shop, config))

    async def read(self, branch: Branch, record: OperationRecord) -> ReleaseReading | None:
        """What it does to false releases; None where its rules do not say where they speak, or nothing reports them.

        Before the gate has drawn the candidate it rests on further tickets alone, after it on both. It ends at the
        first look that is clear.
        """
        speaks, place = self._speaks(branch.book, record.book), self.more.guarded(METRIC)
        if speaks is None or record.policy is None or place is None:
            return None
        before = {task: list(row) for task, row in enumerate(branch.bank.readings)}
        after: dict[int, list[Reading]] = {task: [] for task in before}
        for draw, reading in record.judgement.decision.draws if record.judgement is not None else ():
            (after if draw.arm == "candidate" else before)[draw.task].append(reading)
        known = [task for task in before if before[task]]
        failing = [task for task in known if mean_at(before[task], place) is not None]
        if not failing:
            return None
        drawn = [task for task in known if after[task]]
        concerned = [task for task in failing if after[task] and speaks(self.more.task(self.shop.select[task]))]
        harms = [_harm(before[task], after[task], place) for task in concerned]
        share, done = len(failing) / len(known), 0
        all_failing = share * (len(drawn) + len(self.more.tickets))
        found = None
        for size in self.more.looks:
            beyond = [task for task in self.more.tickets[done:size] if speaks(self.more.task(task))]
            done = size
            old = await self.more.drawn(branch.policy, beyond)
            fails = [task for task in beyond if mean_at([old.get(task)], place) is not None]
            new = await self.more.drawn(record.policy, fails)
            harms += [_harm([old[task]], [new.get(task)], place) for task in fails]
            if seen := len(drawn) + size:
                found = self._reading(harms, share * seen, all_failing, last=size == len(self.more.tickets))
                if found.holds or found.hopeless:
                    return found
        return found

    def _speaks(self, before: RuleBook, after: RuleBook | None) -> Callable[[Task], bool] | None:
        """Whether a ticket may be released by the change from one book to the other."""
        safe, letters = self.shop.env.tie, self.more.letters(before, after)
        if letters is None or not safe:
            return None

        def speaks(task: Task) -> bool:
            held, frees = letters(task)
            return held == safe != frees

        return speaks

    def _reading(self, harms: Sequence[float], failing: float, all_failing: float, *, last: bool) -> ReleaseReading:
        """The bounds at one look. The limit is that of all tickets, so that an early look has no easier one."""
        bounds = self.config.bounds
        z = NormalDist().inv_cdf(bounds.level)
        least = (LEAST + z * math.sqrt(1.0 + LEAST)) / all_failing
        limit = min(bounds.false_release, max(bounds.slight, least))
        if not last:
            z = NormalDist().inv_cdf(1.0 - EARLY * (1.0 - bounds.level))
        total, square = math.fsum(harms), math.fsum(harm * harm for harm in harms) + 1.0
        half = z * math.sqrt(max(0.0, square - total * total / failing)) / failing
        rise = total / failing
        return ReleaseReading(len(harms), failing, rise, rise + half, limit, rise if last else rise - half)


def _harm(before: Sequence[Reading], after: Sequence[Reading], place: int) -> float:
    """How much more often a failing ticket is released; a candidate without an answer is taken to release it."""
    old, new = mean_at(before, place), mean_at(after, place)
    return (1.0 if new is None else new) - (0.0 if old is None else old)
