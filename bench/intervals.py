"""How often every interval that is printed covers the truth, and how often two equal policies are told apart.

    python bench/intervals.py [--quick] [--json FILE] [--grid]

Coverage is the share of simulated evaluations whose 95 % interval holds the true value. A cell is a law of the tasks,
a number of tasks and the draws of each side; a row is the worst of its cells, `--grid` prints every cell. Every second
law in the order of the alphabet is held out: no constant of `whet/evals/estimate.py` was chosen on it, and it has rows
of its own. The peer is the bias-corrected accelerated bootstrap (BCa) with whole tasks resampled.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from rows import Row, arguments, report
from scipy.special import ndtr, ndtri

from whet.evals.compare import compare
from whet.evals.estimate import Estimate, difference_estimate, mean_estimate
from whet.evals.passk import pass_at_k, pass_hat_k
from whet.keys import seed_for
from whet.types import Label, Outcome, Ticket

Values = NDArray[np.float64]
Counts = NDArray[np.int64]
Rates = Callable[[np.random.Generator, int], Values]
"""The pass rates of so many tasks."""

SIZES = (10, 12, 15, 20, 30, 50, 100, 200)
BAR = 0.92
RESAMPLES = 1000
PEER = "BCa bootstrap over tasks"


@dataclass(frozen=True)
class Law:
    """What tasks are like: each has a pass rate, and a rollout that fails earns up to `credit`."""

    rates: Rates
    mean: float
    square: float
    """The mean of the squared rates."""
    credit: float = 0.0


def flat(rate: float, credit: float = 0.0) -> Law:
    return Law(lambda rng, tasks: np.full(tasks, rate), rate, rate * rate, credit)


def beta(a: float, b: float, credit: float = 0.0) -> Law:
    mean = a / (a + b)
    square = mean * (a + 1) / (a + b + 1)
    return Law(lambda rng, tasks: rng.beta(a, b, tasks), mean, square, credit)


def two(rate: float, rest: float, share: float, credit: float = 0.0) -> Law:
    """A share of the tasks has one rate, the rest another."""
    mean, square = (share * rate**power + (1 - share) * rest**power for power in (1, 2))
    return Law(lambda rng, tasks: np.where(rng.random(tasks) < share, rate, rest), mean, square, credit)


LAWS: Mapping[str, Law] = {
    **{f"flat {rate:g}": flat(rate) for rate in (0.02, 0.035, 0.055, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9)},
    **{f"flat {rate:g}": flat(rate) for rate in (0.945, 0.965, 0.98)},
    **{f"beta({a:g},{b:g})": beta(a, b) for a, b in ((1, 1), (0.2, 0.2), (0.5, 0.5), (4, 0.4), (0.2, 1), (8, 1))},
    **{f"beta({a:g},{b:g})": beta(a, b) for a, b in ((1, 12), (2, 6), (20, 1))},
    "one in ten hard": two(0.1, 0.98, 0.1),
    "one in ten easy": two(0.9, 0.02, 0.1),
    "half at .95": two(0.95, 0.05, 0.5),
    "credit, flat 0.1": flat(0.1, 0.8),
    "credit, flat 0.6": flat(0.6, 0.8),
    "credit, flat 0.9": flat(0.9, 0.8),
    "credit, beta(8,1)": beta(8, 1, 0.5),
    "credit, beta(0.5,0.5)": beta(0.5, 0.5, 0.3),
    "credit, one in ten hard": two(0.1, 0.98, 0.1, 0.4),
}
HELD_OUT = frozenset(sorted(LAWS)[1::2])

Draws = int | Literal["mixed"]
"""Draws a task; mixed: one to four, task by task, as faults and grown runs leave them."""

PAIRS: tuple[tuple[Draws, Draws], ...] = (
    (1, 1),
    (2, 2),
    (4, 4),
    (4, 1),
    (1, 4),
    (8, 2),
    ("mixed", 1),
    ("mixed", "mixed"),
)


@dataclass(frozen=True)
class Side:
    """The draws of one policy in many evaluations, `(evaluations, tasks)` each: how many, their mean, their range."""

    draws: Counts
    mean: Values
    low: Values
    high: Values


def played(rng: np.random.Generator, rates: Values, draws: Draws, credit: float) -> Side:
    most = 4 if draws == "mixed" else draws
    made = rng.integers(1, 5, rates.shape) if draws == "mixed" else np.full(rates.shape, draws)
    solved = rng.random((*rates.shape, most)) < rates[..., None]
    values = np.where(solved, 1.0, credit * rng.random(solved.shape) if credit else 0.0)
    there = np.arange(most) < made[..., None]
    return Side(
        made,
        np.where(there, values, 0.0).sum(axis=-1) / made,
        np.where(there, values, 2.0).min(axis=-1),
        np.where(there, values, -1.0).max(axis=-1),
    )


@dataclass(frozen=True)
class Cell:
    """One interval under one law: `measure(reps, round)` gives its coverage and its mean width."""

    law: str
    tasks: int
    draws: str
    measure: Callable[[int, int], tuple[float, float]]


def held(found: Iterable[Estimate | None], truth: float) -> tuple[float, float]:
    """The share of intervals that hold the truth, and how wide they are."""
    intervals = [estimate.interval for estimate in found if estimate is not None]
    holds = sum(interval.low - 1e-12 <= truth <= interval.high + 1e-12 for interval in intervals)
    return holds / len(intervals), sum(interval.high - interval.low for interval in intervals) / len(intervals)


def luck(*names: str | int) -> np.random.Generator:
    return np.random.default_rng(seed_for("bench", "intervals", *names))


def exact(name: str, tasks: int) -> tuple[float, float]:
    """Single draws of equal tasks: the count is binomial, nothing has to be simulated."""
    rate = LAWS[name].mean
    coverage = width = 0.0
    for solved in range(tasks + 1):
        holds, wide = held([mean_estimate([1.0] * solved + [0.0] * (tasks - solved))], rate)
        chance = math.comb(tasks, solved) * rate**solved * (1 - rate) ** (tasks - solved)
        coverage, width = coverage + chance * holds, width + chance * wide
    return coverage, width


def mean_cells(name: str, tasks: int) -> Iterator[Cell]:
    law = LAWS[name]
    truth = law.mean + (1 - law.mean) * law.credit / 2
    ways: tuple[Draws, ...] = (1, 2, 4, 8, "mixed")
    for draws in ways:

        def measure(reps: int, round: int, draws: Draws = draws) -> tuple[float, float]:
            if draws == 1 and name.startswith("flat"):
                return exact(name, tasks)
            rng = luck("mean", name, tasks, str(draws), round)
            side = played(rng, law.rates(rng, reps * tasks).reshape(reps, tasks), draws, law.credit)
            return held(map(mean_estimate, side.mean.tolist()), truth)

        yield Cell(name, tasks, str(draws), measure)


def pass_cells(name: str, tasks: int) -> Iterator[Cell]:
    """pass@2 and pass^2 of four draws a task."""
    law = LAWS[name]
    wanted = {"pass@2": (2 * law.mean - law.square, pass_at_k), "pass^2": (law.square, pass_hat_k)}
    for what, (truth, share) in wanted.items() if not law.credit else ():
        shares = [share(solved, 4, 2) for solved in range(5)]

        def measure(
            reps: int, round: int, what: str = what, truth: float = truth, shares: list[float] = shares
        ) -> tuple[float, float]:
            rng = luck(what, name, tasks, round)
            solved = rng.binomial(4, law.rates(rng, reps * tasks).reshape(reps, tasks))
            return held(map(mean_estimate, np.array(shares)[solved].tolist()), truth)

        yield Cell(name, tasks, f"{what} of 4", measure)


def difference_cells(name: str, tasks: int) -> Iterator[Cell]:
    """The same policy twice, and one that solves half of what the other fails."""
    law = LAWS[name]
    for lift in (0.0, 0.5):
        truth = lift * (1 - law.mean) * (1 - law.credit / 2)
        for pair in PAIRS:

            def measure(
                reps: int, round: int, pair: tuple[Draws, Draws] = pair, lift: float = lift, truth: float = truth
            ) -> tuple[float, float]:
                rng = luck("difference", name, tasks, str(pair), str(lift), round)
                rates = law.rates(rng, reps * tasks).reshape(reps, tasks)
                a = played(rng, rates, pair[0], law.credit)
                b = played(rng, rates + lift * (1 - rates), pair[1], law.credit)
                return held(contrasts(a, b), truth)

            yield Cell(name, tasks, f"{pair[0]} against {pair[1]}, lift {lift:g}", measure)


def contrasts(a: Side, b: Side) -> Iterator[Estimate | None]:
    """As `whet.evals.compare` does it, without its records: they would take most of the time."""
    apart = np.maximum(a.high, b.high) - np.minimum(a.low, b.low)
    draw = (apart / np.minimum(a.draws, b.draws)).max(axis=1)
    for differences, most in zip((b.mean - a.mean).tolist(), draw.tolist(), strict=True):
        yield difference_estimate(differences, draw=most)


# --------------------------------------------------------------------------------------------- the peer


def bootstrap(values: Values, rng: np.random.Generator) -> tuple[float, float]:
    """BCa with tasks as the unit; where all values are equal it has nothing to say but their value."""
    mean = values.mean()
    means = values[rng.integers(0, values.size, (RESAMPLES, values.size))].mean(axis=1)
    below = (np.sum(means < mean) + 0.5 * np.sum(means == mean)) / RESAMPLES
    spread = np.sum((values - mean) ** 2)
    if spread == 0 or not 0 < below < 1:
        return float(mean), float(mean)
    bias, skew = ndtri(below), np.sum((values - mean) ** 3) / (6 * spread**1.5)
    ends = [ndtr(bias + (bias + z) / (1 - skew * (bias + z))) for z in (ndtri(0.025), ndtri(0.975))]
    low, high = np.quantile(means, ends)
    return float(low), float(high)


def peer(tasks: int, reps: int) -> tuple[float, float]:
    """The bootstrap's worst coverage of means of four draws over a few laws, and how wide ours is beside it."""
    worst, ours, theirs = 1.0, 0.0, 0.0
    for name in ("flat 0.9", "beta(1,1)", "beta(8,1)", "one in ten hard"):
        law = LAWS[name]
        rng = np.random.default_rng(seed_for("bench", "peer", name, tasks))
        covered = 0
        for _ in range(reps):
            values = rng.binomial(4, law.rates(rng, tasks)) / 4
            low, high = bootstrap(values, rng)
            found = mean_estimate(values.tolist())
            assert found is not None
            covered += low <= law.mean <= high
            ours += found.interval.high - found.interval.low
            theirs += high - low
        worst = min(worst, covered / reps)
    return worst, ours / theirs


