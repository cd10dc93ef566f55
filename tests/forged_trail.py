"""What an operator can do to a trail who knows all of it: turn a decision around, and rehash everything behind it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from whet.ledger.chain import GENESIS, entry, head_after
from whet.ledger.head import HeadFile, LedgerHead
from whet.release.trail import ENTRIES


def rewrite(path: Path, seq: int) -> None:
    """Make the pass of an entry a fail; chain, head and the file's digest are made anew. A commit here is one entry."""
    with sqlite3.connect(path) as db:
        turned = "UPDATE entries SET body = CAST(replace(body, '\"pass\"', '\"fail\"') AS BLOB) WHERE seq = ?"
        db.execute(turned, (seq,))
        head = GENESIS
        for link, at in db.execute("SELECT link, at FROM chain ORDER BY link").fetchall():
            row = db.execute(f"SELECT {ENTRIES.columns} FROM entries WHERE seq = ?", (link,)).fetchone()
            named = entry(ENTRIES, row)
            head = head_after(head, link, at, named)
            db.execute("UPDATE chain SET rows = ?, head = ? WHERE link = ?", (named, head, link))
    file = HeadFile(path)
    file.write_lasting(LedgerHead(link, head.hex()).sealed(path))
    file.close()
