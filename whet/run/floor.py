"""The policies that no model is needed for, on the tasks of a run: the floor without skill, and the references."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from whet.envs.trivial import ABOUT
from whet.evals.floor import ORACLE
from whet.rollout.cast import BASELINE, baseline_model, baselines
from whet.rollout.session import Session
from whet.types import Outcome, Policy, Split, Ticket

FLOOR, REFERENCE = "floor/", "reference/"

SKILL_FREE = ("always", "random")
"""An environment's own policy whose name begins so looks at nothing, as the trivial ones; its others are references."""

FLOOR_TASKS = 200
"""The floor is played on at most this many of the tasks."""


def purpose_of(name: str) -> str:
    """For what a policy plays: for the floor where it has no skill, else for reference."""
    return f"{FLOOR if name in ABOUT or name.startswith(SKILL_FREE) else REFERENCE}{name}"


async def play_floor(session: Session, split: Split, tasks: Sequence[int]) -> None:
    """Each policy on the first tasks, under the limits and with the works of the session."""
    for name, baseline in baselines(session.env).items():
        if name == ORACLE:
            continue
        model = baseline_model(name, session.env, baseline)
        session.players.add(model, free=True)
        tickets = [Ticket(purpose_of(name), split, task) for task in tasks[:FLOOR_TASKS]]
        await session.work_off(Policy(model.fingerprint), tickets, f"{BASELINE}{name}", retry_faults=True)


def played_for(outcomes: Iterable[Outcome], purpose: str) -> dict[str, list[Outcome]]:
    """The rollouts that were played for the floor, or for reference, by the name of the policy."""
    found: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.ticket.purpose.startswith(purpose):
            found.setdefault(outcome.ticket.purpose.removeprefix(purpose), []).append(outcome)
    return dict(sorted(found.items()))