# --------------------------------------------------------------------------------------------- false claims


def attempts(rates: Values, draws: int, soft: bool, rng: np.random.Generator) -> list[Outcome]:
    outcomes = []
    for index, rate in enumerate(rates):
        for draw in range(draws):
            solved = int(rng.random() < rate)
            credit = float(solved or (round(0.8 * rng.random(), 2) if soft else 0.0))
            outcomes.append(Outcome(Ticket("eval", "test", index, draw), Label("k"), solved, credit, credit, "r"))
    return outcomes


def false_claims(quick: bool) -> Iterator[Row]:
    """How often two equal policies, and two that win and lose on as many tasks, are told apart."""
    reps = 200 if quick else 2000
    usual = beta(0.5, 0.5).rates
    cases: tuple[tuple[str, int, int, int, str, Rates, bool], ...] = (
        ("single draws", 1, 1, 100, "hard", usual, False),
        ("4 draws", 4, 4, 100, "hard", usual, False),
        ("4 draws, tasks traded", 4, 4, 100, "hard", usual, True),
        ("credit", 1, 1, 100, "soft", usual, False),
        ("4 against 1, rate .9, 20 tasks", 4, 1, 20, "hard", flat(0.9).rates, False),
        ("8 against 2, rate .9, 20 tasks", 8, 2, 20, "hard", flat(0.9).rates, False),
        ("4 against 1, rate .95, 50 tasks", 4, 1, 50, "hard", flat(0.95).rates, False),
        ("4 against 1, rate .1, 20 tasks", 4, 1, 20, "hard", flat(0.1).rates, False),
        ("4 against 1, tasks traded", 4, 1, 50, "hard", usual, True),
        ("4 against 1, credit", 4, 1, 20, "soft", flat(0.9).rates, False),
    )
    for name, draws_a, draws_b, tasks, metric, law, traded in cases:
        rng = np.random.default_rng(seed_for("bench", "false", name))
        wrong = significant = 0
        for _ in range(reps):
            rates = law(rng, tasks)
            other = np.where(rng.random(tasks) < 0.5, rates, 1 - rates) if traded else rates
            a = attempts(rates, draws_a, metric == "soft", rng)
            found = compare(a, attempts(other, draws_b, metric == "soft", rng), metric=metric)
            wrong += found.verdict != "unclear"
            significant += found.overall.p <= 0.05
        bar = round(0.05 + 3 * (0.05 * 0.95 / reps) ** 0.5, 4)
        condition = f"{tasks} tasks, {reps} comparisons; bar: 0.05 and three standard errors of the simulation"
        for what, count in (("false claims", wrong), ("p at most .05", significant)):
            yield Row(f"{what}, {name}", count / reps, "share", bar, count / reps <= bar, condition=condition)


