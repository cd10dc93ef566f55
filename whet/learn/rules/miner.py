"""A proposer without a model: it induces rules from attempts at the propose pool and their truths.

A rule is a few features of a task that lead to a verdict: something lacking at a kind of site before some day, a fault
that is let pass where something else is seen, words of a prompt. Candidates are grown by beam search. What counts for
one are the tickets on which the policy says otherwise: those that it would put right (`fixed`), and those that it would
put wrong (`broken`), a false release at a higher price. The best is the one whose surplus is largest at its lower
bound.

It knows what a policy is shown and the truths of train tasks, nothing else. Each rule is a sentence in the
environment's language with a predicate that runs (`whet.envs.language`), so that where it fires can be measured.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from whet.envs.language import Feature, RuleLanguage, RulePlace, WrittenRule
from whet.learn.rules.book import Operation, same_words
from whet.learn.rules.predicate import language_of, verdict_of
from whet.learn.rules.types import PoolAttempt, Proposals, RuleStep, TriedOperation
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

ALIKE = 0.6
"""Share of common tickets above which two rules are one idea: the better one is brought."""

RELEASED = 3.0
"""Tickets put right that one failing ticket let pass must be made up for by: a rule that lets pass a little too much
gains more than it loses, so the gate's gain does not show it, and its bound only what is large."""

CITED = 12
"""Tickets that are named as evidence."""


@dataclass(frozen=True, slots=True)
class MinedRule:
    """A rule with the tickets that it would put right and wrong, as bits."""

    written: WrittenRule
    verdict: str
    fixed: int
    broken: int
    features: int
    chance: float
    """The odds of being right that a rule of this kind has where it fires on everything."""
    price: float = 0.0
    """What the tickets put wrong cost, in tickets put right."""

    @property
    def support(self) -> int:
        return self.fixed.bit_count()

    @property
    def harm(self) -> int:
        return self.broken.bit_count()

    @property
    def lift(self) -> float:
        return odds(self.support, self.price) / self.chance

    @property
    def worth(self) -> float:
        return worth(self.support, self.price, self.features)

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


class Miner:
    """Brings the rules that the propose pool gives away, and the removal of rules that it speaks against.

    A removal comes last and always has a place: a rule that is too strict also blocks, by accident, what rules fail
    that are not in the book yet.
    """

    name = "miner"
    ranks = True

    async def propose(self, step: RuleStep, most: int) -> Proposals:
        attempts = [attempt for attempt in step.attempts if attempt.verdict is not None]
        if not attempts:
            return Proposals()
        tasks = [attempt.task for attempt in attempts]
        choices = sorted({attempt.truth for attempt in attempts})
        language = language_of(step.env, tasks, choices)
        added, removed = (
            _best_first(_additions(language, step, attempts)),
            _best_first(_removals(language, step, attempts)),
        )
        kept = max(1, most - 1) if removed else most
        return Proposals((*added[:kept], *removed)[:most])


def _best_first(found: Iterator[tuple[float, Operation]]) -> tuple[Operation, ...]:
    return tuple(operation for _, operation in sorted(found, key=lambda pair: (-pair[0], pair[1].signature)))


def _additions(
    language: RuleLanguage, step: RuleStep, attempts: Sequence[PoolAttempt]
) -> Iterator[tuple[float, Operation]]:
    """New rules, none like another, none that says what the book says or what was tried already."""
    tried = {same_words(known.operation.text) for known in _barred(step) if known.operation.op == "upsert"}
    held = tried | {same_words(rule.text) for rule in step.book.active}
    chosen: list[MinedRule] = []
    for rule in mine(language, attempts, step.book.learnt):
        if same_words(rule.written.text) in held or any(rule.like(better) > ALIKE for better in chosen):
            continue
        chosen.append(rule)
        fixed = [attempt.task.id for place, attempt in enumerate(attempts) if rule.fixed >> place & 1]
        said = (
            f"of {rule.support + rule.harm} tickets that are judged otherwise it puts {rule.support} right and "
            f"{rule.harm} wrong; its odds are {rule.lift:.1f} times those of chance"
        )
        yield (
            rule.worth,
            Operation(
                "upsert",
                rule.written.text,
                reason=said,
                evidence=tuple(fixed[:CITED]),
                predicate=rule.written.predicate,
                scope=step.mission,
                source=Miner.name,
            ),
        )


