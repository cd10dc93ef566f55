"""The policies that no model is needed for, on the tasks of a run: what a score must beat to mean anything."""

from __future__ import annotations

from collections.abc import Sequence

from whet.config.schema import EndpointSection, SamplingSection
from whet.evals.floor import ORACLE
from whet.rollout.attempt import Player
from whet.rollout.budget import Budget
from whet.rollout.engine import Engine, Progress
from whet.run.compose import BASELINE, baseline_model, baselines, build_player
from whet.types import Policy, Role, Split, Ticket

FLOOR = "floor/"
FLOOR_TASKS = 200
"""The floor is played on at most this many of the tasks."""


async def play_floor(
    engine: Engine, endpoint: EndpointSection, split: Split, tasks: Sequence[int], progress: Progress
) -> None:
    """Each trivial policy on the first tasks, under the bounds and with the works of `engine`."""
    for name, baseline in baselines(engine.env).items():
        if name == ORACLE:
            continue
        model = baseline_model(name, engine.env, baseline)
        players: dict[Role, Player] = {"target": build_player(model, SamplingSection(), endpoint)}
        policy = Policy(model.fingerprint)
        floor = Engine(engine.env, policy, players, engine.ledger, Budget(), bounds=engine.bounds, works=engine.works)
        tickets = [Ticket(f"{FLOOR}{name}", split, task) for task in tasks[:FLOOR_TASKS]]
        await floor.run(tickets, progress=progress, what=f"{BASELINE}{name}", retry_faults=True)
