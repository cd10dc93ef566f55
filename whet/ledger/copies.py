"""Copies of a ledger: a backup that was proved to be one, and what is sound of a ledger that is not.

A backup may be taken while the run is under way. A salvaged ledger is a new one, with a chain of its own: it holds
every row that is what was written, says in an event what it lacks, and counts what lost rows may have cost as spent.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from whet.errors import WhetError
from whet.ledger.account import account_of, amount
from whet.ledger.chain import Link, prove, sound
from whet.ledger.head import HeadFile, LedgerHead, head_path, read_head
from whet.ledger.rows import Rows
from whet.ledger.schema import ALL, ATTEMPTS, ROLLOUTS, SETTLEMENTS, TRANSCRIPTS, Table
from whet.ledger.store import FILE, SOURCES, Ledger, existing, readable
from whet.ledger.writer import LedgerWriter
from whet.types import Usage

SALVAGED = "salvaged"
"""The event that says what a salvaged ledger lacks."""

LONGEST = 1 << 40
"""Bytes that no ledger has, whatever a damaged header says; the end that is made up takes no room."""

_TABLES = {table.code: table for table in ALL}
_PAIRS = {ROLLOUTS.code: TRANSCRIPTS, TRANSCRIPTS.code: ROLLOUTS}


def backup_ledger(folder: Path, target: Path) -> LedgerHead:
    """Copy the ledger of a run to `target`, with its head beside it, once the copy has been proved."""
    if target.exists():
        raise WhetError(f"{target}: is there already; name another file")
    beside = target.with_name(f".{target.name}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        beside.unlink(missing_ok=True)
        with Ledger.read(folder) as ledger, closing(sqlite3.connect(beside, isolation_level=None)) as copy:
            ledger.copy_to(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
            proof, spent = prove(copy), account_of(copy).spent
        if proof.findings:
            raise WhetError(f"{folder / FILE}: {proof.findings[0].told}; no copy was made")
        head = LedgerHead(proof.links, proof.head.hex(), spent).sealed(beside)
        file = HeadFile(target)
        file.write_lasting(head)
        file.close()
        beside.replace(target)
    except OSError as error:
        raise WhetError(f"{target}: cannot be written ({error.strerror})") from None
    finally:
        beside.unlink(missing_ok=True)
    return head


@dataclass(slots=True)
class Salvage:
    """What was kept of a ledger and what was not, by table."""

    kept: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    commits: int = 0
    """Commits that are gone whole."""
    maybe: Usage = Usage()
    """What the lost rows may have cost."""

    def __str__(self) -> str:
        kept = ", ".join(f"{count} {name}" for name, count in self.kept.items() if count) or "nothing"
        lost = ", ".join(f"{count} {name}" for name, count in self.lost.items() if count) or "no row"
        said = f"kept {kept}; lost {lost}"
        if self.commits:
            said += f" and {self.commits} whole commits"
        return f"{said}; may have been paid for what is lost: {amount(self.maybe)}" if self.maybe.calls else said


def salvage_ledger(folder: Path, out: Path) -> Salvage:
    """Write what is sound of the run in `folder` to `out`, from where it can be continued."""
    path = existing(folder)
    if out.exists():
        raise WhetError(f"{out}: is there already; name another folder")
    try:
        head = read_head(path)
    except WhetError:
        head = None
    found = Salvage()
    with (
        _full_length(path) as file,
        readable(path),
        closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as db,
    ):
        last = head.link if head is not None else 0
        with LedgerWriter.create(out) as ledger:
            for link in _links(db, last, found):
                if kept := _sound_rows(db, link, found):
                    ledger.write(kept)
        _copy_files(folder, out)
    with LedgerWriter.open(out) as ledger:
        _count_lost(ledger, head, found)
        ledger.add_event(
            SALVAGED, kept=dict(found.kept), lost=dict(found.lost), commits=found.commits, maybe=found.maybe
        )
    return found


@contextmanager
def _full_length(path: Path) -> Iterator[Path]:
    """The file, or a copy as long as its header says: of one whose end is cut off nothing could be read otherwise."""
    with path.open("rb") as file:
        header = file.read(32)
    size = int.from_bytes(header[16:18])
    full = int.from_bytes(header[28:32]) * (65536 if size == 1 else size)
    if not path.stat().st_size < full < LONGEST:
        yield path
        return
    with TemporaryDirectory(prefix="whet-salvage-") as place:
        copy = Path(place) / path.name
        for name in (path.name, f"{path.name}-wal"):
            if path.with_name(name).exists():
                shutil.copyfile(path.with_name(name), copy.with_name(name))
        os.truncate(copy, full)
        yield copy


def _links(db: sqlite3.Connection, last: int, found: Salvage) -> Iterator[Link]:
    """The links that can be read, by number: a damaged page costs those on it and no others."""
    with suppress(sqlite3.DatabaseError):
        last = max(last, db.execute("SELECT coalesce(max(link), 0) FROM chain").fetchone()[0])
    for number in range(1, last + 1):
        row = _fetched(db, "SELECT link, at, rows, head FROM chain WHERE link = ?", number)
        if row is None or not isinstance(row[2], bytes):
            found.commits += 1
            continue
        yield Link(*row)


def _sound_rows(db: sqlite3.Connection, link: Link, found: Salvage) -> Rows:
    """The rows of a commit that are what was written. A rollout goes with its transcript, or not at all."""
    read: dict[tuple[int, int], tuple[Any, ...]] = {}
    for code, seq, digest in link.entries():
        table = _TABLES.get(code)
        if table is None:
            continue
        row = _fetched(db, f"SELECT {table.columns} FROM {table.name} WHERE seq = ?", seq)
        if row is not None and sound(table, row, digest):
            read[code, seq] = row
        else:
            found.lost[table.name] += 1
    kept: Rows = {}
    for (code, seq), row in read.items():
        other = _PAIRS.get(code)
        if other is None or (other.code, seq) in read:
            kept.setdefault(_TABLES[code], []).append(row)
            found.kept[_TABLES[code].name] += 1
        else:
            found.lost[_TABLES[code].name] += 1
    return kept


def _fetched(db: sqlite3.Connection, sql: str, number: int) -> tuple[Any, ...] | None:
    try:
        row: tuple[Any, ...] | None = db.execute(sql, (number,)).fetchone()
    except sqlite3.DatabaseError:
        return None
    return row


def _count_lost(ledger: LedgerWriter, head: LedgerHead | None, found: Salvage) -> None:
    """What the lost rows may have cost, by what the head of the ledger had counted, as one attempt that was lost."""
    if head is None:
        return
    own, all_ = ledger.account().spent, head.spent
    calls, prompt, completion = (
        max(0, getattr(all_, name) - getattr(own, name)) for name in ("calls", "prompt_tokens", "completion_tokens")
    )
    usd = None if all_.usd is None or own.usd is None else max(0.0, all_.usd - own.usd)
    found.maybe = Usage(calls, prompt, completion, 0, usd)
    if calls:
        seq = ledger.number(ATTEMPTS)
        lost: dict[Table, list[tuple[Any, ...]]] = {
            ATTEMPTS: [(seq, SALVAGED, SALVAGED, prompt, completion, usd)],
            SETTLEMENTS: [(seq, "lost", calls, prompt, completion, 0, usd)],
        }
        ledger.write(lost)


def _copy_files(folder: Path, out: Path) -> None:
    """What a run needs beside its ledger to be continued; what was made from the ledger is made again.

    What it was made from goes along, and folders with ledgers of their own, those of its gates: what they spent was
    paid from the same purse.
    """
    own = {FILE, head_path(Path(FILE)).name, "ledger.lock", "purse.lock"}
    for file in folder.iterdir():
        if file.is_file() and file.name not in own and not file.name.startswith((".", FILE)):
            shutil.copyfile(file, out / file.name)
        elif file.is_dir() and (file.name == SOURCES or any(file.rglob(FILE))):
            shutil.copytree(file, out / file.name, ignore=shutil.ignore_patterns("*.lock"))
