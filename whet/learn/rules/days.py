"""The day up to which, or from which, a rule holds: the one that all tickets concerned speak for.

A miner that grows a rule feature by feature takes the first day that splits well the tickets which its policy has
wrong. Most tickets that tell the day are not among them: those that something else in the book fails already, and those
that a draw got right by chance. Here every ticket that the rule would speak of on some day counts, by its truth. Before
and after a day the verdict of the rule is right at two rates that nobody knows, and so for each set of other rules that
speak of a ticket too: a rule that is too strict says little of truth, a convention settles it. Both rates are
integrated out. What is left is how likely each day is, the gap between two tickets included.

Days are written alike in every language (2026-07-01), so a rule that names one in its words and its predicate can be
moved to another without knowing what it says.
"""

from __future__ import annotations

import datetime
import functools
import math
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whet.envs.language import RuleLanguage, WrittenRule
from whet.learn.rules.predicate import verdict_of
from whet.learn.rules.types import PoolAttempt
from whet.types import Rule

REACH = 800
"""Days before and after the one that a rule names on which it is tried."""

TOLD, UNTOLD = (4.5, 0.5), (0.5, 0.5)
"""What is expected of the rates before any ticket, as tickets right and wrong: where a rule holds, and where not."""

_DAY = re.compile(r"\d{4}-\d\d-\d\d")

Day = int
"""Its number in the calendar."""


@dataclass(frozen=True, slots=True)
class DayPosterior:
    """How likely each day is, from the first on, for a rule that names one."""

    written: WrittenRule
    verdict: str
    named: Day
    first: Day
    chances: tuple[float, ...]
    tickets: int
    """Tickets that the rule would speak of on one day or another."""
    density: float
    """Tickets a day that nothing else in the book decides as the rule does."""
    earlier: bool
    """Whether it holds up to its day; else from it on."""

    def day(self, price: float) -> Day:
        """The day of least cost: a ticket that the rule leaves out by mistake costs `price`, one too many costs 1."""
        level = price / (1.0 + price)
        level, total = (level if self.earlier else 1.0 - level), 0.0
        for place, chance in enumerate(self.chances):
            total += chance
            if total >= level:
                return self.first + place
        return self.first + len(self.chances) - 1

    def cost(self, day: Day, price: float) -> float:
        """The tickets of the pool, priced, on which a rule with this day is expected to be wrong."""
        short, long = (price, 1.0) if self.earlier else (1.0, price)
        off = (self.first + place - day for place in range(len(self.chances)))
        pairs = zip(self.chances, off, strict=True)
        return self.density * math.fsum(chance * (short * days if days > 0 else -long * days) for chance, days in pairs)

    def moved(self, day: Day) -> WrittenRule:
        return _with_day(self.written, self.named, day)


def day_posterior(
    language: RuleLanguage, written: WrittenRule, others: Sequence[Rule], attempts: Sequence[PoolAttempt]
) -> DayPosterior | None:
    """How likely each day is for this rule beside the others; None where it names none or no ticket depends on it."""
    named = named_day(written)
    if named is None:
        return None
    predicates = functools.cache(lambda day: _with_day(written, named, day).predicate)

    def edge_of(attempt: PoolAttempt) -> _Edge | None:
        return _edge(lambda day: language.says(predicates(day), attempt.task), named)

    edges = [(edge, attempt) for attempt in attempts if (edge := edge_of(attempt)) is not None]
    if not edges:
        return None
    earlier = edges[0][0].earlier
    verdict = edges[0][0].verdict
    groups: dict[Any, list[tuple[Day, bool]]] = defaultdict(list)
    free = 0
    for edge, attempt in edges:
        if (edge.earlier, edge.verdict) != (earlier, verdict):
            continue
        said = {rule.id: found for rule in others if (found := verdict_of(language, rule, attempt.task)) is not None}
        unruled = language.unruled(attempt.task)
        free += verdict not in said.values() and unruled != verdict
        groups[unruled, tuple(sorted(said.items()))].append((edge.day, attempt.truth == verdict))
    every = sorted(day for group in groups.values() for day, _ in group)
    first, last = every[0] - 1, every[-1] + 1
    likely = [_likely(group, first, last, earlier) for group in groups.values()]
    sums = [math.fsum(column) for column in zip(*likely, strict=True)]
    raw = [math.exp(value - max(sums)) for value in sums]
    chances = tuple(value / math.fsum(raw) for value in raw)
    return DayPosterior(written, verdict, named, first, chances, len(every), free / len(chances), earlier)


def named_day(written: WrittenRule) -> Day | None:
    """The one day that a rule names, in its words as in its predicate; None where there is none, or several."""
    said, held = set(_DAY.findall(written.text)), set(_DAY.findall(repr(dict(written.predicate))))
    if len(said) != 1 or said != held:
        return None
    try:
        return datetime.date.fromisoformat(said.pop()).toordinal()
    except ValueError:
        return None


def without_day(text: str) -> str:
    """The words of a rule, the same whatever day it names."""
    return _DAY.sub("", text)


def _with_day(written: WrittenRule, named: Day, day: Day) -> WrittenRule:
    old, new = (datetime.date.fromordinal(number).isoformat() for number in (named, day))
    return WrittenRule(written.text.replace(old, new), _replaced(written.predicate, old, new))


def _replaced(data: Any, old: str, new: str) -> Any:
    if isinstance(data, Mapping):
        return {key: _replaced(value, old, new) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_replaced(value, old, new) for value in data]
    return new if data == old else data


@dataclass(frozen=True, slots=True)
class _Edge:
    """The first day of a rule from which on it speaks of a ticket (`earlier`), or no longer does."""

    day: Day
    verdict: str
    earlier: bool


def _edge(said: Callable[[Day], str | None], named: Day) -> _Edge | None:
    """Where a ticket is on one side of; None where the day is all one to it."""
    low, high = named - REACH, named + REACH
    before, after = said(low), said(high)
    if (before is None) == (after is None):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if (said(middle) is None) == (after is None) else (middle, high)
    return _Edge(high, after or before or "", before is None)


def _likely(group: Sequence[tuple[Day, bool]], first: Day, last: Day, earlier: bool) -> Iterator[float]:
    """The logarithm of how likely the truths of these tickets are for each day of the rule."""
    right, wrong = (sorted(day for day, held in group if held is side) for side in (True, False))
    for day in range(first, last + 1):
        before = bisect_right(right, day), bisect_right(wrong, day)
        after = len(right) - before[0], len(wrong) - before[1]
        told, untold = (before, after) if earlier else (after, before)
        yield _chance(*told, TOLD) + _chance(*untold, UNTOLD)


def _chance(right: int, wrong: int, expected: tuple[float, float]) -> float:
    """The logarithm of the chance of so many tickets in one order, over all rates that may be."""
    return _beta(right + expected[0], wrong + expected[1]) - _beta(*expected)


def _beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
