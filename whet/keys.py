"""Content hashes and seeds: the names under which effects are remembered and randomness is drawn."""

from __future__ import annotations

import hashlib
from typing import Any

import orjson

from whet.types import Policy, Task, Ticket

_CANONICAL = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS


def canonical(value: Any) -> bytes:
    """JSON with sorted keys: equal values give equal bytes, in any process on any machine."""
    return orjson.dumps(value, option=_CANONICAL)


def digest(*values: Any) -> str:
    """32 hex digits that stand for the content of `values`: JSON-like data and our own records."""
    return hashlib.blake2b(canonical(values), digest_size=16).hexdigest()


def bytes_digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def seed_for(*names: str | int) -> int:
    """A 63-bit seed that depends on the names alone: the only source of randomness."""
    text = "\x1f".join(str(name) for name in names)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1


def task_digest(task: Task) -> str:
    """The content of a task, wherever it stands: split and index do not enter."""
    return digest(task.label, task.messages, task.truth, task.data)


def policy_digest(policy: Policy) -> str:
    return digest(policy)


def rollout_key(ticket: Ticket, fingerprint: str, policy: str) -> str:
    """The name of one rollout. `fingerprint` is the environment's, `policy` a `policy_digest`."""
    where = f"{ticket.purpose}\x1f{fingerprint}\x1f{ticket.split}\x1f{ticket.index}\x1f{policy}\x1f{ticket.draw}"
    return hashlib.blake2b(where.encode(), digest_size=16).hexdigest()
