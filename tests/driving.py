"""Plans worked off by the engine in one call, for the tests of the rollout room."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from builders import Doubles

from whet.ledger.store import Ledger
from whet.ledger.writer import LedgerWriter
from whet.models.base import Model
from whet.rollout.engine import Engine
from whet.rollout.player import Players, Seat
from whet.rollout.progress import Quiet, Tally
from whet.rollout.purse import Purse, PurseLimits
from whet.rollout.works import Works
from whet.types import Playbook, Policy, Sampling, Ticket

TEN = [Ticket("eval", "select", index) for index in range(10)]


async def play_out(
    folder: Path,
    model: Model,
    plan: list[Ticket] = TEN,
    *,
    env: Doubles | None = None,
    budget: PurseLimits = PurseLimits(),
    playbook: Playbook = Playbook(),
    retry_faults: bool = False,
    works: Works | None = None,
    seats: dict[Any, Seat] | None = None,
    **options: Any,
) -> Tally:
    ledger = LedgerWriter.open(folder) if folder.exists() else LedgerWriter.create(folder)
    with ledger:
        target = Seat(Policy(model.fingerprint, Sampling(), playbook), Players().add(model))
        seats = {**(seats or {}), "target": target}
        works = works or Works()
        ledger.close_lost()
        purse = Purse(budget, ledger.account().spent, journal=ledger.journal)
        engine = Engine(env or Doubles(), seats, ledger, purse, works, **options)
        try:
            return await engine.run(plan, progress=Quiet(), retry_faults=retry_faults)
        finally:
            await works.close()


def outcomes(folder: Path) -> list[Any]:
    with Ledger.read(folder) as ledger:
        return list(ledger.outcomes())


def run(folder: Path, model: Model, plan: list[Ticket] = TEN, **options: Any) -> Tally:
    return asyncio.run(play_out(folder, model, plan, **options))
