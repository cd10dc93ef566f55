"""A proposer without a model: it induces rules from attempts at the propose pool and their truths.

It knows what a policy is shown and the truths of train tasks, nothing else. Each rule is a sentence in the
environment's language with a predicate that runs (`whet.envs.language`), so that where it fires can be measured. How
rules are found is in `induction`, how those of the book are made more exact in `updates`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from whet.envs.language import RuleLanguage
from whet.learn.rules.book import Operation, same_words
from whet.learn.rules.induction import SUPPORT, MinedRule, mine, worth
from whet.learn.rules.predicate import language_of, verdict_of
from whet.learn.rules.types import PoolAttempt, Proposals, RuleStep
from whet.learn.rules.updates import MINER, barred, on_its_day, updates

ALIKE = 0.6
"""Share of common tickets above which two rules are one idea: the better one is brought."""

PLAIN = 6.0
"""Tickets that new rules must be worth for the book not to be looked through for what could be worded better."""

CITED = 12
"""Tickets that are named as evidence."""


class Miner:
    """Brings the rules that the propose pool gives away; beside those that promise little, rules of the book worded
    anew; and the removal of rules that it speaks against.

    A removal comes last and always has a place: a rule that is too strict also blocks, by accident, what rules fail
    that are not in the book yet. It is worded anew only when it has been shown that the book needs it.
    """

    name = MINER
    ranks = True

    async def propose(self, step: RuleStep, most: int) -> Proposals:
        attempts = [attempt for attempt in step.attempts if attempt.verdict is not None]
        if not attempts:
            return Proposals()
        tasks = [attempt.task for attempt in attempts]
        choices = sorted({attempt.truth for attempt in attempts})
        language = language_of(step.env, tasks, choices)
        removed = _best_first(_removals(language, step, attempts))
        kept = max(1, most - 1) if removed else most
        found = list(islice(_additions(language, step, attempts), kept))
        if len(found) < kept or found[-1][0] < PLAIN:
            standing = {rule.id for rule in step.book.learnt} - {operation.target for operation in removed}
            found += updates(language, step, attempts, standing)
        return Proposals((*_best_first(found)[:kept], *removed)[:most])


def _best_first(found: Iterable[tuple[float, Operation]]) -> tuple[Operation, ...]:
    return tuple(operation for _, operation in sorted(found, key=lambda pair: (-pair[0], pair[1].signature)))


def _additions(
    language: RuleLanguage, step: RuleStep, attempts: Sequence[PoolAttempt]
) -> Iterator[tuple[float, Operation]]:
    """New rules, none like another, none that says what the book says or what was tried already."""
    tried = {same_words(known.operation.text) for known in barred(step) if known.operation.op == "upsert"}
    held = tried | {same_words(rule.text) for rule in step.book.active}
    chosen: list[MinedRule] = []
    for found in mine(language, attempts, step.book.learnt):
        if same_words(found.written.text) in held or any(found.like(better) > ALIKE for better in chosen):
            continue
        rule = on_its_day(language, step, attempts, found, step.book.learnt)
        if same_words(rule.written.text) in held:
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
                source=MINER,
            ),
        )


def _removals(
    language: RuleLanguage, step: RuleStep, attempts: Sequence[PoolAttempt]
) -> Iterator[tuple[float, Operation]]:
    """Rules whose own tickets speak against them: where nothing else gives their verdict, it is mostly wrong."""
    tried = {known.operation.target for known in barred(step) if known.operation.op == "remove"}
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
        yield gained, Operation("remove", target=rule.id, reason=said, evidence=evidence, source=MINER)
