"""The search for rules in attempts at the propose pool and their truths.

A rule is a few features of a task that lead to a verdict: something lacking at a kind of site before some day, a fault
that is let pass where something else is seen, words of a prompt. Candidates are grown by beam search. What counts for
one are the tickets on which the policy says otherwise: those that it would put right (`fixed`), and those that it would
put wrong (`broken`), a false release at a higher price. The best is the one whose surplus is largest at its lower
bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from whet.envs.language import Feature, RuleLanguage, RulePlace, WrittenRule
from whet.learn.rules.predicate import verdict_of
from whet.learn.rules.types import PoolAttempt
from whet.types import Rule, Task

WIDTH = 48
"""Partial rules that the beam keeps."""

DEPTH = 3
"""Features of one rule."""

SUPPORT = 4
"""Tickets that a rule must put right."""

LIFT = 2.0
"""How much better the odds of being right must be where a rule fires than among all tickets it could decide."""

CAUTION = 1.6
"""Standard errors by which a surplus is lowered before it counts."""

LENGTH = 2.5
"""Tickets that each feature after the first costs a rule: among many features some fit by chance."""

FINISHED = 16
"""Rules of a kind that are written out and counted exactly."""

RELEASED = 3.0
"""Tickets put right that one failing ticket let pass must be made up for by: a rule that lets pass a little too much
gains more than it loses, so the gate's gain does not show it, and its bound only what is large."""


@dataclass(frozen=True, slots=True)
class Stakes:
    """The tickets that the policy judges otherwise than a rule would: those it has wrong, and those it has right."""

    fixable: int
    breakable: int
    failing: int = 0
    """Those of `breakable` that fail, and would be released."""

    def counts(self, fires: int) -> tuple[int, float]:
        """Tickets put right, and the price of those put wrong."""
        released = (fires & self.failing).bit_count()
        return (fires & self.fixable).bit_count(), (fires & self.breakable).bit_count() + (RELEASED - 1.0) * released

    @property
    def chance(self) -> float:
        """The odds of being right that a rule has which fires on all of them."""
        return odds(*self.counts(self.fixable | self.breakable))


@dataclass(frozen=True, slots=True)
class MinedRule:
    """A rule with the tickets that it fires on, as bits, and those that a rule of its kind could change."""

    written: WrittenRule
    verdict: str
    fires: int
    features: int
    stakes: Stakes

    @property
    def fixed(self) -> int:
        """The tickets that it would put right, as bits, as those that it would put wrong."""
        return self.fires & self.stakes.fixable

    @property
    def broken(self) -> int:
        return self.fires & self.stakes.breakable

    @property
    def support(self) -> int:
        return self.fixed.bit_count()

    @property
    def harm(self) -> int:
        return self.broken.bit_count()

    @property
    def price(self) -> float:
        """What the tickets put wrong cost, in tickets put right."""
        return self.stakes.counts(self.fires)[1]

    @property
    def lift(self) -> float:
        return odds(self.support, self.price) / self.stakes.chance

    @property
    def worth(self) -> float:
        return worth(self.support, self.price, self.features)

    @property
    def fit(self) -> bool:
        """Whether it is worth bringing."""
        return self.support >= SUPPORT and self.worth > 0 and self.lift >= LIFT

    def like(self, other: MinedRule) -> float:
        """How much the tickets that two rules decide are the same."""
        mine, theirs = self.fixed | self.broken, other.fixed | other.broken
        both = (mine | theirs).bit_count()
        return (mine & theirs).bit_count() / both if both and self.verdict == other.verdict else 0.0


def worth(fixed: int, broken: float, features: int = 1) -> float:
    """The surplus of tickets put right, at its lower bound; each further feature must earn its place."""
    return fixed - broken - CAUTION * math.sqrt(fixed + broken) - LENGTH * (features - 1)


def odds(fixed: int, broken: float) -> float:
    return (fixed + 0.5) / (broken + 0.5)


def mine(
    language: RuleLanguage, attempts: Sequence[PoolAttempt], told: Sequence[Rule] = (), verdict: str = ""
) -> list[MinedRule]:
    """Every rule worth bringing beside those that are `told` already, the best first; of one `verdict` where asked."""
    tasks = [attempt.task for attempt in attempts]
    found: list[MinedRule] = []
    for opening in language.openings(tasks):
        if verdict not in ("", opening.verdict):
            continue
        stakes = at_stake(opening, attempts, _overruled(language, opening, tasks, told))
        if stakes.fixable.bit_count() < SUPPORT:
            continue
        grown = _any_of(opening, stakes) if opening.joined == "any" else _all_of(opening, stakes)
        found += [rule for features in grown if (rule := _written(language, opening, features, tasks, stakes))]
    return sorted(found, key=lambda rule: (-rule.worth, rule.features, rule.written.text))


