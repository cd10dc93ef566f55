"""ReflACT against SkillOpt and GEPA at an equal number of target calls, in a world whose truth is known.

    python bench/reflact_vs_peers.py [--quick] [--json FILE]

All three talk to one loopback server (`reflact_peers/server.py`): a simulated target whose success follows from the
edits in the skill it is shown, and a simulated optimiser that draws edits by one law from a pool. Every seed has a
pool of its own, drawn in one of four families (`reflact_peers/world.py`); seeds below 1000 are for choosing settings,
the table is of others. Helpful edits are likelier to be thought of where the prompt shows right answers. The peers
come from the package index into virtual environments under `.bench/`, made at the first run. A score is exact: the
mean solve probability, over all tasks there could be, of the skill exported as best. False accepts are accepted
changes whose true effect, within the skill that was accepted, is zero or less. At the end, each system once with a
small real model as target; its score is measured on held-out tickets.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import fmean

from reflact_peers.real import tried_on_real_model
from reflact_peers.systems import PINS, SYSTEMS, Outcome, run
from reflact_peers.world import FAMILIES, drawn_world
from rows import Row, arguments, report
from scipy.stats import bootstrap

BATCHES = {"skillopt": 30, "gepa": 3, "whet": 20}
"""Train tasks of a step: for SkillOpt the best of 10, 20, 30, 40 and 60 on the fixed pool; GEPA's and Whet's are their
defaults."""

FIRST = 2000
"""The first seed: none of these, and none of their pools, was looked at when a setting was chosen."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure of a run; `more` says whether more of it is better, None that it is told without a bar."""

    name: str
    unit: str
    of: Callable[[Outcome], float]
    more: bool | None = False


MEASURES = (
    Measure("true_score", "solved", lambda one: one.score, more=True),
    Measure("false_accepts", "edits", lambda one: one.false_accepts),
    Measure("useless_exported", "edits", lambda one: one.useless),
    Measure("playbook", "bytes", lambda one: one.bytes),
    Measure("target_calls", "calls", lambda one: one.target_calls),
    Measure("optimizer_calls", "calls", lambda one: one.optimizer_calls),
    Measure("optimizer_tokens", "tokens", lambda one: one.optimizer_tokens),
    Measure("tokens", "tokens", lambda one: one.tokens),
    Measure("wall", "s", lambda one: one.wall),
    Measure("cpu", "s", lambda one: one.cpu),
    Measure("accepted", "edits", lambda one: one.accepted, more=None),
)


def measured(budget: int, seeds: int) -> dict[str, list[Outcome]]:
    """Every system on every seed; systems take turns, so that a busy moment of the machine meets all of them."""
    found: dict[str, list[Outcome]] = {system: [] for system in SYSTEMS}
    families = list(FAMILIES)
    for seed in range(FIRST, FIRST + seeds):
        world = drawn_world(families[seed % len(families)], seed)
        for system in SYSTEMS:
            one = run(system, world, seed, budget, BATCHES[system])
            found[system].append(one)
            print(
                f"{system:9} seed {seed} of {budget}: score {one.score:.3f}, {one.target_calls} target and "
                f"{one.optimizer_calls} optimiser calls, {one.false_accepts} of {one.accepted} accepted edits false, "
                f"{one.bytes} bytes, {one.cpu:.1f} s CPU",
                flush=True,
            )
    return found


def spread(ours: list[float], theirs: list[float]) -> str:
    """The mean difference over seeds with a bootstrap interval."""
    pairs = [one - other for one, other in zip(ours, theirs, strict=True)]
    if len(set(pairs)) == 1:
        return f"difference {pairs[0]:+.4g} on every seed"
    found = bootstrap((pairs,), fmean, vectorized=False, n_resamples=2000, rng=1).confidence_interval
    return f"difference {fmean(pairs):+.4g}, 95 % {found.low:+.4g} to {found.high:+.4g}"


def rows_at(budget: int, seeds: int) -> Iterator[Row]:
    """One row for each measure and peer."""
    found = measured(budget, seeds)
    for measure in MEASURES:
        ours = [measure.of(one) for one in found["whet"]]
        for peer, pin in PINS.items():
            theirs = [measure.of(one) for one in found[peer]]
            mine, other = fmean(ours), fmean(theirs)
            holds = None if measure.more is None else mine > other if measure.more else mine <= other
            yield Row(
                name=f"{measure.name}/{budget}/{peer}",
                value=mine,
                unit=measure.unit,
                bar=None if measure.more is None else other,
                holds=holds,
                peer=pin.replace("==", " "),
                peer_value=other,
                ratio=mine / other if other else 0.0,
                condition=f"{seeds} seeds, {spread(ours, theirs)}",
            )
    gone = [one for some in found.values() for one in some if one.target_calls > budget]
    yield Row(f"over_budget/{budget}", len(gone), "runs", 0, not gone, condition="target calls by the server's count")


def rows(quick: bool) -> Iterator[Row]:
    for family in FAMILIES:
        world = drawn_world(family, FIRST)
        yield Row(f"start/{family}", world.score(()), "solved", condition="the skill that all begin with")
        yield Row(f"ceiling/{family}", world.ceiling(), "solved", condition="all edits that help, added greedily")
    for budget, seeds in ((1500, 4),) if quick else ((1500, 32), (3000, 32)):
        yield from rows_at(budget, seeds)
    yield from tried_on_real_model(quick)


def main() -> None:
    options = arguments(__doc__)
    report(rows(options.quick), options.json)


if __name__ == "__main__":
    sys.exit(main())
