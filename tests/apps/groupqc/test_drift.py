"""Drift between two sets of tickets or audits: what moved is named, what did not raises no alarm."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from whet.apps.groupqc.audit.run import AuditSettings, run_audit
from whet.apps.groupqc.decision.run import decide, decision_base
from whet.apps.groupqc.drift.follow import follow
from whet.apps.groupqc.drift.report import DriftReport, find_drift
from whet.apps.groupqc.generation.files import generate_groups, write_tickets
from whet.config.load import load_config
from whet.config.schema import EvalConfig
from whet.envs.groupqc import GroupQc
from whet.envs.groupqc.pack.file import find_mission
from whet.envs.groupqc.world.noise import Noise
from whet.errors import WhetError
from whet.run.compose import Given

MISSION = "BBU线缆布放要求"


def file_of(folder: Path, name: str, *, seed: int = 0, n: int = 300, **noise: Any) -> Path:
    groups = generate_groups({MISSION: find_mission(MISSION)}, n, noise=Noise.of(noise), seed=seed)
    return write_tickets(folder / name, groups).out


def audited(folder: Path, source: Path, model: str) -> Path:
    base = {"env": {"name": f"groupqc:{source}"}, "target": {"model": model}, "eval": {"n": "all"}}
    config = load_config(EvalConfig, None, base)
    return run_audit(config, AuditSettings(), Given(env=GroupQc(str(source), {})), runs=folder, name=model[9:]).folder


def drifted(report: DriftReport) -> set[str]:
    return {finding.about for finding in report.drifted}


def test_other_sites_of_the_same_kind_raise_no_alarm(tmp_path: Path) -> None:
    report = find_drift(file_of(tmp_path, "a.jsonl"), file_of(tmp_path, "b.jsonl", seed=1))
    assert (drifted(report), report.exit_code) == (set(), 0)
    assert len(report.findings) > 8


def test_keys_that_go_missing_are_named(tmp_path: Path) -> None:
    report = find_drift(file_of(tmp_path, "a.jsonl"), file_of(tmp_path, "b.jsonl", seed=1, omission=0.5))
    assert any(about.startswith("missing") for about in drifted(report))
    assert report.exit_code == 1


def test_plain_text_where_json_was_is_named(tmp_path: Path) -> None:
    report = find_drift(file_of(tmp_path, "a.jsonl"), file_of(tmp_path, "b.jsonl", seed=1, malformed=0.6))
    assert any(about.startswith("summary") for about in drifted(report))


def test_objects_of_another_trade_are_named(tmp_path: Path) -> None:
    report = find_drift(file_of(tmp_path, "a.jsonl"), file_of(tmp_path, "b.jsonl", seed=1, foreign=0.5))
    assert "unknown words" in drifted(report)


def test_lines_that_are_no_tickets_are_named(tmp_path: Path) -> None:
    good, bad = file_of(tmp_path, "a.jsonl"), file_of(tmp_path, "b.jsonl", seed=1)
    bad.write_bytes(bad.read_bytes() + b"{\n" * 60)
    assert "lines that are no ticket" in drifted(find_drift(good, bad))


def test_decisions_on_tickets_with_labels_are_compared_in_their_verdicts(tmp_path: Path) -> None:
    source, folders = file_of(tmp_path, "a.jsonl", n=120), []
    for model in ("baseline:rules", "baseline:always_fail"):
        config = load_config(EvalConfig, None, decision_base(source, model, {}))
        folders.append(decide(config, AuditSettings(), runs=tmp_path, name=model[9:]).folder)
    assert "verdict/pass" in drifted(find_drift(folders[0], folders[1]))


def test_audits_are_compared_in_their_verdicts(tmp_path: Path) -> None:
    source = file_of(tmp_path, "a.jsonl", n=120)
    report = find_drift(audited(tmp_path, source, "baseline:rules"), audited(tmp_path, source, "baseline:always_fail"))
    assert drifted(report) == {"verdict/fail", "verdict/pass"}


def test_invalid_replies_are_named(tmp_path: Path) -> None:
    source = file_of(tmp_path, "a.jsonl", n=120)
    report = find_drift(audited(tmp_path, source, "baseline:rules"), audited(tmp_path, source, "baseline:echo"))
    assert {"verdict/invalid", "invalid draws"} <= drifted(report)


def test_six_tickets_a_side_raise_no_alarm_by_chance(tmp_path: Path) -> None:
    report = find_drift(file_of(tmp_path, "a.jsonl", n=6), file_of(tmp_path, "b.jsonl", seed=1, n=6))
    assert {finding.status for finding in report.findings} == {"ok"}
    assert "says little" in report.warnings[0]


def test_a_day_on_which_nothing_came_is_watched_as_any_other(tmp_path: Path) -> None:
    reference, monday, tuesday = (
        file_of(tmp_path, "r.jsonl", n=60),
        file_of(tmp_path, "m.jsonl", seed=1, n=20),
        tmp_path,
    )
    tuesday /= "t.jsonl"
    tuesday.write_text("\n")
    assert follow(reference, [monday, tuesday]) == follow(reference, [monday])


def test_thresholds_decide_what_is_drift(tmp_path: Path) -> None:
    files = file_of(tmp_path, "a.jsonl"), file_of(tmp_path, "b.jsonl", seed=1, omission=0.5)
    report = find_drift(*files, least=9.0)
    assert (drifted(report), {finding.status for finding in report.findings}) == (set(), {"ok", "small"})
    with pytest.raises(WhetError, match="alpha"):
        find_drift(*files, alpha=0.0)


def test_a_report_can_be_read_by_a_program(tmp_path: Path) -> None:
    report = find_drift(file_of(tmp_path, "a.jsonl"), file_of(tmp_path, "b.jsonl", seed=1, malformed=0.6))
    data = json.loads(json.dumps(report.as_data()))
    assert data["drifted"] == [finding["about"] for finding in data["compared"] if finding["status"] == "drift"]


def test_nothing_to_compare_is_refused(tmp_path: Path) -> None:
    empty = tmp_path / "e.jsonl"
    empty.write_text("\n")
    with pytest.raises(WhetError, match="holds no tickets"):
        find_drift(empty, empty)


def test_two_files_without_a_readable_ticket_are_refused_not_called_alike(tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"a": 1}\n{bad\n')
    with pytest.raises(WhetError, match="nothing can be told apart"):
        find_drift(bad, bad)
