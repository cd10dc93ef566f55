"""`ledger.head`, beside a ledger: how far it has come, said anew after every commit, and once closed what its file is.

It is what a lost tail is noticed by. A commit that a deleted write-ahead log or an older copy has lost is still counted
here, with what had been spent by then. A closed ledger is also known by the digest of its whole file.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from mmap import mmap
from pathlib import Path
from typing import Any

import orjson

from whet.errors import WhetError
from whet.ledger.chain import GENESIS
from whet.types import Usage

SIZE = 512
"""Bytes of the file: one line, padded, so that it is written over in place."""


_PADDING = b" " * (SIZE - 34) + b"\n"


def head_path(ledger: Path) -> Path:
    return ledger.with_suffix(".head")


@dataclass(frozen=True, slots=True)
class LedgerHead:
    """Where a ledger stands. `spent` is the most that may have been paid by then, what is under way included."""

    link: int = 0
    head: str = GENESIS.hex()
    spent: Usage = Usage()
    file: str = ""
    """Digest of the whole file; '' while the ledger is open, or was not closed."""
    size: int = 0

    def line(self) -> bytes:
        data = orjson.dumps(self)
        return b"%b %b" % (data, hashlib.sha256(data).hexdigest()[:32].encode()) + _PADDING[len(data) :]

    def sealed(self, ledger: Path) -> LedgerHead:
        """With what the closed file is."""
        return replace(self, file=file_digest(ledger), size=ledger.stat().st_size)


def read_head(ledger: Path) -> LedgerHead | None:
    """What stands beside a ledger; None where nothing does."""
    path = head_path(ledger)
    try:
        lines = path.read_bytes()
    except FileNotFoundError:
        return None
    heads = [_head(line) for line in (lines[:SIZE], lines[SIZE:])]
    newest = max((head for head in heads if head is not None), key=lambda head: head.link, default=None)
    if newest is None or (newest.file and heads[0] != heads[1]):
        raise WhetError(f"{path}: damaged; restore it from a copy, or keep what is sound with: whet salvage RUN OUT")
    return newest


def _head(line: bytes) -> LedgerHead | None:
    try:
        fields: dict[str, Any] = orjson.loads(line.partition(b"} ")[0] + b"}")
        head = LedgerHead(**{**fields, "spent": Usage(**fields["spent"])})
    except (ValueError, TypeError, KeyError):
        return None
    return head if head.line() == line else None


class HeadFile:
    """The file, in memory that the system keeps: what is written there outlives a kill and takes no call."""

    def __init__(self, ledger: Path) -> None:
        with head_path(ledger).open("a+b") as file:
            file.truncate(2 * SIZE)
            self._map = mmap(file.fileno(), 2 * SIZE)

    def write(self, head: LedgerHead) -> None:
        """Over the older of the two lines."""
        at = head.link % 2 * SIZE
        self._map[at : at + SIZE] = head.line()

    def write_both(self, head: LedgerHead) -> None:
        self._map[:] = head.line() * 2

    def write_lasting(self, head: LedgerHead) -> None:
        """Over both, and down to the disk."""
        self.write_both(head)
        self._map.flush()

    def close(self) -> None:
        self._map.close()


def file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
