"""Whether a ledger is what was written: by the digest of its file where it was closed, else along its whole chain."""

from __future__ import annotations

import fcntl
import sqlite3
from contextlib import closing
from functools import lru_cache
from pathlib import Path

from whet.errors import WhetError, typed
from whet.ledger.chain import GENESIS, ChainFinding, ChainProof, head_at, prove
from whet.ledger.head import LedgerHead, file_digest, head_path, read_head
from whet.ledger.schema import VERSION


def refuse_unsound(path: Path, db: sqlite3.Connection) -> None:
    """Raises where a ledger is not what was written, before anything is read from it or asked again."""
    head = read_head(path)
    if head is not None and head.file and _closed(path) and _known(path) == head.file:
        return
    first = next(iter(chain_findings(path, db, head, prove(db))), None)
    if first is not None:
        raise WhetError(
            f"{path}: {first.told}; nothing was asked or changed. Restore it from a copy, or keep what is sound with: "
            f"whet salvage {typed(path.parent)} OUT"
        )


def ledger_findings(path: Path, expect: str = "") -> list[str]:
    """What is wrong with a ledger, a line each, the first bad row first; `expect` is a head that was kept elsewhere.

    Everything is read: the file as bytes where it was closed, its structure, the chain and every row.
    """
    try:
        head = read_head(path)
        live = under_way(path)
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)) as db:
            db.execute("BEGIN")
            proof = prove(db)
            found = [finding.told for finding in chain_findings(path, db, head, proof)]
            if expect and not _anchored(db, expect):
                found.append(f"the head {expect} is nowhere in its chain: it does not go on from what was anchored")
            damage = [line for (line,) in db.execute("PRAGMA integrity_check(20)")]
    except WhetError as error:
        return [str(error)]
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        found, damage, live, head = [], [str(error)], False, None
    found += [f"{path.name}: {line}" for line in damage if line != "ok"]
    return found + ([] if live else file_findings(path, head))


def anchor_line(path: Path) -> str:
    """The head of a ledger as a line to keep, to sign or to publish: it stands for all that was written so far."""
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as db:
        link = db.execute("SELECT coalesce(max(link), 0) FROM chain").fetchone()[0]
        head = head_at(db, link) or b""
    return f"whet-ledger {VERSION} {path.resolve().parent.name} {link} {head.hex()}"


def _anchored(db: sqlite3.Connection, expect: str) -> bool:
    """Whether the chain has come by a head; a whole line may be given, of which the last word is the head."""
    try:
        head = bytes.fromhex(expect.split()[-1])
    except (ValueError, IndexError):
        raise WhetError(
            f"--expect {expect!r}: not a head; give the line that 'whet verify RUN --head' printed"
        ) from None
    return head == GENESIS or db.execute("SELECT 1 FROM chain WHERE head = ?", (head,)).fetchone() is not None


PAID = ", and going on would ask and pay for what they hold again"


def chain_findings(
    path: Path, db: sqlite3.Connection, head: LedgerHead | None, proof: ChainProof, lost: str = PAID
) -> list[ChainFinding]:
    """What does not fit within a ledger, and between it and what stands beside it; `lost`: what lost commits mean."""
    found = list(proof.findings)
    if head is None:
        if proof.links:
            found.append(
                ChainFinding(0, f"{head_path(path).name} is gone, so nothing says how far the ledger had come")
            )
    elif head.link > proof.links:
        gone = head.link - proof.links
        found.append(
            ChainFinding(
                proof.links + 1,
                f"the last {gone} of {head.link} commits are gone (was {path.name}-wal deleted, or an older copy put "
                f"here?){lost}",
            )
        )
    elif (held := head_at(db, head.link)) is not None and held.hex() != head.head:
        found.append(ChainFinding(head.link, f"link {head.link} is another than {head_path(path).name} says"))
    return found


def file_findings(path: Path, head: LedgerHead | None) -> list[str]:
    """Whether the file of a closed ledger is byte for byte what it was when it was closed."""
    if head is None or not head.file:
        return []
    if not _closed(path):
        return [f"{path.name}-wal: lies beside a ledger that was closed"]
    if path.stat().st_size != head.size or file_digest(path) != head.file:
        return [f"{path.name}: the file is not what it was when it was closed"]
    return []


def under_way(path: Path) -> bool:
    """Whether a process writes to the ledger now."""
    lock = path.parent / "ledger.lock"
    try:
        with lock.open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def _closed(path: Path) -> bool:
    """Whether no log lies beside the file; an empty one says nothing."""
    log = path.with_name(f"{path.name}-wal")
    return not log.exists() or log.stat().st_size == 0


def _known(path: Path) -> str:
    """The digest of a file, reckoned once as long as nobody touches it."""
    told = path.stat()
    return _digest(path, told.st_ino, told.st_size, told.st_mtime_ns)


@lru_cache(maxsize=256)
def _digest(path: Path, inode: int, size: int, changed: int) -> str:
    return file_digest(path)
