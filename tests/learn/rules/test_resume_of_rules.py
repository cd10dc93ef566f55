"""A run of rule search that dies at any commit, or waits for a person, ends as if nothing had happened."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from crashes import Crash, crashing
from rules_world import GREY, HARM, RED, Crates, config, proposing, searched, upsert, without_moments

from whet.apps.rules.history import approve, awaiting
from whet.errors import WhetError
from whet.learn.rules.approval import PersonsWord
from whet.run.compose import Given
from whet.run.train import TrainResult
from whet.run.train_runs import replay


def small_run(folder: Path) -> dict[str, bytes]:
    """An acceptance, a rejection, a screen, an ablation, a refusal and chats in few commits."""
    settings = config(
        train={"steps": 2, "patience": 1},
        rules={"candidates": 2, "screen": 6, "golden": (0, 1)},
        gate={"alpha": 0.2},
        bounds={"false_release": 0.5, "false_block": 0.5, "regressions": 0.5},
        distill={"use": True, "size": 4},
        control={"concurrency": 8},
    )
    bring = proposing(upsert(RED), upsert("Like train/1."), upsert(HARM))
    result = searched(folder, settings, optimiser=bring, env=Crates(10, 14, 4))
    assert result.stopped == ""
    assert result.summary["total_accepts"] >= 1
    return without_moments(result.folder)


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_a_crash_leaves_no_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: bool) -> None:
    whole = small_run(tmp_path / "whole")
    at, stride = (1 if before else 7), 13
    while True:
        with monkeypatch.context() as patch:
            count = crashing(patch, at, before=before)
            with contextlib.suppress(Crash):
                small_run(tmp_path / str(at))
        if count[0] < at:
            break
        assert small_run(tmp_path / str(at)) == whole, f"after a crash at commit {at}"
        at += stride
    assert at > 20, "the run has more commits than that"


def test_the_ledger_alone_gives_the_files_again(tmp_path: Path) -> None:
    whole = small_run(tmp_path)
    folder = tmp_path / "yard 0" / "run"
    for file in (*folder.glob("*.jsonl"), folder / "guidance.json"):
        file.unlink()
    from builders import FromFunction

    given = Given(env=Crates(10, 14, 4), model=FromFunction(lambda request: ""), optimizer=_nobody())
    replay(folder, given)
    assert without_moments(folder) == whole


def _nobody() -> Any:
    from builders import FromFunction

    model = FromFunction(lambda request: "")
    model.fingerprint = "crate-optimiser-1"
    return model


def waiting_run(folder: Path) -> TrainResult:
    settings = config(train={"steps": 1, "test": 0}, rules={"approval": True, "ablations": False})
    return searched(folder, settings, optimiser=proposing(upsert(RED), upsert(GREY)), env=Crates(40, 100, 4))


def test_with_approval_a_run_waits_for_a_person_and_goes_on(tmp_path: Path) -> None:
    first = waiting_run(tmp_path)
    assert "waits for a person" in first.stopped
    assert len(awaiting(first.folder)) == 1
    assert waiting_run(tmp_path).stopped == first.stopped, "nothing was said"
    assert first.best.told == first.judge.initial.playbook.told
    with pytest.raises(WhetError, match="These wait"):
        approve(first.folder, "s0009/b0/c0", PersonsWord(True))
    told = approve(first.folder, "", PersonsWord(True, "Ada", "seen on site"))
    assert "approved by Ada" in told
    again = approve(first.folder, "", PersonsWord(True, "Bob"))
    assert "approved by Bob, in the place of 'approved by Ada : seen on site'" in again, "until the run has read it"
    after = waiting_run(tmp_path)
    assert after.stopped == ""
    assert {rule.text for rule in after.best.told} & {RED, GREY}
    with pytest.raises(WhetError, match="no change waits"):
        approve(after.folder, "", PersonsWord(False))


def test_what_a_person_declines_is_not_applied_and_the_next_is_asked_for(tmp_path: Path) -> None:
    first = waiting_run(tmp_path)
    approve(first.folder, "", PersonsWord(False, "Ada"))
    second = waiting_run(tmp_path)
    rows = [json.loads(line) for line in (second.folder / "rule_candidates.jsonl").read_text().splitlines()]
    assert [row["decision"] for row in rows].count("declined") == 1
    if second.stopped:
        approve(first.folder, "", PersonsWord(False, "Ada"))
        second = waiting_run(tmp_path)
    assert second.summary["total_accepts"] == 0
