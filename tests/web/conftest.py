"""The viewer of a folder with runs, as an application and behind a real port."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "report"))

import run_folders

pytest.importorskip("starlette", reason="the viewer needs the extra web")
uvicorn = pytest.importorskip("uvicorn", reason="the viewer needs the extra web")


@pytest.fixture(scope="session")
def site_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of every kind and state."""
    runs = tmp_path_factory.mktemp("site") / "runs"
    runs.mkdir()
    run_folders.training(runs)
    run_folders.evaluation(runs, "third", wrong=3)
    run_folders.evaluation(runs, "other", wrong=2)
    for made in (run_folders.hostile, run_folders.newer, run_folders.without_ledger, run_folders.damaged):
        made(runs)
    run_folders.half_written(runs)
    return runs


@pytest.fixture(scope="session")
def address(site_runs: Path) -> Iterator[str]:
    """Where the viewer is to be had."""
    from whet.web.server import build_app

    config = uvicorn.Config(build_app(site_runs), port=0, log_level="error", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    for _ in range(600):
        if server.started:
            break
        time.sleep(0.05)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(timeout=10)
