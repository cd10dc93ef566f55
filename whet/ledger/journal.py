"""What is to be remembered during a turn of the loop, written in one transaction: rollouts, attempts, settlements.

An attempt may be sent only when its reservation is written, so whoever posts one waits for the commit. All that is
ready at the same time is in the same commit, which is what makes an entry for each attempt cheap.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from whet.ledger import rows
from whet.ledger.account import AttemptReserve, How
from whet.ledger.schema import ATTEMPTS, ROLLOUTS, SETTLEMENTS, TRANSCRIPTS, Table
from whet.types import Rollout, Usage

if TYPE_CHECKING:
    from whet.ledger.writer import LedgerWriter


class Journal:
    """The entries of one turn of the loop. Belongs to a ledger's writer."""

    def __init__(self, ledger: LedgerWriter) -> None:
        self._ledger = ledger
        self._pending: rows.Rows = {}
        self._waiting: list[asyncio.Future[None]] = []
        self._due = False
        self._error: BaseException | None = None

    # ------------------------------------------------------------------------------------------- entries

    def add(self, rollout: Rollout) -> None:
        """Remember a rollout at the end of this turn."""
        for table, made in rows.outcome_rows((rollout,), self._ledger.number).items():
            self._pending.setdefault(table, []).extend(made)
        self._be_due()

    def add_graded(self, row: tuple[Any, ...], transcript: bytes) -> None:
        """Remember a rollout whose rows were made elsewhere; only their number is missing."""
        seq = self._ledger.number(ROLLOUTS)
        self._post(ROLLOUTS, (seq, *row[1:]))
        self._post(TRANSCRIPTS, (seq, transcript))
        self._be_due()

    async def attempt(self, key: str, role: str, reserve: AttemptReserve) -> int:
        """Returns the number of the attempt once its reservation is written: only then may it be sent."""
        if self._error is not None:
            raise self._error
        seq = self._ledger.number(ATTEMPTS)
        self._reserve(seq, key, role, reserve)
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(written)
        self._be_due()
        try:
            await written
        except BaseException:
            self.settle(seq, "unsent", reserve, Usage())
            raise
        return seq

    def add_attempt(self, key: str, role: str, reserve: AttemptReserve, how: How, used: Usage) -> None:
        """Remember an attempt that is over, and that nobody had to pay for before it was made."""
        seq = self._ledger.number(ATTEMPTS)
        self._reserve(seq, key, role, reserve)
        self.settle(seq, how, reserve, used)

    def _reserve(self, seq: int, key: str, role: str, reserve: AttemptReserve) -> None:
        row = (seq, key, role, reserve.prompt_tokens, reserve.completion_tokens, rows.dollars(reserve.usd))
        self._post(ATTEMPTS, row)
        self._ledger.may_cost(reserve.usage)

    def settle(self, seq: int, how: How, reserve: AttemptReserve, used: Usage) -> None:
        """The attempt is over, and counts as `used`."""
        row = (seq, how, used.calls, used.prompt_tokens, used.completion_tokens, used.cached_tokens)
        self._post(SETTLEMENTS, (*row, rows.dollars(used.usd)))
        self._ledger.may_cost(used, reserve.usage)
        if self._error is None:
            self._be_due()

    # ------------------------------------------------------------------------------------------- commits

    def flush(self) -> None:
        """Write what is pending now; raises what an earlier write has failed with."""
        self._write()
        if self._error is not None:
            raise self._error

    def write_with(self, table: Table, row: tuple[Any, ...]) -> None:
        """Write a row now, in one commit with what is pending. Where that fails, what is pending stays so."""
        if self._error is not None:
            raise self._error
        self._ledger.write({**self._pending, table: [*self._pending.get(table, ()), row]})
        self._pending = {}
        self._wake()

    def _post(self, table: Table, row: tuple[Any, ...]) -> None:
        self._pending.setdefault(table, []).append(row)

    def _be_due(self) -> None:
        """Have the entries written at the end of the next turn, so that what follows from an answer goes with it."""
        if self._error is not None:
            raise self._error
        if not self._due:
            self._due = True
            loop = asyncio.get_running_loop()
            loop.call_soon(loop.call_soon, self._write)

    def _write(self) -> None:
        """What could not be written is told to whoever waits for it, and at the next entry."""
        self._due = False
        pending, self._pending = self._pending, {}
        if pending and self._error is None:
            try:
                self._ledger.write(pending)
            except BaseException as error:  # noqa: BLE001 - see above
                self._error = error
        self._wake()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for written in waiting:
            if written.done():
                continue
            if self._error is None:
                written.set_result(None)
            else:
                written.set_exception(self._error)
