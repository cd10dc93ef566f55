"""Rollouts as rows of a table, for whoever goes on in polars, pandas or Parquet."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any

from whet.errors import WhetError
from whet.types import Outcome


def outcome_row(outcome: Outcome) -> dict[str, Any]:
    """A rollout as plain values; a fault has no score, so that no reader averages it by accident."""
    ticket, usage, scored = outcome.ticket, outcome.usage, not outcome.fault
    return {
        "purpose": ticket.purpose,
        "split": ticket.split,
        "task": ticket.index,
        "draw": ticket.draw,
        "kind": outcome.label.kind,
        "difficulty": outcome.label.difficulty,
        "hard": int(outcome.hard) if scored else None,
        "soft": float(outcome.soft) if scored else None,
        "reward": float(outcome.reward) if scored else None,
        "reason": outcome.reason,
        "fault": outcome.fault,
        "truncated": outcome.truncated,
        "malformed": ",".join(outcome.malformed),
        "turns": outcome.turns,
        "calls": usage.calls,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "usd": usage.usd,
        "seconds": outcome.seconds,
        "key": outcome.key,
        **{f"part_{name}": float(value) for name, value in outcome.parts.items()},
    }


def aligned_rows(outcomes: Iterable[Outcome]) -> list[dict[str, Any]]:
    """Rows that all have the same columns: a part that a score lacks is empty."""
    rows = [outcome_row(outcome) for outcome in outcomes]
    names = dict.fromkeys(name for row in rows for name in row)
    return [{name: row.get(name) for name in names} for row in rows]


def frame_of(outcomes: Iterable[Outcome]) -> Any:
    """A frame of polars, or of pandas where that is installed instead."""
    rows = aligned_rows(outcomes)
    if find_spec("polars") is not None:
        import polars

        return polars.DataFrame(rows, infer_schema_length=None)
    if find_spec("pandas") is not None:
        import pandas

        return pandas.DataFrame(rows)
    raise WhetError("a frame needs polars or pandas: pip install polars")
