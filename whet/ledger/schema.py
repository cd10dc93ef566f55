"""The tables of a ledger. What tables and curves are made of stands in columns; transcripts stand apart as JSON.

A summary of a million rollouts so reads a tenth of the file. Rows are added, never changed: each has a number of its
own in its table, and every commit is a link of the chain that names the rows it brought (`chain.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

VERSION = 3
"""Raised when what a ledger holds changes; one of another version is refused, never guessed at."""

APPLICATION_ID = 0x57484554  # "WHET"

TICKET = """purpose TEXT NOT NULL, split TEXT NOT NULL, task INTEGER NOT NULL, draw INTEGER NOT NULL,
    kind TEXT NOT NULL, difficulty TEXT NOT NULL"""
"""Which rollout a row is about."""

TABLES = f"""
CREATE TABLE meta (seq INTEGER PRIMARY KEY, name TEXT NOT NULL, value TEXT NOT NULL);

CREATE TABLE policies (seq INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, body BLOB NOT NULL);

CREATE TABLE rollouts (
    seq INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    request TEXT NOT NULL,
    policy TEXT NOT NULL,
    {TICKET},
    hard INTEGER NOT NULL,
    soft REAL NOT NULL,
    reward REAL NOT NULL,
    reason TEXT NOT NULL,
    truncated INTEGER NOT NULL,
    malformed TEXT NOT NULL,
    turns INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    usd REAL,
    seconds REAL NOT NULL,
    parts TEXT NOT NULL
);

CREATE TABLE transcripts (seq INTEGER PRIMARY KEY, body BLOB NOT NULL);

CREATE TABLE faults (
    seq INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    {TICKET},
    fault TEXT NOT NULL,
    calls INTEGER NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    usd REAL,
    seconds REAL NOT NULL,
    body BLOB NOT NULL
);
CREATE INDEX faults_by_key ON faults (key);

CREATE TABLE effects (
    seq INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    purpose TEXT NOT NULL,
    request TEXT NOT NULL,
    body BLOB NOT NULL
);

CREATE TABLE events (
    seq INTEGER PRIMARY KEY,
    at REAL NOT NULL,
    name TEXT NOT NULL,
    body BLOB NOT NULL
);

CREATE TABLE attempts (
    seq INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    role TEXT NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    usd REAL
);

CREATE TABLE settlements (
    seq INTEGER PRIMARY KEY,
    how TEXT NOT NULL,
    calls INTEGER NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    usd REAL
);

CREATE TABLE chain (link INTEGER PRIMARY KEY, at REAL NOT NULL, rows BLOB NOT NULL, head BLOB NOT NULL);
"""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table whose rows the chain names. `code` stands for it there; the one blob it may have is its last column."""

    name: str
    code: int
    columns: str
    blob: bool = False

    @property
    def insert(self) -> str:
        places = ", ".join("?" * (self.columns.count(",") + 1))
        return f"INSERT INTO {self.name} ({self.columns}) VALUES ({places})"

    @property
    def select(self) -> str:
        return f"SELECT {self.columns} FROM {self.name} ORDER BY seq"


OUTCOME = """purpose, split, task, draw, kind, difficulty, hard, soft, reward, reason, truncated, malformed, turns,
    calls, prompt_tokens, completion_tokens, cached_tokens, usd, seconds, key, parts"""

FAULTED = """purpose, split, task, draw, kind, difficulty, fault, calls, prompt_tokens, completion_tokens, usd,
    seconds, key"""

META = Table("meta", 1, "seq, name, value")
POLICIES = Table("policies", 2, "seq, digest, body", blob=True)
ROLLOUTS = Table("rollouts", 3, f"seq, {OUTCOME}, request, policy")
TRANSCRIPTS = Table("transcripts", 4, "seq, body", blob=True)
FAULTS = Table("faults", 5, f"seq, {FAULTED}, body", blob=True)
EFFECTS = Table("effects", 6, "seq, key, kind, purpose, request, body", blob=True)
EVENTS = Table("events", 7, "seq, at, name, body", blob=True)
ATTEMPTS = Table("attempts", 8, "seq, key, role, prompt_tokens, completion_tokens, usd")
SETTLEMENTS = Table("settlements", 9, "seq, how, calls, prompt_tokens, completion_tokens, cached_tokens, usd")

ALL = (META, POLICIES, ROLLOUTS, TRANSCRIPTS, FAULTS, EFFECTS, EVENTS, ATTEMPTS, SETTLEMENTS)
