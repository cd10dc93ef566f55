"""The chain: every commit is a link that names its rows by their digests and follows from the link before.

A row that was changed, added or taken away, and a commit that is missing, no longer fit. Whoever can write the file can
write another chain, so the head of it is worth keeping elsewhere: `whet verify RUN --head`.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from struct import Struct
from struct import error as StructError  # noqa: N812
from typing import Any

import orjson

from whet.ledger.schema import ALL, Table

GENESIS = bytes(16)
"""What the first link follows from."""

SHOWN = 20
"""Findings that are told; the first is what matters."""

INSERT_LINK = "INSERT INTO chain (link, at, rows, head) VALUES (?, ?, ?, ?)"

_ENTRY = Struct(">Bq16s")
_STAMP = Struct(">qd")


def row_digest(table: Table, row: Sequence[Any]) -> bytes:
    """What stands for a row: its table, its values, its blob."""
    if table.blob:
        return hashlib.sha256(orjson.dumps((table.code, *row[:-1])) + row[-1]).digest()[:16]
    return hashlib.sha256(orjson.dumps((table.code, *row))).digest()[:16]


def entry(table: Table, row: Sequence[Any]) -> bytes:
    """A row as a link names it."""
    return _ENTRY.pack(table.code, row[0], row_digest(table, row))


def head_after(head: bytes, link: int, at: float, rows: bytes) -> bytes:
    """The head of the chain once a link has been added to it."""
    return hashlib.sha256(head + _STAMP.pack(link, at) + rows).digest()[:16]


@dataclass(frozen=True, slots=True)
class ChainFinding:
    """Something that does not fit. `link` is the commit that it belongs to; 0 where none can be said to."""

    link: int
    told: str


@dataclass(frozen=True, slots=True)
class ChainProof:
    """What going along the whole chain has shown: how far it goes, where it ends, what does not fit."""

    links: int
    head: bytes
    findings: tuple[ChainFinding, ...]


@dataclass(frozen=True, slots=True)
class Link:
    number: int
    at: float
    rows: bytes
    head: bytes

    def entries(self) -> Iterator[tuple[int, int, bytes]]:
        """Code of the table, number and digest of every row that the commit brought."""
        whole = len(self.rows) // _ENTRY.size * _ENTRY.size
        return _ENTRY.iter_unpack(self.rows[:whole])


def links(db: sqlite3.Connection) -> Iterator[Link]:
    for row in db.execute("SELECT link, at, rows, head FROM chain ORDER BY link"):
        yield Link(*row)


def head_at(db: sqlite3.Connection, link: int) -> bytes | None:
    """The head as it was after a link; None where the chain does not reach so far."""
    if link == 0:
        return GENESIS
    row = db.execute("SELECT head FROM chain WHERE link = ?", (link,)).fetchone()
    return None if row is None else bytes(row[0])


def prove(db: sqlite3.Connection, tables: Sequence[Table] = ALL) -> ChainProof:
    """Go along the whole chain and over every row of every table; a chain may stand over other tables than a run's."""
    found: list[ChainFinding] = []
    named: dict[int, list[tuple[int, bytes, int]]] = {table.code: [] for table in tables}
    head, last = GENESIS, 0
    try:
        for link in links(db):
            if link.number != last + 1:
                found.append(ChainFinding(last + 1, f"chain: link {last + 1} is missing"))
            elif not _follows(head, link):
                found.append(
                    ChainFinding(link.number, f"chain: link {link.number} does not follow from the one before")
                )
            for code, seq, digest in link.entries():
                if code in named:
                    named[code].append((seq, digest, link.number))
            head, last = link.head, link.number
    except (sqlite3.DatabaseError, TypeError, ValueError, StructError) as error:
        found.append(ChainFinding(last + 1, f"chain: cannot be read after link {last} ({error})"))
    for table in tables:
        found.extend(_table(db, table, sorted(named[table.code])))
    found.sort(key=lambda finding: finding.link or last + 1)
    return ChainProof(last, head, tuple(found[:SHOWN]))


def _follows(head: bytes, link: Link) -> bool:
    try:
        return len(link.rows) % _ENTRY.size == 0 and link.head == head_after(head, link.number, link.at, link.rows)
    except (TypeError, StructError):  # a damaged link may hold values of any type
        return False


def _table(db: sqlite3.Connection, table: Table, named: Sequence[tuple[int, bytes, int]]) -> Iterator[ChainFinding]:
    """Rows of a table that are not what the chain names, in the order of their numbers."""
    at, seq = 0, 0
    try:
        for row in db.execute(table.select):
            seq = row[0]
            while at < len(named) and named[at][0] < seq:
                yield ChainFinding(named[at][2], f"{table.name} {named[at][0]}: the row is gone")
                at += 1
            if at == len(named) or named[at][0] != seq:
                yield ChainFinding(0, f"{table.name} {seq}: no commit has written this row{where(table, row)}")
                continue
            if not sound(table, row, named[at][1]):
                yield ChainFinding(named[at][2], f"{table.name} {seq}: not what was written{where(table, row)}")
            at += 1
    except (sqlite3.DatabaseError, TypeError, ValueError) as error:
        yield ChainFinding(
            named[at][2] if at < len(named) else 0, f"{table.name}: cannot be read after {seq} ({error})"
        )
        return
    for gone, _, link in named[at:]:
        yield ChainFinding(link, f"{table.name} {gone}: the row is gone")


def sound(table: Table, row: Sequence[Any], digest: bytes) -> bool:
    """Whether a row is what the chain names; one with values of foreign types is not."""
    try:
        return row_digest(table, row) == digest
    except (TypeError, ValueError):
        return False


def where(table: Table, row: Sequence[Any]) -> str:
    """What a row is about, for a person."""
    columns = dict(zip(table.columns.replace(",", " ").split(), row, strict=True))
    if "task" in columns:
        return " ({split}/{task} draw {draw} of {purpose})".format(**columns)
    return f" ({columns['name']})" if "name" in columns else ""
