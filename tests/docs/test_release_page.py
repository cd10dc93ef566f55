"""The page about releases is true: a newcomer promotes, serves, rolls back, packs and installs from it alone."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from docs.pages import ROOT, free_port, run_page

CLERK = f"scripted:{Path(__file__).parent / 'order_clerk.py'}:answer"


def test_the_page_about_releases_runs_as_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    folder, port = tmp_path / "reader", free_port()
    folder.mkdir()
    stands = {
        "whet demo orders ": f"whet demo orders --model {CLERK} ",
        "whet serve orders": f"whet serve orders --port {port}",
        "127.0.0.1:8421": f"127.0.0.1:{port}",
        "agent:python ": f"agent:{sys.executable} ",  # the page's own is a script that stands outside the walls
        "--set train.seed=1": f"--set train.seed=1 --set target.model={CLERK}",
    }
    try:
        assert run_page(ROOT / "docs" / "release.md", folder, stands) == []
    finally:
        with suppress(OSError, ValueError):
            os.kill(int((folder / "orders" / "serve.pid").read_text()), signal.SIGKILL)
    assert list((tmp_path / "home" / ".claude" / "skills").iterdir()) == []
    assert "stopped" in (folder / "orders" / "serve.log").read_text()
