"""`whet verify`, `whet backup` and `whet salvage` as a user types them, and what a budget looks like from there."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from command_line import Whet
from loopback import serving

from whet.ledger.store import FILE, Ledger
from whet.types import Usage

SUMS = f"{Path(__file__).parents[2] / 'examples' / 'sums.py'}:Sums"


@pytest.fixture
def run(whet: Whet, tmp_path: Path) -> Path:
    assert whet("eval", SUMS, "-m", "baseline:oracle", "-n", "20", "--run", "o").code == 0
    return tmp_path / "runs" / "o"


def spoil(run: Path) -> None:
    db = sqlite3.connect(run / FILE)
    db.execute("UPDATE rollouts SET hard = 0 WHERE seq = 7")
    db.commit()
    db.close()


def test_a_run_that_is_whole_says_so(whet: Whet, run: Path) -> None:
    assert "the ledger is whole" in whet("verify", "o").out


def test_a_bad_row_is_named_refused_and_salvaged(whet: Whet, run: Path, tmp_path: Path) -> None:
    before = (run / "results.json").read_bytes()
    spoil(run)
    found = whet("verify", "o")
    assert found.code == 1
    assert found.out.startswith("rollouts 7: not what was written (select/")
    for words in (("resume", "o"), ("rebuild", "o"), ("compare", "o", "o"), ("export", "chat", "o")):
        refused = whet(*words)
        assert refused.code == 2, words
        assert "rollouts 7: not what was written" in " ".join(refused.err.split()), words
    assert "rollouts 7" in whet("runs").out
    salvaged = whet("salvage", "o", "runs/p")
    assert salvaged.code == 0, salvaged.err
    assert "lost 1 rollouts, 1 transcripts" in " ".join(salvaged.out.split())
    assert whet("resume", "runs/p").code == 0
    assert (tmp_path / "runs" / "p" / "results.json").read_bytes() == before
    assert "the ledger is whole" in whet("verify", "p").out


def test_a_head_that_was_kept_is_expected(whet: Whet, run: Path) -> None:
    line = whet("verify", "o", "--head").out.strip()
    assert line.startswith("whet-ledger 3 o ")
    assert whet("resume", "o").code == 0
    assert whet("verify", "o", "--expect", line).code == 0
    other = whet("verify", "o", "--expect", "f" * 32)
    assert other.code == 1
    assert "nowhere in its chain" in other.out


def test_a_backup_stands_in_for_the_ledger(whet: Whet, run: Path, tmp_path: Path) -> None:
    said = whet("backup", "o", "safe/ledger.sqlite")
    assert "proved to be what was written" in " ".join(said.out.split())
    spoil(run)
    for name in (FILE, "ledger.head"):
        (run / name).write_bytes((tmp_path / "safe" / name).read_bytes())
    assert "the ledger is whole" in whet("verify", "o").out
    assert whet("backup", "o", "safe/ledger.sqlite").code == 2


def test_what_was_refused_may_have_been_paid_and_is_shown(whet: Whet, tmp_path: Path) -> None:
    with serving() as server:
        server.plan.extend(["400", "400"])
        words = ("-m", "openai:any", "--base-url", server.base_url, "-n", "10", "--run", "r")
        said = whet("eval", SUMS, *words, "--set", "control.target.price=[1, 4]")
    assert "may have been paid: up to 2 calls" in " ".join(said.out.split())
    assert "(2 without a known usage)" in " ".join(whet("runs", "show", "r").out.split())
    with Ledger.read(tmp_path / "runs" / "r") as ledger:
        assert ledger.account().spent.calls == 10, "what the floor played was no call"
        assert ledger.account().lost == Usage()


@pytest.mark.parametrize("field", ["service_tier", "plugins", "models"])
def test_what_may_change_a_price_is_refused_beside_a_budget_in_dollars(whet: Whet, field: str) -> None:
    words = ("-m", "openai:any", "--base-url", "http://127.0.0.1:9/v1", "--set", f"target.extra.{field}=x")
    said = whet("eval", SUMS, *words, "--max-usd", "1", "--set", "control.target.price=[1, 4]")
    assert said.code == 2
    assert f"target.extra.{field}: may change what a call costs" in " ".join(said.err.split())


def test_a_gate_says_that_it_redoes_faults_by_itself(whet: Whet, tmp_path: Path) -> None:
    (tmp_path / "p.md").write_text("Think twice.")
    with serving() as server:
        words = ("-m", "openai:any", "--base-url", server.base_url, "-n", "20", "--run", "r")
        assert whet("eval", SUMS, *words).code == 0
        assert whet("gate", "r", "--candidate", "p.md").code == 0
    [child] = (tmp_path / "runs" / "r" / "gates").iterdir()
    said = whet("resume", child, "--retry-faults")
    assert said.code == 2
    assert "redoes the faults of a plan by itself" in " ".join(said.err.split())
