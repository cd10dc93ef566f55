"""A few tickets of the propose pool before the gate: what mends nothing there is not worth the gate's rollouts.

Hard cases were chosen because a draw went wrong, so a second draw of the same book mends some of them. Candidates are
therefore held against fresh draws of their incumbent on the same tickets, never against those that chose them.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from whet.keys import seed_for
from whet.learn.judge import Judgement
from whet.learn.rules.config import RulesConfig
from whet.learn.rules.records import Branch, BranchRound, OperationRecord, ScreenReading
from whet.learn.workshop import Workshop
from whet.types import Policy, Score

Means = Mapping[int, float]
"""By the place of a task on the gate pool: the share of draws that are right."""


@dataclass(slots=True)
class TicketScreen:
    """The screen of one branch in one round: tickets for all its candidates, and fresh draws of its incumbent."""

    shop: Workshop
    incumbent: Policy
    where: str
    shared: tuple[int, ...] = ()
    own: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """Tickets that a candidate's own evidence names, by its index."""
    _fresh: dict[int, bool] = field(default_factory=dict)

    @classmethod
    def of(
        cls, shop: Workshop, config: RulesConfig, part: BranchRound, chosen: Sequence[OperationRecord], where: str
    ) -> TicketScreen:
        size = config.rules.screen
        if not size:
            return cls(shop, part.branch.policy, where)
        hard = [case.attempt.task.index for case in part.cases if not case.attempt.right][: size // 2]
        right = [attempt.task.index for attempt in part.attempts if attempt.right]
        rng = random.Random(seed_for("rules", "screen", config.train.seed, where))
        right = rng.sample(right, min(size - size // 2, len(right)))
        by_id = {attempt.task.id: attempt.task.index for attempt in part.attempts}
        own = {}
        for record in chosen:
            named = [by_id[task] for task in record.operation.evidence if task in by_id] if record.operation else []
            own[record.index] = tuple(dict.fromkeys(named))[: size // 2]
        return cls(shop, part.branch.policy, where, tuple(sorted({*hard, *right})), own)

    async def read(self, record: OperationRecord) -> ScreenReading | None:
        """The candidate beside its incumbent; None where there is no screen."""
        tasks = tuple(dict.fromkeys((*self.shared, *self.own.get(record.index, ()))))
        if not tasks or record.policy is None:
            return None
        missing = [task for task in tasks if task not in self._fresh]
        if missing:
            self._fresh |= await self._right(self.incumbent, missing)
        after = await self._right(record.policy, tasks)
        both = [task for task in tasks if task in after and task in self._fresh]
        fixed = sum(after[task] and not self._fresh[task] for task in both)
        broken = sum(self._fresh[task] and not after[task] for task in both)
        return ScreenReading(len(both), fixed, broken)

    async def _right(self, policy: Policy, tasks: Sequence[int]) -> dict[int, bool]:
        rolled = await self.shop.roll(f"train/{self.where}/screen", policy, tasks)
        return {
            rollout.ticket.index: bool(rollout.score.hard) for rollout in rolled if isinstance(rollout.score, Score)
        }


def regressions(shop: Workshop, branch: Branch, judgement: Judgement) -> tuple[dict[str, Any], ...]:
    """The tickets of the gate pool that the incumbent mostly gets right and the candidate mostly does not."""
    draws: dict[str, dict[int, list[float]]] = {"incumbent": defaultdict(list), "candidate": defaultdict(list)}
    for task, row in enumerate(branch.bank.readings):
        draws["incumbent"][task] += [reading[0] for reading in row if reading and reading[0] is not None]
    for draw, reading in judgement.decision.draws:
        if reading is not None and reading[0] is not None:
            draws[draw.arm][draw.task].append(reading[0])
    rows = []
    for task, after in sorted(draws["candidate"].items()):
        before = draws["incumbent"].get(task, [])
        if before and sum(before) > len(before) / 2 and sum(after) < len(after) / 2:
            rows.append(
                {
                    "ticket": f"select/{shop.select[task]}",
                    "base_right": sum(before) / len(before),
                    "base_draws": len(before),
                    "candidate_right": sum(after) / len(after),
                    "candidate_draws": len(after),
                }
            )
    return tuple(sorted(rows, key=lambda row: (-row["base_right"], row["ticket"])))
