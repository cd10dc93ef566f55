"""Audits and Stage-A among the runs: listed, shown, continued and rebuilt by the commands that know every kind."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders import FromFunction
from command_line import Whet
from crashes import Crash, crashing
from photo_trees import FAIL, MISSION, describer, group
from typer.testing import CliRunner

from whet.apps.groupqc.audit.report import REPORT
from whet.apps.groupqc.audit.run import AuditSettings, run_audit
from whet.apps.groupqc.commands import app
from whet.apps.groupqc.stage_a.config import stage_a_config
from whet.apps.groupqc.stage_a.run import StageAResult, run_stage_a
from whet.config.load import load_config
from whet.config.schema import EvalConfig
from whet.envs.groupqc.verdict.votes import Ballot, DecodeSettings
from whet.errors import FaultError, Interrupted, WhetError
from whet.ledger.store import Ledger
from whet.models.base import Model, Request
from whet.run.compose import Given
from whet.run.export import export_chat
from whet.run.kinds import Continuation, rebuild_run, resume_run
from whet.types import Fault, Reply

SETTINGS = AuditSettings(Ballot((DecodeSettings(0.3), DecodeSettings(0.7, 0.9)), 2), True, "all", 0.1, 8)


def contents(folder: Path) -> dict[str, bytes]:
    """The readable files of a folder, what a clock says apart."""
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if path.suffix in (".json", ".jsonl", ".md") and path.name != "timing.json"
    }


def without_files(folder: Path) -> None:
    for name in contents(folder):
        if name not in ("playbook.json", "sources.json"):  # what the run was made from
            (folder / name).unlink()


# --------------------------------------------------------------------------------------------- audits


@pytest.fixture
def tickets(tmp_path: Path) -> Path:
    path = tmp_path / "t.jsonl"
    words = ["generate", str(path), "-n", "30", "--mission", "RRU线缆", "--noise", "label=0.2"]
    assert CliRunner().invoke(app, words, catch_exceptions=False).exit_code == 0
    return path


def wavering(request: Request) -> str:
    return f"Verdict: {'通过' if (request.sampling.seed or 0) % 3 else '不通过'}\nReason: x"


def audit(tickets: Path, answer: Callable[[Request], Any] = wavering, *overrides: str, **options: Any) -> Any:
    base = {"env": {"name": f"groupqc:{tickets}"}, "target": {"model": "test:function"}, "eval": {"n": "all"}}
    config = load_config(EvalConfig, None, base, overrides)
    given = Given(model=FromFunction(answer))
    return run_audit(config, SETTINGS, given, runs=tickets.parent / "runs", name="a", **options)


def test_an_audit_is_listed_shown_and_resumed_by_its_name(whet: Whet, tickets: Path) -> None:
    done = whet("groupqc", "audit", tickets, "--samples", "2", "--run", "a", "--set", "control.budget.calls=7")
    assert done.code == 3
    assert "continue with: whet resume runs/a" in done.out
    assert "7 of 60 votes" in " ".join(whet("runs").out.split())
    resumed = whet("resume", "a", "--set", "control.budget.calls=100")
    assert (resumed.code, "30 of 30 tickets judged" in resumed.out) == (0, True)
    listed = " ".join(whet("runs").out.split())
    assert "a audit groupqc:" in listed
    assert "complete" in listed
    shown = whet("runs", "show", "a").out
    for said in ("verdict pass", "false releases, of the truly failing", "30 of 30 tickets judged", REPORT):
        assert said in shown


def test_an_audit_that_was_resumed_has_the_files_of_one_that_was_never_stopped(tickets: Path) -> None:
    whole = contents(audit(tickets).folder)
    folder = tickets.parent / "runs" / "a"
    folder.rename(tickets.parent / "whole")
    assert audit(tickets, wavering, "control.budget.calls=25").tally.stopped
    continuation = Continuation(["control.budget.calls=1000"], given=Given(model=FromFunction(wavering)))
    result = resume_run(folder, continuation)
    assert result.page().exit_code == 0
    assert contents(folder) == whole


def test_an_audit_is_rebuilt_from_its_votes_with_no_model_at_hand(tickets: Path) -> None:
    """`test:function` can be opened by nobody."""
    folder = audit(tickets).folder
    before = contents(folder)
    without_files(folder)
    assert rebuild_run(folder) == "rebuilt from the votes on 30 tickets"
    assert contents(folder) == before


def test_an_audit_that_was_stopped_is_rebuilt_as_it_stands(tickets: Path) -> None:
    folder = audit(tickets, wavering, "control.budget.calls=70").folder
    before = contents(folder)
    assert json.loads(before["baseline_metrics.json"])["n_unfinished"] > 0
    without_files(folder)
    rebuild_run(folder)
    assert contents(folder) == before


def test_an_audit_whose_tickets_have_changed_is_rebuilt_from_its_copy_of_them(tickets: Path) -> None:
    folder = audit(tickets).folder
    before = contents(folder)
    tickets.write_text("".join(tickets.read_text(encoding="utf-8").splitlines(keepends=True)[:-1]), encoding="utf-8")
    with pytest.warns(UserWarning, match="t.jsonl has changed since .* goes on with its own copy"):
        rebuild_run(folder)
    assert contents(folder) == before
    (copy,) = folder.glob("sources/*/t.jsonl")
    copy.write_bytes(tickets.read_bytes())
    with pytest.raises(WhetError, match="is not what the run kept"):
        rebuild_run(folder)
    assert contents(folder) == before


def test_faults_of_an_audit_are_redone_on_demand_alone(tickets: Path) -> None:
    def failing(request: Request) -> str:
        if request.sampling.temperature == 0.3:
            raise FaultError(Fault("timeout", "test", "gone"))
        return wavering(request)

    folder = audit(tickets, failing, "control.patience=0").folder
    given = Given(model=FromFunction(wavering))
    kept = resume_run(folder, Continuation(given=given))
    redone = resume_run(folder, Continuation(retry_faults=True, given=given))
    faults = [result.metrics["draws"]["faults"] for result in (kept, redone)]  # type: ignore[attr-defined]
    assert faults[0] > faults[1] == 0


def test_ctrl_c_in_an_audit_says_how_to_go_on(tickets: Path) -> None:
    asked: list[Request] = []

    def interrupted(request: Request) -> str:
        asked.append(request)
        if len(asked) == 5:
            raise KeyboardInterrupt
        return wavering(request)

    folder = tickets.parent / "runs" / "a"
    with pytest.raises(Interrupted, match=f"continue with: whet resume {folder}"):
        audit(tickets, interrupted, "control.concurrency=1")
    model = FromFunction(wavering)
    assert resume_run(folder, Continuation(given=Given(model=model))).page().exit_code == 0
    with Ledger.read(folder) as ledger:
        assert len(model.requests) + 4 == ledger.counts()["rollouts"], "what was answered is not asked again"


def test_another_ballot_is_refused_by_the_key_that_differs(tickets: Path) -> None:
    audit(tickets)
    base = {"env": {"name": f"groupqc:{tickets}"}, "target": {"model": "test:function"}, "eval": {"n": "all"}}
    given = Given(model=FromFunction(wavering))
    config, settings = load_config(EvalConfig, None, base), AuditSettings(Ballot(SETTINGS.ballot.grid, 3), True)
    with pytest.raises(WhetError, match=r"holds another run \(audit\.samples = 2 there, 3 here\).*--run"):
        run_audit(config, settings, given, runs=tickets.parent / "runs", name="a")


def test_a_judge_that_an_audit_names_is_opened(tickets: Path) -> None:
    asked: list[Request] = []
    with pytest.raises(WhetError, match="nowhere"):
        audit(tickets, lambda request: asked.append(request) or "", "judge.model=nowhere:x")
    assert not asked


def test_the_votes_of_an_audit_are_exported_as_conversations(tickets: Path, tmp_path: Path) -> None:
    folder = audit(tickets).folder
    with Ledger.read(folder) as ledger:
        votes = ledger.counts()["rollouts"]
    done = export_chat(folder, tmp_path / "chat.jsonl")
    rows = [json.loads(line) for line in done.path.read_text(encoding="utf-8").splitlines()]
    assert (done.written, len({row["policy"] for row in rows})) == (votes, 2), "one policy for each decode"
    assert all(row["messages"][-1]["content"].startswith("Verdict: ") for row in rows)


# --------------------------------------------------------------------------------------------- Stage-A


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    for name, count, label in (("b", 3, FAIL), ("a", 2, "审核通过"), ("c", 1, "审核通过")):
        group(tmp_path / "root", name, count, label=label)
    return tmp_path / "root"


def stage_a(photos: Path, model: Model | None = None, *overrides: str, out: str = "f.jsonl") -> StageAResult:
    config = stage_a_config(photos, MISSION, "scripted:none", photos.parent / out, overrides=overrides)
    return run_stage_a(config, model=model or describer())


def written(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("f.*")) if path.is_file()}


def test_stage_a_is_listed_shown_and_resumed_by_its_folder(whet: Whet, photos: Path) -> None:
    words = ("groupqc", "stage-a", photos, "--mission", MISSION, "-m", "baseline:reader", "--out", "out/f.jsonl")
    stopped = whet(*words, "--check", "text", "--set", "control.budget.calls=2", "--concurrency", "1")
    assert stopped.code == 3
    assert "whet resume out/f.run" in stopped.out
    assert "2 answers, 6 photos" in " ".join(whet("runs", "--runs", "out").out.split())
    resumed = whet("resume", "out/f.run", "--set", "control.budget.calls=100")
    assert "written to out/f.jsonl" in resumed.out
    assert resumed.code in (0, 1)
    listed = " ".join(whet("runs", "--runs", "out").out.split())
    assert "f.run stage_a groupqc/photo baseline:reader complete" in listed
    assert "lines written to out/f.jsonl" in whet("runs", "show", "out/f.run").out


def test_stage_a_is_resumed_from_any_folder(
    whet: Whet, photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file was named by a path that means something else there."""
    config = stage_a_config(photos, MISSION, "scripted:none", "f.jsonl", overrides=["control.budget.calls=2"])
    assert run_stage_a(config, model=describer()).tally.stopped
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    continuation = Continuation(["control.budget.calls=100"], given=Given(model=describer()))
    assert resume_run(tmp_path / "f.run", continuation).page().exit_code == 0
    assert len((tmp_path / "f.jsonl").read_bytes().splitlines()) == 3
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_stage_a_is_rebuilt_with_no_model_at_hand(photos: Path, tmp_path: Path) -> None:
    def odd(request: Request) -> str:
        return "nonsense" if (request.sampling.seed or 0) % 3 == 0 else "无关图片"

    stage_a(photos, FromFunction(odd), "photos.draws=2")
    before = written(tmp_path)
    for name in before:
        (tmp_path / name).unlink()
    assert rebuild_run(tmp_path / "f.run").startswith("rebuilt ")
    assert written(tmp_path) == before


