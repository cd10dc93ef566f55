"""The propose pool: which tickets a round looks at, and what each book has said of them.

A book that has judged a ticket is not asked again: attempts are kept by the policy that made them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from whet.keys import policy_digest, seed_for
from whet.learn.rules.cases import attempts_of
from whet.learn.rules.config import RulesConfig
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
