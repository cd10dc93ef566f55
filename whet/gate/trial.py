"""One candidate before the paired gate: taking draws, what is missing, and how a trial ends. Paces say which draws."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from whet.gate.decision import Decision, GateLook, GateVerdict, GuardReading
from whet.gate.evidence import Arm, Bank, Draw, Reading, Trial
from whet.gate.statistic import Floats, stocked

if TYPE_CHECKING:
    from whet.gate.paired import PairedGate

ARMS: tuple[Arm, Arm] = ("incumbent", "candidate")
INCUMBENT, CANDIDATE = 0, 1
LEFT_OUT = 0.2
"""The share of the tasks, or of the candidate's draws, that may be missing before nothing is decided."""
LEADING = 2
"""Draws of either arm on a task that are kept apart from those that a disagreement asked for."""
CHECKED = 3
"""Tasks on which a policy that is declared deterministic is drawn a second time."""

DrawStep = Generator[tuple[Draw, ...], Sequence[Reading], None]
"""A part of a trial: yields the draws it needs and has them in the tally when it ends."""


class _OutOfRollouts(Exception):
    """The next batch would take the decision past `max_rollouts`."""


@dataclass(frozen=True, slots=True)
class TrialFigures:
    """What a decision reports: per-task differences on the tasks seen, and where the statistic stood."""

    difference: Floats
    statistic: float
    threshold: float
    incumbent: float
    candidate: float

    @property
    def seen(self) -> int:
        return len(self.difference)


