"""Whether a change releases more than before, looked at where its rules speak and on more tickets than the gate has.

The gate bounds false releases among all failing tickets, and noise on those that a change has nothing to do with hides
a rise of one or two in a hundred. A rule with a predicate says which tickets it is about. Only on those that the change
would release if the books were followed to the letter are both compared here: on the gate's own draws, and on further
select tickets that no decision has looked at. A change without a predicate has the gate's bound alone.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist

from whet.gate.evidence import Reading
from whet.gate.paired import PairedGate
from whet.keys import seed_for
from whet.learn.rules.book import RuleBook, changed
from whet.learn.rules.config import RulesConfig
from whet.learn.rules.predicate import language_of, verdict_by, verdict_of
from whet.learn.rules.records import Branch, OperationRecord, ReleaseReading
from whet.learn.workshop import Workshop
from whet.types import Policy, Rollout, Score, Task

METRIC = "false_release"
CONFIRM = "confirm"
"""The purpose of draws on further tickets: an incumbent's are taken once."""

LEAST = 0.5
"""Tickets released on balance that never count against a change: with few tickets a smaller limit could not be met."""


@dataclass(slots=True)
class ReleaseWatch:
    """Both books on the tickets that a change could release."""

    shop: Workshop
    config: RulesConfig
    further: tuple[int, ...]
    _tasks: dict[int, Task] = field(default_factory=dict)

    @classmethod
    def of(cls, shop: Workshop, config: RulesConfig) -> ReleaseWatch:
        return cls(shop, config, further_tickets(shop, config))

    async def read(self, branch: Branch, record: OperationRecord) -> ReleaseReading | None:
        """What it does to false releases; None where its rules do not say where they speak, or nothing reports them.

        Before the gate has drawn the candidate it rests on further tickets alone, after it on both.
        """
        speaks = self._speaks(branch.book, record.book)
        if speaks is None or record.policy is None or (place := self._place()) is None:
            return None
        before = {task: list(row) for task, row in enumerate(branch.bank.readings)}
        after: dict[int, list[Reading]] = {task: [] for task in before}
        for draw, reading in record.judgement.decision.draws if record.judgement is not None else ():
            (after if draw.arm == "candidate" else before)[draw.task].append(reading)
        known = [task for task in before if before[task]]
        failing = [task for task in known if _mean(before[task], place) is not None]
        if not failing:
            return None
        drawn = [task for task in known if after[task]]
        concerned = [task for task in failing if after[task] and speaks(self._task(self.shop.select[task]))]
        harms = [_harm(before[task], after[task], place) for task in concerned]
        share = len(failing) / len(known)
        beyond = [task for task in self.further if speaks(self._task(task))]
        old = await self._drawn(branch.policy, beyond)
        fails = [task for task in beyond if _mean([old.get(task)], place) is not None]
        new = await self._drawn(record.policy, fails)
        harms += [_harm([old[task]], [new.get(task)], place) for task in fails]
        seen = len(drawn) + len(self.further)
        return self._reading(harms, share * seen) if seen else None

    def _speaks(self, before: RuleBook, after: RuleBook | None) -> Callable[[Task], bool] | None:
        """Whether a ticket may be released by the change from one book to the other."""
        safe = self.shop.env.tie
        if after is None or not safe:
            return None
        new, gone = changed(before, after)
        if any(rule.predicate is None for rule in (*new, *gone)) or not (new or gone):
            return None
        language = language_of(self.shop.env, [self._task(self.shop.select[0])], ())

        def speaks(task: Task) -> bool:
            if all(verdict_of(language, rule, task) is None for rule in (*new, *gone)):
                return False
            held, frees = (verdict_by(language, book.active, task, safe) for book in (before, after))
            return held == safe != frees

        return speaks

    def _place(self) -> int | None:
        """Where a reading of the gate has false releases; None where it does not look at them."""
        gate = self.shop.gate
        guards = gate.guards if isinstance(gate, PairedGate) else ()
        return next((place for place, guard in enumerate(guards, start=1) if str(guard.metric) == METRIC), None)

    def _reading(self, harms: Sequence[float], failing: float) -> ReleaseReading:
        bounds = self.config.bounds
        z = NormalDist().inv_cdf(bounds.level)
        total, square = math.fsum(harms), math.fsum(harm * harm for harm in harms) + 1.0
        upper = (total + z * math.sqrt(max(0.0, square - total * total / failing))) / failing
        least = (LEAST + z * math.sqrt(1.0 + LEAST)) / failing
        limit = min(bounds.false_release, max(bounds.slight, least))
        return ReleaseReading(len(harms), failing, total / failing, upper, limit)

    async def _drawn(self, policy: Policy, tasks: Sequence[int]) -> dict[int, Reading]:
        rolled = await self.shop.roll(CONFIRM, policy, tasks, split="select") if tasks else ()
        return {rollout.ticket.index: self.shop.gate.read(rollout.score) for rollout in rolled if _scored(rollout)}

    def _task(self, index: int) -> Task:
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


def _harm(before: Sequence[Reading], after: Sequence[Reading], place: int) -> float:
    """How much more often a failing ticket is released; a candidate without an answer is taken to release it."""
    old, new = _mean(before, place), _mean(after, place)
    return (1.0 if new is None else new) - (0.0 if old is None else old)


def _mean(readings: Sequence[Reading], place: int) -> float | None:
    found = [reading[place] for reading in readings if reading is not None]
    told = [value for value in found if value is not None]
    return math.fsum(told) / len(told) if told else None


def _scored(rollout: Rollout) -> bool:
    return isinstance(rollout.score, Score)
