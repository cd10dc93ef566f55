"""The page about versions of configs is true: its commands run, in order, and print what it says."""

from __future__ import annotations

import shutil
from pathlib import Path

from docs.pages import ROOT, run_page


def test_the_page_about_configs_runs_as_it_stands(tmp_path: Path) -> None:
    folder = tmp_path / "reader"
    folder.mkdir()
    for name in ("demo.toml", "orders.csv"):  # as `whet demo` lays them out
        shutil.copy(ROOT / "whet" / "run" / "scaffold" / "demo" / name, folder / name)
    assert run_page(ROOT / "docs" / "configs.md", folder, {}) == []
