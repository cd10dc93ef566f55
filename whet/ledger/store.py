"""The ledger: one SQLite file per run in which every effect is remembered under its key. This is its reading side."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

import orjson

from whet import wire
from whet.errors import ReplayMismatch, WhetError
from whet.extras import newer
from whet.ledger import rows, schema
from whet.ledger.account import Account, account_of
from whet.ledger.proof import refuse_unsound, under_way
from whet.types import Fault, Outcome, Policy, Rollout, Sampling

FILE = "ledger.sqlite"
SOURCES = "sources"
"""Beside the ledger: the folder in which a run keeps the files that its config names."""

CONSULTED = "consulted"
"""The kind of effect that holds a reply of the optimiser; what it cost stands in it."""


class Event(NamedTuple):
    at: float
    name: str
    body: dict[str, Any]


class Ledger:
    """The record of one run, as any number of readers see it; the run may be under way meanwhile."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._db = connection

    @classmethod
    def read(cls, folder: Path) -> Ledger:
        """An existing ledger, for reading; refused where it is not what was written."""
        ledger = cls.unproved(folder)
        try:
            if not under_way(ledger.path):
                with readable(ledger.path):
                    refuse_unsound(ledger.path, ledger._db)
        except BaseException:
            ledger.close()
            raise
        return ledger

    @classmethod
    def unproved(cls, folder: Path) -> Ledger:
        """A ledger as it is, to say what is wrong with it."""
        path = existing(folder)
        with readable(path):
            db = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)
            checked(path, db)
            return cls(path, db)

    def close(self) -> None:
        self._db.close()

    def copy_to(self, other: sqlite3.Connection) -> None:
        """A copy of the whole ledger as it is at one moment."""
        self._db.backup(other)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ----------------------------------------------------------------------------------------- looking up

    def meta(self) -> dict[str, str]:
        return dict(self._db.execute("SELECT name, value FROM meta ORDER BY seq"))

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

    def purposes(self) -> list[str]:
        """What rollouts were made for, those that ended in a fault included."""
        sql = "SELECT purpose FROM rollouts UNION SELECT purpose FROM faults ORDER BY purpose"
        return [purpose for (purpose,) in self._db.execute(sql)]

    def rollouts(self, purpose: str) -> Iterator[Rollout]:
        """Answered rollouts of a purpose with their transcripts, by task and draw."""
        sql = "SELECT body FROM rollouts JOIN transcripts USING (seq) WHERE purpose = ? ORDER BY split, task, draw, key"
        for (body,) in self._db.execute(sql, (purpose,)):
            yield wire.rollout_in(orjson.loads(body))

    def rollouts_on(self, split: str, task: int) -> Iterator[Rollout]:
        """Answered rollouts of one task with their transcripts, by purpose and draw."""
        sql = """SELECT body FROM rollouts JOIN transcripts USING (seq) WHERE split = ? AND task = ?
            ORDER BY purpose, draw, key"""
        for (body,) in self._db.execute(sql, (split, task)):
            yield wire.rollout_in(orjson.loads(body))

    def outcomes(self, purpose: str | None = None) -> Iterator[Outcome]:
        """Rollouts without transcripts, by purpose, task and draw; then open faults, the last of each key."""
        where = "" if purpose is None else "WHERE purpose = ?"
        bound = () if purpose is None else (purpose,)
        order = "ORDER BY purpose, split, task, draw, key"
        for row in self._db.execute(f"SELECT {schema.OUTCOME} FROM rollouts {where} {order}", bound):
            yield rows.outcome(row)
        latest = f"""SELECT {schema.FAULTED} FROM faults WHERE seq IN (SELECT max(seq) FROM faults GROUP BY key)
            AND key NOT IN (SELECT key FROM rollouts)"""
        narrowed = "" if purpose is None else "AND purpose = ?"
        for row in self._db.execute(f"{latest} {narrowed} {order}", bound):
            yield rows.faulted(row)

    def outcomes_of(self, keys: Iterable[str]) -> list[Outcome]:
        """Rollouts without transcripts by key, in the order given; keys without an answer are left out."""
        sql = f"SELECT {schema.OUTCOME} FROM rollouts WHERE key = ?"
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

    def policies(self) -> frozenset[str]:
        """The digests of the policies on record."""
        return frozenset(digest for (digest,) in self._db.execute("SELECT digest FROM policies"))

    def rows(self) -> Iterator[tuple[dict[str, Any], bytes | None]]:
        """Every rollout as its columns say it, by name, and its transcript as it lies there, if there is one."""
        found = self._db.execute(
            f"SELECT {schema.ROLLOUTS.columns}, body FROM rollouts LEFT JOIN transcripts USING (seq)"
        )
        names = [column[0] for column in found.description[:-1]]
        for *values, body in found:
            yield dict(zip(names, values, strict=True)), body

    def table(self, table: schema.Table, columns: str) -> Iterator[tuple[Any, ...]]:
        """The rows of a table in the order of their numbers, as they lie there."""
        yield from self._db.execute(f"SELECT {columns} FROM {table.name} ORDER BY seq")

    def counts(self) -> dict[str, int]:
        """How many records each table holds."""
        return {
            table.name: self._db.execute(f"SELECT count(*) FROM {table.name}").fetchone()[0] for table in schema.ALL
        }

    def account(self) -> Account:
        """What all sessions of this run have cost, attempt by attempt, those that came to nothing included."""
        return account_of(self._db)

    def last_commit(self, before: float = math.inf) -> float:
        """When anything was committed last before a moment; 0.0 where nothing was."""
        return float(self._db.execute("SELECT coalesce(max(at), 0) FROM chain WHERE at < ?", (before,)).fetchone()[0])

    def effects(self, kind: str) -> Iterator[tuple[str, Any]]:
        """Purpose and body of every effect of a kind, in the order of their commits."""
        for purpose, body in self._db.execute("SELECT purpose, body FROM effects WHERE kind = ? ORDER BY seq", (kind,)):
            yield purpose, orjson.loads(body)


