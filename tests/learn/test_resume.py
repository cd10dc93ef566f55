"""A training run that is killed at any moment and started again ends as if nothing had happened."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from all_on import ALL_ON
from builders import FromFunction
from crashes import Crash, crashing
from reflact_world import NULLS, RULES, Kinds, config, optimiser, target, timeless, trained

from whet.config.load import validate
from whet.errors import FaultError, ReplayMismatch, WhetError
from whet.learn.reflact.config import ReflactConfig
from whet.ledger.store import Ledger
from whet.models.base import Request
from whet.run.api import resume
from whet.types import Fault, Playbook, user

WORLD = Path(__file__).parents[1] / "reflact_world.py"
KILLS = 10


def small_run(folder: Path) -> dict[str, bytes]:
    """Every kind of effect in few commits: an acceptance, reminders, a chosen budget, a reply asked for twice."""
    settings = config(
        train={"epochs": 2, "batch_size": 8},
        reflect={"minibatch": 4, "failures_only": True, "lapses": True},
        update={"scheduler": "autonomous", "credit": True, "evidence": True, "probes": 2, "probe_tasks": 4},
        slow={"idle": True, "samples": 2},
        gate={"name": "strict"},
        control={"concurrency": 6},
    )

    def stammering(request: Request) -> str:
        first = len(request.messages) == 2 and request.messages[0].text.startswith("You choose how many")
        return "Two, I think." if first else optimiser(request)

    result = trained(folder, settings, optimiser=stammering, env=Kinds(train=8, select=8, test=4))
    assert any(one.accepted for one in result.judge.judgements)
    return timeless(folder)


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_a_crash_at_every_ledger_event_leaves_no_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: bool
) -> None:
    whole = small_run(tmp_path / "whole" / "run")
    at = 0
    while True:
        at += 1
        with monkeypatch.context() as patch:
            count = crashing(patch, at, before=before)
            with contextlib.suppress(Crash):
                small_run(tmp_path / str(at) / "run")
        if count[0] < at:
            break
        assert small_run(tmp_path / str(at) / "run") == whole, f"after a crash at commit {at}"
    assert at > 60, "the run has more events than that"


def reusing_run(folder: Path) -> dict[str, bytes]:
    """The defaults, with proposals that change nothing: the second epoch reads the attempts of the first again."""

    def useless(request: Request) -> str:
        edit = {"op": "append", "content": f"{NULLS[0]} {request.sampling.seed}"}
        return json.dumps({"batch_size": 1, "patch": {"edits": [edit]}, "edits": [edit]})

    base = config().model_dump(include={"env", "target", "optimizer"}, exclude_unset=True)
    sizes = {"train": {"epochs": 2, "batch_size": 4}}
    settings = validate(ReflactConfig, {**base, **sizes}, "test")
    result = trained(folder, settings, optimiser=useless, env=Kinds(train=8, select=12, test=4))
    assert not any(judgement.accepted for judgement in result.judge.judgements)
    probed = sum(len(probe.rollouts) for state in result.training.steps for probe in state.proposal.probes)
    assert probed > 0
    assert result.summary["token_summary"]["rollout"]["calls"] == 8 + probed
    assert sum(len(state.evidence.rollouts) for state in result.training.steps if state.evidence) == 16
    return timeless(folder)


def test_a_crash_leaves_no_trace_where_attempts_are_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = reusing_run(tmp_path / "whole" / "run")
    for at in range(1, 500, 9):
        with monkeypatch.context() as patch:
            count = crashing(patch, at, before=True)
            with contextlib.suppress(Crash):
                reusing_run(tmp_path / str(at) / "run")
        if count[0] < at:
            break
        assert reusing_run(tmp_path / str(at) / "run") == whole, f"after a crash at commit {at}"
    assert at > 20, "the run has more events than that"


@pytest.mark.parametrize("name", ALL_ON)
@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_a_crash_with_every_option_on_leaves_no_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, before: bool
) -> None:
    """At two events of each run here; at every one of them in `bench/kills.py`."""
    run = ALL_ON[name]
    with monkeypatch.context() as patch:
        count = crashing(patch, 1_000_000, before=before)
        whole = run(tmp_path / "whole" / "run")
    assert count[0] > 200, "the run has more events than that"
    for share in (0.4, 0.85) if before else (0.15, 0.6):
        at = int(share * count[0])
        with monkeypatch.context() as patch:
            crashing(patch, at, before=before)
            with contextlib.suppress(Crash):
                run(tmp_path / str(at) / "run")
        assert run(tmp_path / str(at) / "run") == whole, f"after a crash at commit {at} of {count[0]}"


CONFIG = f"""
[env]
name = "{WORLD}:Kinds"

[target]
model = "scripted:{WORLD}:slow_target"

[optimizer]
model = "scripted:{WORLD}:optimiser"

[train]
epochs = 2
batch_size = 12

[reflect]
minibatch = 4

[slow]
use = true
idle = true

[meta]
use = true

