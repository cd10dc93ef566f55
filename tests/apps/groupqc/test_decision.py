"""Verdicts without labels, and the threshold that bounds false releases: chosen apart, exact, and silent on too few."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from whet.apps.groupqc.audit.report import cut_line
from whet.apps.groupqc.audit.run import AuditSettings, run_audit
from whet.apps.groupqc.decision.run import calibrate, decide, decision_base
from whet.apps.groupqc.generation.files import generate_groups, write_tickets
from whet.config.load import load_config
from whet.config.schema import EvalConfig
from whet.envs.groupqc.decision.environment import OpenTickets
from whet.envs.groupqc.decision.gap import evidence_gap
from whet.envs.groupqc.environment import GroupQc
from whet.envs.groupqc.pack.file import find_mission
from whet.envs.groupqc.world.noise import Noise
from whet.errors import WhetError
from whet.evals.estimate import exact_upper
from whet.release.threshold import ScoredTicket, choose, needed, read_rule
from whet.run.compose import Given

MISSION = "BBU接地线检查"


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def work(
    folder: Path, name: str, n: int, *, seed: int = 0, labelled: bool = True, conventions: int | None = None
) -> Path:
    missions = {MISSION: find_mission(MISSION)}
    groups = generate_groups(missions, n, noise=Noise(omission=0.1), seed=seed, conventions=conventions)
    path = write_tickets(folder / name, groups).out
    if not labelled:
        bare = [
            {key: value for key, value in row.items() if "label" not in key and key[:3] != "gt_"} for row in rows(path)
        ]
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in bare), encoding="utf-8")
    return path


def config(source: Path, model: str = "baseline:rules") -> EvalConfig:
    return load_config(EvalConfig, None, decision_base(source, model, {}))


@pytest.fixture(scope="module")
def chosen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A threshold chosen on 360 labelled tickets."""
    folder = tmp_path_factory.mktemp("chosen")
    labelled = work(folder, "labelled.jsonl", 360)
    calibrate(config(labelled), AuditSettings(), 0.05, folder / "rule.json", runs=folder)
    return folder / "rule.json"


def test_tickets_without_labels_get_the_verdicts_that_they_get_with_them(tmp_path: Path) -> None:
    said = []
    for labelled in (True, False):
        source = work(tmp_path, f"{labelled}.jsonl", 40, seed=3, labelled=labelled)
        folder = decide(config(source), AuditSettings(), runs=tmp_path, name=str(labelled)).folder
        said.append([{**row, "file": ""} for row in rows(folder / "verdicts.jsonl")])
    assert said[0] == said[1]
    assert {"verdict", "reason", "cited_images", "evidence_gap", "release_score"} <= set(said[0][0])
    assert any(row["cited_images"] for row in said[0])
    assert all(set(row["cited_images"]) <= set(row["images"]) for row in said[0])


def test_a_ticket_without_a_label_is_asked_about_in_the_same_words(tmp_path: Path) -> None:
    """The kind of site and the date are part of the prompt: conventions hang on them."""
    judged = GroupQc(str(work(tmp_path, "judged.jsonl", 6, seed=3, conventions=1)), {})
    bare = OpenTickets(str(work(tmp_path, "bare.jsonl", 6, seed=3, labelled=False, conventions=1)), {})
    with_label = {
        judged.task(split, at).messages
        for split in ("train", "select", "test")
        for at in range(judged.size(split) or 0)
    }
    assert {bare.task("test", at).messages for at in range(6)} == with_label
    assert all(line.ticket.site and line.ticket.submitted for line in bare.lines)


def test_a_site_that_is_handed_in_again_is_decided_again_and_the_same_evidence_once(tmp_path: Path) -> None:
    """Without labels, too: nobody may lose the second hand-in of a site that was sent back."""
    source = work(tmp_path, "n.jsonl", 2, labelled=False)
    first, other = rows(source)
    again = {**other, "group_id": first["group_id"]}
    lines = [first, again, first, {**first, "label": "pass"}]
    source.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    read = OpenTickets(str(source), {})
    assert [line.line for line in read.lines] == [1, 2]
    assert [(reject.line, reject.reason) for reject in read.rejects] == [
        (3, "duplicate_ticket"),
        (4, "duplicate_ticket"),
    ]


def test_without_a_threshold_nothing_is_released(tmp_path: Path) -> None:
    result = decide(config(work(tmp_path, "n.jsonl", 30, seed=4, labelled=False)), AuditSettings(), runs=tmp_path)
    assert result.metrics["verdicts"]["pass"] == 0
    assert result.metrics["verdicts"]["review"] > 0


