"""What a run takes over from the one that it continues: answered rollouts and effects, under the keys they had.

What was paid for them stays in the account of the run that paid. The sealed test stays behind: it is opened by each run
for itself, and counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whet import wire
from whet.ledger.schema import EFFECTS, EVENTS, FAULTS, POLICIES, ROLLOUTS, TRANSCRIPTS, Table
from whet.ledger.store import Ledger

if TYPE_CHECKING:
    from whet.ledger.writer import LedgerWriter

CONTINUED = "continued"
"""The event that says what was taken over, and from whom."""

APART = ("test", "floor", "reference", "caveats")
"""What purposes begin with that belong to a run's own claim."""


def inherit(own: LedgerWriter, other: Ledger, run: str) -> None:
    """Take over in one commit, once: all of it is there, or nothing."""
    if own.events(CONTINUED):
        return
    rows: dict[Table, list[tuple[Any, ...]]] = {POLICIES: [], ROLLOUTS: [], TRANSCRIPTS: [], FAULTS: [], EFFECTS: []}
    known = own.policies()
    for digest, body in other.table(POLICIES, "digest, body"):
        if digest not in known:
            rows[POLICIES].append((own.number(POLICIES), digest, body))
    numbers: dict[int, int] = {}
    for seq, purpose, *rest in other.table(ROLLOUTS, ROLLOUTS.columns):
        if not apart(purpose):
            numbers[seq] = own.number(ROLLOUTS)
            rows[ROLLOUTS].append((numbers[seq], purpose, *rest))
    for seq, body in other.table(TRANSCRIPTS, TRANSCRIPTS.columns):
        if seq in numbers:
            rows[TRANSCRIPTS].append((numbers[seq], body))
    for _, purpose, *rest in other.table(FAULTS, FAULTS.columns):
        if not apart(purpose):
            rows[FAULTS].append((own.number(FAULTS), purpose, *rest))
    for _, key, kind, purpose, *rest in other.table(EFFECTS, EFFECTS.columns):
        if not apart(purpose):
            rows[EFFECTS].append((own.number(EFFECTS), key, kind, purpose, *rest))
    said = {"run": run, "rollouts": len(rows[ROLLOUTS]), "effects": len(rows[EFFECTS])}
    at = other.last_commit()
    told = (own.number(EVENTS), at, CONTINUED, wire.dumps(said))
    own.write({table: each for table, each in rows.items() if each} | {EVENTS: [told]})


def apart(purpose: str) -> bool:
    """Whether what a purpose names belongs to the claim of its own run."""
    return purpose.split("/")[0].split(",")[0] in APART
