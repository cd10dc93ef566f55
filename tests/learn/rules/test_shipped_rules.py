"""Every config of rule search that ships can be planned, and says what it would do."""

from __future__ import annotations

from pathlib import Path

import pytest

from whet.run.train import load_train_config, plan_training

ROOT = Path(__file__).resolve().parents[3]
SHIPPED = sorted((ROOT / "examples").glob("rules_*.toml"))


def test_there_is_one_for_each_kind_of_use() -> None:
    assert {file.stem for file in SHIPPED} >= {"rules_groupqc", "rules_bbu", "rules_embedded", "rules_tickets"}


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_it_is_planned_as_it_stands(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    config = load_train_config(file)
    plan = plan_training(config)
    assert config.learner == "rules"
    assert plan.env.chooses
    assert len(plan.select) >= 10
    assert "rounds" in plan.learner.describe(config, len(plan.tasks))


def test_the_bbu_config_is_of_one_mission_and_exports_what_it_learnt() -> None:
    config = load_train_config(ROOT / "examples" / "rules_bbu.toml")
    assert config.env.args["mission"] == "BBU线缆布放要求"
    assert config.target.sampling.votes == 3
    assert config.model_dump()["distill"]["use"]
