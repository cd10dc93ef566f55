"""Plans worked off by the engine in one call, for the tests of the rollout room."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from builders import Doubles

from whet.ledger.store import Ledger
from whet.models.base import Model
from whet.rollout.attempt import Player
from whet.rollout.budget import Budget, Limits
from whet.rollout.engine import Engine, Quiet, Tally
from whet.types import Playbook, Policy, Sampling, Ticket

TEN = [Ticket("eval", "select", index) for index in range(10)]


async def play_out(
    folder: Path,
    model: Model,
    plan: list[Ticket] = TEN,
    *,
    env: Doubles | None = None,
    budget: Limits = Limits(),
    playbook: Playbook = Playbook(),
    retry_faults: bool = False,
    **options: Any,
) -> Tally:
    ledger = Ledger.open(folder) if folder.exists() else Ledger.create(folder)
    with ledger:
        policy = Policy(model.fingerprint, Sampling(), playbook)
        players = {"target": Player(model)}
        engine = Engine(env or Doubles(), policy, players, ledger, Budget(budget, ledger.spent()), **options)
        try:
            return await engine.run(plan, progress=Quiet(), retry_faults=retry_faults)
        finally:
            await engine.works.close()


def outcomes(folder: Path) -> list[Any]:
    with Ledger.read(folder) as ledger:
        return list(ledger.outcomes())


def run(folder: Path, model: Model, plan: list[Ticket] = TEN, **options: Any) -> Tally:
    return asyncio.run(play_out(folder, model, plan, **options))
