"""The audit of the baseline, without proposer, gate or change: how the book that stands judges the propose pool."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whet.files import write_json
from whet.learn.outcome_files import write_lines
from whet.learn.rules.case_rows import HARD_CASES, case_row
from whet.learn.rules.cases import hard_cases
from whet.learn.rules.types import PoolAttempt

if TYPE_CHECKING:
    from whet.learn.rules.training import RuleSearch

EVERY = 256
"""Tickets after which another line of running figures is written."""

CASES = 200

NP, NG = "false_block", "false_release"
"""A passing ticket that was failed, and a failing one that was passed, in the environment's codes."""


def write_audit(folder: Path, search: RuleSearch) -> None:
    """`baseline_*` and the hard cases, once the audit is through."""
    attempts = search.audited
    if not attempts:
        return
    moment = search.books[0][2]
    head = {"timestamp": moment, "mission": search.mission, "mode": "audit_only"}
    dropped = len(search.tasks) - len(attempts)
    figures = {"n_total": len(search.tasks), "n_used": len(attempts), "n_dropped": dropped, **metrics(attempts)}
    write_json(folder / "baseline_metrics.json", {**head, **figures})
    steps = [
        {**head, "n_total": len(search.tasks), "n_used": upto, **metrics(attempts[:upto])}
        for upto in (*range(EVERY, len(attempts), EVERY), len(attempts))
    ]
    write_lines(folder / "baseline_metrics_steps.jsonl", steps)
    write_lines(folder / "baseline_ticket_stats.jsonl", [_row(attempt) for attempt in attempts])
    wrong = [attempt for attempt in attempts if not attempt.right]
    write_lines(folder / "baseline_wrong_cases.jsonl", [_case(search, attempt) for attempt in wrong])
    for name, error in (("np", NP), ("ng", NG)):
        rows = [_case(search, attempt) for attempt in wrong if attempt.error == error]
        write_lines(folder / f"baseline_{name}_cases.jsonl", rows)
    cases = hard_cases(attempts, max(CASES, 8 * search.config.rules.hard_cases))
    rows = [
        case_row(search.mission, moment, 0, search.branches[0].name, rank, case)
        for rank, case in enumerate(cases, start=1)
    ]
    write_lines(folder / HARD_CASES, rows)


def metrics(attempts: Sequence[PoolAttempt]) -> dict[str, Any]:
    """Right, and wrong by kind. A ticket without a verdict is wrong, and neither released nor blocked."""
    n = len(attempts)
    np, ng = (sum(attempt.error == error for attempt in attempts) for error in (NP, NG))
    invalid = sum(attempt.verdict is None for attempt in attempts)
    right = sum(attempt.right for attempt in attempts)
    return {
        "acc": right / n if n else None,
        "wrong": n - right,
        "invalid": invalid,
        "np": np,
        "ng": ng,
        "fn": np,
        "fp": ng,
        "fn_rate": np / n if n else None,
        "fp_rate": ng / n if n else None,
    }


def _row(attempt: PoolAttempt) -> dict[str, Any]:
    return {
        "ticket": attempt.task.id,
        "gt_label": attempt.truth,
        "majority_pred": attempt.verdict,
        "agreement": attempt.confidence,
        "hard_wrong": 0.0 if attempt.right else attempt.confidence,
        "votes": {str(choice): attempt.votes.count(choice) for choice in dict.fromkeys(attempt.votes) if choice},
        "invalid": attempt.votes.count(None),
        "total_samples": len(attempt.votes),
        "n_images": len(attempt.task.data.get("images", ())),
    }


def _case(search: RuleSearch, attempt: PoolAttempt) -> dict[str, Any]:
    return {
        **_row(attempt),
        "mission": search.mission,
        "error": attempt.error,
        "verdict_samples": list(attempt.votes),
        "said": attempt.said,
        "asked": attempt.task.messages[-1].text,
    }
