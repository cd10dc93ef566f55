"""Work as it comes: two hundred hostile photos and tickets, none of which stops a run, and each of which is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hostile_photos import lines, plant
from photo_trees import MISSION, describer, group, picture

from whet.apps.groupqc.audit.run import AuditSettings
from whet.apps.groupqc.decision.run import decide, decision_base
from whet.apps.groupqc.pipeline.run import PipelinePlan, run_all
from whet.apps.groupqc.stage_a.config import stage_a_config
from whet.apps.groupqc.stage_a.run import StageAResult, run_stage_a
from whet.config.load import load_config
from whet.config.schema import EvalConfig
from whet.models.base import Model

WARN = "WARNING"


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def summarised(root: Path, out: Path, eyes: Model | None = None, model: str = "openai:x") -> StageAResult:
    small = {"photos": {"max_pixels": 500_000}}
    return run_stage_a(stage_a_config(root, MISSION, model, out, base=small), model=eyes)


def test_no_photo_stops_a_run_and_each_that_is_refused_is_named(tmp_path: Path) -> None:
    refused, groups, hostile = plant(tmp_path / "root" / MISSION)
    assert hostile + sum(1 for _ in lines()) >= 200
    first = summarised(tmp_path / "root", tmp_path / "f.jsonl", describer())
    assert (first.written, first.refused, first.photos) == (groups, 0, len(refused))
    errors = rows(first.errors)
    assert {row["file"] for row in errors} == refused
    assert all(row["reason"] and row["detail"] and row["photo"] for row in errors)
    assert {"too_large", "blank_photo", "not_a_photo", "missing_photo"} <= {row["reason"] for row in errors}
    before = {path: path.read_bytes() for path in (first.out, first.errors, first.files.photos)}
    again = summarised(tmp_path / "root", tmp_path / "f.jsonl", describer())
    assert again.tally.done == 0
    assert {path: path.read_bytes() for path in before} == before


def test_no_line_stops_a_decision_and_each_is_named(tmp_path: Path) -> None:
    good = {"mission": MISSION, "images": ["a.jpg"], "per_image": {"image_1": "无关图片"}}
    bad = list(lines())
    fine = [json.dumps({**good, "group_id": f"g{at}"}, ensure_ascii=False).encode() for at in range(3)]
    (tmp_path / "f.jsonl").write_bytes(b"\n".join([*fine, *bad]) + b"\n")
    config = load_config(EvalConfig, None, decision_base(tmp_path / "f.jsonl", "baseline:rules", {}))
    result = decide(config, AuditSettings(), runs=tmp_path)
    assert [row["verdict"] for row in rows(result.folder / "verdicts.jsonl")] == ["fail"] * 3
    rejected = rows(result.folder / "rejects.jsonl")
    assert [row["line"] for row in rejected] == [4 + at for at, line in enumerate(bad) if line.strip()]
    assert all(row["reason"] and row["detail"] for row in rejected)


def test_the_reader_says_that_it_does_not_know_photos_that_nobody_drew(tmp_path: Path) -> None:
    pytest.importorskip("rapidocr_onnxruntime")
    for name in ("a", "b"):
        group(tmp_path / "root", name, [picture(seed) for seed in (ord(name), ord(name) + 50)])
    result = summarised(tmp_path / "root", tmp_path / "f.jsonl", model="baseline:reader")
    assert (result.written, result.refused) == (0, 2)
    assert {row["reason"] for row in rows(result.errors)} == {"foreign_photo"}
    assert any(said.startswith(WARN) and "4 of 4 photos" in said for said in result.warnings)


def test_a_group_of_irrelevant_photos_is_said_loudly(tmp_path: Path) -> None:
    group(tmp_path / "root", "a", 3)
    group(tmp_path / "root", "b", 3)
    last = picture(1)
    group(tmp_path / "root", "c", [last])
    result = summarised(tmp_path / "root", tmp_path / "f.jsonl", describer(lambda _: "无关图片"))
    assert result.written == 3
    assert [said for said in result.warnings if said.startswith(WARN) and "7 of 7 photos are called irrelevant" in said]
    assert [said for said in result.warnings if said.startswith(WARN) and "a, b" in said]


def test_photos_without_labels_go_all_the_way_to_verdicts(tmp_path: Path) -> None:
    for at in range(4):
        folder = tmp_path / "root" / MISSION / f"site{at}"
        folder.mkdir(parents=True)
        (folder / "1.png").write_bytes(picture(at))
    (tmp_path / "root" / MISSION / "site0" / "2.png").write_bytes(b"nothing")
    plan = PipelinePlan(tmp_path / "root", tmp_path / "out", "openai:x", "baseline:rules")
    ran = run_all(plan, eyes=describer())
    found = {row["group_id"]: row for row in rows(tmp_path / "out" / "verdicts.jsonl")}
    assert set(found) == {f"site{at}" for at in range(4)}
    assert "label" not in json.dumps(rows(tmp_path / "out" / f"{MISSION}_stage_a.jsonl"))
    assert {row["verdict"] for row in found.values()} <= {"fail", "review"}, "nothing is released without a threshold"
    gap = found["site0"]["evidence_gap"]
    assert gap["unreadable"]["what"] == ["2.png: not_a_photo"]
    assert gap["missing"]["share"] > 0
    assert gap["score"] > found["site1"]["evidence_gap"]["score"] - 1e-9
    assert ran.exit_code == 1
    assert "## Verdicts" in (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
