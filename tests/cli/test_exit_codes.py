"""Exit codes are what `--help` and the docs say they are."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import Whet
from loopback import Behaviour, serving

from whet.cli.codes import CODES
from whet.cli.exits import ended

ROOT = Path(__file__).parents[2]
SUMS = f"{ROOT / 'examples' / 'sums.py'}:Sums"
EVAL = ("eval", SUMS, "-n", "8", "--run", "r")


def test_help_and_the_docs_list_every_code(whet: Whet) -> None:
    helped = re.findall(r"^ +(\d+) +\S", whet("--help").out.partition("Exit codes:")[2], re.MULTILINE)
    page = (ROOT / "docs" / "evals.md").read_text().partition("## Exit codes")[2]
    assert [int(code) for code in helped] == [*CODES]
    assert [int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)] == [*CODES]


def test_0_done(whet: Whet) -> None:
    assert whet(*EVAL, "-m", "baseline:oracle").code == 0


def test_1_nothing_but_faults(whet: Whet) -> None:
    with serving() as server:
        said = whet(*EVAL, "-m", "openai:fault-501", "--base-url", server.base_url)
    assert said.code == 1, said.out


@pytest.mark.parametrize(
    "words", [("eval",), ("eval", "nowhere", "-m", "x:y"), ("runs", "show", "none"), ("evil",), ("eval", "--no-such")]
)
def test_2_a_mistake(whet: Whet, words: tuple[str, ...]) -> None:
    assert whet(*words).code == 2


def test_3_a_budget_stops_an_evaluation_and_a_decision_and_more_of_it_goes_on(whet: Whet, tmp_path: Path) -> None:
    (tmp_path / "c.md").write_text("Count on your fingers.")
    with serving(Behaviour(solves=0.5)) as server:
        asked = (*EVAL, "-m", "openai:m", "--base-url", server.base_url)
        assert whet(*asked, "--set", "control.budget.calls=3").code == 3
        assert whet("resume", "r", "--set", "control.budget.calls=9").code == 0
        said = whet("gate", "r", "--candidate", "c.md")
        assert said.code == 3
        assert "continue with: whet resume runs/r/gates/" in said.err


@pytest.mark.parametrize("polite", [signal.SIGINT, signal.SIGTERM])
def test_3_an_interrupt(tmp_path: Path, polite: int) -> None:
    with serving(Behaviour(latency=30)) as server:
        words = [*EVAL, "-m", "openai:m", "--base-url", server.base_url]
        process = subprocess.Popen([sys.executable, "-m", "whet", *words], cwd=tmp_path, stderr=subprocess.DEVNULL)
        while not server.requests:
            if process.poll() is not None:
                break
        process.send_signal(polite)
        assert process.wait(timeout=60) == 3


def test_3_an_interrupt_of_what_is_no_run() -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    assert ended(stop) == 3
    assert ended(lambda: sys.exit(130)) == 3


def test_70_a_defect(monkeypatch: pytest.MonkeyPatch, whet: Whet) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("whet.cli.evaluate.plan_evaluation", broken)
    monkeypatch.setattr("whet.cli.exits._foreign", lambda error: "")
    assert whet(*EVAL, "-m", "baseline:oracle", "--dry-run").code == 70
