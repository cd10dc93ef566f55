"""Trained weights as a champion: promoted with their gate and their test, kept apart from their run, and answering."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

from small_world import Hail, sft_config

from whet.models.base import Request
from whet.release.answerer import open_champion
from whet.release.champion import Champions
from whet.release.package import Package, write_package
from whet.release.promotion import promote_run
from whet.run.api import train
from whet.run.compose import Given


def test_an_adapter_outlives_its_run_and_answers_as_it_did_in_the_test(base: Path, tmp_path: Path) -> None:
    config = sft_config(
        base,
        train={"tasks": 10, "test": 8, "select": 16},
        tune={"steps": 20, "segment": 20, "lr": 0.005, "rank": 16, "micro": 10},
        sft={"batch": 10},
        gate={"name": "paired", "pace": "patient"},
    )
    result = train(config, env=Hail(), runs=tmp_path / "runs", name="weights")
    assert result.summary["accepted"], result.summary["test_delta_says"]
    releases = tmp_path / "releases"
    made = promote_run(result.folder, "hail", releases=releases, given=Given(env=Hail())).champion
    assert made.adapter
    assert made.target["model"] == f"hf:{base}"
    assert made.claim["gain_interval"][0] > 0
    shutil.rmtree(result.folder)
    champions = Champions(releases)
    model = open_champion(champions.get("hail"), champions.place(made))
    assert model.fingerprint == made.policy.model
    task = Hail().task("test", 0)

    async def answer() -> str:
        try:
            return (await model.complete(Request(task.messages, made.policy.sampling))).text
        finally:
            await model.close()

    assert asyncio.run(answer()).startswith(str(task.truth))
    package = Package.read(write_package(champions, made, tmp_path / "hail.zip"))
    assert "adapter/adapter_model.safetensors" in package.adapter
