"""How often the intervals of `whet.evals` cover the truth, beside a bootstrap over tasks on the same draws.

    python bench/intervals.py [--quick] [--json FILE]

Coverage is the share of simulated evaluations whose 95 % interval holds the true mean; each row is the worst of its
scenarios. The peer is the bias-corrected accelerated bootstrap (BCa) with whole tasks resampled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray
from rows import Row, arguments, report
from scipy.special import ndtr, ndtri

from whet.evals.compare import compare
from whet.evals.estimate import Estimate, difference_estimate, mean_estimate
from whet.keys import seed_for
from whet.types import Label, Outcome, Ticket

Values = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Values]
"""One value per task for so many tasks."""

SIZES = (5, 10, 20, 50, 200)
BAR = 0.9
"""For ten tasks or more: with five, a share is one of six values, and no interval covers everywhere."""

RESAMPLES = 1000
PEER = "BCa bootstrap over tasks"


def binary(p: float) -> Draw:
    return lambda rng, tasks: (rng.random(tasks) < p).astype(float)


def repeated(a: float, b: float, draws: int) -> Draw:
    """Solved shares of tasks whose own pass rates follow a beta distribution."""
    return lambda rng, tasks: rng.binomial(draws, rng.beta(a, b, tasks)) / draws


def credit(perfect: float, nothing: float) -> Draw:
    """Full credit, none, or something in between."""

    def draw(rng: np.random.Generator, tasks: int) -> Values:
        luck = rng.random(tasks)
        return np.where(luck < perfect, 1.0, np.where(luck < perfect + nothing, 0.0, rng.random(tasks)))

    return draw


MEANS: Mapping[str, tuple[Draw, float]] = {
    "single draws, half solved": (binary(0.5), 0.5),
    "single draws, 90 % solved": (binary(0.9), 0.9),
    "4 draws, uniform tasks": (repeated(1, 1, 4), 0.5),
    "4 draws, easy tasks": (repeated(4, 0.4, 4), 4 / 4.4),
    "8 draws, hard tasks": (repeated(0.2, 1, 8), 1 / 6),
    "credit, 60 % perfect": (credit(0.6, 0.15), 0.725),
    "credit, 90 % perfect": (credit(0.9, 0.05), 0.925),
    "credit, beta(8, 2)": (lambda rng, tasks: rng.beta(8, 2, tasks), 0.8),
}


def flips(gain: float, loss: float) -> Draw:
    """Differences of single binary draws."""

    def draw(rng: np.random.Generator, tasks: int) -> Values:
        luck = rng.random(tasks)
        return np.where(luck < gain, 1.0, np.where(luck < gain + loss, -1.0, 0.0))

    return draw


def repeated_difference(a: float, b: float, draws: int) -> Draw:
    """Two policies of equal pass rate on every task."""

    def draw(rng: np.random.Generator, tasks: int) -> Values:
        rates = rng.beta(a, b, tasks)
        return (rng.binomial(draws, rates) - rng.binomial(draws, rates)) / draws

    return draw


def sparse(unchanged: float, up: float) -> Draw:
    """Credit that changes on few tasks."""

    def draw(rng: np.random.Generator, tasks: int) -> Values:
        size = np.where(rng.random(tasks) < unchanged, 0.0, rng.random(tasks))
        return np.where(rng.random(tasks) < up, size, -size)

    return draw


DIFFERENCES: Mapping[str, tuple[Draw, float]] = {
    "single draws, 10 % gained, 10 % lost": (flips(0.1, 0.1), 0.0),
    "single draws, 10 % gained, 2 % lost": (flips(0.1, 0.02), 0.08),
    "single draws, 30 % gained, 10 % lost": (flips(0.3, 0.1), 0.2),
    "single draws, 30 % gained, 30 % lost": (flips(0.3, 0.3), 0.0),
    "4 draws, uniform tasks, no difference": (repeated_difference(1, 1, 4), 0.0),
    "4 draws, decided tasks, no difference": (repeated_difference(0.2, 0.2, 4), 0.0),
    "credit, 10 % of tasks, 9 in 10 up": (sparse(0.9, 0.9), 0.04),
    "credit, half of the tasks, 6 in 10 up": (sparse(0.5, 0.6), 0.05),
    "credit, every task, normal": (lambda rng, tasks: rng.normal(0.1, 0.1, tasks), 0.1),
}


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


def coverage(
    draw: Draw, truth: float, tasks: int, estimate: Callable[[list[float]], Estimate | None], reps: int, peer_reps: int
) -> tuple[float, float, float]:
    """Our coverage, the peer's, and how wide ours is beside the peer's."""
    rng = np.random.default_rng(seed_for("bench", "intervals", tasks, str(truth)))
    ours = peers = 0
    width = peer_width = 0.0
    for rep in range(reps):
        values = draw(rng, tasks)
        found = estimate(values.tolist())
        assert found is not None
        ours += found.interval.low <= truth <= found.interval.high
        if rep < peer_reps:
            low, high = bootstrap(values, rng)
            peers += low <= truth <= high
            width, peer_width = width + found.interval.high - found.interval.low, peer_width + high - low
    return ours / reps, peers / peer_reps, width / peer_width


def coverage_rows(what: str, scenarios: Mapping[str, tuple[Draw, float]], quick: bool) -> Iterator[Row]:
    estimate = mean_estimate if what == "mean" else difference_estimate
    reps, peer_reps = (1000, 200) if quick else (5000, 1000)
    for tasks in SIZES:
        found = {name: coverage(*scenario, tasks, estimate, reps, peer_reps) for name, scenario in scenarios.items()}
        worst = min(found, key=lambda name: found[name][0])
        ours, theirs = found[worst][0], min(one[1] for one in found.values())
        condition = f"worst of {len(found)} scenarios ({worst}), {reps} evaluations each"
        name = f"{what} coverage, {tasks} tasks"
        bar, holds = (BAR, ours >= BAR) if tasks >= 10 else (None, None)
        yield Row(name, ours, "share", bar, holds, PEER, theirs, ours / theirs, condition)
    width = sum(one[2] for one in found.values()) / len(found)
    name = f"{what} width, {tasks} tasks"
    yield Row(name, width, "of peer's", 1.1, width <= 1.1, PEER, 1.0, width, "mean of the scenarios")


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
    cases: tuple[tuple[str, int, str, bool], ...] = (
        ("single draws", 1, "hard", False),
        ("4 draws", 4, "hard", False),
        ("4 draws, tasks traded", 4, "hard", True),
        ("credit", 1, "soft", False),
    )
    for name, draws, metric, traded in cases:
        rng = np.random.default_rng(seed_for("bench", "false", name))
        wrong = 0
        for _ in range(reps):
            rates = rng.beta(0.5, 0.5, 100)
            other = np.where(rng.random(100) < 0.5, rates, 1 - rates) if traded else rates
            a, b = (attempts(side, draws, metric == "soft", rng) for side in (rates, other))
            wrong += compare(a, b, metric=metric).verdict != "unclear"
        bar = round(0.05 + 3 * (0.05 * 0.95 / reps) ** 0.5, 4)
        condition = f"100 tasks, {reps} comparisons; bar: 0.05 and three standard errors of the simulation"
        yield Row(f"false claims, {name}", wrong / reps, "share", bar, wrong / reps <= bar, condition=condition)


def rows(quick: bool) -> Iterator[Row]:
    yield from coverage_rows("mean", MEANS, quick)
    yield from coverage_rows("difference", DIFFERENCES, quick)
    yield from false_claims(quick)


if __name__ == "__main__":
    options = arguments(__doc__)
    report(rows(options.quick), options.json)
