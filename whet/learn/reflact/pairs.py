"""Longitudinal pairs: the same train tasks before and after an epoch, and what became of each."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from whet.envs.base import Environment
from whet.keys import seed_for
from whet.learn.reflact.rollout import held_out
from whet.learn.transcripts import Show, attempts_text, conversation, shared_text, shortened, task_name
from whet.learn.workshop import Workshop
from whet.types import Playbook, Rollout

Category = Literal["improved", "regressed", "persistent_fail", "stable_success"]
Choice = Literal["mixed", "changed", "unchanged"]

ORDER: tuple[Category, ...] = ("regressed", "persistent_fail", "improved", "stable_success")
KEPT: dict[Choice, frozenset[Category]] = {
    "mixed": frozenset(ORDER),
    "changed": frozenset({"improved", "regressed"}),
    "unchanged": frozenset({"persistent_fail", "stable_success"}),
}


@dataclass(frozen=True, slots=True)
class EpochPair:
    """One task with the playbook of the epoch before and with the current one."""

    before: Rollout
    after: Rollout

    @property
    def category(self) -> Category:
        was, now = (bool(rollout.score and rollout.score.hard) for rollout in (self.before, self.after))
        if was == now:
            return "stable_success" if now else "persistent_fail"
        return "improved" if now else "regressed"

    def as_data(self) -> dict[str, Any]:
        def side(rollout: Rollout) -> dict[str, Any]:
            score = rollout.score
            assert score is not None
            answer = next((turn.reply.text for turn in reversed(rollout.turns) if turn.role == "target"), "")
            return {
                "hard": score.hard,
                "soft": score.soft,
                "predicted_answer": shortened(answer, 400),
                "fail_reason": "" if score.hard else f"{score.reason}: {score.detail}".rstrip(": "),
            }

        asked = next((message.text for message in self.after.turns[0].messages if message.author == "user"), "")
        return {
            "id": task_name(self.after),
            "task": shortened(asked, 400),
            "category": self.category,
            "prev": side(self.before),
            "curr": side(self.after),
        }


async def longitudinal_pairs(
    shop: Workshop,
    epoch: int,
    before: Playbook,
    after: Playbook,
    tasks: Sequence[int],
    *,
    samples: int,
    choice: Choice,
    seed: int,
) -> tuple[EpochPair, ...]:
    """Pairs of sampled train tasks. Under `changed`, further batches follow until enough changed or none are left."""
    order = held_out(shop.env, tasks, before, after)
    random.Random(seed_for("reflact", "slow", seed, epoch)).shuffle(order)
    pairs: list[EpochPair] = []
    for at in range(0, len(order), samples):
        part = order[at : at + samples]
        sides = [
            await shop.roll(f"slow/e{epoch}/{name}", shop.with_playbook(playbook), part)
            for name, playbook in (("a", before), ("b", after))
        ]
        first, second = ({task_name(rollout): rollout for rollout in side} for side in sides)
        pairs += [EpochPair(first[name], second[name]) for name in first if name in second]
        if choice != "changed" or sum(pair.category in KEPT["changed"] for pair in pairs) >= samples:
            break
    return tuple(pairs)


def kept(pairs: Sequence[EpochPair], choice: Choice, samples: int) -> tuple[EpochPair, ...]:
    """The pairs that the optimiser is shown: regressions first, then what stays wrong, then what got better."""
    chosen = [pair for pair in pairs if pair.category in KEPT[choice]]
    return tuple(sorted(chosen, key=lambda pair: ORDER.index(pair.category)))[:samples]


def comparison_text(pairs: Sequence[EpochPair], env: Environment, show: Show, limit: int) -> str:
    """Both attempts at each task; of stable successes only the name."""
    shared = shared_text([pair.after for pair in pairs])
    parts = [str(shared)] if str(shared) else []
    for pair in pairs:
        head = f"## {task_name(pair.after)}: {pair.category}"
        if pair.category == "stable_success":
            parts.append(head)
            continue
        after = attempts_text([pair.after], env, show=show, limit=limit, shared=shared)
        parts.append(f"{head}\nBefore:\n{shortened(conversation(pair.before), limit)}\nAfter:\n{after}")
    return "\n\n".join(parts)
