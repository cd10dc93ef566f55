"""The writing side of a ledger: one process writes, and what it remembers is committed before anything depends on it.

A key is answered once. A fault is not an answer: it is kept beside, and the key stays open for `--retry-faults`.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from whet import wire
from whet.errors import WhetError
from whet.keys import policy_digest
from whet.ledger import rows, schema
from whet.ledger.lock import WriterLock
from whet.ledger.store import FILE, Ledger, checked, existing, readable
from whet.types import Fault, Policy, Rollout

ANSWERED_TWICE = frozenset({"SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY"})


class LedgerWriter(Ledger):
    """A ledger that is written to. Make one with `create`, or open it again with `open`."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: WriterLock) -> None:
        super().__init__(path, connection)
        self._lock = lock
        last = connection.execute("SELECT max(seq) FROM rollouts").fetchone()[0]
        self._next_seq = 1 if last is None else last + 1

    @classmethod
    def create(cls, folder: Path) -> LedgerWriter:
        """A new ledger in `folder`, opened for writing. It appears whole: a kill meanwhile leaves none."""
        path = folder / FILE
        if path.exists():
            raise WhetError(f"{path}: there is a ledger already; open it instead")
        folder.mkdir(parents=True, exist_ok=True)
        with WriterLock(folder / "ledger.lock"):
            beside = folder / f".{FILE}.part"
            beside.unlink(missing_ok=True)
            db = sqlite3.connect(beside, isolation_level=None)
            db.executescript(
                f"BEGIN; PRAGMA application_id = {schema.APPLICATION_ID}; PRAGMA user_version = {schema.VERSION};"
                f"{schema.TABLES} COMMIT;"
            )
            db.close()
            beside.replace(path)
        return cls.open(folder)

    @classmethod
    def open(cls, folder: Path) -> LedgerWriter:
        """An existing ledger, for writing. Refused while another process writes to it."""
        path = existing(folder)
        lock = WriterLock(folder / "ledger.lock")
        try:
            with readable(path):
                db = sqlite3.connect(path, isolation_level=None)
                checked(path, db)
                return cls(path, _tuned(db), lock)
        except BaseException:
            lock.release()
            raise

    def close(self) -> None:
        super().close()
        self._lock.release()

    # ----------------------------------------------------------------------------------------- writing

    def _commit(self, statements: Sequence[tuple[str, Iterable[Sequence[Any]]]]) -> None:
        """Every write passes here: all of it is remembered, or none."""
        self._db.execute("BEGIN")
        try:
            for sql, rows in statements:
                self._db.executemany(sql, rows)
            self._db.execute("COMMIT")
        except BaseException as error:
            if self._db.in_transaction:  # a full disk ends the transaction itself
                self._db.execute("ROLLBACK")
            if getattr(error, "sqlite_errorname", "") in ANSWERED_TWICE:
                raise WhetError(
                    f"{self.path}: a key was answered twice ({error}); this is a defect of the driver"
                ) from None
            if isinstance(error, sqlite3.OperationalError):
                raise WhetError(
                    f"{self.path}: cannot be written ({error}); what was remembered before is kept, make room or mend "
                    "the folder and start the run again"
                ) from None
            raise

    def add_rollouts(self, rollouts: Sequence[Rollout]) -> None:
        """Remember rollouts in one transaction; faults go to their own table."""
        done = list(
            enumerate((rollout for rollout in rollouts if not isinstance(rollout.outcome, Fault)), self._next_seq)
        )
        faults = [rows.fault_row(rollout) for rollout in rollouts if isinstance(rollout.outcome, Fault)]
        statements: list[tuple[str, Iterable[Sequence[Any]]]] = []
        if done:
            statements.append((rows.INSERT_ROLLOUT, [rows.rollout_row(seq, rollout) for seq, rollout in done]))
            statements.append((rows.INSERT_TRANSCRIPT, [rows.transcript_row(seq, rollout) for seq, rollout in done]))
        if faults:
            statements.append((rows.INSERT_FAULT, faults))
        self._commit(statements)
        self._next_seq += len(done)

    def add_policy(self, policy: Policy) -> str:
        """Remember a policy once; returns its digest, which rollouts carry."""
        digest = policy_digest(policy)
        body = {"model": policy.model, "sampling": policy.sampling, "playbook": wire.playbook_out(policy.playbook)}
        self._commit([("INSERT OR IGNORE INTO policies VALUES (?, ?)", [(digest, wire.dumps(body))])])
        return digest

    def add_effect(self, key: str, kind: str, purpose: str, request: str, body: Any) -> None:
        """Remember an effect that is not a rollout: an optimiser's reply, a decision, a training segment."""
        row = (key, kind, purpose, request, wire.dumps(body))
        self._commit([("INSERT INTO effects (key, kind, purpose, request, body) VALUES (?, ?, ?, ?, ?)", [row])])

    def add_event(self, name: str, **body: Any) -> None:
        """Note that something happened: a session began, a budget was reached. Nothing depends on events."""
        row = (time.time(), name, wire.dumps(body))
        self._commit([("INSERT INTO events (at, name, body) VALUES (?, ?, ?)", [row])])

    def set_meta(self, **values: str) -> None:
        self._commit([("INSERT OR REPLACE INTO meta VALUES (?, ?)", list(values.items()))])


def _tuned(db: sqlite3.Connection) -> sqlite3.Connection:
    """WAL with NORMAL survives a killed process; only a power cut may cost the last commits."""
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("PRAGMA wal_autocheckpoint = 4000")
    db.execute("PRAGMA cache_size = -65536")
    return db
