"""The ledger: one SQLite file per run in which every effect is remembered under its key before anything depends on it.

A key is answered once. A fault is not an answer: it is kept beside, and the key stays open for `--retry-faults`.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from whet import wire
from whet.errors import ReplayMismatch, WhetError
from whet.keys import policy_digest
from whet.ledger import rows, schema
from whet.ledger.lock import WriterLock
from whet.types import Fault, Outcome, Policy, Rollout, Sampling, Usage

FILE = "ledger.sqlite"

CONSULTED = "consulted"
"""The kind of effect that holds a reply of the optimiser; what it cost stands in it."""


class Event(NamedTuple):
    at: float
    name: str
    body: dict[str, Any]


class Ledger:
    """The record of one run. Open it with `create`, `open` (one writer) or `read` (any number of readers)."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: WriterLock | None) -> None:
        self.path = path
        self._db = connection
        self._lock = lock
        last = connection.execute("SELECT max(seq) FROM rollouts").fetchone()[0]
        self._next_seq = 1 if last is None else last + 1

    # ----------------------------------------------------------------------------------------- opening

    @classmethod
    def create(cls, folder: Path) -> Ledger:
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
    def open(cls, folder: Path) -> Ledger:
        """An existing ledger, for writing. Refused while another process writes to it."""
        path = _existing(folder)
        lock = WriterLock(folder / "ledger.lock")
        try:
            with _readable(path):
                db = sqlite3.connect(path, isolation_level=None)
                _check(path, db)
                return cls(path, _tuned(db), lock)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def read(cls, folder: Path) -> Ledger:
        """An existing ledger, for reading; a run may be writing to it meanwhile."""
        path = _existing(folder)
        with _readable(path):
            db = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)
            _check(path, db)
            return cls(path, db, None)

    def close(self) -> None:
        self._db.close()
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ----------------------------------------------------------------------------------------- writing

    def _commit(self, statements: Sequence[tuple[str, Iterable[Sequence[Any]]]]) -> None:
        """Every write passes here: all of it is remembered, or none."""
        self._db.execute("BEGIN")
        try:
            for sql, rows in statements:
                self._db.executemany(sql, rows)
        except sqlite3.IntegrityError as error:
            self._db.execute("ROLLBACK")
            raise WhetError(
                f"{self.path}: a key was answered twice ({error}); this is a defect of the driver"
            ) from None
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def add_rollouts(self, rollouts: Sequence[Rollout]) -> None:
        """Remember rollouts in one transaction; faults go to their own table."""
        done = list(enumerate((one for one in rollouts if not isinstance(one.outcome, Fault)), self._next_seq))
        faults = [rows.fault_row(one) for one in rollouts if isinstance(one.outcome, Fault)]
        statements: list[tuple[str, Iterable[Sequence[Any]]]] = []
        if done:
            statements.append((rows.INSERT_ROLLOUT, [rows.rollout_row(seq, one) for seq, one in done]))
            statements.append((rows.INSERT_TRANSCRIPT, [rows.transcript_row(seq, one) for seq, one in done]))
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

    # ----------------------------------------------------------------------------------------- looking up

    def meta(self) -> dict[str, str]:
        return dict(self._db.execute("SELECT name, value FROM meta"))

    def has_rollout(self, key: str, request: str, where: str) -> bool:
        """Whether `key` is answered; stops the run when it was answered to another request than `request`."""
        row = self._db.execute("SELECT request FROM rollouts WHERE key = ?", (key,)).fetchone()
        return row is not None and _same_request(self.path, row[0], request, where)

    def faulted(self) -> frozenset[str]:
        """The keys that have met a fault, answered since or not."""
        return frozenset(key for (key,) in self._db.execute("SELECT DISTINCT key FROM faults"))

    def effect(self, key: str, request: str, where: str) -> Any | None:
        """The body remembered under `key`, or None; a mismatching request stops the run."""
        row = self._db.execute("SELECT request, body FROM effects WHERE key = ?", (key,)).fetchone()
        return orjson.loads(row[1]) if row is not None and _same_request(self.path, row[0], request, where) else None

    def rollout(self, key: str) -> Rollout | None:
        sql = "SELECT body FROM rollouts JOIN transcripts USING (seq) WHERE key = ?"
        row = self._db.execute(sql, (key,)).fetchone()
        return wire.rollout_in(orjson.loads(row[0])) if row else None

    def rollouts(self, purpose: str) -> Iterator[Rollout]:
        """Answered rollouts of a purpose with their transcripts, by task and draw."""
        sql = "SELECT body FROM rollouts JOIN transcripts USING (seq) WHERE purpose = ? ORDER BY split, task, draw, key"
        for (body,) in self._db.execute(sql, (purpose,)):
            yield wire.rollout_in(orjson.loads(body))

    def outcomes(self, purpose: str | None = None) -> Iterator[Outcome]:
        """Rollouts without transcripts, by purpose, task and draw; then open faults, the last of each key."""
        where = "" if purpose is None else "WHERE purpose = ?"
        bound = () if purpose is None else (purpose,)
        order = "ORDER BY purpose, split, task, draw, key"
        for row in self._db.execute(f"SELECT {rows.OUTCOME} FROM rollouts {where} {order}", bound):
            yield rows.outcome(row)
        latest = f"""SELECT {rows.FAULTED} FROM faults WHERE seq IN (SELECT max(seq) FROM faults GROUP BY key)
            AND key NOT IN (SELECT key FROM rollouts)"""
        narrowed = "" if purpose is None else "AND purpose = ?"
        for row in self._db.execute(f"{latest} {narrowed} {order}", bound):
            yield rows.faulted(row)

    def outcomes_of(self, keys: Iterable[str]) -> list[Outcome]:
        """Rollouts without transcripts by key, in the order given; keys without an answer are left out."""
        sql = f"SELECT {rows.OUTCOME} FROM rollouts WHERE key = ?"
        found = (self._db.execute(sql, (key,)).fetchone() for key in keys)
        return [rows.outcome(row) for row in found if row is not None]

    def open_fault(self, purpose: str) -> Fault | None:
        """The latest fault of a purpose whose key has no answer yet."""
        sql = """SELECT body FROM faults WHERE purpose = ? AND key NOT IN (SELECT key FROM rollouts)
            ORDER BY seq DESC LIMIT 1"""
        row = self._db.execute(sql, (purpose,)).fetchone()
        outcome = wire.outcome_in(orjson.loads(row[0])) if row else None
        return outcome if isinstance(outcome, Fault) else None

    def policy(self, digest: str) -> Policy:
        row = self._db.execute("SELECT body FROM policies WHERE digest = ?", (digest,)).fetchone()
        if row is None:
            raise WhetError(f"{self.path}: no policy {digest} in this ledger")
        data = orjson.loads(row[0])
        sampling = {**data["sampling"], "stop": tuple(data["sampling"]["stop"])}
        return Policy(data["model"], Sampling(**sampling), wire.playbook_in(data["playbook"]))

    def events(self, name: str | None = None) -> list[Event]:
        where = "" if name is None else "WHERE name = ?"
        rows = self._db.execute(
            f"SELECT at, name, body FROM events {where} ORDER BY seq", () if name is None else (name,)
        )
        return [Event(at, kind, orjson.loads(body)) for at, kind, body in rows]

    def counts(self) -> dict[str, int]:
        """How many records each table holds."""
        tables = ("rollouts", "faults", "effects", "events", "policies")
        return {table: self._db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables}

    def spent(self) -> Usage:
        """What all sessions of this run have used so far, faulted attempts included."""
        total = Usage()
        for table, cached in (("rollouts", "sum(cached_tokens)"), ("faults", "0")):
            row = self._db.execute(
                f"""SELECT coalesce(sum(calls), 0), coalesce(sum(prompt_tokens), 0),
                coalesce(sum(completion_tokens), 0), coalesce({cached}, 0), coalesce(sum(usd), 0.0),
                coalesce(sum(usd IS NULL), 0) FROM {table}"""
            ).fetchone()
            calls, prompt, completion, reused, usd, unpriced = row
            total += Usage(calls, prompt, completion, reused, None if unpriced else usd)
        for event in self.events("abandoned"):
            total += Usage(**event.body["usage"])
        for _, body in self.effects(CONSULTED):
            total += Usage(**body["reply"]["usage"])
        return total

    def effects(self, kind: str) -> Iterator[tuple[str, Any]]:
        """Purpose and body of every effect of a kind, in the order of their commits."""
        for purpose, body in self._db.execute("SELECT purpose, body FROM effects WHERE kind = ? ORDER BY seq", (kind,)):
            yield purpose, orjson.loads(body)


