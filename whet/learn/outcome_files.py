"""Rollouts as lines of a file: what a decision or an evaluation rests on, for a person or a script to read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from whet import wire
from whet.files import write_atomically, write_json
from whet.gate.evidence import Arm
from whet.learn.judge import Judgement
from whet.learn.workshop import SELECT, Workshop
from whet.types import Outcome, Ticket

SUMMARY = "summary.json"


def drawn(shop: Workshop, judgement: Judgement, arm: Arm = "candidate") -> list[Outcome]:
    """The rollouts of one side that a decision took, in its order."""
    policy = judgement.arms[arm]
    draws = [draw for draw, _ in judgement.decision.draws if draw.arm == arm]
    tickets = [Ticket(SELECT, "select", shop.select[draw.task], draw.draw) for draw in draws]
    return shop.ledger.outcomes_of(shop.session.key(policy, ticket) for ticket in tickets)


def mean(outcomes: Sequence[Outcome], metric: str) -> float | None:
    return sum(getattr(outcome, metric) for outcome in outcomes) / len(outcomes) if outcomes else None


def result_of(outcome: Outcome) -> dict[str, Any]:
    """One line of results.jsonl for a rollout whose transcript is not at hand."""
    return {
        "id": f"{outcome.ticket.split}/{outcome.ticket.index}",
        "draw": outcome.ticket.draw,
        "hard": outcome.hard,
        "soft": outcome.soft,
        "n_turns": outcome.turns,
        "fail_reason": "" if outcome.hard else outcome.reason,
        "task_type": outcome.label.kind,
    }


def write_lines(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    write_atomically(path, b"".join(wire.dumps(row) + b"\n" for row in rows))


def write_evaluation(place: Path, outcomes: Sequence[Outcome]) -> None:
    """`results.jsonl` and `summary.json` of a set of rollouts."""
    place.mkdir(parents=True, exist_ok=True)
    write_lines(place / "results.jsonl", [result_of(outcome) for outcome in outcomes])
    kinds: dict[str, list[int]] = {}
    for outcome in outcomes:
        kinds.setdefault(outcome.label.kind, []).append(outcome.hard)
    figures: dict[str, Any] = {
        kind: {"total": len(hard), "hard_acc": sum(hard) / len(hard)} for kind, hard in sorted(kinds.items())
    }
    figures["overall"] = {"total": len(outcomes), "hard_acc": mean(outcomes, "hard")}
    write_json(place / SUMMARY, figures)
