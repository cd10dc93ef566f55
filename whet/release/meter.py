"""What serving a champion costs: a purse that holds over restarts, with its reservations in a ledger of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from whet.errors import WhetError
from whet.files import own_folder, owner_only
from whet.ledger.store import FILE
from whet.ledger.writer import LedgerWriter
from whet.rollout.purse import Purse, PurseLimits

SERVED = "served"
"""The folder of a champion that holds what serving it has cost."""


def purse_without_limits() -> Purse:
    """Pays for anything, and writes nothing."""
    return Purse()


@contextmanager
def open_purse(
    champion: Path, *, usd: float | None = None, tokens: int | None = None, calls: int | None = None
) -> Iterator[Purse]:
    """The purse of the champion in a folder. Without limits nothing is written, and any number may serve it."""
    limits = PurseLimits(usd, tokens, calls)
    if not limits.any:
        yield purse_without_limits()
        return
    folder = champion / SERVED
    with owner_only():
        own_folder(folder)
        try:
            ledger = LedgerWriter.open(folder) if (folder / FILE).exists() else LedgerWriter.create(folder)
        except WhetError as problem:
            if "is writing to this run" not in str(problem):
                raise
            raise WhetError(
                f"{champion.name}: another server keeps its budget now; stop that one, or serve without a budget"
            ) from None
    with ledger:
        ledger.close_lost()
        yield Purse(limits, ledger.account().spent, 0.0, ledger.journal)
