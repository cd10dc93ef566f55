"""What a kill cuts off may have been paid for: it is in the account, and the seconds of the session are too."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from billing import LEFT_OUT, PRICE, BillingServer
from loopback import Behaviour, serving

from whet.ledger.store import Ledger
from whet.rollout.session import seconds_of
from whet.run.catalog import show_run
from whet.types import Usage

SUMS = Path(__file__).parents[2] / "examples" / "sums.py"


def command(server: BillingServer, runs: Path, *more: str) -> list[str]:
    price = f"control.target.price=[{PRICE[0]}, {PRICE[1]}]"
    return [
        *(sys.executable, "-m", "whet", "eval", f"{SUMS}:Sums", "-m", "openai:any", "--base-url", server.base_url),
        *("-n", "400", "--runs", str(runs), "--run", "r", "--concurrency", "64", "--max-tokens", "64"),
        *("--set", price, "--set", "eval.floor=false", *more),
    ]


def killed_after(server: BillingServer, requests: int, words: list[str]) -> None:
    """Start the run and kill it when the server has had so many more requests, some of them unanswered."""
    wanted = server.requests + requests
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        while server.requests < wanted:
            assert process.poll() is None, process.stderr and process.stderr.read().decode()
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)


def spent(folder: Path) -> Usage:
    with Ledger.read(folder) as ledger:
        return ledger.account().spent


def test_every_reply_that_a_kill_threw_away_is_in_the_account(tmp_path: Path) -> None:
    server = BillingServer(behaviour=Behaviour(latency=0.05))
    with serving(server=server):
        for _ in range(3):
            killed_after(server, 80, command(server, tmp_path))
            assert spent(tmp_path / "r").calls >= server.bill.calls, (
                "what is under way counts before any session follows"
            )
        shown = show_run("r", tmp_path)
        with Ledger.read(tmp_path / "r") as ledger:
            assert seconds_of(ledger) > 0.2, "the sessions that were killed took their time"
            assert not ledger.events("ended")
        subprocess.run(command(server, tmp_path), check=True, capture_output=True)
    counted = spent(tmp_path / "r")
    assert server.bill.calls > 400, "kills have a price"
    assert counted.calls >= server.bill.calls
    assert counted.tokens >= server.bill.tokens
    assert (counted.usd or 0.0) >= server.bill.usd - 1e-9
    with Ledger.read(tmp_path / "r") as ledger:
        assert ledger.account().lost.calls >= server.bill.calls - 400
    assert shown is not None


@pytest.mark.parametrize("limit", ["calls=150", "usd=0.05"])
def test_a_budget_holds_over_kills(tmp_path: Path, limit: str) -> None:
    name, _, most = limit.partition("=")
    server = BillingServer(lambda usage, n: LEFT_OUT if n % 2 else usage, behaviour=Behaviour(latency=0.05))
    with serving(server=server):
        words = command(server, tmp_path, "--set", f"control.budget.{limit}")
        killed_after(server, 40, words)
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert "budget of" in done.stdout
    assert "may have been paid" in " ".join(done.stdout.split())
    assert getattr(server.bill, name) <= float(most) + 1e-9