class PairedTrial:
    """The state of one trial. `steps` is the generator that drives it; a pace fills in `_decide` and `_figures`."""

    def __init__(self, gate: PairedGate, bank: Bank) -> None:
        self.gate = gate
        self.bank = bank
        self.alpha = gate.alpha_for(bank.decisions)
        self.noisy = not gate.deterministic
        self.tally = stocked(gate.metric, bank)
        self.next_draw = (list(bank.taken), [0] * bank.tasks)
        self.have = ([len(row) for row in bank.readings], [0] * bank.tasks)
        self.read = ([sum(map(_reads, row)) for row in bank.readings], [0] * bank.tasks)
        self.draws: list[tuple[Draw, Reading]] = []
        self.looks: list[GateLook] = []
        self.left_out: set[int] = set()
        self.leading = np.full((2, LEADING, bank.tasks), np.nan)
        """What the first draws of each arm on a task read: unbiased, whatever is drawn again after them."""
        for task, row in enumerate(bank.readings):
            values = [reading[0] for reading in row if reading is not None and reading[0] is not None][:LEADING]
            self.leading[INCUMBENT, : len(values), task] = values

    def steps(self) -> Trial:
        try:
            return (yield from self._decide())
        except _OutOfRollouts:
            return self._end("reject", "max_rollouts", f"undecided within {self.gate.max_rollouts} rollouts")

    def _decide(self) -> Trial:
        raise NotImplementedError

    def _figures(self) -> TrialFigures:
        raise NotImplementedError

    # ------------------------------------------------------------------------------------------- taking draws

    def _take(self, wanted: Sequence[tuple[int, int, int]]) -> DrawStep:
        """Take draws: (arm, task, how many). Sees them when all are in."""
        batch = tuple(
            Draw(ARMS[arm], task, self.next_draw[arm][task] + k) for arm, task, many in wanted for k in range(many)
        )
        if not batch:
            return
        limit = self.gate.max_rollouts
        if limit is not None and len(self.draws) + len(batch) > limit:
            raise _OutOfRollouts
        readings = yield batch
        for draw, reading in zip(batch, readings, strict=True):
            arm = CANDIDATE if draw.arm == "candidate" else INCUMBENT
            self.next_draw[arm][draw.task] = draw.draw + 1
            self.have[arm][draw.task] += 1
            self.draws.append((draw, reading))
            self._see(arm, draw.task, reading)

    def _see(self, arm: int, task: int, reading: Reading) -> None:
        """Count a draw; one that read nothing counts as what is least favourable to an acceptance."""
        value = reading[0] if reading is not None else None
        if value is not None:
            self.read[arm][task] += 1
        elif arm == CANDIDATE or self.read[arm][task]:
            value = self.tally.worst(arm)
        if value is not None and np.isfinite(value):
            before = int(self.tally.count[arm, task])
            if before < LEADING:
                self.leading[arm, before, task] = value
            self.tally.add(arm, task, value)

    def _upto(self, arm: int, tasks: Sequence[int], many: int) -> DrawStep:
        """Take draws until each of `tasks` has `many` of this arm."""
        have = self.have[arm]
        yield from self._take([(arm, task, many - have[task]) for task in tasks if have[task] < many])

    def _stock(self, block: Sequence[int]) -> DrawStep:
        """One draw of the incumbent on each task; where it reads nothing, the task is left out for both arms.

        That is settled before the candidate is drawn there, so no outcome of the candidate has a say in it. Whoever
        takes the draws has tried a fault again before it comes here.
        """
        yield from self._upto(INCUMBENT, block, 1)
        self.left_out.update(task for task in block if not self.read[INCUMBENT][task])

    def _differs_on_repeat(self, tasks: Sequence[int]) -> Generator[tuple[Draw, ...], Sequence[Reading], bool]:
        """Draw both arms again on a few tasks; whether any of them reads otherwise than before."""
        before = self.tally.means()[:, list(tasks)].copy()
        for arm in (INCUMBENT, CANDIDATE):
            yield from self._upto(arm, tasks, 2)
        return bool(np.abs(self.tally.means()[:, list(tasks)] - before).max(initial=0.0) > 1e-9)

    # ------------------------------------------------------------------------------------------- ending

    def _no_headroom(self) -> Decision:
        detail = (
            "on the draws at hand the incumbent leaves too little to gain for any candidate to pass; add harder tasks, "
            "or more"
        )
        return self._end("cannot_decide", "no_headroom", detail)

    def _accept(self) -> Decision:
        for guard, reading in zip(self.gate.guards, self._guards(), strict=True):
            if np.isnan(reading.difference) and not guard.optional:
                return self._end("cannot_decide", "unreported", f"no rollout reports the guard {guard.metric}")
            if not reading.held:
                return self._end("reject", "guard", reading.why)
        if (most := self.gate.max_regressions) is not None and (share := self._regressions()) > most:
            detail = f"{share:.3f} of the tasks went from solved to not solved, more than {most:g}"
            return self._end("reject", "regressions", detail)
        return self._end("accept", "gain_shown", "better on the mean over tasks")

    def _waits(self) -> bool:
        """Whether a shown gain must wait for more draws: a bound on harm that is not held yet may be, with more."""
        bounded = zip(self.gate.guards, self._guards(), strict=True)
        held = all(reading.held for guard, reading in bounded if guard.level is not None)
        most = self.gate.max_regressions
        return not held or (most is not None and self._regressions() > most)

    def _regressions(self) -> float:
        """The share of the tasks given to both that the incumbent mostly solves and the candidate mostly does not."""
        means = self.tally.means()[:, (self.tally.count > 0).all(axis=0)]
        return float(((means[INCUMBENT] > 0.5) & (means[CANDIDATE] < 0.5)).mean()) if means.size else 0.0

    def _guards(self) -> tuple[GuardReading, ...]:
        readings: list[GuardReading] = []
        rows = [(ARMS[INCUMBENT], task, reading) for task, row in enumerate(self.bank.readings) for reading in row]
        rows += [(draw.arm, draw.task, reading) for draw, reading in self.draws]
        for position, guard in enumerate(self.gate.guards, start=1):
            values: dict[tuple[str, int], list[float]] = {}
            for arm, task, reading in rows:
                if reading is not None and (value := reading[position]) is not None:
                    values.setdefault((arm, task), []).append(value)
            both = [task for arm, task in values if arm == "candidate" and ("incumbent", task) in values]
            moved = [float(np.mean(values["candidate", task]) - np.mean(values["incumbent", task])) for task in both]
            difference = float(np.mean(moved)) if moved else float("nan")
            worst = guard.worst(moved)
            readings.append(
                GuardReading(str(guard.metric), difference, worst, guard.bound, guard.level, guard.among, len(moved))
            )
        return tuple(readings)

    def _missing(self, arm: int) -> int:
        """Draws of this trial that read nothing."""
        return sum(draw.arm == ARMS[arm] and not _reads(reading) for draw, reading in self.draws)

    def _why_undecidable(self) -> tuple[str, str]:
        """Reason and detail where what was drawn cannot decide; both empty where it can."""
        for arm, least in ((INCUMBENT, 1), (CANDIDATE, 1 / LEFT_OUT)):  # a race may end with one draw, and that a fault
            if sum(self.have[arm]) >= least and not any(self.read[arm]):
                told = "faults, or the environment does not report it"
                return "unreported", f"no draw of the {ARMS[arm]} reads {self.gate.metric!s}: {told}"
        if len(self.left_out) > LEFT_OUT * self.bank.tasks:
            silent = f"{len(self.left_out)} of {self.bank.tasks} tasks read nothing for the incumbent"
            return "missing", f"{silent}; redo the faults, or leave these tasks out with [gate] exclude"
        missing, drawn = self._missing(CANDIDATE), sum(self.have[CANDIDATE])
        if drawn >= 1 / LEFT_OUT and missing > LEFT_OUT * drawn:
            return "missing", f"{missing} of {drawn} draws of the candidate read nothing; redo the faults"
        return "", ""

    def _end(self, verdict: GateVerdict, reason: str, detail: str) -> Decision:
        lacking, told = self._why_undecidable()
        if lacking:
            verdict, reason, detail = "cannot_decide", lacking, told
        elif verdict != "accept" and self.draws and reason != "no_headroom" and self.tally.low == self.tally.high:
            verdict, reason = "cannot_decide", "constant"
            detail = f"every draw of both reads {self.tally.low:g} on {self.gate.metric}: it cannot tell them apart"
        figures = self._figures()
        return Decision(
            verdict=verdict,
            gate=self.gate.name,
            reason=reason,
            detail=detail,
            metric=str(self.gate.metric),
            alpha=self.alpha,
            pace=self.gate.pace,
            tasks=self.bank.tasks,
            seen=figures.seen,
            effect=float(figures.difference.mean()) if figures.seen else 0.0,
            incumbent_score=figures.incumbent,
            candidate_score=figures.candidate,
            better=int((figures.difference > 0).sum()),
            worse=int((figures.difference < 0).sum()),
            statistic=figures.statistic,
            threshold=figures.threshold,
            guards=self._guards(),
            looks=tuple(self.looks),
            draws=tuple(self.draws),
            missing=(self._missing(INCUMBENT), self._missing(CANDIDATE)),
            left_out=tuple(sorted(self.left_out)),
            excluded=self.gate.exclude,
        )


def _reads(reading: Reading) -> bool:
    return reading is not None and reading[0] is not None