[control]
concurrency = 4
"""


def command(folder: Path) -> list[str]:
    return [sys.executable, "-m", "whet", "train", str(folder / "train.toml"), "--runs", str(folder), "--run", "run"]


def started(folder: Path) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(WORLD.parent)}
    return subprocess.Popen(command(folder), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)


def finished(folder: Path) -> None:
    process = started(folder)
    _, told = process.communicate()
    assert process.returncode == 0, told.decode()


def rollouts(folder: Path) -> int:
    if not (folder / "run" / "ledger.sqlite").exists():
        return 0
    try:
        with Ledger.read(folder / "run") as ledger:
            return ledger.counts()["rollouts"]
    except WhetError:
        return 0  # being made this very moment


def test_ten_kills_of_a_whole_run_leave_no_trace(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    for folder in (whole, cut):
        folder.mkdir()
        (folder / "train.toml").write_text(CONFIG)
    finished(whole)
    total = rollouts(whole)
    for kill in range(KILLS):
        process = started(cut)
        while process.poll() is None and rollouts(cut) < total * (kill + 0.5) / KILLS:
            time.sleep(0.02)
        assert process.poll() is None, "it was to be killed before its end"
        process.send_signal(signal.SIGKILL)
        process.communicate()
    finished(cut)
    assert timeless(cut / "run") == timeless(whole / "run")


def test_a_complete_run_is_replayed_without_a_call(tmp_path: Path) -> None:
    first = trained(tmp_path / "run")
    before = timeless(first.folder)

    def dead(request: Request) -> str:
        raise AssertionError("everything is remembered")

    trained(tmp_path / "run", target=dead, optimiser=dead)
    assert timeless(first.folder) == before


def test_a_candidate_of_a_resumed_run_never_inherits_another_candidates_score(tmp_path: Path) -> None:
    """After a crash a new candidate was judged by the rollouts of the old one, which lay in the same folder."""
    good = "\n".join(RULES.values())

    def proposing(text: str) -> Any:
        edit = json.dumps({"batch_size": 4, "patch": {"edits": [{"op": "append", "content": text}]}})
        merged = json.dumps({"edits": [{"op": "append", "content": text}]})
        return lambda request: merged if request.messages[0].text.startswith("You merge") else edit

    settings = config(train={"epochs": 1, "batch_size": 24}, control={"budget": {"calls": 90}})
    cut = trained(tmp_path / "run", settings, optimiser=proposing(good))
    assert cut.stopped
    with pytest.raises(ReplayMismatch, match="answered to another request"):
        # The optimiser's replies are remembered, so another optimiser can only enter under another identity;
        # a changed prompt is noticed by the hash of the request.
        trained(
            tmp_path / "run",
            settings.model_copy(update={"control": config().control}),
            env=Renamed(),
            optimiser=proposing(NULLS[0]),
        )
    again = trained(
        tmp_path / "run", settings.model_copy(update={"control": config().control}), optimiser=proposing(NULLS[0])
    )
    assert again.best.body == good, "the remembered proposal is judged, not a new one"


class Renamed(Kinds):
    """Other prompts under the same fingerprint."""

    def task(self, split: Any, index: int) -> Any:
        task = super().task(split, index)
        return replace(task, messages=(user(task.messages[0].text + "!"),))


def test_more_epochs_are_another_run_with_its_own_test(tmp_path: Path) -> None:
    """A run of more epochs in the same folder reported the test score of the old best playbook."""
    trained(tmp_path / "run", config(train={"epochs": 1}))
    with pytest.raises(WhetError, match=r"train\.epochs = 1 there, 2 here"):
        trained(tmp_path / "run", config(train={"epochs": 2}))


def test_a_budget_ends_the_run_cleanly_and_raising_it_continues(tmp_path: Path) -> None:
    whole = trained(tmp_path / "whole" / "run")
    cut = trained(tmp_path / "cut" / "run", config(control={"budget": {"calls": 200}}))
    assert "budget of 200 calls" in cut.stopped
    assert cut.summary["test_hard"] is None
    assert (cut.folder / "best_skill.md").is_file()
    proposer = FromFunction(optimiser)
    proposer.fingerprint = "optimiser-1"
    resumed = resume(
        cut.folder,
        overrides=["control.budget.calls=100000"],
        env=Kinds(),
        model=FromFunction(target),
        optimizer=proposer,
    )
    assert not resumed.stopped
    mine, theirs = timeless(resumed.folder), timeless(whole.folder)
    for files in (mine, theirs):
        files.pop("config.toml")
        files.pop("config.json")  # control is in them, and differs
    assert mine == theirs


def test_a_resumed_run_keeps_its_identity(tmp_path: Path) -> None:
    trained(tmp_path / "run", config(train={"epochs": 1}))
    with pytest.raises(WhetError, match="only keys of control may change"):
        resume(tmp_path / "run", overrides=["train.epochs=3"])


def test_the_memory_of_steps_survives_a_resume(tmp_path: Path) -> None:
    """After a resume in the middle of an epoch the analysts saw no history."""
    cut = trained(tmp_path / "run", config(control={"budget": {"calls": 180}}))
    assert cut.training.steps
    told: list[str] = []

    def listening(request: Request) -> str:
        told.append(request.messages[1].text)
        return optimiser(request)

    trained(tmp_path / "run", config(), optimiser=listening)
    assert told
    assert all("Step 1 (epoch 1)" in text or "### " not in text for text in told[-3:])


def test_calls_and_tokens_of_all_sessions_are_counted(tmp_path: Path) -> None:
    """Token summaries restarted at zero after a resume."""
    whole = trained(tmp_path / "whole")
    trained(tmp_path / "cut", config(control={"budget": {"calls": 200}}))
    resumed = trained(tmp_path / "cut", config())
    assert resumed.summary["token_summary"] == whole.summary["token_summary"]


def test_a_failing_optimiser_stops_the_run_with_its_name(tmp_path: Path) -> None:
    """A wrong optimiser showed only as 'no usable patches' for a whole run."""

    def down(request: Request) -> str:
        raise FaultError(Fault("connection", "optimizer.example", "refused"))

    stopped = trained(tmp_path / "run", optimiser=down)
    assert "optimizer at e1/s0001/analyst" in stopped.stopped
    assert "refused" in stopped.stopped
    resumed = trained(tmp_path / "run")
    assert not resumed.stopped
    assert resumed.best != Playbook()
