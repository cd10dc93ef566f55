"""Drift: new work that is unlike what the threshold was chosen on is not released, learnt from or promoted on."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from ticket_desk import promoted, rules_model, tickets

from whet.errors import WhetError
from whet.ledger.freeze import FROZEN, frozen, refuse_frozen
from whet.release.breakdown import breakdown
from whet.release.calibration import calibrate
from whet.release.decider import open_decider
from whet.release.decision import WorkDecision
from whet.release.trail import Trail
from whet.release.upkeep import set_frozen


def watched(releases: Path, lines: list[bytes]) -> list[WorkDecision]:
    model = rules_model()
    champion = promoted(releases, model)
    asyncio.run(calibrate(champion, tickets(150, "select", labelled=True), 0.1, releases, model=model, audit=0.0))

    async def work() -> list[WorkDecision]:
        async with open_decider(champion, releases, model=model) as decider:
            return [await decider.decide(line) for line in lines]

    return asyncio.run(work())


def test_work_like_the_reference_freezes_nothing(tmp_path: Path) -> None:
    found = watched(tmp_path, tickets(80))
    assert frozen(tmp_path, "groupqc") == ""
    assert any(decision.verdict == "pass" for decision in found)


def test_drift_freezes_learning_promotion_and_release_until_somebody_ends_it(tmp_path: Path) -> None:
    found = watched(tmp_path, tickets(100, noise={"omission": 0.6, "ocr": 1.0, "flip": 0.4}))
    why = frozen(tmp_path, "groupqc:anything.jsonl")
    assert "drifted" in why
    (entry,) = Trail.of(tmp_path).entries(FROZEN)
    after = [decision for decision in found if decision.entry > entry.seq]
    assert after
    assert not any(decision.verdict == "pass" for decision in after)
    assert {decision.code for decision in after if decision.proposed == "pass"} == {"drift"}
    with pytest.raises(WhetError, match="groupqc is frozen"):
        refuse_frozen(tmp_path, "groupqc")
    refuse_frozen(tmp_path, "soup")
    set_frozen(tmp_path, "groupqc", "a new camera; calibrated anew", "ann", halt=False)
    assert frozen(tmp_path, "groupqc") == ""
    assert Trail.of(tmp_path).verify() == []


def test_training_on_a_frozen_environment_is_refused(tmp_path: Path) -> None:
    from whet.run.train import load_train_config, run_training

    set_frozen(tmp_path / "releases", "groupqc", "drift", "ann", halt=True)
    base = {
        "env": {"name": "groupqc", "args": {"mission": "Extinguisher check"}},
        "target": {"model": "baseline:rules"},
        "optimizer": {"model": "baseline:rules"},
        "train": {"tasks": 8, "select": 24, "test": 4},
    }
    with pytest.raises(WhetError, match="groupqc is frozen"):
        run_training(load_train_config(None, base), runs=tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_a_freeze_needs_a_reason_and_is_not_begun_twice(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="say why"):
        set_frozen(tmp_path, "groupqc", "  ", "ann", halt=True)
    with pytest.raises(WhetError, match="not frozen"):
        set_frozen(tmp_path, "groupqc", "all fine", "ann", halt=False)
    set_frozen(tmp_path, "groupqc", "new camera", "ann", halt=True)
    with pytest.raises(WhetError, match="frozen already"):
        set_frozen(tmp_path, "groupqc", "again", "ann", halt=True)


def test_decisions_break_down_by_place_vendor_and_time(tmp_path: Path) -> None:
    watched(tmp_path, tickets(60, conventions=1))
    trail = Trail.of(tmp_path)
    for by in ("place", "vendor", "month", "kind", "champion"):
        groups = breakdown(trail, by)
        assert sum(group.decided for group in groups.values()) == 60
    assert set(breakdown(trail, "champion")) == {"site"}
    assert len(breakdown(trail, "place")) > 1
    with pytest.raises(WhetError, match="say one of"):
        breakdown(trail, "colour")
