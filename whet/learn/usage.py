"""What a run used, by stage and by split: folded from the ledger, so that a resumed run counts all its sessions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from whet.ledger.store import CONSULTED, Ledger
from whet.rollout.votes import VOTE
from whet.types import Outcome, Usage

TARGET = {
    "train": "rollout",
    "select": "select",
    "slow": "slow_update_rollout",
    "test": "test",
    "floor": "floor",
    "reference": "floor",
}
"""Stages of target calls by the first part of their purpose."""


def stage_of(purpose: str) -> str:
    """The stage that a purpose belongs to: of a rollout by its first part, of a consultation by its third."""
    parts = purpose.split("/")
    return TARGET.get(parts[0], parts[2] if len(parts) > 2 else parts[0])


def by_stage(ledger: Ledger, where: str = "") -> dict[str, Usage]:
    """Usage by stage; with `where` (such as 'e1/s0003') only what belongs to that step's own purposes."""
    used: dict[str, Usage] = {}
    for outcome in ledger.outcomes():
        if outcome.ticket.purpose.startswith(VOTE):  # what draws cost is in the votes that were made of them
            continue
        if not where or f"/{where}/" in f"/{outcome.ticket.purpose}/":
            _add(used, stage_of(outcome.ticket.purpose), outcome.usage)
    for purpose, body in sorted(ledger.effects(CONSULTED), key=lambda one: one[0]):  # dollars add up in one order
        if purpose.startswith(f"{where}/" if where else ""):
            _add(used, stage_of(purpose), Usage(**body["reply"]["usage"]))
    return dict(sorted(used.items()))


def of_outcomes(outcomes: Iterable[Outcome]) -> Usage:
    total = Usage()
    for outcome in outcomes:
        total += outcome.usage
    return total


def as_data(used: Mapping[str, Usage]) -> dict[str, Any]:
    """Calls, tokens and dollars by stage; `_total` over all."""

    def row(usage: Usage) -> dict[str, Any]:
        return {
            "calls": usage.calls,
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "usd": usage.usd,
        }

    total = Usage()
    for usage in used.values():
        total += usage
    return {**{stage: row(usage) for stage, usage in used.items()}, "_total": row(total)}


def _add(used: dict[str, Usage], stage: str, usage: Usage) -> None:
    used[stage] = used.get(stage, Usage()) + usage
