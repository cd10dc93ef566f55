"""Photos as they come, through the models that see: local weights (tiny and random) and an endpoint on loopback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hostile_photos import usable
from photo_trees import MISSION
from reader_server import serving_reader

from whet.apps.groupqc.pipeline.run import PipelinePlan, run_all
from whet.apps.groupqc.stage_a.config import stage_a_config
from whet.apps.groupqc.stage_a.run import run_stage_a
from whet.envs.groupqc.pack.file import find_mission
from whet.envs.groupqc.render.photo import photo_jpeg
from whet.envs.groupqc.summaries.counts import read_summary
from whet.envs.groupqc.verdict.rules import judge
from whet.envs.groupqc.world.world import SiteWorld
from whet.ledger.store import Ledger

ODD = ("cmyk.jpg", "sixteen.png", "clear.png", "turned.jpg", "animated.png")


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_local_weights_are_shown_every_odd_photo(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from tiny_weights import seeing_weights

    folder = tmp_path / "root" / MISSION / "odd"
    folder.mkdir(parents=True)
    for name, data in usable():
        if name in ODD:
            (folder / name).write_bytes(data)
    (folder / "broken.jpg").write_bytes(b"none")
    weights = seeing_weights(tmp_path / "weights", context=4096)
    given = ("target.sampling.max_tokens=8", "photos.max_pixels=40000", "photos.check=text")
    result = run_stage_a(
        stage_a_config(tmp_path / "root", MISSION, f"hf:{weights}", tmp_path / "f.jsonl", overrides=given)
    )
    with Ledger.read(result.files.run) as ledger:
        asked = list(ledger.rollouts("stage_a"))
    assert len(asked) == len(ODD), "each was asked about, and none ended in a fault"
    assert not any(rollout.score is None for rollout in asked)
    said = {Path(row["image"]).name: row["status"] for row in rows(result.files.photos)}
    assert set(said) == {*ODD, "broken.jpg"}
    assert said["broken.jpg"] == "not_a_photo"


def test_an_endpoint_that_sees_takes_unlabelled_photos_to_the_true_verdicts(tmp_path: Path) -> None:
    pytest.importorskip("rapidocr_onnxruntime")
    pack, mission = find_mission(MISSION)
    world = SiteWorld(pack, mission)
    small = [group for group in (world.group("train", at) for at in range(60)) if len(group.photos) == 1][:3]
    for group in small:
        folder = tmp_path / "root" / MISSION / group.ticket.group_id
        folder.mkdir(parents=True)
        for photo in group.photos:
            (folder / photo.name).write_bytes(photo_jpeg(pack, photo))
    with serving_reader([pack]) as server:
        control = {"control": {"target": {"base_url": server.base_url}}}
        plan = PipelinePlan(tmp_path / "root", tmp_path / "out", "openai:reader", "baseline:rules", stage_a=control)
        ran = run_all(plan)
        assert server.asked == 3
    assert ran.exit_code == 0
    told = {row["group_id"]: row["majority_pred"] for row in rows(tmp_path / "out" / "verdicts.jsonl")}
    expected = {
        group.ticket.group_id: judge(pack, mission, [read_summary(pack, text) for text in group.truth.clean]).verdict
        for group in small
    }
    assert told == expected
