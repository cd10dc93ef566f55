"""The trail: what was decided, reviewed and released, entry by entry, in one file that several processes append to.

It has the ledger's chain (decision 11): every commit is a link over the entries it brought. Beside the entries stand
tables that are made from them (`decisions`, `cases`), written in the same transaction and compared by `verify`.

What may have to be taken out later, names of sites and people, stands apart from its entry, which holds a salted
commitment to it. A redaction deletes text and salt; the entry, and with it the chain, stays as it was written.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import orjson

from whet.errors import WhetError
from whet.files import own_folder, owner_only
from whet.keys import canonical
from whet.ledger.chain import GENESIS, INSERT_LINK, ChainFinding, entry, head_after, head_at, prove
from whet.ledger.head import HeadFile, LedgerHead, head_path, read_head
from whet.ledger.proof import chain_findings, file_findings
from whet.ledger.schema import Table
from whet.outside import KEYS
from whet.release.anchor import Anchor, AnchorLine

FILE = "trail.sqlite"

VERSION = 1
APPLICATION_ID = 0x57485452  # "WHTR"

REDACTED = "redacted"
"""The kind of entry that says which fields of which entries were taken out, and why."""

ANCHORED = "anchored"
"""The kind of entry that says where heads are written to from now on."""

ENTRIES = Table("entries", 1, "seq, at, kind, subject, body", blob=True)

TABLES = f"""
PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION};
CREATE TABLE entries (
    seq INTEGER PRIMARY KEY, at REAL NOT NULL, kind TEXT NOT NULL, subject TEXT NOT NULL, body BLOB NOT NULL
);
CREATE INDEX entries_by_subject ON entries (subject);
CREATE INDEX entries_by_kind ON entries (kind, subject);
CREATE TABLE private (
    seq INTEGER NOT NULL, field TEXT NOT NULL, salt BLOB NOT NULL, body BLOB NOT NULL, PRIMARY KEY (seq, field)
) WITHOUT ROWID;
CREATE TABLE decisions (
    champion TEXT NOT NULL, ticket TEXT NOT NULL, seq INTEGER NOT NULL UNIQUE, site TEXT NOT NULL,
    PRIMARY KEY (champion, ticket)
) WITHOUT ROWID;
CREATE INDEX decisions_by_site ON decisions (champion, site, seq);
CREATE TABLE cases (
    number INTEGER PRIMARY KEY, decision INTEGER NOT NULL, champion TEXT NOT NULL, ticket TEXT NOT NULL,
    code TEXT NOT NULL, priority INTEGER NOT NULL, reviewers INTEGER NOT NULL, state TEXT NOT NULL,
    holder TEXT NOT NULL, votes TEXT NOT NULL, outcome TEXT NOT NULL
);
CREATE INDEX cases_by_state ON cases (state, priority DESC, number);
CREATE TABLE chain (link INTEGER PRIMARY KEY, at REAL NOT NULL, rows BLOB NOT NULL, head BLOB NOT NULL);
"""

SALT = 16
"""Bytes of chance beside each text that stands apart."""

LOST = ", and what they say was decided is forgotten"


@dataclass(frozen=True, slots=True)
class TrailEntry:
    """One entry. `private` is what has not been redacted of what stood apart; `sealed` commits to all of it."""

    seq: int
    at: float
    kind: str
    subject: str
    record: Mapping[str, Any]
    sealed: Mapping[str, str] = field(default_factory=dict)
    private: Mapping[str, Any] = field(default_factory=dict)

    @property
    def whole(self) -> dict[str, Any]:
        """What was said, in clear and apart; what was redacted is missing."""
        return {**self.record, **self.private}


def commitment(salt: bytes, body: bytes) -> str:
    """What an entry holds of a text that stands apart: without the salt nothing can be guessed from it."""
    return hashlib.sha256(salt + body).hexdigest()


class TrailTurn:
    """A transaction on the trail: entries and what is made from them are written together, or not at all."""

    def __init__(self, db: sqlite3.Connection, at: float) -> None:
        self.db = db
        self.at = at
        self.seq = db.execute("SELECT coalesce(max(seq), 0) FROM entries").fetchone()[0]
        self.named: list[bytes] = []

    def append(
        self, kind: str, record: Mapping[str, Any], *, subject: str = "", private: Mapping[str, Any] | None = None
    ) -> TrailEntry:
        """Add an entry; keys are taken out of all that is kept, as everywhere."""
        self.seq += 1
        given = private or {}
        salts = secrets.token_bytes(SALT * len(given))
        apart = {
            name: (salts[SALT * at : SALT * (at + 1)], _plain(value)) for at, (name, value) in enumerate(given.items())
        }
        sealed = {name: commitment(*kept) for name, kept in apart.items()}
        body = KEYS.hide_bytes(canonical({"record": record, "sealed": sealed}))
        subject = KEYS.hide(subject)
        row = (self.seq, self.at, kind, subject, body)
        self.db.execute(ENTRIES.insert, row)
        self.db.executemany(
            "INSERT INTO private VALUES (?, ?, ?, ?)", [(self.seq, name, *kept) for name, kept in apart.items()]
        )
        self.named.append(entry(ENTRIES, row))
        told = {name: orjson.loads(text) for name, (_, text) in apart.items()}
        return TrailEntry(self.seq, self.at, kind, subject, orjson.loads(body)["record"], sealed, told)


class Trail:
    """The trail at a path; made when something is first appended. Readers open nothing for writing."""

    def __init__(self, path: Path, anchor: Anchor | None = None) -> None:
        self.path = path
        self.anchor = anchor
        self._lock = path.with_suffix(".lock")
        self._db: sqlite3.Connection | None = None
        self._head: HeadFile | None = None
        self._anchored = 0
        self.trouble = ""
        """Why the head could not be written elsewhere, the last time; '' where it could."""

    @classmethod
    def of(cls, releases: Path) -> Trail:
        """The trail of a folder of releases, anchored where that folder says."""
        return cls(releases / FILE, Anchor.of(releases))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------------------------------------- writing

    def append(
        self, kind: str, record: Mapping[str, Any], *, subject: str = "", private: Mapping[str, Any] | None = None
    ) -> TrailEntry:
        """Add one entry; it is committed when this returns."""
        with self.turn() as turn:
            return turn.append(kind, record, subject=subject, private=private)

    @contextmanager
    def turn(self) -> Iterator[TrailTurn]:
        """A transaction; one process writes at a time, the others wait for it."""
        db = self._open()
        assert self._head is not None
        with self._alone():
            link, before = db.execute("SELECT coalesce(max(link), 0), head FROM chain").fetchone()
            at = time.time()
            try:
                db.execute("BEGIN IMMEDIATE")
                turn = TrailTurn(db, at)
                yield turn
                link, named = link + 1, b"".join(turn.named)
                head = head_after(before or GENESIS, link, at, named)
                if named:
                    db.execute(INSERT_LINK, (link, at, named, head))
                db.execute("COMMIT")
            except BaseException as error:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                if isinstance(error, sqlite3.OperationalError):
                    raise WhetError(
                        f"{self.path}: cannot be written ({error}); nothing was decided or changed"
                    ) from None
                raise
            if not named:
                return
            self._head.write(LedgerHead(link, head.hex()))
        self._tell(AnchorLine(link, head.hex(), at))

    def _tell(self, line: AnchorLine, *, last: bool = False) -> None:
        """Write the head elsewhere. That it cannot be is told and kept for `verify`; what was decided stands."""
        anchor = self.anchor
        if anchor is None or (not last and line.link - self._anchored < anchor.every):
            return
        if anchor.path is None and not last:  # a command or a server may take its time: nobody waits for it
            self._anchored = line.link
            threading.Thread(target=self._post, args=(anchor, line), daemon=True).start()
        else:
            self._post(anchor, line)

    def _post(self, anchor: Anchor, line: AnchorLine) -> None:
        try:
            anchor.write(line)
        except WhetError as problem:
            self.trouble = str(problem)
        else:
            self._anchored, self.trouble = max(self._anchored, line.link), ""

    def _open(self) -> sqlite3.Connection:
        if self._db is not None:
            return self._db
        try:
            with owner_only():
                own_folder(self.path.parent)
                with self._alone():
                    new = not self.path.exists()
                    if new and (left := read_head(self.path)) is not None and left.link:
                        raise WhetError(
                            f"{self.path}: is gone, and {head_path(self.path).name} says that it had {left.link} "
                            "commits; put it back from a copy"
                        )
                    if new and (last := self.anchor.last() if self.anchor else None) is not None and last.link:
                        raise WhetError(
                            f"{self.path}: is gone, and {self.anchor} says that it had {last.link} commits; put it "
                            "back from a copy"
                        )
                    if new:
                        self._create()
                    db = sqlite3.connect(self.path, isolation_level=None, timeout=30.0, check_same_thread=False)
                    try:
                        if not new:
                            self._refuse_unsound(db)
                        link, head = db.execute("SELECT coalesce(max(link), 0), head FROM chain").fetchone()
                        self._head = HeadFile(self.path)
                        self._head.write_both(LedgerHead(link, (head or GENESIS).hex()))  # from here on it is open
                        db.execute("PRAGMA journal_mode = WAL")
                        db.execute("PRAGMA synchronous = NORMAL")
                        db.execute("PRAGMA secure_delete = ON")
                    except BaseException:
                        db.close()
                        raise
        except (OSError, sqlite3.DatabaseError) as problem:
            told = getattr(problem, "strerror", None) or problem
            raise WhetError(f"{self.path}: cannot be opened for writing ({told}); nothing was changed") from None
        self._db = db
        if link and self.anchor is not None and self.anchor.path is not None:
            self._tell(AnchorLine(link, head.hex(), time.time()), last=True)  # what a kill kept from arriving
        return db

    def _create(self) -> None:
        beside = self.path.with_name(f".{self.path.name}.part")
        beside.unlink(missing_ok=True)
        with closing(sqlite3.connect(beside, isolation_level=None)) as db:
            db.executescript(f"BEGIN; {TABLES} COMMIT;")
        beside.replace(self.path)

    def _refuse_unsound(self, db: sqlite3.Connection) -> None:
        _refuse_foreign(self.path, db)
        first = next(iter(self._chain_findings(db)), None)
        if first is not None:
            raise WhetError(f"{self.path}: {first.told}; nothing was added. See: whet audit verify")
        last = self.anchor.last() if self.anchor is not None else None
        held = head_at(db, last.link) if last is not None else None
        if last is not None and (held is None or held.hex() != last.head):
            # Its head would go to the anchor as well, and what was true there would stand beside it.
            raise WhetError(
                f"{self.path}: is not what was anchored with commit {last.link} ({self.anchor}); nothing was added. "
                "See: whet audit verify"
            )

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Whoever is in here writes alone: what is committed and what the head says do not part."""
        lock = os.open(self._lock, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    @contextmanager
    def at_rest(self) -> Iterator[None]:
        """File, log and head of one moment: nobody writes meanwhile. Where nothing may be written, nobody does."""
        try:
            lock = self._lock.open("a")
        except OSError:
            yield
            return
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def close(self) -> None:
        """Make one plain file of it where nobody else has it open, and say what that file is."""
        if self._db is None or self._head is None:
            return
        db, head = self._db, self._head
        self._db = self._head = None
        try:
            link, last = db.execute("SELECT coalesce(max(link), 0), head FROM chain").fetchone()
            with self._alone():
                try:
                    db.execute("PRAGMA busy_timeout = 100")
                    mode = db.execute("PRAGMA journal_mode = DELETE").fetchone()[0]
                except sqlite3.OperationalError:
                    mode = "wal"
                if mode == "delete":
                    head.write_lasting(LedgerHead(link, (last or GENESIS).hex()).sealed(self.path))
        finally:
            db.close()
            head.close()
        if link > self._anchored:
            self._tell(AnchorLine(link, (last or GENESIS).hex(), time.time()), last=True)

    # ------------------------------------------------------------------------------------------- reading

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection to read with: the writer's own, or one that cannot write."""
        if self._db is not None:
            yield self._db
            return
        if not self.path.is_file():
            raise WhetError(f"{self.path}: there is no trail here yet; nothing was decided or promoted")
        try:
            with closing(sqlite3.connect(f"{self.path.resolve().as_uri()}?mode=ro", uri=True, timeout=30.0)) as db:
                _refuse_foreign(self.path, db)
                yield db
        except sqlite3.DatabaseError as error:
            raise WhetError(f"{self.path}: cannot be read ({error}); see: whet audit verify") from None

    def entries(self, kind: str | None = None, subject: str | None = None) -> list[TrailEntry]:
        """Entries in their order."""
        if self._db is None and not self.path.is_file():
            return []
        asked = {"kind = ?": kind, "subject = ?": subject}
        where = " AND ".join(name for name, value in asked.items() if value is not None) or "1"
        bound = [value for value in asked.values() if value is not None]
        with self.reading() as db:
            found = db.execute(f"SELECT {ENTRIES.columns} FROM entries WHERE {where} ORDER BY seq", bound).fetchall()
            return [read_entry(db, row) for row in found]

    def entry(self, seq: int) -> TrailEntry:
        with self.reading() as db:
            row = db.execute(f"SELECT {ENTRIES.columns} FROM entries WHERE seq = ?", (seq,)).fetchone()
            if row is None:
                raise WhetError(f"{self.path}: there is no entry {seq}")
            return read_entry(db, row)

    def head(self) -> AnchorLine:
        """The head as a line to keep elsewhere."""
        with self.reading() as db:
            row = db.execute("SELECT link, head, at FROM chain ORDER BY link DESC LIMIT 1").fetchone()
        return AnchorLine(row[0], bytes(row[1]).hex(), row[2]) if row else AnchorLine(0, GENESIS.hex(), 0.0)

    def verify(self, anchor: Anchor | None = None, expect: str = "") -> list[str]:
        """What is wrong with the trail, a line each: chain, entries, what stands apart, what was made, the anchor."""
        from whet.release.proof import trail_findings

        return trail_findings(self, anchor or self.anchor, expect)

    def _chain_findings(self, db: sqlite3.Connection) -> list[ChainFinding]:
        head = read_head(self.path)
        if head is not None and head.file:
            return [ChainFinding(0, told) for told in file_findings(self.path, head)]
        return chain_findings(self.path, db, head, prove(db, (ENTRIES,)), LOST)


def read_entry(db: sqlite3.Connection, row: tuple[Any, ...]) -> TrailEntry:
    seq, at, kind, subject, body = row
    told = orjson.loads(body)
    apart = db.execute("SELECT field, body FROM private WHERE seq = ? ORDER BY field", (seq,))
    private = {name: orjson.loads(text) for name, text in apart}
    return TrailEntry(seq, at, kind, subject, told["record"], told["sealed"], private)


def _plain(value: Any) -> bytes:
    return KEYS.hide_bytes(canonical(value))


def _refuse_foreign(path: Path, db: sqlite3.Connection) -> None:
    if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise WhetError(f"{path}: not a trail of Whet; nothing was changed")
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version != VERSION:
        raise WhetError(f"{path}: a trail of version {version}, and this Whet knows version {VERSION}")
