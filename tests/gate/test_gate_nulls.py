"""The promise, on the laws that break gates: candidates that are no better pass at most alpha of the time.

A small sample of the grid of `bench/gate.py`: few cells, the nastiest laws of either half, first and later decisions.
The bound is what a gate exactly at its alpha exceeds once in a thousand cells.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from whet.evals.metric import HARD, Metric
from whet.gate import PairedGate
from whet.gate.laws import LAWS, NullLaw
from whet.gate.nulls import RELIEF_STAGES, null_trials, relief_trials

TRIALS = 150

NASTY = {
    "eager": [
        ("few gains 2, thin losses, reliable", 17),
        ("few gains 3, thin losses, reliable", 25),
        ("beta(8,1)", 40),
        ("flat 0.9", 100),
        ("flat 0.5", 12),
        ("soft, flat 0.7, all noise", 12),
    ],
    "steady": [
        ("few gains 2, thin losses, reliable", 25),
        ("sure, 1.2 flips", 12),
        ("flat 0.8", 40),
        ("flat 0.9", 100),
        ("flat 0.5", 17),
    ],
    "patient": [
        ("flat 0.9", 100),
        ("flat 0.95", 60),
        ("few losses 2, thin gains, reliable", 40),
        ("few gains 5, thin losses, coins", 60),
        ("sure, 2.5 flips", 17),
        ("worse by 0.02, flat 0.9", 60),
    ],
}


def law_named(name: str) -> NullLaw:
    return next(law for law in LAWS if law.name == name)


def tolerated(alpha: float, trials: int) -> float:
    return alpha + 3.1 * math.sqrt(alpha * (1.0 - alpha) / trials)


@pytest.mark.parametrize(("pace", "name", "tasks"), [(pace, *cell) for pace, cells in NASTY.items() for cell in cells])
def test_a_candidate_that_is_no_better_passes_at_most_alpha_of_the_time(pace: str, name: str, tasks: int) -> None:
    law = law_named(name)
    gate = PairedGate(pace=pace, metric=HARD if law.shades is None else Metric("soft"))
    found = null_trials(gate, law, tasks, TRIALS, seed=1, chain=0)["first"]
    assert found.decided == TRIALS
    assert found.share <= tolerated(gate.promise, TRIALS)


@pytest.mark.parametrize(("pace", "name", "tasks"), [("eager", "flat 0.1", 25), ("steady", "flat 0.2", 25)])
def test_the_same_holds_for_later_incumbents_with_the_draws_that_were_carried(pace: str, name: str, tasks: int) -> None:
    gate = PairedGate(pace=pace)
    counts = null_trials(gate, law_named(name), tasks, 60, seed=2, chain=4)
    for stage in ("after_rejections", "after_an_acceptance"):
        if counts[stage].decided >= 30:
            assert counts[stage].share <= tolerated(gate.promise, counts[stage].decided)


@pytest.mark.parametrize(("name", "tasks", "trials"), [("flat 0.3", 40, 120), ("flat 0.3", 200, 50)])
def test_a_second_pace_on_the_bank_of_the_first_holds_the_same_promise(name: str, tasks: int, trials: int) -> None:
    """What a race kept of an accepted candidate lies on the side of its predecessor: rounds that counted those draws
    let 20 of 48 and 15 of 26 of the nulls in after an acceptance."""
    gate, relief = PairedGate(pace="steady", alpha=0.1), PairedGate(pace="brief", alpha=0.1)
    counts = relief_trials(gate, relief, law_named(name), tasks, trials, seed=5)
    for stage in RELIEF_STAGES:
        assert counts[stage].decided >= 20, stage
        assert counts[stage].share <= tolerated(0.1, counts[stage].decided), stage


@pytest.mark.parametrize("law", [law for law in LAWS if not law.name.startswith("worse")], ids=lambda law: law.name)
def test_a_law_of_nulls_is_one(law: NullLaw) -> None:
    """The mean over candidates is that of the incumbent, whatever the incumbent is by then."""
    rng = np.random.default_rng(3)
    incumbent = law.start(60, rng)
    for _ in range(3):
        means = [float(law.change(incumbent, rng).mean()) for _ in range(400)]
        error = float(np.std(means)) / math.sqrt(len(means))
        assert abs(float(np.mean(means)) - float(incumbent.mean())) <= 4.0 * error + 1e-9
        incumbent = law.change(incumbent, rng)


def test_both_halves_of_the_laws_hold_every_kind() -> None:
    for half in ("tuned", "held_out"):
        names = " ".join(law.name for law in LAWS if law.half == half)
        for kind in ("flat", "beta", "flips", "shuffled", "few gains", "few losses", "worse", "soft"):
            assert kind in names


def test_a_power_that_users_were_told_of() -> None:
    """A tenth more tasks solved, 40 tasks: accepted about half of the time by the pace of a person's candidate."""
    gate, law = PairedGate(pace="patient"), law_named("world")
    raised = NullLaw("raised", "tuned", law.start, _raised)
    share = null_trials(gate, raised, 40, 150, seed=4, chain=0)["first"].share
    assert share >= 0.48 - 3.1 * math.sqrt(0.25 / 150)


def _raised(chances: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    share = 0.1 / (0.4 * 0.94 + 0.2 * 0.47)
    return np.where((chances < 0.6) & (rng.random(len(chances)) < share), 0.97, chances)