def test_faults_of_stage_a_stay_in_what_is_rebuilt(photos: Path, tmp_path: Path) -> None:
    def down(request: Request) -> Reply:
        raise FaultError(Fault("server_error", "there", "down"))

    stage_a(photos, FromFunction(down))
    before = written(tmp_path)
    assert b"server_error" in before["f.errors.jsonl"]
    rebuild_run(tmp_path / "f.run")
    assert written(tmp_path) == before


def test_a_run_that_was_killed_before_it_began_is_listed_as_such(
    whet: Whet, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        crashing(patch, 1, before=True)
        with pytest.raises(Crash):
            stage_a(photos)
    assert "was ended before it began" in " ".join(whet("runs", "--runs", photos.parent).out.split())
    assert stage_a(photos).written == 3


def test_the_answers_of_stage_a_are_exported_with_their_photos_by_hash(photos: Path, tmp_path: Path) -> None:
    stage_a(photos)
    done = export_chat(tmp_path / "f.run", tmp_path / "chat.jsonl")
    rows = [json.loads(line) for line in done.path.read_text(encoding="utf-8").splitlines()]
    shown = {part["sha256"] for row in rows for part in row["messages"][-2]["content"] if part["type"] == "image"}
    assert (done.written, len(shown)) == (6, 6)


def test_ctrl_c_in_stage_a_says_how_to_go_on(photos: Path, tmp_path: Path) -> None:
    def interrupted(_: Request) -> str:
        raise KeyboardInterrupt

    with pytest.raises(Interrupted, match=f"whet resume {tmp_path / 'f.run'}"):
        stage_a(photos, FromFunction(interrupted))
    result = resume_run(tmp_path / "f.run", Continuation(given=Given(model=describer())))
    assert result.page().exit_code == 0


def test_another_mission_or_sampling_is_refused_by_the_key_that_differs(photos: Path, tmp_path: Path) -> None:
    stage_a(photos)
    with pytest.raises(WhetError, match=r"sampling\.max_tokens = 1024 there, 7 here\); give another --out"):
        stage_a(photos, None, "target.sampling.max_tokens=7")
    group(photos, "g", 1, mission="BBU线缆布放要求")
    config = stage_a_config(photos, "BBU线缆布放要求", "scripted:none", tmp_path / "f.jsonl")
    with pytest.raises(WhetError, match=f"mission = '{MISSION}' there"):
        run_stage_a(config, model=describer())


def test_what_no_answer_depends_on_may_change(photos: Path) -> None:
    model = describer()
    stage_a(photos, model)
    again = stage_a(photos, model, "photos.keys=image_", "photos.draws=3", "photos.pass_groups=1")
    assert (again.written, len(model.requests)) == (2, 6)


def test_a_run_of_another_kind_is_never_taken_over(photos: Path, tickets: Path) -> None:
    """Stage-A goes on with a folder in which nothing was answered, but with its own alone."""
    folder = audit(tickets, wavering, "control.budget.calls=0").folder
    folder.rename(photos.parent / "f.run")
    (photos.parent / "f.jsonl").touch()
    with pytest.raises(WhetError, match=r"it is of another kind: audit\); give another --out"):
        stage_a(photos)