# --------------------------------------------------------------------------------------------- rows

KINDS: Mapping[str, Callable[[str, int], Iterator[Cell]]] = {
    "mean": mean_cells,
    "pass@k": pass_cells,
    "difference": difference_cells,
}

AGAIN = 6
"""The worst cells of a row are measured again on fresh draws: the worst of hundreds is worse than it is by chance."""


def coverage_rows(what: str, quick: bool, grid: bool) -> Iterator[Row]:
    reps, fresh = (60, 1000) if quick else (800, 10_000)
    for tasks in (10, 20, 50, 200) if quick else SIZES:
        for part in ("chosen on", "held out"):
            laws = [law for law in LAWS if (law in HELD_OUT) == (part == "held out")]
            cells = [cell for law in laws for cell in KINDS[what](law, tasks)]
            first = [cell.measure(reps, 0) for cell in cells]
            if grid:
                for cell, (coverage, width) in zip(cells, first, strict=True):
                    where = f"{what:10} {cell.tasks:4} {cell.law:24} {cell.draws:26}"
                    print(f"    {where} {coverage:.4f} {width:.3f}")
            order = sorted(range(len(cells)), key=lambda at: first[at][0])[:AGAIN]
            again = {at: cells[at].measure(fresh, 1)[0] for at in order}
            worst = min(again, key=lambda at: again[at])
            where = f"{cells[worst].law}, {cells[worst].draws}"
            condition = f"worst of {len(cells)} cells ({where}), the {AGAIN} lowest measured anew {fresh} times"
            bar = round(BAR - 3 * (BAR * (1 - BAR) / fresh) ** 0.5, 4) if quick else BAR
            name = f"{what} coverage, {tasks} tasks, laws {part}"
            yield Row(name, again[worst], "share", bar, again[worst] >= bar, condition=condition)


def rows(quick: bool, grid: bool = False) -> Iterator[Row]:
    for what in KINDS:
        yield from coverage_rows(what, quick, grid)
    for tasks in (10, 20, 50, 200):
        coverage, width = peer(tasks, 100 if quick else 500)
        condition = "means of four draws, worst of four laws"
        yield Row(
            f"width beside the bootstrap, {tasks} tasks", width, "of peer's", None, None, PEER, coverage, 1.0, condition
        )
    yield from false_claims(quick)


if __name__ == "__main__":
    grid = "--grid" in sys.argv
    sys.argv = [argument for argument in sys.argv if argument != "--grid"]
    options = arguments(__doc__)
    report(rows(options.quick, grid), options.json)
