"""Presets against one another: arm by arm, on select tasks, and the best written as a config."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_world import Hail, grpo_config

from whet.config.load import write_config
from whet.errors import WhetError
from whet.learn.weights.presets import GRPO_PRESETS
from whet.run.ablate import ArmResult, run_ablation, stability
from whet.run.compose import Given
from whet.run.train import load_train_config


def test_presets_are_compared_arm_by_arm_and_the_best_is_a_config(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = grpo_config(
        base, tune={"steps": 3, "segment": 3, "lr": 0.02}, grpo={"groups": 4, "generations": 6}, gate={"name": "strict"}
    )
    file = tmp_path / "grpo.toml"
    file.write_bytes(write_config(config))
    told: list[str] = []
    given = Given(env=Hail())
    result = run_ablation(file, ("no_kl", "dynamic"), 1, given=given, runs=tmp_path, tell=told.append)
    plain, dynamic = result.presets
    assert dynamic.signal > plain.signal
    assert load_train_config(result.folder / "best.toml").grpo.preset == result.best.preset  # type: ignore[attr-defined]
    assert len(told) == 2
    assert "best on select" in list(result.lines())[-1]
    monkeypatch.setattr("whet.learn.weights.learners._reinforce", lambda *_: pytest.fail("an arm was trained again"))
    again = run_ablation(file, ("no_kl", "dynamic"), 1, given=given, runs=tmp_path)
    assert [preset.as_data() for preset in again.presets] == [preset.as_data() for preset in result.presets]


def test_presets_that_would_train_alike_are_not_compared(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "grpo.toml"
    file.write_bytes(write_config(grpo_config(base)))
    trained: list[str] = []

    def arm(_: Path, preset: str, seed: int, *__: object) -> ArmResult:
        trained.append(preset)
        return ArmResult(preset, seed, (), 1.0, 1.0, 0, 0.0)

    monkeypatch.setattr("whet.run.ablate._arm", arm)
    (tmp_path / "ablate-grpo").mkdir()
    told: list[str] = []
    run_ablation(file, tuple(GRPO_PRESETS), 1, runs=tmp_path, tell=told.append)
    assert trained == ["baseline", "no_kl", "dynamic", "token_loss"]
    assert told[0].startswith("asym_clip is left out: with this config it trains exactly as no_kl does")
    trained.clear()
    run_ablation(file, tuple(GRPO_PRESETS), 1, overrides=["grpo.updates=2", "tune.segment=2"], runs=tmp_path)
    assert trained == list(GRPO_PRESETS)


def test_stability_is_what_is_left_of_the_best() -> None:
    assert stability([0.0] * 8) == 1.0
    assert stability([0.1, 0.5, 0.9, 1.0, 1.0, 1.0, 1.0, 1.0]) == 1.0
    assert stability([1.0] * 5 + [0.0] * 5) == 0.0
    assert stability([0.5, 0.25]) == 1.0


def test_an_unknown_preset_or_another_learner_is_refused(base: Path, tmp_path: Path) -> None:
    file = tmp_path / "grpo.toml"
    file.write_bytes(write_config(grpo_config(base)))
    with pytest.raises(WhetError, match=r"no preset 'dynamik'\. Did you mean 'dynamic'"):
        run_ablation(file, ("dynamik",), 1, runs=tmp_path)
    file.write_text('learner = "sft"\n')
    with pytest.raises(WhetError, match="compares presets of GRPO"):
        run_ablation(file, ("dynamic",), 1, runs=tmp_path)
