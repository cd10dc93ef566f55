"""Rules of the book worded anew: on the day that tickets speak for, or another that the miner would bring in its place.

A rule that is too wide, or that names the wrong thing, hides what is right in its place: the tickets that the right one
would mend are judged rightly as it is, so nothing speaks for it, and a removal would release them. So for each rule of
the book the tickets that it alone decides are judged as the other rules would, and what is mined then is held against
it on the tickets on which the two books differ.

Updates name no tickets as evidence. A day follows from tickets on either side of it, and one rule in the place of
another from those that either decides; most of them are judged rightly as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from whet.envs.language import RuleLanguage, WrittenRule
from whet.learn.rules.book import Operation, same_words
from whet.learn.rules.days import day_posterior, without_day
from whet.learn.rules.induction import LENGTH, RELEASED, MinedRule, fires_of, mine
from whet.learn.rules.predicate import verdict_by, verdict_of
from whet.learn.rules.types import PoolAttempt, RuleStep, TriedOperation
from whet.types import Rule

MINER = "miner"

MOVED = 1.0
"""Tickets of the pool, priced, that a rule with another day must be expected to mend to be brought."""

MENDED = 2.0
"""Tickets of the pool, less the price of those put wrong, that a rule must mend to be brought in another's place."""

LOOKED_AT = 4
"""Rules that are held against one of the book, whatever day they name."""

SHARED = 0.5
"""Of the tickets that the narrower of two rules speaks of, the share that both must for one to replace the other."""


def updates(
    language: RuleLanguage, step: RuleStep, attempts: Sequence[PoolAttempt], standing: Collection[str]
) -> Iterator[tuple[float, Operation]]:
    """Every rule of these that could be worded better, with the tickets that this is worth."""
    tried = {same_words(known.operation.text) for known in barred(step)}
    tried |= {same_words(rule.text) for rule in step.book.active}
    for rule in step.book.learnt:
        if rule.predicate is None or rule.id not in standing:
            continue
        others = [other for other in step.book.learnt if other is not rule]
        held = WrittenRule(rule.text, rule.predicate)
        brought = (_moved(language, step, attempts, held, others), _instead(language, step, attempts, rule, others))
        fresh = [found for found in brought if found is not None and same_words(found[1].text) not in tried]
        if fresh:
            worth, written, said = max(fresh, key=lambda found: found[0])
            made = Operation("update", written.text, rule.id, reason=said, predicate=written.predicate)
            yield worth, replace(made, scope=rule.scope, source=MINER)


Found = tuple[float, WrittenRule, str]


def _moved(
    language: RuleLanguage, step: RuleStep, attempts: Sequence[PoolAttempt], held: WrittenRule, others: Sequence[Rule]
) -> Found | None:
    """The rule on the day that tickets speak for, now that the book says more of what decides them."""
    found = day_posterior(language, held, others, attempts)
    if found is None:
        return None
    price = price_of(step, found.verdict)
    day = found.day(price)
    gained = found.cost(found.named, price) - found.cost(day, price)
    said = f"{found.tickets} tickets tell its day; {gained:.1f} are expected to be better on this one"
    return (gained, found.moved(day), said) if gained >= MOVED else None


def _instead(
    language: RuleLanguage, step: RuleStep, attempts: Sequence[PoolAttempt], rule: Rule, others: Sequence[Rule]
) -> Found | None:
    """The best rule that would be mined if the book were without this one, where it is about the same tickets."""
    said = [verdict_of(language, rule, attempt.task) for attempt in attempts]
    verdict = next(filter(None, said), None)
    if verdict is None:
        return None
    fires = sum(1 << place for place, word in enumerate(said) if word is not None)
    left = [_without(language, rule, others, attempt, step.env.tie) for attempt in attempts]
    best: tuple[float, Found] | None = None
    for mined in islice(_about(mine(language, left, others, verdict), fires), LOOKED_AT):
        new = on_its_day(language, step, left, mined, others)
        made = Rule(rule.id, new.written.text, predicate=new.written.predicate)
        mended, harmed, price = _balance(language, attempts, (*others, rule), (*others, made), step.env.tie)
        why = f"of {mended + harmed} tickets on which the two differ it puts {mended} right and {harmed} wrong"
        worth = mended - price - LENGTH * new.features
        if mended - price >= MENDED and (best is None or worth > best[0]):
            best = worth, (mended - price, new.written, why)
    return best[1] if best is not None else None


def _about(found: Sequence[MinedRule], fires: int) -> Iterator[MinedRule]:
    """Those that speak of the same tickets as another rule, each once whatever its day."""
    seen: set[str] = set()
    for mined in found:
        least = min(mined.fires.bit_count(), fires.bit_count())
        dayless = without_day(mined.written.text)
        if (mined.fires & fires).bit_count() >= max(1.0, SHARED * least) and dayless not in seen:
            seen.add(dayless)
            yield mined


def _without(
    language: RuleLanguage, rule: Rule, others: Sequence[Rule], attempt: PoolAttempt, safe: str
) -> PoolAttempt:
    """The attempt as a book without a rule would have it, to the letter, where that rule makes a difference."""
    if verdict_of(language, rule, attempt.task) is None:
        return attempt
    held, left = (verdict_by(language, rules, attempt.task, safe) for rules in ((*others, rule), others))
    return replace(attempt, verdict=left) if held != left and left is not None else attempt


def _balance(
    language: RuleLanguage, attempts: Sequence[PoolAttempt], before: Sequence[Rule], after: Sequence[Rule], safe: str
) -> tuple[int, int, float]:
    """Tickets that the second of two books puts right and wrong, to the letter, and the price of the wrong ones."""
    mended = harmed = 0
    price = 0.0
    for attempt in attempts:
        held, given = (verdict_by(language, rules, attempt.task, safe) for rules in (before, after))
        if held != given:
            mended += given == attempt.truth
            harmed += held == attempt.truth
            price += (held == attempt.truth) * (RELEASED if held == safe else 1.0)
    return mended, harmed, price


def on_its_day(
    language: RuleLanguage,
    step: RuleStep,
    attempts: Sequence[PoolAttempt],
    rule: MinedRule,
    others: Sequence[Rule],
) -> MinedRule:
    """The rule with the day that all tickets concerned speak for, where it names one."""
    found = day_posterior(language, rule.written, others, attempts)
    if found is None:
        return rule
    written = found.moved(found.day(price_of(step, rule.verdict)))
    moved = replace(rule, written=written, fires=fires_of(language, written, [attempt.task for attempt in attempts]))
    return moved if moved.fit else rule


def price_of(step: RuleStep, verdict: str) -> float:
    """What a ticket costs that a rule leaves out by mistake, where one that it has too many costs 1."""
    safe = step.env.tie
    return 1.0 if not safe else RELEASED if verdict == safe else 1.0 / RELEASED


def barred(step: RuleStep) -> list[TriedOperation]:
    """What was tried and is not to be tried again on the book as it stands."""
    return [known for known in step.tried if known.bars(step.book)]