def _barred(step: RuleStep) -> list[TriedOperation]:
    """What was tried on the book as it stands: on another one it may be worth another try."""
    return [known for known in step.tried if known.book == step.book.told]


def _removals(
    language: RuleLanguage, step: RuleStep, attempts: Sequence[PoolAttempt]
) -> Iterator[tuple[float, Operation]]:
    """Rules whose own tickets speak against them: where nothing else gives their verdict, it is mostly wrong."""
    tried = {known.operation.target for known in _barred(step) if known.operation.op == "remove"}
    for rule in step.book.learnt:
        if rule.predicate is None or rule.id in tried:
            continue
        others = [other for other in step.book.learnt if other is not rule]
        alone = [
            attempt
            for attempt in attempts
            if (said := verdict_of(language, rule, attempt.task)) is not None
            and said == attempt.verdict != language.unruled(attempt.task)
            and all(verdict_of(language, other, attempt.task) != said for other in others)
        ]
        wrong = [attempt for attempt in alone if not attempt.right]
        gained = worth(len(wrong), len(alone) - len(wrong))
        if len(wrong) < SUPPORT or gained <= 0:
            continue
        said = f"of {len(alone)} tickets that it decides alone it decides {len(wrong)} wrongly"
        evidence = tuple(attempt.task.id for attempt in wrong[:CITED])
        yield gained, Operation("remove", target=rule.id, reason=said, evidence=evidence, source=Miner.name)


# --------------------------------------------------------------------------------------------- the search


def mine(language: RuleLanguage, attempts: Sequence[PoolAttempt], told: Sequence[Rule] = ()) -> list[MinedRule]:
    """Every rule worth bringing beside those that are `told` already, the best first."""
    tasks = [attempt.task for attempt in attempts]
    found: list[MinedRule] = []
    for opening in language.openings(tasks):
        stakes = _at_stake(opening, attempts, _overruled(language, opening, tasks, told))
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


@dataclass(frozen=True, slots=True)
class _Stakes:
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


def _at_stake(opening: RulePlace, attempts: Sequence[PoolAttempt], overruled: int) -> _Stakes:
    """What a rule of this kind could change. A ticket that is wrong either way is neither put right nor wrong."""
    fixable = breakable = failing = 0
    for place, attempt in enumerate(attempts):
        if attempt.verdict != opening.verdict and (opening.applies & ~overruled) >> place & 1:
            fixable |= (attempt.truth == opening.verdict) << place
            breakable |= attempt.right << place
            failing |= (attempt.right and _fails(attempt)) << place
    return _Stakes(fixable, breakable, failing)


def _fails(attempt: PoolAttempt) -> bool:
    """Whether the ticket is one that must not be released, where the environment reports that."""
    score = attempt.rollout.score if attempt.rollout is not None else None
    return score is not None and score.parts.get("failing", 0.0) > 0.0


Grown = tuple[Feature, ...]


def _all_of(opening: RulePlace, stakes: _Stakes) -> list[Grown]:
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


def _any_of(opening: RulePlace, stakes: _Stakes) -> list[Grown]:
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


def _both_earn(opening: RulePlace, stakes: _Stakes, first: Feature, second: Feature) -> bool:
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
    language: RuleLanguage, opening: RulePlace, features: Grown, tasks: Sequence[Task], stakes: _Stakes
) -> MinedRule | None:
    """The rule in words, counted by what its predicate says; None where that is not worth bringing."""
    written = language.write(opening, features)
    fires = sum(1 << place for place, task in enumerate(tasks) if language.says(written.predicate, task) is not None)
    fixed, broken = fires & stakes.fixable, fires & stakes.breakable
    price = stakes.counts(fires)[1]
    rule = MinedRule(written, opening.verdict, fixed, broken, len(features), stakes.chance, price)
    return rule if rule.support >= SUPPORT and rule.worth > 0 and rule.lift >= LIFT else None
