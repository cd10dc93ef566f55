"""A process that dies at a chosen commit of its ledger, for tests of what a restart makes of it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
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


def leaves_no_trace(
    run: Callable[[Path], dict[str, bytes]],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    first: int,
    every: int,
    *,
    before: bool,
) -> None:
    """`run` gives the same files when it dies at some of its commits, from the `first` on, and is started again."""
    with monkeypatch.context() as patch:
        count = crashing(patch, 1_000_000, before=before)
        whole = run(folder / "whole" / "run")
    assert count[0] > 40, "the run has more events than that"
    for at in range(first, count[0], every):
        with monkeypatch.context() as patch:
            crashing(patch, at, before=before)
            with contextlib.suppress(Crash):
                run(folder / str(at) / "run")
        assert run(folder / str(at) / "run") == whole, f"after a crash at commit {at} of {count[0]}"
