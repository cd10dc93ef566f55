"""Which train tasks come when: shuffled rounds, balanced by kind, in stages, or in a band around a solve rate.

Tasks that taught nothing may sit out for a while (`rests`). What a supply must remember is a few numbers, and two for
each task with a rest. They stand in every checkpoint: a resumed training goes on with the very task that would have
come next.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from whet.errors import WhetError
from whet.keys import seed_for
from whet.learn.weights.config import CurriculumSection
from whet.learn.weights.rests import TaskRests
from whet.types import Label


@runtime_checkable
class StagedEnvironment(Protocol):
    """An environment with stages of its own, the first being 1. Both methods are pure."""

    def next_stage(self, stage: int, pass_rates: Sequence[float]) -> int:
        """The stage after these solve rates of steps, all of them made in `stage`, oldest first; itself to stay."""
        ...

    def in_stage(self, stage: int, label: Label) -> bool:
        """Whether tasks with this label are learnt in a stage."""
        ...


def stages_of(env: object) -> StagedEnvironment:
    """The environment as one with stages; one without is refused."""
    if not isinstance(env, StagedEnvironment):
        raise WhetError(
            f"curriculum.kind = 'env': {getattr(env, 'name', 'the environment')} has no stages of its own (next_stage, "
            "in_stage); use 'stages' or 'band'"
        )
    return env


class TaskSupply:
    """Train tasks in an order that depends on the seed, on how many were taken and on how they went, alone."""

    def __init__(
        self,
        labels: Mapping[int, Label],
        curriculum: CurriculumSection,
        *,
        seed: int,
        steps: int,
        balance: bool = False,
        stages: StagedEnvironment | None = None,
    ) -> None:
        self._labels = labels
        self._curriculum = curriculum
        self._seed = seed
        self._steps = steps
        self._balance = balance
        self._stages = stages
        self._orders: dict[str, tuple[int, list[int]]] = {}
        self.taken: dict[str, int] = {}
        """Tasks taken so far, by pool; those that were passed over because they sat out among them."""
        self.rests = TaskRests(curriculum.rest)
        """Which tasks sit out, of those that taught nothing."""
        self.rung = 0
        """Where on its ladder a band stands."""
        self.own_stage = 1
        """Where an environment with stages of its own stands."""
        self.rates: list[float] = []
        """Solve rates of the steps since it came there."""
        for names in self._pools():
            if not self._members(names):
                known = sorted(
                    {label.difficulty for label in labels.values()} | {label.kind for label in labels.values()}
                )
                raise WhetError(
                    f"curriculum: no train task is of {' or '.join(names)}; there are {', '.join(filter(None, known))}"
                )

    def state(self) -> dict[str, Any]:
        own = {"taken": dict(self.taken), "rung": self.rung, "stage": self.own_stage, "rates": list(self.rates)}
        return own | self.rests.state()

    def restore(self, state: Mapping[str, Any]) -> None:
        self.taken = dict(state["taken"])
        self.rung = int(state["rung"])
        self.own_stage = int(state.get("stage", 1))
        self.rates = list(state.get("rates", ()))
        self.rests.restore(state)

    def stage(self, step: int) -> tuple[str, ...]:
        """The difficulties or kinds that are learnt at a step; empty for all."""
        section = self._curriculum
        if section.kind == "stages":
            return section.stages[min(len(section.stages) - 1, step * len(section.stages) // self._steps)]
        if section.kind == "band":
            return (section.ladder[self.rung],)
        return (f"stage {self.own_stage}",) if self._stages is not None else ()

    def draw(self, step: int) -> Iterator[int]:
        """Tasks for a step, as many as are asked for; each pool is gone through before it is shuffled again."""
        names = self.stage(step)
        members = self._members(names)
        if not members:
            raise WhetError(f"curriculum: no train task belongs to {' '.join(names)}; give train.tasks more of them")
        pools = self._strata(names) if self._balance else [("|".join(names), members)]
        while True:
            for name, members in pools:
                yield self._next(name, members)

    def went(self, solved: float, flat: Mapping[int, bool] = {}) -> None:
        """How a step went: a band climbs where most is solved and steps down where little is.

        `flat` says of its tasks whether all attempts earned the same, in which case they may sit out.
        """
        self.rests.heard(flat)
        section = self._curriculum
        if self._stages is not None:
            self.rates.append(solved)
            following = self._stages.next_stage(self.own_stage, tuple(self.rates))
            if following != self.own_stage:
                self.own_stage, self.rates = following, []
        if section.kind != "band":
            return
        if solved > section.high:
            self.rung = min(self.rung + 1, len(section.ladder) - 1)
        elif solved < section.low:
            self.rung = max(self.rung - 1, 0)

    def _next(self, name: str, members: Sequence[int]) -> int:
        """The next task of a pool that does not sit out.

        Where none is left in a round the next one begins, or, where all sit that out too, the first that some do not.
        """
        turn, passed = divmod(self.taken.get(name, 0), len(members))
        while True:
            for place, task in enumerate(self._shuffled(name, members, turn)[passed:], passed):
                if not self.rests.sits_out(name, task, turn):
                    self.taken[name] = turn * len(members) + place + 1
                    self.rests.came(name, task, turn)
                    return task
            turn, passed = max(turn + 1, self.rests.over(name, members)), 0

    def _pools(self) -> list[tuple[str, ...]]:
        section = self._curriculum
        if section.kind == "band" and not section.ladder:
            raise WhetError("curriculum.kind = 'band' needs a ladder: difficulties from easy to hard")
        if section.kind == "stages":
            return list(section.stages)
        if section.kind == "env":
            return [(f"stage {self.own_stage}",)]
        return [(rung,) for rung in section.ladder] if section.kind == "band" else [()]

    def _members(self, names: Sequence[str]) -> list[int]:
        if not names:
            return list(self._labels)
        if self._stages is not None:
            return [task for task, label in self._labels.items() if self._stages.in_stage(self.own_stage, label)]
        return [task for task, label in self._labels.items() if label.difficulty in names or label.kind in names]

    def _strata(self, names: Sequence[str]) -> list[tuple[str, list[int]]]:
        kinds: dict[str, list[int]] = {}
        for task in self._members(names):
            kinds.setdefault(f"{'|'.join(names)}/{self._labels[task].kind}", []).append(task)
        return sorted(kinds.items())

    def _shuffled(self, name: str, members: Sequence[int], turn: int) -> list[int]:
        """The order of a round, which stays at hand: each of its tasks asks for it."""
        at_hand = self._orders.get(name)
        if at_hand and at_hand[0] == turn:
            return at_hand[1]
        order = list(members)
        random.Random(seed_for("supply", self._seed, name, turn)).shuffle(order)
        self._orders[name] = turn, order
        return order
