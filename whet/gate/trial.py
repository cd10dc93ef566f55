"""One candidate before the paired gate: which draws to take next, from what is in, and when to stop."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from whet.gate.decision import Decision, GateLook, GateVerdict, GuardReading
from whet.gate.evidence import Arm, Bank, Draw, Reading, Trial, why_undecidable
from whet.gate.statistic import ArmContrast, prefixes, reachable, stocked, threshold

if TYPE_CHECKING:
    from whet.gate.paired import PairedGate

ARMS: tuple[Arm, Arm] = ("incumbent", "candidate")
INCUMBENT, CANDIDATE = 0, 1
SPLIT = 0.5
"""A difference above this share of the scale is a disagreement that is drawn again."""
CONFIRMED = (4, 2)
"""Draws of the incumbent and of the candidate on a task where they disagree."""
DEEPEST = 8
"""The most draws of the incumbent on a task in search of room to gain; after them, it is taken to leave none."""
REPLICATES = 4
"""Draws of the candidate on noisy tasks when the last look is undecided."""
NOISY = (0.15, 0.85)
"""Incumbent means between which a task counts as noisy, as shares of the scale."""

DrawStep = Generator[tuple[Draw, ...], Sequence[Reading], None]
"""A part of a trial: yields the draws it needs and has them in the tally when it ends."""


class _OutOfRollouts(Exception):
    """The next batch would take the decision past `max_rollouts`."""


class PairedTrial:
    """The state of one trial. `steps` is the generator that drives it."""

    def __init__(self, gate: PairedGate, bank: Bank) -> None:
        self.gate = gate
        self.bank = bank
        self.alpha = gate.alpha_for(bank.decisions)
        self.tally = stocked(gate.metric, bank)
        self.next_draw = (list(bank.taken), [0] * bank.tasks)
        self.have = ([len(row) for row in bank.readings], [0] * bank.tasks)
        self.draws: list[tuple[Draw, Reading]] = []
        self.looks: list[GateLook] = []

    def steps(self) -> Trial:
        try:
            return (yield from self._decide())
        except _OutOfRollouts:
            return self._end("reject", "max_rollouts", f"undecided within {self.gate.max_rollouts} rollouts")

    def _decide(self) -> Trial:
        tasks = self.bank.tasks
        order = self.gate.order(tasks)
        for size in prefixes(tasks):
            block, last = order[:size], size == tasks
            if not (yield from self._stock(block)):
                if last:
                    return self._exhausted()
                continue
            if not (yield from self._race(block)):
                return self._end("reject", "futile", "the net gain fell behind what could still be accepted")
            bar = self._bar(last)
            if self._passes("prefix", bar):
                return self._accept()
            if self.looks[-1].statistic < self.gate.futility.floor:
                break
            if last:
                yield from self._replicate(block)
                if self._passes("replicates", bar):
                    return self._accept()
        return self._end("reject", "not_shown", "no gain was shown")

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
            self.tally.read(arm, draw.task, reading)
            self.next_draw[arm][draw.task] = draw.draw + 1
            self.have[arm][draw.task] += 1
            self.draws.append((draw, reading))

    def _upto(self, arm: int, tasks: Sequence[int], many: int) -> DrawStep:
        """Take draws until each of `tasks` has `many` of this arm."""
        have = self.have[arm]
        yield from self._take([(arm, task, many - have[task]) for task in tasks if have[task] < many])

    def _stock(self, block: Sequence[int]) -> Generator[tuple[Draw, ...], Sequence[Reading], bool]:
        """Draw the incumbent until a candidate could pass on these tasks; False when that is out of reach.

        A task counts as having room when the incumbent ever failed it; where luck hides the room, more draws find it.
        """
        for many in range(self.gate.stock_for(self.bank.tasks), DEEPEST + 1):
            yield from self._upto(INCUMBENT, block, many)
            if self.tally.span is None or self._headroom(block):
                return True
        return False

    def _confirm(self) -> DrawStep:
        """Draw again where the arms disagree, the candidate first: a lucky flip usually ends there."""
        for arm in (CANDIDATE, INCUMBENT):
            contrast = self._contrast()
            split = np.flatnonzero(np.abs(contrast.difference) > SPLIT * self._unit(contrast))
            yield from self._upto(arm, [int(task) for task in split], CONFIRMED[arm])

    def _replicate(self, block: Sequence[int]) -> DrawStep:
        low, high = self.tally.low, self.tally.scale()
        base = 0.0 if self.tally.span is not None else low
        share = (self.tally.means()[INCUMBENT] - base) / (high or 1.0)
        noisy = [task for task in block if NOISY[0] < share[task] < NOISY[1]]
        yield from self._upto(CANDIDATE, noisy, REPLICATES)

    # ------------------------------------------------------------------------------------------- looking

    def _contrast(self) -> ArmContrast:
        return self.tally.contrast(self.gate.min_effect)

    def _bar(self, last: bool = True) -> float:
        return threshold(self.alpha, self.bank.tasks, last, self.tally.binary, self.gate.futility.bar)

    def _unit(self, contrast: ArmContrast) -> float:
        """What counts as a whole flip: the scale of a solved-or-not metric, else the largest difference seen."""
        return 1.0 if self.tally.binary else float(np.abs(contrast.difference).max(initial=0.0))

    def _sides(self, block: Sequence[int]) -> tuple[list[int], list[int]]:
        """Tasks not yet given to the candidate: those with something to gain, and the others."""
        means = self.tally.means()[INCUMBENT]
        fresh = [task for task in block if not self.have[CANDIDATE][task] and self.tally.count[INCUMBENT, task]]
        if not fresh:
            return [], []
        cut = 0.5 if self.tally.span is not None else float(means[fresh].min() + means[fresh].max()) / 2.0
        return [task for task in fresh if means[task] < cut], [task for task in fresh if means[task] >= cut]

    def _race(self, block: Sequence[int]) -> Generator[tuple[Draw, ...], Sequence[Reading], bool]:
        """Give the block to the candidate piece by piece; False as soon as it falls behind."""
        rule = self.gate.futility
        gains, risks = self._sides(block)
        from_start = not any(self.have[CANDIDATE])
        g, r = 0, 0
        while g < len(gains) or r < len(risks):
            start = g == 0 and r == 0 and bool(gains)
            g_next, r_next = g + (rule.first if start else rule.gain), r + (0 if start else rule.risk)
            piece = gains[g:g_next] + risks[r:r_next]
            g, r = min(g_next, len(gains)), min(r_next, len(risks))
            yield from self._upto(CANDIDATE, piece, 1)
            yield from self._confirm()
            contrast = self._contrast()
            needed = (rule.slope * g - rule.slack) * self._unit(contrast)
            behind = contrast.total < needed or (rule.slope * g > rule.slack and contrast.total <= 0.0)
            if not from_start:
                needed, behind = rule.floor, contrast.statistic < rule.floor
            if behind:
                self._note("piece", contrast, needed, None)
                return False
        return True

    def _headroom(self, block: Sequence[int]) -> bool:
        """Whether a candidate could pass at all on these tasks."""
        stocked_tasks = [task for task in block if self.tally.count[INCUMBENT, task]]
        room = 1.0 - self.tally.means()[INCUMBENT][stocked_tasks]
        return reachable(room) >= self._bar()

    def _passes(self, at: str, bar: float) -> bool:
        contrast = self._contrast()
        self._note(at, contrast, self.gate.futility.floor, bar)
        return contrast.statistic >= bar and contrast.effect > self.gate.min_effect

    def _note(self, at: str, contrast: ArmContrast, below: float, bar: float | None) -> None:
        value = contrast.total if at == "piece" else contrast.statistic
        self.looks.append(GateLook(at, contrast.seen, len(self.draws), value, below, bar))

    # ------------------------------------------------------------------------------------------- ending

    def _exhausted(self) -> Decision:
        detail = (
            "the incumbent leaves too little to gain on the select tasks for any candidate to pass; add harder tasks"
        )
        return self._end("cannot_decide", "no_headroom", detail)

    def _accept(self) -> Decision:
        for guard in self._guards():
            if np.isnan(guard.difference):
                return self._end("cannot_decide", "unreported", f"no rollout reports the guard {guard.metric}")
            if not guard.held:
                return self._end(
                    "reject", "guard", f"{guard.metric} got worse by {guard.harm:.3f}, more than {guard.bound:g}"
                )
        return self._end("accept", "gain_shown", "better on the mean over tasks")

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
            moved = [np.mean(values["candidate", task]) - np.mean(values["incumbent", task]) for task in both]
            difference = float(np.mean(moved)) if moved else float("nan")
            readings.append(GuardReading(str(guard.metric), difference, guard.harm(difference), guard.bound))
        return tuple(readings)

    def _end(self, verdict: GateVerdict, reason: str, detail: str) -> Decision:
        draws = tuple(self.draws)
        lacking = why_undecidable(self.bank, draws)
        silent = [
            ARMS[arm] for arm in (INCUMBENT, CANDIDATE) if any(self.have[arm]) and not self.tally.count[arm].any()
        ]
        if silent:
            verdict, reason = "cannot_decide", "unreported"
            detail = (
                f"no draw of the {silent[0]} reads {self.gate.metric!s}: faults, or the environment does not report it"
            )
        elif lacking:
            verdict, reason, detail = "cannot_decide", "missing", lacking
        elif verdict != "accept" and draws and reason != "no_headroom" and self.tally.low == self.tally.high:
            verdict, reason = "cannot_decide", "constant"
            detail = f"every draw of both reads {self.tally.low:g} on {self.gate.metric}: it cannot tell them apart"
        contrast = self._contrast()
        both = (self.tally.count > 0).all(axis=0)
        means = self.tally.means()[:, both].mean(axis=1) if both.any() else np.full(2, np.nan)
        return Decision(
            verdict=verdict,
            gate=self.gate.name,
            reason=reason,
            detail=detail,
            metric=str(self.gate.metric),
            alpha=self.alpha,
            tasks=self.bank.tasks,
            seen=contrast.seen,
            effect=contrast.effect,
            incumbent_score=float(means[INCUMBENT]),
            candidate_score=float(means[CANDIDATE]),
            better=contrast.better,
            worse=contrast.worse,
            statistic=contrast.statistic,
            threshold=self._bar(contrast.seen == self.bank.tasks),
            guards=self._guards(),
            looks=tuple(self.looks),
            draws=draws,
        )
