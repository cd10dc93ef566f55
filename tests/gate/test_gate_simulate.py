"""Worlds are read as written, runs follow their rules, and the race gains more in them than the published rule."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.errors import WhetError
from whet.gate import NoGate, PairedGate, SimulatedWorld, StrictGate, gate_named, load_world, simulate, world_from
from whet.gate.simulate import run_once
from whet.gate.world import SimulatedProposal

WORLDS = Path(__file__).resolve().parents[2] / "examples" / "worlds"
MIX = ((0.4, 0.97), (0.4, 0.03), (0.2, 0.5))


def written() -> dict[str, Any]:
    return {
        "select": 20,
        "budget": 300,
        "tasks": {"population": 500, "mix": [[0.5, 0.97], [0.5, 0.03]]},
        "candidates": [{"share": 0.5, "up": 0.1, "down": 0.0}, {"share": 0.5, "up": 0.05, "down": 0.05}],
    }


def nulls(select: int, both: float, budget: int, mix: tuple[tuple[float, float], ...] = MIX) -> SimulatedWorld:
    return SimulatedWorld(select, budget, mix, (SimulatedProposal(1.0, both, both),))


# ------------------------------------------------------------------------------------------------- reading a world


def test_a_world_is_read_as_written() -> None:
    world = world_from(written(), "mine")
    assert (world.select, world.budget, world.population, world.mix) == (20, 300, 500, ((0.5, 0.97), (0.5, 0.03)))
    assert [one.kind for one in world.candidates] == ["good", "null"]


@pytest.mark.parametrize("name", ["eight-points", "four-points", "mixed-nulls"])
def test_the_worlds_that_ship_can_be_read(name: str) -> None:
    assert load_world(WORLDS / f"{name}.toml").population == 2000


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"selct": 3}, "unknown key selct. Did you mean 'select'"),
        ({"select": 0}, "select must be a whole number"),
        ({"select": 501}, "more than tasks.population"),
        ({"budget": "many"}, "budget must be a whole number"),
        ({"tasks": {"mix": [[0.5, 0.97]]}}, "the shares of tasks.mix must add up to 1"),
        ({"tasks": {"mix": [[1.0, 1.97]]}}, r"tasks.mix\[0\] must be a number between 0 and 1"),
        ({"tasks": {"mix": [1.0]}}, r"tasks.mix\[0\] is a pair"),
        ({"tasks": {"mixture": []}}, "unknown key tasks.mixture"),
        ({"tasks": 3}, "tasks must be a table"),
        ({"candidates": []}, r"at least one \[\[candidates\]\]"),
        ({"candidates": [{"up": 0.1}]}, r"candidates\[0\] lacks share"),
        ({"candidates": [{"share": 0.9}]}, "shares of the candidates must add up to 1"),
        ({"candidates": [{"share": 1.0, "upp": 0.1}]}, r"unknown key candidates\[0\].upp"),
    ],
)
def test_a_world_with_a_mistake_is_refused_by_name(change: dict[str, Any], complaint: str) -> None:
    with pytest.raises(WhetError, match=complaint):
        world_from(written() | change, "mine")


def test_a_world_that_is_no_toml_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "w.toml"
    file.write_text("select = = 3")
    with pytest.raises(WhetError, match="not valid TOML"):
        load_world(file)


def test_a_world_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="cannot be read"):
        load_world(tmp_path / "none.toml")


# ------------------------------------------------------------------------------------------------- what a world does


@settings(max_examples=30, deadline=None)
@given(up=st.floats(0.0, 0.3), down=st.floats(0.0, 0.3), seed=st.integers(0, 999))
def test_a_proposal_raises_and_lowers_the_fractions_it_names(up: float, down: float, seed: int) -> None:
    world = nulls(20, 0.0, 100)
    rng = np.random.default_rng(seed)
    incumbent = world.population_drawn(rng)
    candidate = world.proposed(incumbent, SimulatedProposal(1.0, up, down), rng)
    raised, lowered = candidate > incumbent, candidate < incumbent
    assert raised.sum() == round(up * 2000)
    assert lowered.sum() == round(down * 2000)
    assert (candidate[raised] == 0.97).all()
    assert (incumbent[raised] < 0.6).all()
    assert (candidate[lowered] == 0.03).all()
    assert (incumbent[lowered] > 0.4).all()


def test_a_proposal_raises_no_more_tasks_than_there_are() -> None:
    world = SimulatedWorld(20, 100, ((1.0, 0.97),), (SimulatedProposal(1.0, 0.5, 0.0),))
    rng = np.random.default_rng(1)
    incumbent = world.population_drawn(rng)
    assert (world.proposed(incumbent, world.candidates[0], rng) == incumbent).all()


def test_a_run_never_spends_more_than_its_budget() -> None:
    run = run_once(replace(nulls(20, 0.05, 333), budget=333), PairedGate(), 1, 0)
    assert run.rollouts <= 333
    assert run.rollouts >= sum(one.rollouts for one in run.decisions)


def test_proposals_build_on_what_was_accepted() -> None:
    world = SimulatedWorld(10, 60, ((1.0, 0.03),), (SimulatedProposal(1.0, 0.1, 0.0),))
    run = run_once(world, NoGate(), 1, 0)
    assert len(run.decisions) == 5
    assert run.end - run.start == pytest.approx(5 * 0.1 * 0.94)


def test_a_run_in_which_nothing_can_be_decided_ends() -> None:
    world = SimulatedWorld(20, 10_000, ((1.0, 1.0),), (SimulatedProposal(1.0, 0.1, 0.0),))
    run = run_once(world, PairedGate(), 1, 0)
    assert len(run.decisions) == 2
    assert run.decisions[-1].rollouts == 0


def test_the_same_seed_gives_the_same_report() -> None:
    gates = [gate_named(name) for name in ("paired", "strict", "gepa", "rule_search", "none")]
    world = load_world(WORLDS / "mixed-nulls.toml")
    reports = [simulate(replace(world, budget=400), gates, runs=3, seed=4) for _ in range(2)]
    assert reports[0] == reports[1]
    assert reports[0] != simulate(replace(world, budget=400), gates, runs=3, seed=5)


def test_a_report_is_json_and_a_table_with_a_line_a_gate() -> None:
    report = simulate(nulls(20, 0.05, 300), [PairedGate(), StrictGate()], runs=3, seed=4)
    data = json.loads(json.dumps(report.as_data(), allow_nan=False))
    assert [row["gate"] for row in data["gates"]] == ["paired", "strict"]
    assert data["gates"][0]["kinds"]["good"]["acceptance"] == [None, None, None]
    lines = report.table().splitlines()
    assert len(lines) == 5
    assert "null at start" in lines[1]
    assert lines[-1].startswith("worst first decisions: paired accepts")
    assert lines[-1].endswith("promised: at most 0.1")


def test_the_report_says_what_the_gate_promises_at_most() -> None:
    row = simulate(nulls(20, 0.0, 400), [PairedGate(alpha=0.02)], runs=4, seed=4).rows[0]
    assert row.expected_false_accepts == pytest.approx(0.02 * row.decisions / 4)


@pytest.mark.parametrize("runs", [0, 1])
def test_a_simulation_without_runs_is_refused(runs: int) -> None:
    with pytest.raises(WhetError, match="at least 2 runs"):
        simulate(nulls(20, 0.0, 100), [PairedGate()], runs=runs)


# ------------------------------------------------------------------------------------------------- the promise


def test_the_default_gate_gains_more_than_strict_and_lets_fewer_nulls_through() -> None:
    world = replace(load_world(WORLDS / "eight-points.toml"), select=40, budget=1500)
    report = simulate(world, [PairedGate(), StrictGate()], runs=12, seed=2)
    ours, strict = report.row("paired"), report.row("strict")
    assert ours.gain is not None
    assert strict.gain is not None
    assert ours.gain.value > strict.gain.value
    ours_null, strict_null = ours.kinds["null"].acceptance, strict.kinds["null"].acceptance
    assert ours_null is not None
    assert strict_null is not None
    assert ours_null.value < strict_null.value


def test_strict_inflates_its_score_over_the_truth() -> None:
    world = replace(load_world(WORLDS / "four-points.toml"), select=17, budget=1500)
    inflation = simulate(world, [StrictGate()], runs=20, seed=2).rows[0].inflation
    assert inflation is not None
    assert inflation.interval.low > 0.05
