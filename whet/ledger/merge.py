"""Ledgers of the shards of one run, made into one by key.

Every shard has the identity of the whole run and its own part of the plan. Numbers and the chain are new; keys, answers
and what they cost are as they were. A key that two shards have answered to the same request is kept once, as the first
has it; to another request, nothing is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from whet import wire
from whet.errors import WhetError, typed
from whet.ledger.schema import (
    ATTEMPTS,
    EFFECTS,
    EVENTS,
    FAULTS,
    POLICIES,
    ROLLOUTS,
    SETTLEMENTS,
    TRANSCRIPTS,
    Table,
)
from whet.ledger.store import Ledger
from whet.ledger.writer import LedgerWriter

MERGED = "merged"
"""The event that says what a ledger was merged from."""

BATCH = 2000
"""Rows of a commit."""

Thing = TypeVar("Thing")
Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class ShardPart:
    """What a merged ledger has from one shard."""

    name: str
    rollouts: int
    known: int
    """Rollouts that an earlier shard had already."""


def merge_ledgers(out: Path, shards: Sequence[Path], events: Iterable[tuple[str, Mapping[str, Any]]]) -> int:
    """Make a new ledger in `out` of those in `shards`, with `events` in place of theirs; how many rollouts it has."""
    with LedgerWriter.create(out) as own:
        parts: list[ShardPart] = []
        last = 0.0
        for shard in shards:
            with Ledger.read(shard) as other:
                if not parts:
                    own.set_meta(**other.meta())
                parts.append(_take(own, other, shard))
                last = max(last, other.last_commit())
        said = [*events, (MERGED, {"shards": [_record(part) for part in parts]})]
        own.write({EVENTS: [(own.number(EVENTS), last, name, wire.dumps(body)) for name, body in said]})
        return own.counts()["rollouts"]


def _take(own: LedgerWriter, other: Ledger, shard: Path) -> ShardPart:
    held = own.policies()
    for digest, body in other.table(POLICIES, "digest, body"):
        if digest not in held:
            own.write({POLICIES: [(own.number(POLICIES), digest, body)]})
    known = 0
    bodies = other.table(TRANSCRIPTS, TRANSCRIPTS.columns)
    for batch in _batches(zip(other.table(ROLLOUTS, ROLLOUTS.columns), bodies, strict=True)):
        rows: dict[Table, list[Row]] = {ROLLOUTS: [], TRANSCRIPTS: []}
        for row, (seq, body) in batch:
            if row[0] != seq:
                raise WhetError(f"{shard}: a rollout has no transcript; see: whet verify {typed(shard)}")
            if own.has_rollout(row[KEY], row[REQUEST], f"{row[2]}/{row[3]} draw {row[4]} of {shard.name}"):
                known += 1
                continue
            number = own.number(ROLLOUTS)
            rows[ROLLOUTS].append((number, *row[1:]))
            rows[TRANSCRIPTS].append((number, body))
        own.write({table: each for table, each in rows.items() if each})
    for batch in _batches(other.table(FAULTS, FAULTS.columns)):
        own.write({FAULTS: [(own.number(FAULTS), *row[1:]) for row in batch]})
    for row in other.table(EFFECTS, EFFECTS.columns):
        if own.effect(row[1], row[4], row[3]) is None:
            own.write({EFFECTS: [(own.number(EFFECTS), *row[1:])]})
    _take_account(own, other)
    return ShardPart(shard.name, other.counts()["rollouts"], known)


def _take_account(own: LedgerWriter, other: Ledger) -> None:
    """What the attempts of a shard were reserved and settled at; one without an end stays without."""
    numbers: dict[int, int] = {}
    for batch in _batches(other.table(ATTEMPTS, ATTEMPTS.columns)):
        rows = []
        for seq, *rest in batch:
            numbers[seq] = own.number(ATTEMPTS)
            rows.append((numbers[seq], *rest))
        own.write({ATTEMPTS: rows})
    for batch in _batches(other.table(SETTLEMENTS, SETTLEMENTS.columns)):
        own.write({SETTLEMENTS: [(numbers[seq], *rest) for seq, *rest in batch]})


def _batches(things: Iterable[Thing]) -> Iterator[list[Thing]]:
    each = iter(things)
    while batch := list(islice(each, BATCH)):
        yield batch


def _record(part: ShardPart) -> dict[str, Any]:
    return {name: getattr(part, name) for name in ShardPart.__slots__}


_NAMES = ROLLOUTS.columns.replace(",", " ").split()
KEY, REQUEST = _NAMES.index("key"), _NAMES.index("request")
