"""What a gate looks at: planned draws, what each of them read, and the incumbent's draws that earlier trials left."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from whet.evals.missing import Shortfall, why_refused

if TYPE_CHECKING:
    from whet.gate.decision import Decision

Arm = Literal["incumbent", "candidate"]


class Draw(NamedTuple):
    """A planned rollout: whose, on which task of the select split (0 … n-1), and which draw of that policy."""

    arm: Arm
    task: int
    draw: int


Reading = tuple[float | None, ...] | None
"""What a draw read: the metric, then each guard (None where not reported). None as a whole: nothing was read."""

Trial = Generator[tuple[Draw, ...], Sequence[Reading], "Decision"]
"""A decision in the making: yields the draws it needs, is sent their readings in the same order, returns a Decision.

It sees a batch only when all of it is in, so what it decides does not depend on the order in which rollouts finish.
"""

DrawReadings = tuple[tuple[Draw, Reading], ...]
"""The draws of a trial in the order in which they were asked for, each with what it read."""


@dataclass(frozen=True, slots=True)
class Bank:
    """The incumbent's draws by task, as they stand when a candidate arrives.

    `taken` counts the draws ever taken from this policy on each task, those no longer looked at included, so that no
    draw is asked for twice. `decisions` counts the candidates that the run has brought before. `score` is the
    incumbent's score on record.
    """

    readings: tuple[tuple[Reading, ...], ...]
    taken: tuple[int, ...]
    decisions: int = 0
    score: float | None = None

    @classmethod
    def empty(cls, tasks: int) -> Bank:
        return cls(((),) * tasks, (0,) * tasks)

    @property
    def tasks(self) -> int:
        return len(self.readings)

    def extended(self, draws: DrawReadings) -> Bank:
        """With the incumbent's draws of a trial added, as the same policy stays."""
        rows = [list(row) for row in self.readings]
        taken = list(self.taken)
        for draw, reading in draws:
            if draw.arm == "incumbent":
                rows[draw.task].append(reading)
                taken[draw.task] = max(taken[draw.task], draw.draw + 1)
        return replace(self, readings=tuple(map(tuple, rows)), taken=tuple(taken), decisions=self.decisions + 1)

    def succeeded(self, draws: DrawReadings, keep: Sequence[bool] | None = None, score: float | None = None) -> Bank:
        """The bank of an accepted candidate: its own draws, on the tasks in `keep` (all, when not given)."""
        rows: list[list[Reading]] = [[] for _ in self.readings]
        taken = [0] * self.tasks
        for draw, reading in draws:
            if draw.arm == "candidate":
                taken[draw.task] = max(taken[draw.task], draw.draw + 1)
                if keep is None or keep[draw.task]:
                    rows[draw.task].append(reading)
        return Bank(tuple(map(tuple, rows)), tuple(taken), self.decisions + 1, score)

    @property
    def held(self) -> tuple[int, ...]:
        """How many draws are looked at on each task."""
        return tuple(map(len, self.readings))

    def since(self, held: Sequence[int]) -> Bank:
        """Without the first so many draws of each task, those that an acceptance kept.

        A race keeps draws of what it accepts where they agree with those of the predecessor, so they lie on the side of
        the predecessor, which is the worse of the two. A race draws again where it doubts; rounds take draws as they
        come, and would measure the next candidate beside an incumbent that looks worse than it is.
        """
        return replace(self, readings=tuple(row[many:] for row, many in zip(self.readings, held, strict=True)))


def why_undecidable(bank: Bank, draws: DrawReadings) -> str:
    """Why too many draws read nothing for a decision; empty where they are few and fall on both arms alike."""
    incumbent, candidate = _shortfall("incumbent", bank, draws), _shortfall("candidate", bank, draws)
    why = why_refused(incumbent, candidate)
    if not why:
        return ""
    sides = (("incumbent", incumbent), ("candidate", candidate))
    counts = ", ".join(f"{side.count} of {side.planned} of the {arm}" for arm, side in sides)
    return f"missing draws: {counts}; {why}, redo the faults"


def _shortfall(arm: Arm, bank: Bank, draws: DrawReadings) -> Shortfall:
    """The draws of an arm that read nothing."""
    readings: list[Reading] = [reading for draw, reading in draws if draw.arm == arm]
    if arm == "incumbent":
        readings += [reading for row in bank.readings for reading in row]
    return Shortfall(len(readings), sum(reading is None or reading[0] is None for reading in readings))