def test_a_threshold_releases_what_is_sure_enough(chosen: Path, tmp_path: Path) -> None:
    rule = read_rule(chosen)
    assert rule.threshold is not None
    assert rule.upper <= 0.05
    source = work(tmp_path, "n.jsonl", 60, seed=5, labelled=False)
    folder = decide(config(source), AuditSettings(threshold=str(chosen)), runs=tmp_path).folder
    released = [row for row in rows(folder / "verdicts.jsonl") if row["verdict"] == "pass"]
    assert released
    assert all(row["release_score"] >= rule.threshold and row["majority_pred"] == "pass" for row in released)


def test_a_threshold_is_for_its_own_voter_and_for_other_sites(chosen: Path, tmp_path: Path) -> None:
    settings = AuditSettings(threshold=str(chosen))
    with pytest.raises(WhetError, match="another model"):
        decide(config(work(tmp_path, "n.jsonl", 10, seed=6), "baseline:always_pass"), settings, runs=tmp_path)
    with pytest.raises(WhetError, match="calibrate on others"):
        decide(config(work(tmp_path, "same.jsonl", 10)), settings, runs=tmp_path)


def test_too_few_failing_tickets_release_nothing_and_say_how_many_it_takes() -> None:
    few = [ScoredTicket(str(at), True, 1.0, False) for at in range(40)]
    rule = choose([*few, *(ScoredTicket(f"f{at}", False, 0.0, True) for at in range(3))], 0.05)
    assert rule.threshold is None
    assert "at least 59 failing" in rule.said()
    assert needed(0.05) == 59


def test_a_policy_that_passes_everything_gets_no_threshold() -> None:
    tickets = [ScoredTicket(str(at), True, 1.0, at % 3 == 0) for at in range(600)]
    assert choose(tickets, 0.05).threshold is None


def test_a_chosen_threshold_breaks_its_bound_no_more_often_than_stated() -> None:
    """Scores say little, so that the best threshold lies near the bound: 200 times on 300 tickets each."""
    rng, broken, used = random.Random(18), 0, 0
    for _ in range(200):
        tickets = [
            ScoredTicket("", True, rng.betavariate(1.2, 3.0) if failing else rng.betavariate(3.0, 1.2), failing)
            for failing in (rng.random() < 0.5 for _ in range(300))
        ]
        rule = choose(tickets, 0.1)
        if rule.threshold is not None:
            used += 1
            fresh = [rng.betavariate(1.2, 3.0) >= rule.threshold for _ in range(2000)]
            broken += sum(fresh) / len(fresh) > 0.1 + 0.015
    assert used > 175
    assert broken / 200 <= 0.05


def test_the_upper_bound_is_clopper_and_pearsons() -> None:
    assert exact_upper(0, 59) == pytest.approx(1 - 0.05 ** (1 / 59))
    assert exact_upper(0, 0) == exact_upper(3, 3) == 1.0


def test_an_audit_of_three_failing_tickets_promises_nothing(tmp_path: Path) -> None:
    source = work(tmp_path, "few.jsonl", 14)
    base = {"env": {"name": f"groupqc:{source}"}, "target": {"model": "baseline:rules"}, "eval": {"n": "all"}}
    metrics = run_audit(
        load_config(EvalConfig, None, base), AuditSettings(), Given(env=GroupQc(str(source), {})), runs=tmp_path
    ).metrics
    assert 0 < metrics["confusion"]["fail"]["fail"] < 10
    said = cut_line(metrics["risk_coverage"])
    assert "Nothing is promised" in said
    assert "at least 59 failing tickets" in said


def test_a_gap_names_what_is_missing_contradictory_unreadable_and_unknown() -> None:
    pack, mission = find_mission(MISSION)

    def summary(category: str, **values: str) -> str:
        entry = {"类别": category, **{name: {value: 1} for name, value in values.items()}}
        return json.dumps({"统计": [entry]}, ensure_ascii=False)

    said = [
        summary("机柜处接地螺丝", 符合性="符合"),
        summary("机柜处接地螺丝", 符合性="不符合"),
        summary("标签", 可读性="不可读"),
        summary("飞机", 颜色="红"),
    ]
    gap = evidence_gap(pack, mission, said, [("x.jpg", "blank_photo")])
    assert gap.missing.said
    assert gap.contradictory.said == ("机柜处接地螺丝.符合性: Image1 符合, Image2 不符合",)
    assert gap.unreadable.said == ("x.jpg: blank_photo", "Image3: a label")
    assert any("飞机" in problem for problem in gap.unknown.said)
    assert 0.9 < gap.score <= 1.0
    assert evidence_gap(pack, mission, said[:1]).contradictory.share == 0.0
