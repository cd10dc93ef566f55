"""A hard case as a line of a file."""

from __future__ import annotations

from typing import Any

from whet.learn.rules.types import HardCase

HARD_CASES = "rule_search_hard_cases.jsonl"


def case_row(mission: str, moment: str, number: int, branch: str, rank: int, case: HardCase) -> dict[str, Any]:
    attempt = case.attempt
    return {
        "timestamp": moment,
        "iteration": number,
        "branch": branch,
        "mission": mission,
        "rank": rank,
        "ticket": case.id,
        "kind": case.kind,
        "gt_label": attempt.truth,
        "majority_pred": attempt.verdict,
        "verdict_samples": list(attempt.votes),
        "agreement": attempt.confidence,
        "difficulty": 1.0 - attempt.confidence,
        "hard_wrong": 0.0 if attempt.right else attempt.confidence,
        "invalid": attempt.votes.count(None),
        "error": attempt.error,
        "said": attempt.said,
        "beside": case.beside.task.id if case.beside else "",
    }
