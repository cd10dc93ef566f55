"""Whether a trail is what was written: its chain, every entry, what stands apart, what was made from it, its anchor."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

from whet.errors import WhetError
from whet.ledger.chain import head_at, prove
from whet.ledger.head import read_head
from whet.ledger.proof import chain_findings, file_findings
from whet.release.anchor import SETTING, Anchor, AnchorLine
from whet.release.cases import COLUMNS, case_rows
from whet.release.trail import ANCHORED, ENTRIES, LOST, REDACTED, TrailEntry, commitment, read_entry

if TYPE_CHECKING:
    from whet.release.trail import Trail

SHOWN = 20
"""Findings that are told."""

DECIDED = "decided"
"""The kind of entry that a decision is."""


def trail_findings(trail: Trail, anchor: Anchor | None, expect: str) -> list[str]:
    """Everything is read; the first that is wrong in the order of commits comes first."""
    path = trail.path
    if not path.is_file():
        if read_head(path) is None and anchor is None and not expect:
            raise WhetError(f"{path}: there is no trail here yet; nothing was decided or promoted")
        return [f"{path.name}: is gone"]
    found: list[str] = []
    try:
        with trail.at_rest():
            head = read_head(path)
            with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)) as db:
                db.execute("BEGIN")
                proof = prove(db, (ENTRIES,))
                found += [finding.told for finding in chain_findings(path, db, head, proof, LOST)]
                found += list(_made(db)) if not found else []
                found += anchor_findings(db, anchor, expect)
                found += _place_findings(db, trail.anchor)
                found += [
                    f"{path.name}: {line}" for (line,) in db.execute("PRAGMA integrity_check(20)") if line != "ok"
                ]
            # Another process may have it open, and writes its log beside the file; then the chain alone proves it.
            found += file_findings(path, head)
    except WhetError as error:
        found.append(str(error))
    except (sqlite3.DatabaseError, UnicodeDecodeError, ValueError, KeyError, TypeError) as error:
        found.append(f"{path.name}: cannot be read ({error})")
    return found[:SHOWN]


def _made(db: sqlite3.Connection) -> Iterator[str]:
    """What stands apart must be what entries commit to; tables must be what entries make them."""
    entries = [read_entry(db, row) for row in db.execute(ENTRIES.select).fetchall()]
    yield from _apart(db, entries)
    decided = {
        (entry.record["champion"], entry.subject): (entry.seq, entry.record["site"])
        for entry in entries
        if entry.kind == DECIDED
    }
    rows = db.execute("SELECT champion, ticket, seq, site FROM decisions")
    held = {(champion, ticket): (seq, site) for champion, ticket, seq, site in rows}
    for key in sorted(decided.keys() | held.keys()):
        if decided.get(key) != held.get(key):
            yield f"decisions: {key[0]} on ticket {key[1][:12]} is not what its entry says"
    cases = case_rows(entries)
    for row in db.execute(f"SELECT {COLUMNS} FROM cases ORDER BY number"):
        if cases.pop(row[0], None) != row:
            yield f"cases: case {row[0]} is not what its entries say"
    for number in cases:
        yield f"cases: case {number} is gone"


def _apart(db: sqlite3.Connection, entries: list[TrailEntry]) -> Iterator[str]:
    """A field that is gone must have been redacted by an entry; one that was redacted must be gone."""
    redacted: set[tuple[int, str]] = {
        (seq, field)
        for entry in entries
        if entry.kind == REDACTED
        for seq, fields in ((int(seq), fields) for seq, fields in entry.record["fields"].items())
        for field in fields
    }
    held: dict[tuple[int, str], tuple[Any, ...]] = {
        (row[0], row[1]): row[2:] for row in db.execute("SELECT seq, field, salt, body FROM private")
    }
    for entry in entries:
        for field, sealed in entry.sealed.items():
            kept = held.pop((entry.seq, field), None)
            if kept is None and (entry.seq, field) not in redacted:
                yield f"entries {entry.seq}: its {field} is gone, and no redaction says so"
            elif kept is not None and commitment(*kept) != sealed:
                yield f"entries {entry.seq}: its {field} is not what was written"
            elif kept is not None and (entry.seq, field) in redacted:
                yield f"entries {entry.seq}: its {field} was redacted and is there again"
    for seq, field in held:
        yield f"entries {seq}: has a {field} that it does not speak of"


def _place_findings(db: sqlite3.Connection, anchor: Anchor | None) -> Iterator[str]:
    """Heads must go where the trail says that they go: whoever wants no witness need only name another place."""
    row = db.execute(f"SELECT {ENTRIES.columns} FROM entries WHERE kind = ? ORDER BY seq DESC", (ANCHORED,)).fetchone()
    if row is None:
        return
    place = read_entry(db, row).record["place"]
    if anchor is None or anchor.place != place:
        said = f"heads go to {anchor.place}" if anchor is not None else "nothing is anchored"
        yield f"anchor: {SETTING} says that {said}, and entry {row[0]} of the trail that they go to {place}"
    elif anchor.path is not None and not anchor.lines():
        yield f"anchor {anchor.path}: holds no line, and heads have gone there since entry {row[0]}"


def anchor_findings(db: sqlite3.Connection, anchor: Anchor | None, expect: str) -> list[str]:
    """Heads that were written elsewhere must be heads of this chain."""
    lines = [AnchorLine.parse(expect)] if expect else []
    if anchor is not None:
        lines += anchor.lines()
    found = []
    for line in lines:
        held = head_at(db, line.link)
        if held is None:
            found.append(f"anchor: the trail had {line.link} commits when it was anchored, and has fewer now")
        elif held.hex() != line.head:
            found.append(f"anchor: link {line.link} is another than was anchored; the trail was written anew")
        if found:
            break
    return found
