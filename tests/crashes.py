"""A process that dies at a chosen commit of its ledger, for tests of what a restart makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whet.ledger.writer import LedgerWriter

if TYPE_CHECKING:
    import pytest


class Crash(BaseException):
    """The process is gone."""


def crashing(monkeypatch: pytest.MonkeyPatch, at: int, *, before: bool) -> list[int]:
    """Dies at the `at`-th commit, before or after it; nothing is written from then on. Returns the counter."""
    commit = LedgerWriter._commit
    count = [0]

    def dying(self: LedgerWriter, statements: Any) -> None:
        count[0] += 1
        if count[0] > at or (count[0] == at and before):
            raise Crash
        commit(self, statements)
        if count[0] == at:
            raise Crash

    monkeypatch.setattr(LedgerWriter, "_commit", dying)
    return count
