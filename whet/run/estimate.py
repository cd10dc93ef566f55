"""What an evaluation would do and cost, before it does: for `--dry-run`."""

from __future__ import annotations

from collections import Counter

from whet.models.base import Request
from whet.rollout.conversation import Conversation
from whet.rollout.player import Player, Seat
from whet.rollout.prompt_size import most_prompt_tokens
from whet.run.evaluate import EvalPlan

PROBES = 20
"""Tasks whose prompts are measured."""


def describe(plan: EvalPlan) -> str:
    """The plan in words: which tasks, how many calls, and what the first calls of all attempts cost at most."""
    section = plan.config.eval
    labels = Counter(
        f"{label.kind}/{label.difficulty}".rstrip("/")
        for label in (plan.env.label(section.split, task) for task in plan.tasks)
    )
    shares = ", ".join(f"{name} {count}" for name, count in sorted(labels.items())[:12])
    more = f" and {len(labels) - 12} more" if len(labels) > 12 else ""
    rollouts, votes = len(plan.tickets), plan.config.target.sampling.votes
    voted = f", each the majority of {votes} draws" if votes > 1 else ""
    lines = [
        f"plan: {len(plan.tasks)} tasks of {section.split} x {section.repeats} = {rollouts} rollouts{voted} "
        f"({shares}{more})",
        f"model: {plan.model.name}, fingerprint {plan.model.fingerprint[:12]}",
        f"identity: {plan.identity.digest[:8]}",
        _cost(plan, rollouts * votes),
    ]
    return "\n".join(lines)


def _cost(plan: EvalPlan, rollouts: int) -> str:
    """One call a draw: how many turns an attempt takes is up to the policy."""
    limit = plan.config.target.sampling.max_tokens
    openings = [_opening(plan, task) for task in plan.tasks[:PROBES]]
    most = [limit + (most_prompt_tokens(opening) if opening else 0) for opening in openings]
    tokens = rollouts * sum(most) // len(most)
    said = f"cost: at most {tokens:,} tokens if every attempt is one call"
    price = plan.model.price
    if price is None:
        return f"{said}; price unknown (set control.target.price)"
    completion = rollouts * limit
    usd = ((tokens - completion) * price.prompt + completion * price.completion) / 1e6
    return f"{said}, at most ${usd:.2f}"


def _opening(plan: EvalPlan, index: int) -> Request | None:
    """The first request of an attempt; None where a play begins with something else."""
    task = plan.env.task(plan.config.eval.split, index)
    seat = Seat(plan.policy, Player(plan.model))
    conversation = Conversation(task, plan.env.play(task), {"target": seat}, blob=plan.env.blob)
    step = conversation.next()
    conversation.close()
    return step if isinstance(step, Request) else None
