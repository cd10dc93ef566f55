"""A run that is killed at any moment and started again ends as if nothing had happened."""

from __future__ import annotations

import contextlib
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import orjson
import pytest
from builders import Doubles, FromFunction, doubled
from crashes import Crash, crashing
from loopback import spawned

from whet.ledger.store import Ledger
from whet.models.base import Request
from whet.run.api import evaluate

SUMS = Path(__file__).parents[2] / "examples" / "sums.py"
KILLS = 20


def command(url: str, runs: Path) -> list[str]:
    return [
        *(sys.executable, "-m", "whet", "eval", f"{SUMS}:Sums", "-m", "openai:any", "--base-url", url),
        *("-n", "300", "--runs", str(runs), "--run", "killed", "--concurrency", "4"),
    ]


def answered(runs: Path) -> set[int]:
    """The seeds of the requests whose rollouts the ledger has: every rollout has one of its own."""
    folder = runs / "killed"
    if not (folder / "ledger.sqlite").exists():
        return set()
    with Ledger.read(folder) as ledger:
        return {int(one.key[:8], 16) & 0x7FFFFFFF for one in ledger.outcomes("eval")}


def seen(url: str) -> list[int]:
    """The seeds of the requests that the server was sent, in order."""
    with urlopen(url.removesuffix("/v1") + "/_seen") as answer:
        return [one["body"]["seed"] for one in orjson.loads(answer.read())["seen"]]


def columns(runs: Path) -> list[tuple[Any, ...]]:
    """Everything that the ledger says of its rollouts, times apart."""
    with Ledger.read(runs / "killed") as ledger:
        return [
            (one.key, one.ticket, one.label, one.hard, one.soft, one.reward, one.reason, one.usage, one.turns)
            for one in ledger.outcomes()
        ]


def killed_often(url: str, runs: Path, moments: Sequence[float]) -> None:
    """Start the evaluation again and again, each time killed after the next of `moments` or ended by itself."""
    for moment in moments:
        process = subprocess.Popen(command(url, runs), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(timeout=moment)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()


def test_twenty_kills_leave_no_trace(tmp_path: Path) -> None:
    chance = random.Random(2026)
    with spawned("--solves", "0.6", "--latency", "0.2", "--remember") as url:
        subprocess.run(command(url, tmp_path / "whole"), check=True, capture_output=True)
        asked_before = len(seen(url))
        kills, known = 0, set[int]()
        while kills < KILLS and len(known) < 300:
            since = len(seen(url))
            killed_often(url, tmp_path / "cut", [chance.uniform(0.3, 1.6)])
            assert not set(seen(url)[since:]) & known, "what the ledger has must not be asked again"
            known = answered(tmp_path / "cut")
            kills += 1
        subprocess.run(command(url, tmp_path / "cut"), check=True, capture_output=True)
        asked = len(seen(url)) - asked_before
    assert kills == KILLS
    whole, cut = (tmp_path / name / "killed" / "results.json" for name in ("whole", "cut"))
    assert whole.read_bytes() == cut.read_bytes()
    assert columns(tmp_path / "whole") == columns(tmp_path / "cut")
    assert asked <= 300 + 4 * KILLS, "only what was under way at a kill is asked twice"


def often_right(request: Request) -> str:
    return "wrong" if (request.sampling.seed or 0) % 3 == 0 else doubled(request)


def small_run(runs: Path) -> bytes:
    result = evaluate(
        Doubles(), FromFunction(often_right), n=4, repeats=2, runs=runs, overrides=["control.concurrency=1"]
    )
    return (result.folder / "results.json").read_bytes()


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_a_crash_at_every_ledger_event_leaves_no_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: bool
) -> None:
    whole = small_run(tmp_path / "whole")
    at = 0
    while True:
        at += 1
        with monkeypatch.context() as patch:
            count = crashing(patch, at, before=before)
            with contextlib.suppress(Crash):
                small_run(tmp_path / str(at))
        if count[0] < at:
            break
        assert small_run(tmp_path / str(at)) == whole, f"after a crash at commit {at}"
    assert at > 12, "the run has more events than that"


def test_time_is_not_in_the_results(tmp_path: Path) -> None:
    first = small_run(tmp_path / "a")
    time.sleep(0.01)
    assert small_run(tmp_path / "b") == first
