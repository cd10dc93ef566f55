"""Which train tasks sit out for a while: those at which all attempts earned the same, so that nothing was learnt.

A round is one pass of the supply through a pool, and every pool counts its own. A batch is played by one version of the
weights, so however often a task comes in it, that is one visit: flat where all attempts at it earned the same, and
counted from the last round in which it came.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

MOST_TIMES = 8
"""A rest grows to so many times the first one, at most."""


class Rest(NamedTuple):
    """So many rounds that a task sits out, and which of its pool's is the last of them."""

    rounds: int
    last: int


class TaskRests:
    """Rests of tasks by pool. The first is `rounds` long (0: there are none), each in a row twice the one before."""

    def __init__(self, rounds: int) -> None:
        self._first = rounds
        self._rests: dict[str, dict[int, Rest]] = {}
        """By pool and task. A rest stays when it is over, because the next in a row follows from it."""
        self._open: dict[int, tuple[str, int]] = {}
        """From which pool and in which round a task came, until it is heard how it went."""

    def state(self) -> dict[str, Any]:
        """As JSON can say it, in which all keys are text."""
        if not self._first:
            return {}
        rests = {pool: {str(task): list(rest) for task, rest in tasks.items()} for pool, tasks in self._rests.items()}
        return {"rests": rests, "open": {str(task): list(place) for task, place in self._open.items()}}

    def restore(self, state: Mapping[str, Any]) -> None:
        """What stood in `state`; one of a supply without rests has none."""
        self._rests = {
            pool: {int(task): Rest(*rest) for task, rest in tasks.items()}
            for pool, tasks in state.get("rests", {}).items()
        }
        self._open = {int(task): (pool, turn) for task, (pool, turn) in state.get("open", {}).items()}

    def sits_out(self, pool: str, task: int, turn: int) -> bool:
        rest = self._rests.get(pool, {}).get(task)
        return rest is not None and turn <= rest.last

    def over(self, pool: str, members: Sequence[int]) -> int:
        """The first round of a pool in which not all of its members sit out."""
        rests = self._rests.get(pool, {})
        return min(rests[task].last + 1 if task in rests else 0 for task in members)

    def came(self, pool: str, task: int, turn: int) -> None:
        """A task is about to be played."""
        if self._first:
            self._open[task] = pool, turn

    def heard(self, flat: Mapping[int, bool]) -> None:
        """How the tasks went that came since it was last heard: whether all attempts at each earned the same.

        Of a task that is not named (it met a fault, say) nothing is known, and it stands as it stood.
        """
        for task, (pool, turn) in self._open.items():
            rests = self._rests.setdefault(pool, {})
            if flat.get(task):
                before = rests.get(task)
                rounds = min(2 * before.rounds, MOST_TIMES * self._first) if before else self._first
                rests[task] = Rest(rounds, turn + rounds)
            elif task in flat:
                rests.pop(task, None)
        self._open.clear()
