"""A user's path: a CSV of sixty rows, `whet init`, an evaluation with the embedded model, two playbooks compared."""

from __future__ import annotations

from pathlib import Path

import pytest

import whet
from whet.config.load import load_config
from whet.config.schema import EvalConfig
from whet.run.api import run_evaluation
from whet.run.init import initialise

TICKETS = Path(__file__).parents[2] / "examples" / "tickets.csv"

QUICK = ("eval.n=4", "target.sampling.max_tokens=8", "eval.floor=false")


def evaluated(name: str, playbook: str) -> whet.Run:
    config = load_config(EvalConfig, Path("config.toml"), None, (*QUICK, f"eval.playbook={playbook}"))
    result = run_evaluation(config, runs=Path("runs"), name=name)
    assert result.complete
    return whet.open_run(result.folder)


def test_from_a_file_to_a_comparison_of_two_playbooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = initialise(tmp_path / "queue", source=TICKETS)
    assert dict(made.sizes) == {"train": 30, "select": 15, "test": 15}
    monkeypatch.chdir(made.folder)
    before, after = evaluated("before", "blank"), evaluated("after", "suggested.md")
    for run in (before, after):
        assert [outcome.fault for outcome in run.outcomes()] == [""] * 4
    assert before.playbook.blank
    assert "exactly one of these labels" in after.playbook.body
    compared = whet.compare("before", "after", runs="runs")
    assert compared.overall.tasks == 4
    assert compared.words()


def test_from_a_file_to_a_trained_playbook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = initialise(tmp_path / "queue", source=TICKETS)
    monkeypatch.chdir(made.folder)
    small = ("train.epochs=1", "train.batch_size=6", "train.tasks=6", "train.select=6", "train.test=4")
    quick = (*small, "examples.tries=1", "examples.probe=2", "target.sampling.max_tokens=8")
    result = whet.train("train.toml", overrides=quick, runs="runs")
    assert not result.stopped
    assert result.summary["test_hard"] is not None
    assert (result.folder / "best_skill.md").is_file()
    assert len(result.training.steps) == 1
