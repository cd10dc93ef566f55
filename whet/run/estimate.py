"""What an evaluation would do and cost, before it does: for `--dry-run`."""

from __future__ import annotations

from collections import Counter

from whet.models.base import Request
from whet.rollout.attempt import Attempt, Player
from whet.rollout.budget import Budget, Limits
from whet.rollout.placing import place
from whet.run.evaluate import Plan
from whet.types import Ask

PROBES = 20
"""Tasks whose prompts are measured."""


def describe(plan: Plan) -> str:
    """The plan in words: which tasks, how many calls, and what the first calls of all attempts cost at most."""
    section = plan.config.eval
    labels = Counter(
        f"{label.kind}/{label.difficulty}".rstrip("/")
        for label in (plan.env.label(section.split, task) for task in plan.tasks)
    )
    shares = ", ".join(f"{name} {count}" for name, count in sorted(labels.items())[:12])
    more = f" and {len(labels) - 12} more" if len(labels) > 12 else ""
    rollouts = len(plan.tickets)
    lines = [
        f"plan: {len(plan.tasks)} tasks of {section.split} x {section.repeats} = {rollouts} rollouts ({shares}{more})",
        f"model: {plan.model.name}, fingerprint {plan.model.fingerprint[:12]}",
        f"identity: {plan.identity.digest[:8]}",
        _cost(plan, rollouts),
    ]
    return "\n".join(lines)


def _cost(plan: Plan, rollouts: int) -> str:
    """One call a rollout: how many turns an attempt takes is up to the policy."""
    meter = Budget(Limits(tokens=0))
    claims = [meter.claim(_opening(plan, task), None).tokens for task in plan.tasks[:PROBES]]
    tokens = rollouts * sum(claims) // len(claims)
    said = f"cost: at most {tokens:,} tokens if every attempt is one call"
    price = plan.model.price
    if price is None:
        return f"{said}; price unknown (set control.target.price)"
    completion = rollouts * plan.config.target.sampling.max_tokens
    usd = ((tokens - completion) * price.prompt + completion * price.completion) / 1e6
    return f"{said}, at most ${usd:.2f}"


def _opening(plan: Plan, index: int) -> Request:
    task = plan.env.task(plan.config.eval.split, index)
    attempt = Attempt.begin(task, plan.env.play(task), plan.playbook, {"target": Player(plan.model)}, plan.env.blob)
    attempt.play.close()
    first = attempt.first
    messages = place(plan.playbook, first.messages) if isinstance(first, Ask) else ()
    return Request(messages, plan.policy.sampling, first.tools if isinstance(first, Ask) else ())
