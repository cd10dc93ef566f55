"""The page about decisions is true: from a champion to a proved trail, each command as a reader would type it."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

from docs.pages import ROOT, free_port, run_page


def test_the_page_about_decisions_runs_as_it_stands(tmp_path: Path) -> None:
    folder, port = tmp_path / "reader", free_port()
    folder.mkdir()
    stands = {"whet serve site": f"whet serve site --port {port}", "127.0.0.1:8421": f"127.0.0.1:{port}"}
    try:
        assert run_page(ROOT / "docs" / "decide.md", folder, stands) == []
    finally:
        with suppress(OSError, ValueError):
            os.kill(int((folder / "serve.pid").read_text()), signal.SIGKILL)
