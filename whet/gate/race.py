"""A race: tasks that the incumbent failed first, in small pieces, and a candidate that falls behind is dropped.

An acceptance waits until all tasks of a prefix are in, or until the rest could not prevent it; so the order in which
tasks are looked at, and the dropping, can only lower how often a candidate that is no better gets through.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from whet.gate.decision import GateLook
from whet.gate.evidence import Bank, Draw, Reading, Trial
from whet.gate.pace import CONFIRMED, RacePace
from whet.gate.statistic import HEAVY, LEAST_SQUARE, ArmContrast, Floats, least_gain, prefixes, reachable
from whet.gate.trial import CANDIDATE, CHECKED, INCUMBENT, LEADING, DrawStep, PairedTrial, TrialFigures

if TYPE_CHECKING:
    from whet.gate.paired import PairedGate

REPLICATES = 6
"""Draws of either on such tasks when the last look is undecided."""
TOLERANCE = 0.25
"""Means of a metric with shades that differ by no more than this share of its scale agree."""
MORE_RISKS = 6
"""Tasks of a piece once none with something to gain is left."""


class RaceTrial(PairedTrial):
    """A trial at a racing pace."""

    def __init__(self, gate: PairedGate, bank: Bank, pace: RacePace) -> None:
        super().__init__(gate, bank)
        self.pace = pace
        self.denied = False
        """Whether draws that are complete on all tasks say no: those of disputed tasks cannot change that."""

    def _decide(self) -> Trial:
        tasks = self.bank.tasks
        order = self.gate.order(tasks)
        for size in prefixes(tasks):
            last = size == tasks
            yield from self._stock(order[:size])
            block = [task for task in order[:size] if task not in self.left_out]
            if not self._headroom(block):
                if last:
                    return self._no_headroom()
                continue
            raced = yield from self._race(block, self._bar(last))
            if raced == "behind":
                return self._end("reject", "futile", "the net gain fell behind what could still be accepted")
            if raced == "ahead" or (yield from self._passes("prefix", last)):
                return self._accept()
            if self.looks[-1].statistic < self.pace.floor or self.denied:
                break
            if last and self.noisy:
                loose = self._loose()
                for arm in (CANDIDATE, INCUMBENT):
                    yield from self._upto(arm, loose, REPLICATES)
                if (yield from self._passes("replicates", last)):
                    return self._accept()
        return self._end("reject", "not_shown", "no gain was shown")

    def _race(self, block: Sequence[int], bar: float) -> Generator[tuple[Draw, ...], Sequence[Reading], str]:
        """Give the block to the candidate piece by piece until it falls behind, cannot fail any more, or is through."""
        rule = self.pace
        gains, risks = self._sides(block)
        from_start = not any(self.have[CANDIDATE])
        g, r = 0, 0
        while g < len(gains) or r < len(risks):
            start = g == 0 and r == 0 and bool(gains)
            many = 0 if start else rule.risk if g < len(gains) else max(rule.risk, MORE_RISKS)
            g_next, r_next = g + (rule.first if start else rule.gain), r + many
            piece = gains[g:g_next] + risks[r:r_next]
            g, r = min(g_next, len(gains)), min(r_next, len(risks))
            yield from self._upto(CANDIDATE, piece, 1)
            yield from self._confirm()
            contrast = self._contrast()
            needed = min(rule.slope * g - rule.slack, rule.most) * self._unit(contrast)
            behind = contrast.total < needed or (rule.slope * g > rule.slack and contrast.total <= 0.0)
            if not from_start:
                needed, behind = rule.floor, contrast.statistic < rule.floor
            if behind:
                self._note("piece", contrast.total if from_start else contrast.statistic, needed, None, contrast.seen)
                return "behind"
            if self._safe(contrast, len(risks) - r, bar) and (yield from self._sure()):
                self._note("piece", self._contrast().statistic, needed, bar, contrast.seen)
                return "ahead"
        return "through"

    def _confirm(self) -> DrawStep:
        """Draw both again where their draws do not all agree."""
        if self.noisy:
            loose = self._loose()
            for arm in (CANDIDATE, INCUMBENT):
                yield from self._upto(arm, loose, CONFIRMED[arm])

    def _loose(self) -> list[int]:
        """Tasks given to both whose draws do not all agree."""
        given = (self.tally.count > 0).all(axis=0)
        return [int(task) for task in np.flatnonzero(given & ~self.tally.settled(TOLERANCE))]

    def _sure(self) -> Generator[tuple[Draw, ...], Sequence[Reading], bool]:
        """Whether the evidence stands: a policy declared deterministic is drawn again on a few tasks first.

        One that reads otherwise then is noisy after all, and its disagreements are confirmed like any other's.
        """
        if self.noisy:
            return True
        loose = self._loose()
        checked = (loose + [task for task in np.flatnonzero(self.tally.count[CANDIDATE]) if task not in loose])[
            :CHECKED
        ]
        self.noisy = yield from self._differs_on_repeat([int(task) for task in checked])
        yield from self._confirm()
        return not self.noisy

    # ------------------------------------------------------------------------------------------- looking

    def _contrast(self) -> ArmContrast:
        return self.tally.contrast(self.gate.min_effect)

    def _bar(self, last: bool = True) -> float:
        return self.pace.bar(self.alpha, self.tally.binary) * (1.0 if last else self.pace.early)

    def _unit(self, contrast: ArmContrast) -> float:
        """What counts as a whole flip: the scale of a solved-or-not metric, else the largest difference seen."""
        return 1.0 if self.tally.binary else float(np.abs(contrast.difference).max(initial=0.0))

    def _sides(self, block: Sequence[int]) -> tuple[list[int], list[int]]:
        """Tasks not yet given to the candidate: those with something to gain, the surest first, and the others."""
        fresh = [task for task in block if not self.have[CANDIDATE][task] and self.tally.count[INCUMBENT, task]]
        if not fresh:
            return [], []
        means, count, sums = self.tally.means()[INCUMBENT], self.tally.count[INCUMBENT], self.tally.sums[INCUMBENT]
        cut = 0.5 if self.tally.span is not None else float(means[fresh].min() + means[fresh].max()) / 2.0
        gains = [task for task in fresh if means[task] < cut]
        gains.sort(key=lambda task: (sums[task] + 0.5) / (count[task] + 1.0))
        return gains, [task for task in fresh if means[task] >= cut]

    def _headroom(self, block: Sequence[int]) -> bool:
        """Whether a candidate could pass at all on these tasks."""
        if self.tally.span is None:
            return True
        room = 1.0 - self.tally.means()[INCUMBENT][list(block)]
        return reachable(room) >= self._bar()

    def _safe(self, contrast: ArmContrast, risks: int, bar: float) -> bool:
        """Whether it would be accepted even if it lost every task that it has not been given and could lose."""
        unit = self._unit(contrast)
        total = contrast.total - risks * unit
        square = float((contrast.weighed * contrast.weighed).sum()) + (risks + LEAST_SQUARE) * unit * unit
        return bool(total >= bar * self.pace.early * np.sqrt(square) > 0.0) and self._first_draws_agree(contrast, risks)

    def _first_draws_agree(self, contrast: ArmContrast, risks: int = 0) -> bool:
        """Whether the first draws alone say enough, with `risks` more tasks counted as lost."""
        bar = self.pace.pairs_for(self.bank.tasks, self.alpha)
        return self._leading(1, contrast, risks) >= bar and self._no_rare_loss(contrast, risks)

    def _leading(self, many: int, contrast: ArmContrast, risks: int = 0) -> float:
        """The statistic of the first draws of either arm, `many` on each task, with `risks` more tasks lost."""
        unit = self._unit(contrast)
        moved = self._moved(many)
        net = float(moved.sum()) - self.gate.min_effect * contrast.seen - risks * unit
        root = float(np.sqrt((moved * moved).sum() + (risks + LEAST_SQUARE) * unit * unit))
        return net / root if root > 0.0 else 0.0

    def _moved(self, many: int) -> Floats:
        """By task given to both: the candidate's mean over its first draws less the incumbent's."""
        both = (self.tally.count > 0).all(axis=0)
        means: Floats = np.nanmean(self.leading[:, :many, both], axis=1)
        moved: Floats = means[CANDIDATE] - means[INCUMBENT]
        return moved

    def _no_rare_loss(self, contrast: ArmContrast, risks: int = 0) -> bool:
        """For a metric with shades: whether the gain is more than losses too rare to be among the tasks could undo."""
        scale = self.tally.scale()
        if self.tally.binary or scale <= 0.0:
            return True
        moved = self._moved(1)
        net = float(moved.sum()) - self.gate.min_effect * contrast.seen - risks * self._unit(contrast)
        heavy = -float(moved[moved < -HEAVY * scale].sum()) / scale
        return net / scale >= least_gain(self.alpha, heavy)

    def _passes(self, at: str, last: bool) -> Generator[tuple[Draw, ...], Sequence[Reading], bool]:
        """Whether the statistic is at its bar, and stays there when all tasks are drawn once more.

        Losses that are thin and spread over many tasks vanish when only the tasks that show one are drawn again. So
        a candidate that would be accepted is drawn a second time wherever it was drawn once, and the incumbent too.
        Only would-be acceptances pay for that.
        """
        bar = self._bar(last)
        if not self._reaches(at, bar):
            return False
        if (yield from self._sure()) and not self.noisy:
            return self._stands(1, last)
        if self._leading(1, self._contrast()) < 0.0:
            self.denied = last
            return False
        given = [int(task) for task in np.flatnonzero((self.tally.count > 0).all(axis=0))]
        for arm in (CANDIDATE, INCUMBENT):
            yield from self._upto(arm, given, LEADING)
        yield from self._confirm()
        stands = self._stands(LEADING, last)
        return self._reaches(f"{at}, second sweep", bar) and stands

    def _stands(self, many: int, last: bool) -> bool:
        """Whether the first `many` draws of either arm on all tasks say enough."""
        contrast = self._contrast()
        stands = self._leading(many, contrast) >= self.pace.twice_for(self.alpha) and self._no_rare_loss(contrast)
        self.denied = last and not stands
        return stands

    def _reaches(self, at: str, bar: float) -> bool:
        contrast = self._contrast()
        self._note(at, contrast.statistic, self.pace.floor, bar, contrast.seen)
        return contrast.statistic >= bar

    def _note(self, at: str, value: float, below: float, bar: float | None, seen: int) -> None:
        self.looks.append(GateLook(at, seen, len(self.draws), value, below, bar))

    def _figures(self) -> TrialFigures:
        contrast = self._contrast()
        both = (self.tally.count > 0).all(axis=0)
        means = self.tally.means()[:, both].mean(axis=1) if both.any() else np.full(2, np.nan)
        return TrialFigures(
            contrast.difference[both],
            contrast.statistic,
            self._bar(contrast.seen + len(self.left_out) == self.bank.tasks),
            float(means[INCUMBENT]),
            float(means[CANDIDATE]),
        )