def _existing(folder: Path) -> Path:
    path = folder / FILE
    if not path.is_file():
        raise WhetError(f"{folder}: no run here (no {FILE}); 'whet runs' lists what there is")
    return path


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turns SQLite's words about a damaged or busy file into ours."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise WhetError(f"{path}: cannot be opened ({error}); check permissions and free space") from None
    except sqlite3.DatabaseError as error:
        raise WhetError(f"{path}: damaged or not a ledger ({error}); restore it from a copy") from None


def _check(path: Path, db: sqlite3.Connection) -> None:
    """Refuses foreign files, newer ledgers and damage; small ledgers are read whole, large ones at both ends."""
    if db.execute("PRAGMA application_id").fetchone()[0] != schema.APPLICATION_ID:
        raise WhetError(f"{path}: not a ledger of Whet; nothing was changed")
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version > schema.VERSION:
        raise WhetError(
            f"{path}: written by a newer Whet (ledger version {version}, this one reads {schema.VERSION}); "
            "upgrade with: pip install -U whet"
        )
    if path.stat().st_size < 64 << 20:
        verdict = db.execute("PRAGMA quick_check(1)").fetchone()[0]
        if verdict != "ok":
            raise sqlite3.DatabaseError(verdict.splitlines()[0])
    db.execute("SELECT length(body) FROM transcripts ORDER BY seq DESC LIMIT 1").fetchone()


def _tuned(db: sqlite3.Connection) -> sqlite3.Connection:
    """WAL with NORMAL survives a killed process; only a power cut may cost the last commits."""
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("PRAGMA wal_autocheckpoint = 4000")
    db.execute("PRAGMA cache_size = -65536")
    return db


def _same_request(path: Path, stored: str, request: str, where: str) -> bool:
    if stored != request:
        raise ReplayMismatch(
            f"{path}: {where} was answered to another request (hash {stored[:12]}, now {request[:12]}): the "
            "environment or the prompt changed without its fingerprint; restore it, or start a new run (--seed)"
        )
    return True