def _overruled(language: RuleLanguage, opening: RulePlace, tasks: Sequence[Task], told: Sequence[Rule]) -> int:
    """The tasks on which such a rule would have to give way to one that is told already."""
    if not opening.yields:
        return 0
    said = ((verdict_of(language, rule, task) for rule in told) for task in tasks)
    return sum(
        1 << place
        for place, verdicts in enumerate(said)
        if any(verdict not in (None, opening.verdict) for verdict in verdicts)
    )


def at_stake(opening: RulePlace, attempts: Sequence[PoolAttempt], overruled: int) -> Stakes:
    """What a rule of this kind could change. A ticket that is wrong either way is neither put right nor wrong."""
    fixable = breakable = failing = 0
    for place, attempt in enumerate(attempts):
        if attempt.verdict != opening.verdict and (opening.applies & ~overruled) >> place & 1:
            fixable |= (attempt.truth == opening.verdict) << place
            breakable |= attempt.right << place
            failing |= (attempt.right and _fails(attempt)) << place
    return Stakes(fixable, breakable, failing)


def _fails(attempt: PoolAttempt) -> bool:
    """Whether the ticket is one that must not be released, where the environment reports that."""
    score = attempt.rollout.score if attempt.rollout is not None else None
    return score is not None and score.parts.get("failing", 0.0) > 0.0


Grown = tuple[Feature, ...]


def _all_of(opening: RulePlace, stakes: Stakes) -> list[Grown]:
    """Conjunctions, grown feature by feature; the beam keeps those that gain most over the tickets at stake."""
    base = _information(*stakes.counts(opening.applies))
    beam: list[tuple[float, int, Grown]] = [(0.0, opening.applies, ())]
    finished: list[tuple[float, Grown]] = []
    for _ in range(DEPTH):
        longer: dict[int, tuple[float, int, Grown]] = {}
        for _, fires, grown in beam:
            for feature in opening.features:
                if not _fits(opening, grown, feature):
                    continue
                both = fires & feature.fires
                fixed, broken = stakes.counts(both)
                if fixed < SUPPORT or both == fires:
                    continue
                gain = fixed * (_information(fixed, broken) - base)
                longer.setdefault(both & (stakes.fixable | stakes.breakable), (gain, both, (*grown, feature)))
        beam = sorted(longer.values(), key=lambda partial: -partial[0])[:WIDTH]
        whole = [(fires, grown) for _, fires, grown in beam if any(part.sort == opening.core for part in grown)]
        finished += [(worth(*stakes.counts(fires), len(grown)), grown) for fires, grown in whole]
    return _best(finished)


def _any_of(opening: RulePlace, stakes: Stakes) -> list[Grown]:
    """Single features and pairs, of which either is enough."""
    found: list[tuple[float, Grown]] = []
    for place, first in enumerate(opening.features):
        for second in (None, *opening.features[place + 1 :]):
            fires = first.fires | (second.fires if second is not None else 0)
            if second is not None and fires in (first.fires, second.fires):
                continue
            fixed, broken = stakes.counts(fires)
            if fixed >= SUPPORT and (second is None or _both_earn(opening, stakes, first, second)):
                grown = (first,) if second is None else (first, second)
                found.append((worth(fixed, broken, len(grown)), grown))
    return _best(found)


def _both_earn(opening: RulePlace, stakes: Stakes, first: Feature, second: Feature) -> bool:
    """Whether each adds tickets of its own that it puts right more often than those that neither fires on would be."""
    rest = odds(*stakes.counts(opening.applies & ~(first.fires | second.fires)))
    own = (stakes.counts(mine.fires & ~other.fires) for mine, other in ((first, second), (second, first)))
    return all(fixed >= SUPPORT and odds(fixed, broken) >= LIFT * rest for fixed, broken in own)


def _best(found: list[tuple[float, Grown]]) -> list[Grown]:
    found.sort(key=lambda rule: (-rule[0], len(rule[1])))
    return [grown for value, grown in found[:FINISHED] if value > 0]


def _fits(opening: RulePlace, grown: Grown, feature: Feature) -> bool:
    of_sort = sum(other.sort == feature.sort for other in grown)
    return feature not in grown and of_sort < opening.most.get(feature.sort, DEPTH)


def _information(fixed: int, broken: float) -> float:
    """The bits in being told that a ticket with these features is to be put right."""
    return math.log2((fixed + 0.5) / (fixed + broken + 1.0))


def _written(
    language: RuleLanguage, opening: RulePlace, features: Grown, tasks: Sequence[Task], stakes: Stakes
) -> MinedRule | None:
    """The rule in words, counted by what its predicate says; None where that is not worth bringing."""
    written = language.write(opening, features)
    rule = MinedRule(written, opening.verdict, fires_of(language, written, tasks), len(features), stakes)
    return rule if rule.fit else None


def fires_of(language: RuleLanguage, written: WrittenRule, tasks: Iterable[Task]) -> int:
    """The tasks that a rule speaks of, as bits."""
    return sum(1 << place for place, task in enumerate(tasks) if language.says(written.predicate, task) is not None)
