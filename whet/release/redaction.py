"""Redaction: text about a site or a person is taken out of the trail; an entry says that it was, by whom and why."""

from __future__ import annotations

from collections.abc import Sequence

from whet.errors import WhetError
from whet.release.trail import REDACTED, Trail


def redact(trail: Trail, subject: str, *, fields: Sequence[str] = (), why: str, who: str) -> int:
    """Take fields of all entries about a ticket out, all of them by default; returns how many there were.

    The bytes are overwritten and the log is emptied, so that they are nowhere in the files of the trail.
    """
    if not why.strip() or not who.strip():
        raise WhetError("a redaction says who asked for it and why: --who NAME --why TEXT")
    with trail.turn() as turn:
        found = turn.db.execute(
            "SELECT seq, field FROM private JOIN entries USING (seq) WHERE subject = ? ORDER BY seq, field", (subject,)
        ).fetchall()
        gone: dict[str, list[str]] = {}
        for seq, field in found:
            if not fields or field in fields:
                gone.setdefault(str(seq), []).append(field)
        if not gone:
            raise WhetError(f"{subject[:16]}: nothing of it stands apart in the trail, or it was redacted already")
        turn.append(REDACTED, {"fields": gone, "why": why, "who": who}, subject=subject)
        turn.db.executemany(
            "DELETE FROM private WHERE seq = ? AND field = ?",
            [(int(seq), field) for seq, names in gone.items() for field in names],
        )
    with trail.reading() as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return sum(map(len, gone.values()))
