"""The published rules, for comparison under the same contract: `strict`, `none`, `gepa` and `rule_search`.

None of them bounds how often it accepts a candidate that is no better; their decisions carry no alpha.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from whet.errors import WhetError
from whet.evals.metric import HARD, Metric
from whet.gate.decision import Decision
from whet.gate.evidence import Bank, Draw, DrawReadings, Reading, Trial, why_undecidable
from whet.types import Score

Values = list[float | None]
Measurement = Generator[tuple[Draw, ...], Sequence[Reading], Values]
"""Yields the draws it needs and returns the mean of each task, None where nothing was read."""


@dataclass(frozen=True, slots=True)
class _PublishedRule:
    """What the published rules share: they decide on one metric and trust the draws that got a candidate accepted."""

    metric: Metric = HARD
    seed: int = 0
    name: str = ""

    def open(self, tasks: int) -> Bank:
        if tasks < 2:
            raise WhetError(f"gate {self.name}: a select split of {tasks} task decides nothing; use more tasks")
        return Bank.empty(tasks)

    def read(self, score: Score | None) -> Reading:
        value = self.metric.of(score) if score is not None else None
        return None if value is None else (value,)

    def carry(self, bank: Bank, decision: Decision) -> Bank:
        if decision.accepted:
            return bank.succeeded(decision.draws, score=decision.candidate_score)
        kept = bank.extended(decision.draws)
        return kept if bank.score is not None else replace(kept, score=decision.incumbent_score)

    def _baseline(self, bank: Bank, draws: list[tuple[Draw, Reading]], many: int = 1) -> Measurement:
        """The incumbent's first `many` draws on every task, taken where the bank lacks them; task means."""
        rows = [list(row[:many]) for row in bank.readings]
        batch = tuple(
            Draw("incumbent", task, bank.taken[task] + k)
            for task, row in enumerate(rows)
            for k in range(many - len(row))
        )
        if batch:
            readings = yield batch
            for draw, reading in zip(batch, readings, strict=True):
                rows[draw.task].append(reading)
                draws.append((draw, reading))
        return [_mean(row) for row in rows]

    def _measure(self, tasks: int, draws: list[tuple[Draw, Reading]], many: int = 1) -> Measurement:
        """Fresh draws of the candidate on every task; task means."""
        used = Counter(draw.task for draw, _ in draws if draw.arm == "candidate")
        batch = tuple(Draw("candidate", task, used[task] + k) for task in range(tasks) for k in range(many))
        readings = yield batch
        draws.extend(zip(batch, readings, strict=True))
        rows: list[list[Reading]] = [[] for _ in range(tasks)]
        for draw, reading in zip(batch, readings, strict=True):
            rows[draw.task].append(reading)
        return [_mean(row) for row in rows]

    def _decision(
        self, accept: bool, reason: str, detail: str, bank: Bank, draws: DrawReadings, old: Values, new: Values
    ) -> Decision:
        pairs = [(a, b) for a, b in zip(old, new, strict=True) if a is not None and b is not None]
        lacking = why_undecidable(bank, draws)
        if lacking:
            accept, reason, detail = False, "missing", lacking
        return Decision(
            verdict="cannot_decide" if lacking else "accept" if accept else "reject",
            gate=self.name,
            reason=reason,
            detail=detail,
            metric=str(self.metric),
            tasks=bank.tasks,
            seen=len(pairs),
            effect=float(np.mean([b - a for a, b in pairs])) if pairs else float("nan"),
            incumbent_score=_average(old),
            candidate_score=_average(new),
            better=sum(b > a for a, b in pairs),
            worse=sum(b < a for a, b in pairs),
            draws=draws,
        )


@dataclass(frozen=True, slots=True)
class StrictGate(_PublishedRule):
    """SkillOpt: one draw of the candidate on every select task; accepted when its mean is strictly above the record."""

    name: str = "strict"

    def trial(self, bank: Bank) -> Trial:
        draws: list[tuple[Draw, Reading]] = []
        old = yield from self._baseline(bank, draws)
        new = yield from self._measure(bank.tasks, draws)
        accept = _average(new) > _average(old)
        sign = ">" if accept else "is not above"
        detail = f"{_average(new):.3f} {sign} {_average(old):.3f} on record"
        return self._decision(
            accept, "above_record" if accept else "not_above_record", detail, bank, tuple(draws), old, new
        )


@dataclass(frozen=True, slots=True)
class NoGate(_PublishedRule):
    """Accepts every candidate and measures it once all the same."""

    name: str = "none"

    def trial(self, bank: Bank) -> Trial:
        draws: list[tuple[Draw, Reading]] = []
        old = yield from self._baseline(bank, draws)
        new = yield from self._measure(bank.tasks, draws)
        return self._decision(True, "force_accept", "no gate", bank, tuple(draws), old, new)


