"""Records as rows: which column holds what."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

import orjson

from whet import wire
from whet.ledger import schema
from whet.types import Fault, Label, Outcome, Rollout, Ticket, Usage

Rows = dict[schema.Table, list[tuple[Any, ...]]]
"""Rows to be written together, by table."""


def outcome_rows(rollouts: Iterable[Rollout], number: Callable[[schema.Table], int]) -> Rows:
    """Rollouts as rows; faults go to their own table."""
    made: Rows = {}
    for rollout in rollouts:
        if isinstance(rollout.outcome, Fault):
            made.setdefault(schema.FAULTS, []).append(fault_row(number(schema.FAULTS), rollout))
            continue
        seq = number(schema.ROLLOUTS)
        made.setdefault(schema.ROLLOUTS, []).append(rollout_row(seq, rollout))
        made.setdefault(schema.TRANSCRIPTS, []).append(transcript_row(seq, rollout))
    return made


def transcript_row(seq: int, rollout: Rollout) -> tuple[Any, ...]:
    return seq, orjson.dumps(wire.rollout_out(rollout))


def rollout_row(seq: int, rollout: Rollout) -> tuple[Any, ...]:
    ticket, label, usage, score = rollout.ticket, rollout.label, rollout.usage, rollout.score
    assert score is not None
    return (
        seq,
        *(ticket.purpose, ticket.split, ticket.index, ticket.draw, label.kind, label.difficulty),
        *(_whole(score.hard), float(score.soft), float(score.reward), score.reason, int(rollout.truncated)),
        ",".join(bad.kind for bad in rollout.malformed),
        len(rollout.turns),
        *(usage.calls, usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens, dollars(usage.usd)),
        *(float(rollout.seconds), rollout.key, _parts_out(score.parts), rollout.request, rollout.policy),
    )


def rollout_columns(seq: int, rollout: Rollout) -> dict[str, Any]:
    """What each column of a rollout must hold, by its name."""
    return dict(zip(schema.ROLLOUTS.columns.replace(",", " ").split(), rollout_row(seq, rollout), strict=True))


def dollars(usd: float | None) -> float | None:
    """As SQLite gives it back: what a row holds must hash alike before and after."""
    return None if usd is None else float(usd)


def _whole(number: float) -> float:
    return int(number) if number == int(number) else number


def _parts_out(parts: Mapping[str, float]) -> str:
    """The parts that are finite numbers, as JSON, which knows no others; empty where there are none."""
    if not parts:
        return ""
    numbers = {name: value for name, value in parts.items() if isinstance(value, int | float) and math.isfinite(value)}
    return orjson.dumps({name: float(value) for name, value in numbers.items()}).decode()


def fault_row(seq: int, rollout: Rollout) -> tuple[Any, ...]:
    ticket, label, usage = rollout.ticket, rollout.label, rollout.usage
    assert isinstance(rollout.outcome, Fault)
    return (
        seq,
        *(ticket.purpose, ticket.split, ticket.index, ticket.draw, label.kind, label.difficulty),
        *(rollout.outcome.kind, usage.calls, usage.prompt_tokens, usage.completion_tokens, dollars(usage.usd)),
        *(float(rollout.seconds), rollout.key),
        orjson.dumps(wire.rollout_out(rollout)),
    )


_label = lru_cache(maxsize=4096)(Label)
"""Labels are few and rows are many."""

_NO_PARTS: Mapping[str, float] = {}


def outcome(row: tuple[Any, ...]) -> Outcome:
    purpose, split, task, draw, kind, difficulty, hard, soft, reward, reason, truncated, malformed, turns = row[:13]
    return Outcome(
        Ticket(purpose, split, task, draw),
        _label(kind, difficulty),
        hard,
        soft,
        reward,
        reason,
        "",
        bool(truncated),
        tuple(malformed.split(",")) if malformed else (),
        turns,
        Usage(*row[13:18]),
        row[18],
        row[19],
        orjson.loads(row[20]) if row[20] else _NO_PARTS,
    )


def faulted(row: tuple[Any, ...]) -> Outcome:
    purpose, split, task, draw, kind, difficulty, fault, calls, prompt, completion, usd, seconds, key = row
    return Outcome(
        Ticket(purpose, split, task, draw),
        Label(kind, difficulty),
        *(0, 0.0, 0.0, "", fault),
        usage=Usage(calls, prompt, completion, 0, usd),
        seconds=seconds,
        key=key,
    )
