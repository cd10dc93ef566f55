"""Runs that many tests look at are made once."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import run_folders


@pytest.fixture(scope="session")
def seen_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a training and two evaluations of the same tasks."""
    runs = tmp_path_factory.mktemp("seen") / "runs"
    runs.mkdir()
    run_folders.training(runs)
    run_folders.evaluation(runs, "third", wrong=3)
    run_folders.evaluation(runs, "half", wrong=2)
    run_folders.hostile(runs)
    return runs
