"""Rules that the book may do without: those that no ticket of the propose pool speaks for."""

from __future__ import annotations

from whet.envs.base import Environment
from whet.learn.rules.predicate import language_of, verdict_by, verdict_of
from whet.learn.rules.records import BranchRound
from whet.types import Rule


def idle_rules(env: Environment, part: BranchRound) -> tuple[Rule, ...]:
    """Learnt rules, without those that put more tickets right than wrong where they alone give the verdict.

    A rule without a predicate does not say where it speaks and may always be tried.
    """
    book = part.branch.book
    language = language_of(env, [attempt.task for attempt in part.attempts], ())

    def earns(rule: Rule) -> bool:
        if rule.predicate is None:
            return False
        rest = [other for other in book.active if other is not rule]
        balance = 0
        for attempt in part.attempts:
            if verdict_of(language, rule, attempt.task) is None:
                continue
            with_it, without = (verdict_by(language, rules, attempt.task, env.tie) for rules in (book.active, rest))
            if with_it != without:
                balance += (with_it == attempt.truth) - (without == attempt.truth)
        return balance > 0

    return tuple(rule for rule in book.learnt if not earns(rule))
