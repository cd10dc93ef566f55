"""The policies that no model is needed for, on the tasks of a run: what a score must beat to mean anything."""

from __future__ import annotations

from collections.abc import Sequence

from whet.evals.floor import ORACLE
from whet.rollout.cast import BASELINE, baseline_model, baselines
from whet.rollout.session import Session
from whet.types import Policy, Split, Ticket

FLOOR = "floor/"
FLOOR_TASKS = 200
"""The floor is played on at most this many of the tasks."""


async def play_floor(session: Session, split: Split, tasks: Sequence[int]) -> None:
    """Each trivial policy on the first tasks, under the limits and with the works of the session."""
    for name, baseline in baselines(session.env).items():
        if name == ORACLE:
            continue
        model = baseline_model(name, session.env, baseline)
        session.players.add(model, free=True)
        tickets = [Ticket(f"{FLOOR}{name}", split, task) for task in tasks[:FLOOR_TASKS]]
        await session.work_off(Policy(model.fingerprint), tickets, f"{BASELINE}{name}", retry_faults=True)
