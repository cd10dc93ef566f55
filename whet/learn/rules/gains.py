"""Whether a change helps where its rules speak, on tickets that the gate does not decide on.

A rule that mends one ticket in fifty drowns in a gate on all tickets: votes on the other forty-nine move by themselves.
Where rules say which tickets they are about, both books are compared on those alone, a pair of answers to a ticket.
What is no better there passes no more often than alpha says, whatever the tickets are like: the test counts signs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from whet.gate.decision import Decision
from whet.gate.evidence import Arm, Draw, Reading
from whet.gate.guard import Guard
from whet.learn.rules.config import RulesConfig
from whet.learn.rules.further import FurtherTickets, mean_at
from whet.learn.rules.records import Branch, GainReading, OperationRecord
from whet.learn.workshop import SELECT, Workshop
from whet.types import Policy, Score

METRIC = "utility"

IN_VAIN = 8
"""Tickets on which the books differ from which a look that finds no surplus is the last."""

AGAINST = -1.0
"""The gate's statistic on all its tickets below which they speak against a change, wherever it was meant to help."""


@dataclass(slots=True)
class GainWatch:
    """Both books on the tickets on which they differ to the letter."""

    config: RulesConfig
    more: FurtherTickets
    alpha: float
    """How often a change that is no better where it speaks may be taken for one that is."""

    async def read(self, branch: Branch, record: OperationRecord) -> GainReading | None:
        """What it gains there; None where rules do not say where they speak, or too few tickets are spoken of."""
        letters = self.more.letters(branch.book, record.book)
        if letters is None or record.policy is None or not self.more.tickets:
            return None
        alpha, place = self.alpha / len(self.more.looks), self.more.guarded(METRIC)
        pairs: list[tuple[Reading, Reading]] = []
        done = 0
        for size in self.more.looks:
            told = ((task, letters(self.more.task(task))) for task in self.more.tickets[done:size])
            spoken = [task for task, (held, given) in told if held != given]
            done = size
            old = await self.more.drawn(branch.policy, spoken)
            read = [task for task in spoken if _right(old.get(task)) is not None]
            new = await self.more.drawn(record.policy, read)
            pairs += [(old[task], new.get(task)) for task in read]
            found = _reading(pairs, place, alpha)
            if found.shown or found.better <= found.worse >= IN_VAIN // 2:
                break
        return found if 0.5 ** len(pairs) <= alpha else None


def _reading(pairs: Sequence[tuple[Reading, Reading]], place: int | None, alpha: float) -> GainReading:
    """Signs of the pairs; a candidate without an answer is wrong."""
    moves = [(_right(new) or 0.0) - (_right(old) or 0.0) for old, new in pairs]
    better, worse = sum(move > 0 for move in moves), sum(move < 0 for move in moves)
    worths = [(new[place], old[place]) for old, new in pairs if place is not None and old is not None and new]
    worth = math.fsum(after - before for after, before in worths if after is not None and before is not None)
    return GainReading(len(pairs), better, worse, sign_chance(better, worse), alpha, worth)


def sign_chance(better: int, worse: int) -> float:
    """How often so many or more of these pairs would be better if both signs were as likely."""
    pairs = better + worse
    ways = sum(math.comb(pairs, many) for many in range(better, pairs + 1))
    return ways / (1 << pairs)


def waits(decision: Decision) -> bool:
    """Whether the gate ended for want of a gain before a bound on harm was held that may be, with more draws."""
    return decision.reason == "not_shown" and any(
        not guard.held for guard in decision.guards if guard.level is not None
    )


async def drawn_again(
    shop: Workshop, guards: Sequence[Guard], branch: Branch, candidate: Policy, decision: Decision
) -> Decision:
    """The decision with a second draw of both sides on every ticket of the gate, and its guards read anew."""
    more: list[tuple[Draw, Reading]] = []
    sides: tuple[tuple[Arm, Policy], ...] = (("incumbent", branch.policy), ("candidate", candidate))
    for arm, policy in sides:
        rolled = await shop.roll(SELECT, policy, shop.select, draws=2, split="select")
        found = {(rollout.ticket.index, rollout.ticket.draw): rollout.score for rollout in rolled}
        held = {(draw.task, draw.draw) for draw, _ in decision.draws if draw.arm == arm}
        taken = branch.bank.taken if arm == "incumbent" else (0,) * len(shop.select)
        for task, index in enumerate(shop.select):
            for number in range(taken[task], 2):
                score = found.get((index, number))
                if (task, number) not in held and isinstance(score, Score):
                    more.append((Draw(arm, task, number), shop.gate.read(score)))
    draws = (*decision.draws, *more)
    rows: list[list[Reading]] = [list(row) for row in branch.bank.readings]
    after: list[list[Reading]] = [[] for _ in rows]
    for draw, reading in draws:
        (after if draw.arm == "candidate" else rows)[draw.task].append(reading)
    read = []
    for place, (guard, known) in enumerate(zip(guards, decision.guards, strict=True), start=1):
        both = ((mean_at(old, place), mean_at(new, place)) for old, new in zip(rows, after, strict=True))
        moved = [new - old for old, new in both if old is not None and new is not None]
        mean = math.fsum(moved) / len(moved) if moved else math.nan
        read.append(replace(known, difference=mean, harm=guard.worst(moved), tasks=len(moved)))
    return replace(decision, draws=draws, guards=tuple(read))


def harmless(decision: Decision, regressions: int, most: float, flips: float) -> bool:
    """Whether a gate that shows no gain on all tickets rules out the harm that it bounds, and does not speak against.

    `flips`: the share of its tickets on which a book differs from itself, half of them from right to wrong. So many
    regressions are nobody's doing.
    """
    bounded = all(guard.held for guard in decision.guards if guard.level is not None)
    seldom = decision.seen > 0 and regressions <= (most + flips / 2) * decision.seen
    return decision.reason == "not_shown" and bounded and seldom and decision.statistic >= AGAINST


def _right(reading: Reading) -> float | None:
    return None if reading is None else reading[0]
