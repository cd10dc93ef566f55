"""Audits: votes, files and figures, the same whatever order, interruption or stopping rule they came about by."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders import FromFunction

from whet.apps.groupqc.audit.figures import figures
from whet.apps.groupqc.audit.files import METRICS, NG, NP, STATS, STEPS, WRONG
from whet.apps.groupqc.audit.report import REPORT
from whet.apps.groupqc.audit.run import AuditResult, AuditSettings, run_audit
from whet.config.load import load_config
from whet.config.schema import EvalConfig
from whet.envs.groupqc import GroupQc
from whet.envs.groupqc.records import SiteTicket
from whet.envs.groupqc.verdict.votes import Ballot, DecodeSettings
from whet.errors import FaultError, WhetError
from whet.models.base import Request
from whet.run.compose import Given
from whet.types import Fault

FILES = (METRICS, STATS, WRONG, NP, NG, STEPS, REPORT)
MISSION = "BBU安装方式检查（正装）"
FOUR = AuditSettings(Ballot((DecodeSettings(0.3), DecodeSettings(0.7)), 2))


def ticket(number: int, label: Any, word: str) -> SiteTicket:
    """A ticket whose one summary tells the scripted policy what to answer."""
    return SiteTicket(f"QC-SYN-20260101-{number:07d}", MISSION, label, ("a.jpg",), (f"say {word}",))


PLANTED = [
    ticket(1, "pass", "通过"),
    ticket(2, "fail", "不通过"),
    ticket(3, "fail", "通过"),
    ticket(4, "pass", "不通过"),
    ticket(5, "pass", "无效"),
    ticket(6, "fail", "无效"),
]


def said(request: Request) -> str:
    """The verdict that the summary asks for, which is what no policy should do."""
    word = request.messages[-1].text.rpartition("⟦say ")[2].rpartition("⟧")[0]
    return f"Verdict: {word}\nReason: Image1: {word}"


def wavering(request: Request) -> str:
    rng = random.Random(f"{request.sampling.seed}")
    word = rng.choices(["通过", "不通过", "待定"], [5, 4, 1])[0]
    return f"Verdict: {word}\nReason: r{rng.randrange(3)}"


def audit(
    folder: Path,
    tickets: list[SiteTicket],
    answer: Callable[[Request], Any] = said,
    settings: AuditSettings = AuditSettings(),
    *,
    lines: tuple[str, ...] = (),
    overrides: tuple[str, ...] = (),
    **args: Any,
) -> AuditResult:
    path = folder / "t.jsonl"
    rows = [json.dumps(ticket.as_line(), ensure_ascii=False) for ticket in tickets]
    path.write_text("\n".join([*rows, *lines]) + "\n", encoding="utf-8")
    args = {"strict": False, **args}
    base = {
        "env": {"name": f"groupqc:{path}", "args": args},
        "target": {"model": "test:function"},
        "eval": {"n": "all"},
    }
    config = load_config(EvalConfig, None, base, overrides)
    given = Given(env=GroupQc(str(path), args), model=FromFunction(answer))
    return run_audit(config, settings, given, runs=folder / "runs", name="audit")


def rows(result: AuditResult, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (result.folder / name).read_text(encoding="utf-8").splitlines()]


def contents(result: AuditResult) -> dict[str, bytes]:
    return {name: (result.folder / name).read_bytes() for name in FILES}


def many(n: int = 24) -> list[SiteTicket]:
    return [ticket(number, ("pass", "fail")[number % 2], str(number)) for number in range(n)]


def test_the_matrix_has_every_verdict_under_its_label(tmp_path: Path) -> None:
    metrics = audit(tmp_path, PLANTED).metrics
    assert metrics["confusion"] == {
        "pass": {"pass": 1, "fail": 1, "invalid": 1},
        "fail": {"pass": 1, "fail": 1, "invalid": 1},
    }
    assert (metrics["np"], metrics["ng"], metrics["invalid"], metrics["n_used"]) == (1, 1, 2, 6)
    assert metrics["rates"]["false_release_rate"]["of"] == 3


def test_wrong_tickets_are_listed_with_votes_reasons_and_evidence(tmp_path: Path) -> None:
    found = audit(tmp_path, PLANTED)
    (released,) = rows(found, NG)
    assert released["ticket_key"] == "QC-SYN-20260101-0000003::fail"
    assert (released["majority_pred"], released["verdict_samples"]) == ("pass", ["pass"])
    assert released["reason_samples"] == ["Image1: 通过"]
    assert released["per_image"] == {"image_1": "say 通过"}
    assert [row["ticket_key"] for row in rows(found, NP)] == ["QC-SYN-20260101-0000004::pass"]


def test_a_ticket_without_a_valid_verdict_is_wrong_but_neither_released_nor_blocked(tmp_path: Path) -> None:
    found = audit(tmp_path, PLANTED)
    wrong = {row["ticket_key"][-13:]: row["error"] for row in rows(found, WRONG)}
    assert wrong == {
        "0000003::fail": "ng",
        "0000004::pass": "np",
        "0000005::pass": "invalid",
        "0000006::fail": "invalid",
    }
    assert rows(found, WRONG)[-1]["reason_samples"] == ["bad_verdict"]


def test_every_ticket_has_its_statistics(tmp_path: Path) -> None:
    found = audit(tmp_path, PLANTED, settings=FOUR)
    first = rows(found, STATS)[0]
    assert (first["pass_count"], first["total_samples"], first["agreement"], first["n_images"]) == (4, 4, 1.0, 1)
    assert [row["ticket_key"] for row in rows(found, STATS)] == sorted(ticket.key for ticket in PLANTED)


def test_steps_add_up_to_the_whole(tmp_path: Path) -> None:
    found = audit(tmp_path, PLANTED, settings=AuditSettings(every=4))
    steps = rows(found, STEPS)
    assert [row["n_total"] for row in steps] == [4, 6]
    assert steps[-1]["acc"] == found.metrics["acc"]


def test_a_tie_of_votes_means_fail(tmp_path: Path) -> None:
    def divided(request: Request) -> str:
        return f"Verdict: {'通过' if request.sampling.temperature == 0.3 else '不通过'}\nReason: x"

    found = audit(
        tmp_path,
        [ticket(1, "pass", "x")],
        divided,
        AuditSettings(Ballot((DecodeSettings(0.3), DecodeSettings(0.7)), 1)),
    )
    assert rows(found, STATS)[0]["majority_pred"] == "fail"


def test_stopping_when_settled_saves_draws_and_changes_no_majority(tmp_path: Path) -> None:
    ballot = Ballot((DecodeSettings(0.3), DecodeSettings(0.7)), 4)
    for folder in ("all", "some"):
        (tmp_path / folder).mkdir()
    full = audit(tmp_path / "all", many(), wavering, AuditSettings(ballot))
    short = audit(tmp_path / "some", many(), wavering, AuditSettings(ballot, sequential=True))
    majorities = [[row["majority_pred"] for row in rows(result, STATS)] for result in (full, short)]
    assert majorities[0] == majorities[1]
    assert short.metrics["draws"]["taken"] < full.metrics["draws"]["taken"] == 24 * 8


def test_what_is_decided_does_not_depend_on_who_finishes_first(tmp_path: Path) -> None:
    async def dawdling(request: Request) -> str:
        await asyncio.sleep(random.Random(request.sampling.seed).random() / 50)
        return wavering(request)

    settings = AuditSettings(Ballot((DecodeSettings(0.3), DecodeSettings(0.7)), 3), sequential=True)
    found = []
    for folder, answer in (("quick", wavering), ("slow", dawdling)):
        (tmp_path / folder).mkdir()
        found.append(contents(audit(tmp_path / folder, many(), answer, settings)))
    assert found[0] == found[1]


def test_an_audit_that_was_stopped_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    settings = AuditSettings(Ballot((DecodeSettings(0.3), DecodeSettings(0.7)), 2), sequential=True)
    for folder in ("whole", "parts"):
        (tmp_path / folder).mkdir()
    whole = audit(tmp_path / "whole", many(), wavering, settings)
    stops = [
        audit(tmp_path / "parts", many(), wavering, settings, overrides=(f"control.budget.calls={n}",)) for n in (7, 31)
    ]
    assert all(stop.tally.stopped for stop in stops)
    assert stops[0].metrics["n_unfinished"] > 0
    ended = audit(tmp_path / "parts", many(), wavering, settings)
    assert contents(ended) == contents(whole)


def test_started_again_it_asks_nothing(tmp_path: Path) -> None:
    first = audit(tmp_path, PLANTED)
    again = audit(tmp_path, PLANTED)
    assert (again.tally.done, again.tally.replayed) == (0, first.tally.done)


def test_another_grid_is_another_audit(tmp_path: Path) -> None:
    audit(tmp_path, PLANTED)
    with pytest.raises(WhetError, match="holds another run"):
        audit(tmp_path, PLANTED, settings=FOUR)


def test_faults_are_no_votes(tmp_path: Path) -> None:
    def failing(request: Request) -> str:
        if "say 通过" in request.messages[-1].text:
            raise FaultError(Fault("timeout", "test", "gone"))
        return said(request)

    found = audit(tmp_path, PLANTED, failing)
    assert (found.metrics["n_used"], found.metrics["n_unfinished"]) == (4, 2)
    assert found.metrics["draws"]["faults"] == 2


def test_a_vote_goes_on_beside_a_fault(tmp_path: Path) -> None:
    def half(request: Request) -> str:
        if request.sampling.temperature == 0.7:
            raise FaultError(Fault("timeout", "test", "gone"))
        return said(request)

    found = audit(
        tmp_path,
        PLANTED[:2],
        half,
        AuditSettings(Ballot((DecodeSettings(0.3), DecodeSettings(0.7)), 2), sequential=True),
    )
    assert [row["majority_pred"] for row in rows(found, STATS)] == ["pass", "fail"]


def test_what_was_left_out_is_counted(tmp_path: Path) -> None:
    long = SiteTicket("QC-LONG", MISSION, "pass", tuple("ab"), ("字" * 9000, "x"))
    found = audit(tmp_path, [*PLANTED, long], lines=("{",), exclude=["QC-SYN-20260101-0000001::pass"])
    metrics = found.metrics
    assert (metrics["n_used"], metrics["n_dropped_overlength"]) == (5, 1)
    assert (metrics["n_rejected"], metrics["n_excluded"]) == (1, 1)
    assert [row["reason"] for row in rows(found, "rejects.jsonl")] == ["over_length", "bad_json"]


def test_a_file_without_tickets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="no ticket is left"):
        audit(tmp_path, [], lines=("{",))


def test_generated_tickets_can_be_audited(tmp_path: Path) -> None:
    base = {"env": {"name": "groupqc"}, "target": {"model": "baseline:ceiling"}, "eval": {"n": 20}}
    config = load_config(EvalConfig, None, base)
    found = run_audit(config, AuditSettings(split="select"), Given(env=GroupQc("", {})), runs=tmp_path)
    assert (found.metrics["n_used"], found.metrics["acc"]) == (20, 1.0)


def test_the_report_cannot_be_written_into_by_a_summary(tmp_path: Path) -> None:
    nasty = SiteTicket("QC-1", MISSION, "pass", ("a.jpg",), ("x | y\n# heading <script>alert(1)</script>",))
    report = (audit(tmp_path, [nasty]).folder / REPORT).read_text(encoding="utf-8")
    assert "<script>" not in report
    assert "\n# heading" not in report


def test_without_failing_tickets_nothing_is_said_about_false_releases(tmp_path: Path) -> None:
    report = (audit(tmp_path, PLANTED[:1]).folder / REPORT).read_text(encoding="utf-8")
    assert "nothing is known about false releases" in report


def test_intervals_keep_a_width_when_everything_is_right(tmp_path: Path) -> None:
    found = figures([])
    assert found["mcc"] is None
    metrics = audit(tmp_path, PLANTED[:2]).metrics
    for name in ("mcc", "kappa", "balanced_accuracy"):
        assert metrics[name]["low"] < metrics[name]["value"] == 1.0