def glance(folder: Path) -> sqlite3.Connection:
    """A connection to look at a ledger with, also while it is written: known by its mark and version, and not proved.

    For pages that are drawn again and again; whoever decides or pays reads through `Ledger.read`.
    """
    path = existing(folder)
    with readable(path):
        try:
            db = _looking(path, "mode=ro")
        except sqlite3.OperationalError:  # a folder in which nothing may be written, and no log beside the file
            if path.with_name(f"{path.name}-wal").exists():
                raise
            db = _looking(path, "mode=ro&immutable=1")
        try:
            refuse_foreign(path, db)
        except BaseException:
            db.close()
            raise
        return db


def _looking(path: Path, mode: str) -> sqlite3.Connection:
    uri = f"{path.resolve().as_uri()}?{mode}"
    db = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=2.0, check_same_thread=False)
    db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return db


def existing(folder: Path) -> Path:
    path = folder / FILE
    if not path.is_file():
        raise WhetError(f"{folder}: no run here (no {FILE}); 'whet runs' lists what there is")
    return path


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turns SQLite's words about a damaged or busy file into ours."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise WhetError(f"{path}: cannot be opened ({error}); check permissions and free space") from None
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        raise WhetError(f"{path}: damaged or not a ledger ({error}); restore it from a copy") from None


def refuse_foreign(path: Path, db: sqlite3.Connection) -> None:
    """Refuses files that are no ledger, and ledgers of another version."""
    if db.execute("PRAGMA application_id").fetchone()[0] != schema.APPLICATION_ID:
        raise WhetError(f"{path}: not a ledger of Whet; nothing was changed")
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version < schema.VERSION:
        raise WhetError(
            f"{path}: written by an older Whet (ledger version {version}, this one reads {schema.VERSION}); "
            "its readable files stay as they are, and the same command with another --run makes it again"
        )
    if version > schema.VERSION:
        raise WhetError(
            f"{path}: written by a newer Whet (ledger version {version}, this one reads {schema.VERSION}); {newer()}"
        )


def checked(path: Path, db: sqlite3.Connection) -> None:
    """Refuses foreign files, newer ledgers and damage; small ledgers are read whole, large ones at both ends."""
    refuse_foreign(path, db)
    if path.stat().st_size < 64 << 20:
        verdict = db.execute("PRAGMA quick_check(1)").fetchone()[0]
        if verdict != "ok":
            raise sqlite3.DatabaseError(verdict.splitlines()[0])
    db.execute("SELECT length(body) FROM transcripts ORDER BY seq DESC LIMIT 1").fetchone()


def _same_request(path: Path, stored: str, request: str, where: str) -> bool:
    if stored != request:
        raise ReplayMismatch(
            f"{path}: {where} was answered to another request (hash {stored[:12]}, now {request[:12]}): the "
            "environment or the prompt changed without its fingerprint; restore it, or start a new run (--seed)"
        )
    return True
