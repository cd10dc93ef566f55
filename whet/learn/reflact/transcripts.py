"""Attempts as the optimiser reads them: what was asked and answered, shortened, with the grader's words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from whet.envs.base import Environment
from whet.types import Message, Rollout

Show = Literal["nothing", "score", "truth"]


def task_name(rollout: Rollout) -> str:
    return f"{rollout.ticket.split}/{rollout.ticket.index}"


def attempts_text(
    rollouts: Sequence[Rollout],
    env: Environment,
    *,
    show: Show,
    limit: int,
    beside: Mapping[str, Rollout] | None = None,
) -> str:
    """Every attempt under its task's name. `beside` holds solved attempts at the same tasks, shown after the failed."""
    return "\n\n".join(
        _attempt(rollout, env, show, limit, (beside or {}).get(task_name(rollout))) for rollout in rollouts
    )


def _attempt(rollout: Rollout, env: Environment, show: Show, limit: int, solved: Rollout | None) -> str:
    label = " ".join(part for part in (rollout.label.kind, rollout.label.difficulty) if part)
    lines = [f"### {task_name(rollout)} ({label})"]
    score = rollout.score
    if score is not None and show != "nothing":
        lines.append(f"Graded: {'solved' if score.hard else 'not solved'}, {score.reason} {score.detail}".rstrip())
    if show == "truth" and rollout.ticket.split == "train":
        truth = env.task("train", rollout.ticket.index).truth
        lines.append(f"Right answer: {shortened(str(truth), limit // 4)}")
    lines.append(shortened(conversation(rollout), limit))
    if solved is not None:
        answers = "\n".join(_said(turn.reply.as_message()) for turn in solved.turns if turn.role == "target")
        lines.append(f"A solved attempt at the same task:\n{shortened(answers, limit // 2)}")
    return "\n".join(lines)


def conversation(rollout: Rollout) -> str:
    """What was said, without the playbook."""
    said: list[str] = []
    for turn in rollout.turns:
        if turn.role == "target":
            said.extend(_said(message) for message in (*turn.messages, turn.reply.as_message()))
    if rollout.truncated:
        said.append("(the last reply was cut off by the token limit)")
    return "\n".join(said)


def _said(message: Message) -> str:
    calls = "".join(f"\n(calls {call.name} {call.raw or dict(call.arguments)})" for call in message.calls)
    broken = "".join(f"\n(malformed call: {bad.problem})" for bad in message.malformed)
    return f"[{message.author}] {message.text}{calls}{broken}"


def shortened(text: str, limit: int) -> str:
    """Both ends of a text that is too long, with how much is left out between them."""
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    return f"{text[:head]}\n… ({len(text) - head - tail} characters left out) …\n{text[-tail:]}"
