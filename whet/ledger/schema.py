"""The tables of a ledger. What tables and curves are made of stands in columns; transcripts stand apart as JSON.

A summary of a million rollouts so reads a tenth of the file.
"""

from __future__ import annotations

VERSION = 2
"""Raised when what a ledger holds changes; one of another version is refused, never guessed at."""

APPLICATION_ID = 0x57484554  # "WHET"

TICKET = """purpose TEXT NOT NULL, split TEXT NOT NULL, task INTEGER NOT NULL, draw INTEGER NOT NULL,
    kind TEXT NOT NULL, difficulty TEXT NOT NULL"""
"""Which rollout a row is about."""

TABLES = f"""
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE policies (digest TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;

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
"""
