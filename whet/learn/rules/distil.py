"""Chats for fine-tuning from what the final book answers: only verdicts that are right and reasons that hold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from whet.learn.rules.types import PoolAttempt
from whet.rollout.chat import chat_record
from whet.types import Policy

GROUNDED = "grounded"
"""The part of a score that says which share of a reason's claims is borne out by what it cites."""


@dataclass(frozen=True, slots=True)
class DistilledChats:
    """Rows that may teach, and those that may not, each with why."""

    kept: tuple[dict[str, Any], ...]
    rejected: tuple[dict[str, Any], ...]


def distil(mission: str, policy: Policy, attempts: Iterable[PoolAttempt]) -> DistilledChats:
    kept, rejected = [], []
    for attempt in sorted(attempts, key=lambda attempt: attempt.task.index):
        row = {
            "ticket": attempt.task.id,
            "mission": mission,
            "label": attempt.truth,
            "verdict": attempt.verdict,
            "messages": _chat(policy, attempt),
        }
        why = _why_not(attempt)
        if why:
            rejected.append({**row, "why": why})
        else:
            kept.append(row)
    return DistilledChats(tuple(kept), tuple(rejected))


def _why_not(attempt: PoolAttempt) -> str:
    """Why an answer teaches nothing good; '' where it may teach."""
    if attempt.error:
        return attempt.error
    score = attempt.rollout.score if attempt.rollout is not None else None
    if score is None:
        return "no_answer"
    share = score.parts.get(GROUNDED)
    if share is None and "summaries" in attempt.task.data:
        return "grounds_unknown"
    return "ungrounded" if share is not None and share < 1.0 else ""


def _chat(policy: Policy, attempt: PoolAttempt) -> list[dict[str, Any]]:
    turns = attempt.rollout.turns if attempt.rollout is not None else ()
    chat: list[dict[str, Any]] = chat_record(policy.playbook, turns)["messages"]
    return chat
