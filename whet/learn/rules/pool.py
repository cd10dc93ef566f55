"""The propose pool: which tickets a round looks at, and what each book has said of them.

A book that has judged a ticket is not asked again: attempts are kept by the policy that made them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from whet.keys import policy_digest, seed_for
from whet.learn.rules.book import RuleBook, changed
from whet.learn.rules.cases import attempts_of
from whet.learn.rules.config import RulesConfig
from whet.learn.rules.predicate import language_of, verdict_of
from whet.learn.rules.types import PoolAttempt
from whet.learn.workshop import Workshop
from whet.types import Policy


@dataclass(slots=True)
class ProposePool:
    """The train tickets of a run, and the attempts at them."""

    shop: Workshop
    config: RulesConfig
    tasks: tuple[int, ...]
    _known: dict[str, dict[int, PoolAttempt]] = field(default_factory=dict)
    _standing: dict[str, dict[int, PoolAttempt]] = field(default_factory=dict)
    """By policy: attempts of the one before it at tickets that no rule between them speaks of."""

    def of_round(self, number: int) -> tuple[int, ...]:
        """The tickets of a round: all, or the next window of an order that is drawn anew when it is through."""
        size = self.config.train.pool
        if size == "all" or size >= len(self.tasks):
            return self.tasks
        first, chosen = (number - 1) * size, []
        for place in range(first, first + size):
            lap, at = divmod(place, len(self.tasks))
            order = list(self.tasks)
            random.Random(seed_for("rules", "pool", self.config.train.seed, lap)).shuffle(order)
            chosen.append(order[at])
        return tuple(dict.fromkeys(chosen))

    def to_distil(self) -> tuple[int, ...]:
        """The tickets whose chats are written at the end."""
        size = self.config.distill.size
        order = list(self.tasks)
        random.Random(seed_for("rules", "distil", self.config.train.seed)).shuffle(order)
        return tuple(order if size == "all" else order[:size])

    async def attempts(self, policy: Policy, tasks: Sequence[int], where: str) -> tuple[PoolAttempt, ...]:
        """Attempts of a policy at tickets of the pool; those it has made before are read again."""
        before = self._known.setdefault(policy_digest(policy), {}) if self.config.train.reuse else {}
        fresh = [task for task in tasks if task not in before]
        rolled = await self.shop.roll(f"train/{where}", policy, fresh) if fresh else ()
        found = {attempt.task.index: attempt for attempt in attempts_of(self.shop, policy, rolled)}
        before.update(found)
        return tuple(before.get(task) or found[task] for task in tasks if task in before or task in found)

    async def seen(self, policy: Policy, tasks: Sequence[int], where: str) -> tuple[PoolAttempt, ...]:
        """What is known of the tickets for a round: attempts of a policy, and those of before that stand for it."""
        standing = self._standing.get(policy_digest(policy), {})
        made = await self.attempts(policy, [task for task in tasks if task not in standing], where)
        found = {attempt.task.index: attempt for attempt in made}
        return tuple(found.get(task) or standing[task] for task in tasks if task in found or task in standing)

    def stand(self, before: tuple[Policy, RuleBook], after: tuple[Policy, RuleBook]) -> None:
        """Let attempts of one policy stand for the next where the rules that changed are silent.

        Only for rules that say where they speak, and only as evidence to propose from: a gate never reads them.
        """
        rules = [rule for side in changed(before[1], after[1]) for rule in side]
        if not self.config.train.stand or any(rule.predicate is None for rule in rules):
            return
        old = policy_digest(before[0])
        known = {**self._standing.get(old, {}), **self._known.get(old, {})}
        tasks = [attempt.task for attempt in known.values()]
        language = language_of(self.shop.env, tasks, sorted({attempt.truth for attempt in known.values()}))
        self._standing[policy_digest(after[0])] = {
            index: attempt
            for index, attempt in known.items()
            if all(verdict_of(language, rule, attempt.task) is None for rule in rules)
        }

    def made(self, policy: Policy) -> tuple[PoolAttempt, ...]:
        """What a policy has said so far."""
        return tuple(self._known.get(policy_digest(policy), {}).values())

    async def golden_broken(self, before: Policy, after: Policy) -> tuple[str, ...]:
        """The golden tickets that the first policy gets right and the second does not.

        One without an answer of the second is broken too: nothing shows that it is kept.
        """
        golden = self.config.rules.golden
        if not golden:
            return ()
        held = [attempt.task.id for attempt in await self.attempts(before, golden, "golden") if attempt.right]
        kept = {attempt.task.id for attempt in await self.attempts(after, golden, "golden") if attempt.right}
        return tuple(task for task in held if task not in kept)
