"""Verdicts in a report are those of the run: the audit's own figures, in either language, and nothing guessed."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import run_folders
from builders import FromFunction

from whet.apps.groupqc.audit.run import AuditResult, AuditSettings, run_audit
from whet.config.load import load_config
from whet.config.schema import EvalConfig
from whet.envs.groupqc import GroupQc
from whet.envs.groupqc.records import SiteTicket
from whet.envs.groupqc.verdict.votes import Ballot, DecodeSettings
from whet.models.base import Request
from whet.report.fold import fold_run
from whet.report.page import report_page
from whet.report.verdicts import verdict_counts
from whet.run.compose import Given
from whet.types import Label

MISSION = "BBU安装方式检查（正装）"
FOUR = AuditSettings(Ballot((DecodeSettings(0.3), DecodeSettings(0.7)), 2))


def audited(folder: Path, answer: Callable[[Request], str], settings: AuditSettings, tickets: int = 12) -> AuditResult:
    path = folder / "t.jsonl"
    labels = ("pass", "fail", "fail")
    rows = [
        SiteTicket(f"QC-SYN-20260101-{number:07d}", MISSION, labels[number % 3], ("a.jpg",), (f"photo {number}",))  # type: ignore[arg-type]
        for number in range(tickets)
    ]
    path.write_text("".join(json.dumps(row.as_line(), ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    name, args = f"groupqc:{path}", {"strict": False}
    base = {"env": {"name": name, "args": args}, "target": {"model": "test:function"}, "eval": {"n": "all"}}
    given = Given(env=GroupQc(str(path), args), model=FromFunction(answer))
    return run_audit(load_config(EvalConfig, None, base), settings, given, runs=folder / "runs", name="audit")


def wavering(request: Request) -> str:
    """Verdicts in the words of both languages, with the other verdict in the reason, and some that are none."""
    rng = random.Random(f"{request.sampling.seed}")
    word = rng.choices(["通过", "不通过", "pass", "fail", "待定"], [5, 4, 2, 2, 2])[0]
    return f"Verdict: {word}\nReason: would fail or pass {rng.randrange(3)}"


def always(word: str) -> Callable[[Request], str]:
    return lambda _: f"Verdict: {word}\nReason: a fail it is not, a pass it may be"


def matrix(metrics: Any) -> dict[tuple[str, str], int]:
    """What an audit says, as a report has it."""
    names = {"pass": "pass", "fail": "fail", "invalid": "none"}
    found = {(names[said], truth): n for truth, row in metrics["confusion"].items() for said, n in row.items()}
    return {cell: n for cell, n in found.items() if n}


def test_the_matrix_is_the_audits_own(tmp_path: Path) -> None:
    result = audited(tmp_path, wavering, FOUR, 24)
    counts = verdict_counts(fold_run(result.folder))
    assert counts is not None
    known = {cell: n for cell, n in counts.cells.items() if cell[1] != "unknown"}
    assert sum(counts.cells.values()) == 24
    assert {cell: n for cell, n in matrix(result.metrics).items() if cell[0] != "none"} == {
        cell: n for cell, n in known.items() if cell[0] != "none"
    }
    cuts = [(cut["coverage"], cut["risk"]) for cut in result.metrics["risk_coverage"]["cuts"]]
    told = [(round(a["value"], 6), round(b["value"], 6)) for a, b in cuts]
    assert [(round(x, 6), round(y, 6)) for x, y in counts.curve] == told


def test_verdicts_that_are_all_right_have_a_matrix_too(tmp_path: Path) -> None:
    result = audited(tmp_path, always("不通过"), AuditSettings())
    counts = verdict_counts(fold_run(result.folder))
    assert counts is not None
    assert dict(counts.cells) == matrix(result.metrics) == {("fail", "pass"): 4, ("fail", "fail"): 8}


def test_a_ticket_counts_once_however_it_was_decoded(tmp_path: Path) -> None:
    run = fold_run(audited(tmp_path, always("fail"), FOUR).folder)
    assert run.score is not None
    assert run.score.tasks == 12
    assert sum(group.rate.tasks for group in run.kinds) == 12


def test_an_audit_names_the_splits_it_was_of(tmp_path: Path) -> None:
    run = fold_run(audited(tmp_path, always("fail"), AuditSettings(), 40).folder)
    assert run.on == "train + select + test"


def test_a_truth_that_the_ledger_does_not_tell_is_not_guessed(tmp_path: Path) -> None:
    with run_folders.writer(tmp_path / "other") as ledger:
        said = ("correct", "I say pass, never fail"), ("false_release", "pass"), ("invalid", "")
        held = [run_folders.rollout(n, text, hard=int(n == 0), reason=reason) for n, (reason, text) in enumerate(said)]
        ledger.add_rollouts(held)
    run = fold_run(tmp_path / "other")
    assert verdict_counts(run) is None
    assert 'id="verdicts"' not in report_page([run])


def test_errors_of_anyone_tell_the_truth_of_a_task(tmp_path: Path) -> None:
    with run_folders.writer(tmp_path / "other") as ledger:
        right = run_folders.rollout(0, "fine", hard=1, reason="correct")
        wrong = run_folders.rollout(1, "no", reason="false_release")
        floor = run_folders.rollout(2, "no", reason="false_block")
        ticket = replace(right.ticket, purpose="floor/always_fail")
        ledger.add_rollouts([right, wrong, replace(floor, ticket=ticket)])
    counts = verdict_counts(fold_run(tmp_path / "other"))
    assert counts is not None
    assert dict(counts.cells) == {("pass", "pass"): 1, ("pass", "fail"): 1}


def test_a_gate_has_no_rates_of_both_its_policies_together(tmp_path: Path) -> None:
    with run_folders.writer(tmp_path / "gate") as ledger:
        ledger.set_meta(kind="gate")
        held = [run_folders.rollout(n, "no", reason="false_release") for n in range(4)]
        moved = [replace(line, ticket=replace(line.ticket, purpose="gate")) for line in held]
        ledger.add_rollouts([replace(line, label=Label(f"k{n % 2}")) for n, line in enumerate(moved)])
    run = fold_run(tmp_path / "gate")
    assert (run.kind, run.rollouts, run.score, run.kinds, dict(run.grid)) == ("gate", 4, None, (), {})
    assert verdict_counts(run) is None
