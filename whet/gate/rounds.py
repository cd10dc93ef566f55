"""Rounds: both arms get a draw on every task, again and again, and looks between the rounds accept, stop or go on.

Every task has the same number of draws of either arm at every look, so the mean difference is unbiased whatever the
tasks are like: there is no rule by which a gain could be drawn more often than a loss.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from whet.gate.decision import GateLook
from whet.gate.evidence import Bank, Draw, Reading, Trial
from whet.gate.pace import RoundsPace
from whet.gate.statistic import HEAVY, Floats, least_gain, skewed_statistic
from whet.gate.trial import CANDIDATE, CHECKED, INCUMBENT, PairedTrial, TrialFigures

if TYPE_CHECKING:
    from whet.gate.paired import PairedGate

GoesOn = Generator[tuple[Draw, ...], Sequence[Reading], bool]


class RoundsTrial(PairedTrial):
    """A trial at a pace of rounds."""

    def __init__(self, gate: PairedGate, bank: Bank, pace: RoundsPace) -> None:
        self.values = np.full((2, bank.tasks, max(pace.rounds)), np.nan)
        self.filled = [[0] * bank.tasks, [0] * bank.tasks]
        super().__init__(gate, bank)
        self.pace = pace
        self.seen: list[int] = []
        self.round = 1
        self.bar = pace.bar(self.alpha)
        for task, row in enumerate(bank.readings):
            for reading in row:
                self._place(INCUMBENT, task, reading)

    def _decide(self) -> Trial:
        rule, tasks = self.pace, self.bank.tasks
        order = self.gate.order(tasks)
        sizes = [size for size in rule.sizes if size < 0.75 * tasks]
        for size in (*sizes, tasks):
            piece = order[len(self.seen) + len(self.left_out) : size]
            yield from self._stock(piece)
            block = [task for task in piece if task not in self.left_out]
            yield from self._upto(CANDIDATE, block, 1)
            self.seen += block
            early = size < tasks and self._look(f"{size} tasks", self.bar + rule.above_early, -np.inf)
            if early and not self._waits():
                return self._accept()
        final = not self.noisy and not (yield from self._check())
        for number, self.round in enumerate(rule.rounds):
            for arm in (INCUMBENT, CANDIDATE):
                yield from self._upto(arm, self.seen, self.round)
            last = final or number == len(rule.rounds) - 1
            bar = self.bar + (0.0 if last else rule.above[number])
            floor = bar if last else rule.floors[number]
            if self._look(f"round {self.round}", bar, floor) and (last or not self._waits()):
                return self._accept()
            if last or self.looks[-1].statistic < floor:
                break
        return self._end("reject", "not_shown", "no gain was shown")

    def _check(self) -> GoesOn:
        """Whether a policy that is declared deterministic reads otherwise on a few tasks, disagreements first."""
        loose = ~self.tally.settled(0.0)
        checked = sorted(self.seen, key=lambda task: not loose[task])[:CHECKED]
        self.noisy = yield from self._differs_on_repeat(checked)
        return self.noisy

    def _see(self, arm: int, task: int, reading: Reading) -> None:
        super()._see(arm, task, reading)
        self._place(arm, task, reading)

    def _place(self, arm: int, task: int, reading: Reading) -> None:
        """Put a draw into its round; before the incumbent has read anything on a task, what is missing has no round."""
        value = reading[0] if reading is not None else None
        if value is None and (arm == CANDIDATE or self.filled[arm][task]):
            value = self.tally.worst(arm)
        if value is not None and self.filled[arm][task] < self.values.shape[2]:
            self.values[arm, task, self.filled[arm][task]] = value
            self.filled[arm][task] += 1

    def _difference(self) -> tuple[Floats, Floats]:
        """The means of both arms over the draws of the rounds so far, and their difference, on the tasks seen."""
        means = self.values[:, self.seen, : self.round].mean(axis=2)
        return means, means[CANDIDATE] - means[INCUMBENT]

    def _statistic(self) -> float:
        return skewed_statistic(self._difference()[1], self.tally.scale(), self.gate.min_effect)

    def _look(self, at: str, bar: float, floor: float) -> bool:
        """Whether the gain is shown at this look."""
        scale = self.tally.scale()
        gain = self._difference()[1] / scale if scale > 0.0 else np.zeros(len(self.seen))
        heavy = float(-gain[gain < -HEAVY].sum())
        net = float(gain.sum()) - self.gate.min_effect * len(gain)
        statistic = self._statistic()
        self.looks.append(GateLook(at, len(self.seen), len(self.draws), statistic, floor, bar))
        return statistic >= bar and net >= least_gain(self.alpha, heavy) + self.pace.margin

    def _figures(self) -> TrialFigures:
        means, difference = self._difference()
        scores = means.mean(axis=1) if self.seen else np.full(2, np.nan)
        bar = self.looks[-1].accept_from if self.looks else None
        threshold = self.bar if bar is None else bar
        return TrialFigures(
            difference, self._statistic(), threshold, float(scores[INCUMBENT]), float(scores[CANDIDATE])
        )