@dataclass(frozen=True, slots=True)
class GepaGate(_PublishedRule):
    """GEPA: both on a fresh minibatch, and where the candidate's sum is larger, its mean on the whole split.

    The best mean on the split leads, as GEPA reports it. GEPA draws the minibatch from the training tasks; a gate sees
    the select tasks alone and draws it from them.
    """

    minibatch: int = 3
    name: str = "gepa"

    def trial(self, bank: Bank) -> Trial:
        draws: list[tuple[Draw, Reading]] = []
        old = yield from self._baseline(bank, draws)
        taken = bank.extended(tuple(draws)).taken
        rng = np.random.default_rng((self.seed, bank.decisions))
        chosen = [int(task) for task in rng.choice(bank.tasks, min(self.minibatch, bank.tasks), replace=False)]
        batch = tuple(Draw("incumbent", task, taken[task]) for task in chosen)
        batch += tuple(Draw("candidate", task, 0) for task in chosen)
        readings = yield batch
        draws.extend(zip(batch, readings, strict=True))
        before, after = (_sum(readings[: len(chosen)]), _sum(readings[len(chosen) :]))
        if not after > before:
            none: Values = [None] * bank.tasks
            detail = f"minibatch of {len(chosen)}: {after:g} is not above {before:g}"
            return self._decision(False, "minibatch", detail, bank, tuple(draws), old, none)
        new = yield from self._measure(bank.tasks, draws)
        accept = _average(new) > _average(old)
        detail = f"minibatch {after:g} > {before:g}, then {_average(new):.3f} against {_average(old):.3f} on the split"
        return self._decision(accept, "best_mean" if accept else "not_best", detail, bank, tuple(draws), old, new)

    def carry(self, bank: Bank, decision: Decision) -> Bank:
        """The record is the draw on the whole split: the last one of each task, not the minibatch's."""
        if not decision.accepted:
            return _PublishedRule.carry(self, bank, decision)
        grown = bank.succeeded(decision.draws, score=decision.candidate_score)
        return replace(grown, readings=tuple(row[-1:] for row in grown.readings))


@dataclass(frozen=True, slots=True)
class RuleSearchGate(_PublishedRule):
    """Rule search: relative error reduction, few changed majorities, and a bootstrap over tasks that agrees.

    Each task counts by the majority of `samples` draws. The baseline is drawn once for an incumbent and shared by all
    its candidates, where the original draws it again in every iteration: that spares it rollouts.
    """

    samples: int = 3
    min_reduction: float = 0.10
    max_changed: float = 0.05
    min_prob: float = 0.8
    resamples: int = 200
    name: str = "rule_search"

    def trial(self, bank: Bank) -> Trial:
        draws: list[tuple[Draw, Reading]] = []
        old = _majority((yield from self._baseline(bank, draws, self.samples)))
        new = _majority((yield from self._measure(bank.tasks, draws, self.samples)))
        both = np.array([(a, b) for a, b in zip(old, new, strict=True) if a is not None and b is not None]).reshape(
            -1, 2
        )
        reduction = float(_reduction(both[None])[0]) if len(both) else 0.0
        changed = float((both[:, 0] != both[:, 1]).mean()) if len(both) else 1.0
        agreed = self._bootstrap(both, bank.decisions) if len(both) else 0.0
        detail = (
            f"error reduced by {reduction:.2f} (at least {self.min_reduction:g}), {changed:.3f} changed (at most "
            f"{self.max_changed:g}), bootstrap {agreed:.2f} (at least {self.min_prob:g})"
        )
        accept = reduction >= self.min_reduction and changed <= self.max_changed and agreed >= self.min_prob
        return self._decision(accept, "all_hold" if accept else "not_all_hold", detail, bank, tuple(draws), old, new)

    def _bootstrap(self, both: np.ndarray, number: int) -> float:
        rng = np.random.default_rng((self.seed, number))
        picks = rng.integers(0, len(both), size=(self.resamples, len(both)))
        return float((_reduction(both[picks]) >= self.min_reduction).mean())


def _reduction(both: np.ndarray) -> np.ndarray:
    """Relative error reduction of samples of (incumbent right, candidate right) pairs."""
    before, after = 1.0 - both[..., 0].mean(axis=-1), 1.0 - both[..., 1].mean(axis=-1)
    reduced: np.ndarray = (before - after) / np.maximum(before, 1e-9)
    return reduced


def _majority(means: Values) -> Values:
    return [None if mean is None else float(mean > 0.5) for mean in means]


def _mean(row: Sequence[Reading]) -> float | None:
    values = [reading[0] for reading in row if reading is not None and reading[0] is not None]
    return sum(values) / len(values) if values else None


def _average(values: Values) -> float:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else float("nan")


def _sum(readings: Sequence[Reading]) -> float:
    return sum(reading[0] for reading in readings if reading is not None and reading[0] is not None)
