"""The sealed test, opened once at the end: no playbook, the initial, the best and the final, on the same tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from whet.config.schema import EndpointSection
from whet.errors import WhetError
from whet.evals.compare import Comparison, compare
from whet.evals.floor import Floor, floor_of
from whet.evals.metric import HARD, Metric
from whet.evals.summary import Summary, summarize
from whet.learn.reflact.training import Training
from whet.learn.workshop import SELECT_FAULTS, Means
from whet.run.floor import FLOOR, play_floor
from whet.types import Outcome, Playbook, Policy, Split, Ticket

TEST: Split = "test"
NONE, INITIAL, BEST, FINAL = "no playbook", "initial", "best", "final"
KEPT = "the initial playbook was kept"


@dataclass(frozen=True, slots=True)
class Sealing:
    """What the test is made with."""

    policy: Policy
    tasks: tuple[int, ...]
    repeats: int
    endpoint: EndpointSection
    metric: Metric = HARD
    """The gate's: what a run chose by is what it claims."""

    def tickets(self) -> list[Ticket]:
        return [Ticket(TEST, TEST, task, draw) for draw in range(self.repeats) for task in self.tasks]


@dataclass(frozen=True, slots=True)
class Tested:
    """What the sealed test showed, by the name of the playbook; two names may share one playbook and its rollouts."""

    outcomes: Mapping[str, tuple[Outcome, ...]]
    summaries: Mapping[str, Summary]
    gains: Mapping[str, Comparison | str]
    """Best and final against the initial playbook, on the gate's metric; where two are one playbook, or too much is
    missing, the reason.
    """
    floor: Floor | None


async def open_test(means: Means, sealing: Sealing, training: Training) -> Tested:
    """Play the sealed tasks. `means.env` is the whole environment: the learner is done."""
    named = {
        NONE: Playbook(),
        INITIAL: training.initial,
        BEST: training.judge.best.playbook,
        FINAL: training.judge.current.playbook,
    }
    outcomes: dict[str, tuple[Outcome, ...]] = {}
    for name, playbook in named.items():
        policy = replace(sealing.policy, playbook=playbook)
        keys = await means.work_off(policy, sealing.tickets(), f"test, {name}", SELECT_FAULTS)
        found = {outcome.key: outcome for outcome in means.ledger.outcomes(TEST)}  # open faults included
        outcomes[name] = tuple(found[key] for key in keys if key in found)
    if "judge" not in means.players:
        engine = means.engine(sealing.policy)
        await play_floor(engine, sealing.endpoint, TEST, sealing.tasks, means.progress)
    return fold(named, outcomes, sealing, _floors(means))


def fold(
    named: Mapping[str, Playbook],
    outcomes: Mapping[str, tuple[Outcome, ...]],
    sealing: Sealing,
    floors: Mapping[str, Sequence[Outcome]],
) -> Tested:
    meant = {(TEST, task) for task in sealing.tasks}
    gains: dict[str, Comparison | str] = {}
    for name in (BEST, FINAL):
        if named[name] == named[INITIAL]:
            gains[name] = KEPT
            continue
        try:
            gains[name] = compare(outcomes[INITIAL], outcomes[name], metric=sealing.metric, tasks=meant)
        except WhetError as refused:
            gains[name] = str(refused)
    summaries = {name: summarize(rollouts, metric=sealing.metric) for name, rollouts in outcomes.items()}
    return Tested(outcomes, summaries, gains, floor_of(floors, metric=sealing.metric))


def _floors(means: Means) -> dict[str, list[Outcome]]:
    found: dict[str, list[Outcome]] = {}
    for outcome in means.ledger.outcomes():
        if outcome.ticket.purpose.startswith(FLOOR):
            found.setdefault(outcome.ticket.purpose.removeprefix(FLOOR), []).append(outcome)
    return dict(sorted(found.items()))
