"""The writing side of a ledger: one process writes, and what it remembers is committed before anything depends on it.

A key is answered once. A fault is not an answer: it is kept beside, and the key stays open for `--retry-faults`. Every
commit adds a link to the chain and says so in `ledger.head`; a ledger that is closed is one file and is known by it.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from whet import wire
from whet.errors import WhetError
from whet.keys import policy_digest
from whet.ledger import rows, schema
from whet.ledger.chain import GENESIS, INSERT_LINK, entry, head_after
from whet.ledger.head import HeadFile, LedgerHead
from whet.ledger.journal import Journal
from whet.ledger.lock import WriterLock
from whet.ledger.proof import refuse_unsound
from whet.ledger.schema import EFFECTS, EVENTS, META, POLICIES, SETTLEMENTS, Table
from whet.ledger.store import FILE, Ledger, checked, existing, readable
from whet.types import Policy, Rollout, Usage

ANSWERED_TWICE = frozenset({"SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY"})


class LedgerWriter(Ledger):
    """A ledger that is written to. Make one with `create`, or open it again with `open`."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: WriterLock) -> None:
        super().__init__(path, connection)
        self._lock = lock
        self.journal = Journal(self)
        last = (
            connection.execute(f"SELECT {table.code}, max(seq) FROM {table.name}").fetchone() for table in schema.ALL
        )
        self._last = {code: seq or 0 for code, seq in last}
        self._link, self._head = connection.execute("SELECT coalesce(max(link), 0), head FROM chain").fetchone()
        self._head = self._head or GENESIS
        account = self.account()
        self._spent = account.spent
        self._policy: tuple[Policy, str] | None = None
        self._beside = HeadFile(path)
        self._beside.write_both(self.head)

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
            head = HeadFile(path)
            head.write_both(LedgerHead())
            head.close()
            beside.replace(path)
        return cls.open(folder)

    @classmethod
    def open(cls, folder: Path) -> LedgerWriter:
        """An existing ledger, for writing. Refused while another process writes to it, and where it is not sound."""
        path = existing(folder)
        lock = WriterLock(folder / "ledger.lock")
        try:
            with readable(path):
                db = sqlite3.connect(path, isolation_level=None)
                checked(path, db)
                refuse_unsound(path, db)
                return cls(path, _tuned(db), lock)
        except BaseException:
            lock.release()
            raise

    @property
    def head(self) -> LedgerHead:
        """Where the ledger stands now."""
        return LedgerHead(self._link, self._head.hex(), self._spent)

    def close(self) -> None:
        """Write what is pending, bring the log into the file and say what the file is."""
        try:
            if self._lock.held:
                self._seal()
        finally:
            super().close()
            self._beside.close()
            self._lock.release()

    def _seal(self) -> None:
        """Make one plain file of it. Where a reader is in the way it stays as it is, which is as safe."""
        try:
            self.journal.flush()
            self._db.execute("PRAGMA busy_timeout = 100")
            mode = self._db.execute("PRAGMA journal_mode = DELETE").fetchone()[0]
        except (sqlite3.OperationalError, WhetError):
            return
        if mode == "delete":
            self._beside.write_lasting(self.head.sealed(self.path))

    # ----------------------------------------------------------------------------------------- writing

    def _commit(self, statements: Mapping[Table, Sequence[tuple[Any, ...]]]) -> None:
        """Every write passes here: all of it is remembered, or none."""
        link, at = self._link + 1, time.time()
        named = b"".join([entry(table, row) for table, each in statements.items() for row in each])
        head = head_after(self._head, link, at, named)
        execute, executemany = self._db.execute, self._db.executemany
        execute("BEGIN")
        try:
            for table, each in statements.items():
                executemany(INSERTS[table.code], each)
            execute(INSERT_LINK, (link, at, named, head))
            execute("COMMIT")
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
        self._link, self._head = link, head
        self._beside.write(self.head)

    def write(self, entries: Mapping[Table, Sequence[tuple[Any, ...]]]) -> None:
        """Remember rows of any tables in one transaction."""
        self._commit(entries)

    def number(self, table: Table) -> int:
        """The next row's number in a table."""
        seq = self._last[table.code] = self._last[table.code] + 1
        return seq

    def may_cost(self, more: Usage, instead_of: Usage = Usage()) -> None:
        """The most that may have been paid, as `ledger.head` tells it."""
        spent = self._spent
        self._spent = Usage(
            spent.calls + more.calls - instead_of.calls,
            spent.prompt_tokens + more.prompt_tokens - instead_of.prompt_tokens,
            spent.completion_tokens + more.completion_tokens - instead_of.completion_tokens,
            0,
            None if None in (spent.usd, more.usd, instead_of.usd) else spent.usd + more.usd - instead_of.usd,  # type: ignore[operator]
        )

    def add_rollouts(self, rollouts: Sequence[Rollout]) -> None:
        """Remember rollouts in one transaction; faults go to their own table."""
        self.write(rows.outcome_rows(rollouts, self.number))

    def add_policy(self, policy: Policy) -> str:
        """Remember a policy once; returns its digest, which rollouts carry."""
        if self._policy is not None and self._policy[0] is policy:  # the one at work, once for each ticket
            return self._policy[1]
        digest = policy_digest(policy)
        if self._db.execute("SELECT 1 FROM policies WHERE digest = ?", (digest,)).fetchone() is None:
            body = {"model": policy.model, "sampling": policy.sampling, "playbook": wire.playbook_out(policy.playbook)}
            self.write({POLICIES: [(self.number(POLICIES), digest, wire.dumps(body))]})
        self._policy = (policy, digest)
        return digest

    def add_effect(self, key: str, kind: str, purpose: str, request: str, body: Any) -> None:
        """Remember an effect that is not a rollout: an optimiser's reply, a decision, a training segment."""
        self.journal.write_with(EFFECTS, (self.number(EFFECTS), key, kind, purpose, request, wire.dumps(body)))

    def add_event(self, name: str, **body: Any) -> None:
        """Note that something happened: a session began, a budget was reached."""
        self.journal.write_with(EVENTS, (self.number(EVENTS), time.time(), name, wire.dumps(body)))

    def set_meta(self, **values: str) -> None:
        """Facts of the run; those that hold already are not written again."""
        held = self.meta()
        new = [(name, value) for name, value in values.items() if held.get(name) != value or value is None]
        if new:
            self.write({META: [(self.number(META), name, value) for name, value in new]})

    def close_lost(self) -> int:
        """Settle what a kill has left open at its full reservation; returns how many attempts that were."""
        sql = f"SELECT {schema.ATTEMPTS.columns} FROM attempts WHERE seq NOT IN (SELECT seq FROM settlements)"
        lost = self._db.execute(sql).fetchall()
        if lost:
            self.write(
                {
                    SETTLEMENTS: [
                        (seq, "lost", 1, prompt, completion, 0, usd) for seq, _, _, prompt, completion, usd in lost
                    ]
                }
            )
        return len(lost)


INSERTS = {table.code: table.insert for table in schema.ALL}


def _tuned(db: sqlite3.Connection) -> sqlite3.Connection:
    """WAL with NORMAL survives a killed process; only a power cut may cost the last commits."""
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("PRAGMA wal_autocheckpoint = 4000")
    db.execute("PRAGMA cache_size = -65536")
    return db
