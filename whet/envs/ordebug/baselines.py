"""Reference policies: what chance, shortcuts, plain optimisation, search and the truth achieve in the same play.

Each is a function of the task and the conversation. The state is not kept: the steps taken so far, read from the
conversation with the play's own parser and applied to the first model, give it again.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from whet.envs.base import Baseline, Messages
from whet.envs.ordebug.actions import Action, editing
from whet.envs.ordebug.edits import DropRow, Edit, Relax, SetBounds, SetRhs, SetSense, SetType
from whet.envs.ordebug.iis import find_iis
from whet.envs.ordebug.instance import Instance
from whet.envs.ordebug.ladder import MISSING
from whet.envs.ordebug.model import INF, LinearProgram, ModelError
from whet.envs.ordebug.protocol import Protocol, Step, said_before, say
from whet.envs.ordebug.search import search
from whet.envs.ordebug.solver import elastic, feasible
from whet.keys import seed_for
from whet.types import Reply, Task

SEARCH_BUDGET = 128
"""Tries of `baseline:search`."""

HELD = 128
"""Instances that the policies of one environment keep at hand."""

SUBMIT = Action("submit")
GET_IIS = Action("get_iis")


@dataclass(frozen=True, slots=True)
class RepairState:
    """What a policy knows at its turn: the instance (truth included), the model as it stands, the steps taken."""

    instance: Instance
    model: LinearProgram
    steps: tuple[Step, ...]

    @property
    def turn(self) -> int:
        return len(self.steps)

    def took(self, name: str) -> int:
        return sum(isinstance(step, Action) and step.name == name for step in self.steps)


Choice = Callable[[RepairState], Action]


def replayed(sabotaged: LinearProgram, steps: tuple[Step, ...]) -> LinearProgram:
    """The model after the steps, as the play has it: refused edits change nothing."""
    models = [sabotaged]
    for step in steps:
        if not isinstance(step, Action):
            continue
        if step.edit is not None:
            try:
                models.append(step.edit.apply(models[-1]))
            except ModelError:
                continue
        elif step.name == "reset":
            del models[1:]
        elif step.name == "undo" and len(models) > 1:
            models.pop()
    return models[-1]


def all_baselines(protocol: Protocol, instance_of: Callable[[Task], Instance]) -> dict[str, Baseline]:
    """Every reference policy, speaking `protocol`."""
    # A task is asked about once a turn. Tasks are held beside their instances, so that an identity stays theirs.
    held: dict[int, tuple[Task, Instance]] = {}

    def known(task: Task) -> Instance:
        if id(task) not in held:
            while len(held) >= HELD:
                held.pop(next(iter(held)), None)
            held[id(task)] = (task, instance_of(task))
        return held[id(task)][1]

    def speaking(choose: Choice) -> Baseline:
        def answer(task: Task, said: Messages) -> Reply:
            instance = known(task)
            steps = tuple(said_before(said, protocol))
            state = RepairState(instance, replayed(instance.sabotaged, steps), steps)
            return say(choose(state), protocol, place=len(steps))

        return answer

    return {name: speaking(choose) for name, choose in CHOICES.items()}


def oracle(state: RepairState) -> Action:
    """Names the faults, undoes each, submits."""
    there = state.instance.kind != MISSING  # a row that is missing has no name to point at
    if state.turn == 0 and there:
        return Action("diagnose", names=tuple(sorted(state.instance.elements)))
    return _next(state, state.instance.repair, int(there))


def by_search(state: RepairState) -> Action:
    """Plays what the fixed edit search finds within its budget, or submits the model as it is."""
    return _next(state, _searched(state.instance), 0)


@functools.lru_cache(maxsize=64)
def _searched(instance: Instance) -> tuple[Edit, ...]:
    return search(instance, SEARCH_BUDGET).edits or ()


def _next(state: RepairState, edits: tuple[Edit, ...], before: int) -> Action:
    place = state.turn - before
    return editing(edits[place]) if place < len(edits) else SUBMIT


def drop_first_iis(state: RepairState) -> Action:
    """Asks for a subsystem, drops its first row (or frees its first bound), again until the model is feasible."""
    iis = find_iis(state.model)
    if iis is None:
        return SUBMIT
    if state.turn % 2 == 0:
        return GET_IIS
    if iis.rows:
        return editing(DropRow(iis.rows[0].name))
    return editing(_freed(state.model, iis.columns[0].name, iis.columns[0].side))


def by_elastic(state: RepairState) -> Action:
    """Relaxes what the elastic model violates, by as much; bounds that cross are freed."""
    found = elastic(state.model)
    if found.status == "optimal" and found.rows:
        name, amount = found.rows[0]
        return editing(Relax(name, amount * (1.0 + 1e-6)))
    crossed = next((column for column in state.model.columns if column.lower > column.upper), None)
    return SUBMIT if crossed is None else editing(_freed(state.model, crossed.name, "lower"))


def greedy(state: RepairState) -> Action:
    """Of the plain edits of subsystem members, the one that leaves the least total violation; then submits."""
    iis = find_iis(state.model)
    if iis is None or state.took("get_iis") >= 6:
        return SUBMIT
    if state.turn % 2 == 0:
        return GET_IIS
    options = [edit for name in iis.row_names for edit in _row_edits(state.model, name)]
    options += [_freed(state.model, member.name, member.side) for member in iis.columns]
    return editing(min(enumerate(options), key=lambda option: (_violation(option[1].apply(state.model)), option[0]))[1])


def at_random(state: RepairState) -> Action:
    """Any action on any element; submits when the model is feasible, and at times before."""
    rng = random.Random(seed_for("ordebug", "random", state.instance.id, state.turn))
    if state.turn and (rng.random() < 0.1 or feasible(state.model)):
        return SUBMIT
    row = rng.choice(state.model.rows) if state.model.rows else None
    column = rng.choice(state.model.columns)
    edits: list[Edit] = [SetBounds(column.name, None, None), SetType(column.name, "continuous")]
    if row is not None:
        edits += [
            DropRow(row.name),
            Relax(row.name, abs(row.rhs) * rng.random()),
            SetRhs(row.name, row.rhs * 2.0 * rng.random()),
            *(SetSense(row.name, sense) for sense in ("<=", ">=") if sense != row.sense),
        ]
    if column.kind == "binary":
        edits.pop(0)
    return rng.choice([GET_IIS, *(editing(edit) for edit in edits)])


CHOICES: dict[str, Choice] = {
    "random": at_random,
    "drop-first-iis": drop_first_iis,
    "elastic": by_elastic,
    "greedy": greedy,
    "search": by_search,
    "oracle": oracle,
}


def _row_edits(model: LinearProgram, name: str) -> Iterator[Edit]:
    row = model.row(name)
    if row.sense == "<=" and row.span is None:
        yield SetSense(name, ">=")
    elif row.sense == ">=" and row.span is None:
        yield SetSense(name, "<=")
    yield DropRow(name)


def _freed(model: LinearProgram, name: str, side: str) -> Edit:
    """The bound on that side taken away; a binary column becomes an integer one first."""
    column = model.column(name)
    low = None if side == "lower" or column.lower == -INF else column.lower
    high = None if side == "upper" or column.upper == INF else column.upper
    return SetType(name, "integer", (low, high)) if column.kind == "binary" else SetBounds(name, low, high)


def _violation(model: LinearProgram) -> float:
    found = elastic(model)
    return found.total if found.status == "optimal" else INF
