"""The page about extending Whet is true: what it shows is written to a package, installed, and used."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "extending.md").read_text()
BLOCK = re.compile(r"```(?:python|toml)\n# (\S+)\n(.*?)```", re.DOTALL)
CONFIG = re.search(r"    # hints\.toml\n((?:    .*\n)+)", PAGE)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the page as a package on the path, with the metadata that an installer would write."""
    site = tmp_path_factory.mktemp("site")
    files = dict(BLOCK.findall(PAGE))
    entries = files.pop("pyproject.toml")
    for name, text in files.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)
    info = site / "letters_kit-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: letters-kit\nVersion: 1.0\n")
    points = re.sub(r'\[project\.entry-points\."(.+?)"\]', r"[\1]", entries).replace('"', "")
    (info / "entry_points.txt").write_text(points)
    return site


def whet(package: Path, folder: Path, *words: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(package)}
    done = subprocess.run(
        [sys.executable, "-m", "whet", *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_each_extension_is_one_file_and_one_line(package: Path) -> None:
    shown = {name.removeprefix("letters_kit/") for name in dict(BLOCK.findall(PAGE))}
    code = {"task/__init__.py", "model.py", "gate.py", "learner.py", "__init__.py", "commands.py", "sink.py"}
    assert shown == {"pyproject.toml", *code}


def test_the_environment_of_the_page_keeps_the_contract(package: Path, tmp_path: Path) -> None:
    assert "letters" in whet(package, tmp_path, "envs")
    assert "FAIL" not in whet(package, tmp_path, "envs", "check", "letters", "-n", "9")


def test_the_model_of_the_page_plays(package: Path, tmp_path: Path) -> None:
    said = whet(package, tmp_path, "eval", "letters", "-m", "parrot:polly", "-n", "12", "--run", "r")
    assert "parrot:polly on letters" in said
    assert "12 calls" in said


def test_the_learner_and_the_gate_of_the_page_train_and_claim(package: Path, tmp_path: Path) -> None:
    assert CONFIG is not None
    (tmp_path / "hints.toml").write_text("\n".join(line[4:] for line in CONFIG[1].splitlines()))
    said = whet(package, tmp_path, "train", "hints.toml", "--run", "hints")
    assert "best is better than initial: +1.00" in said
    assert "+ Count the letters." in said
    best = (tmp_path / "runs" / "hints" / "best_skill.md").read_text()
    assert "Count the letters." in best
    assert "Be brief." not in best
    assert "trained" in whet(package, tmp_path, "runs")
    assert "rebuilt from 3 steps" in whet(package, tmp_path, "rebuild", "hints")
    assert "files are what it gives" in whet(package, tmp_path, "verify", "hints")


def test_a_learner_whose_rollouts_are_spent_goes_on_to_its_test(package: Path, tmp_path: Path) -> None:
    """It needs to know nothing of that limit: what it was given is taken, and the claim is made on what was kept."""
    assert CONFIG is not None
    (tmp_path / "hints.toml").write_text("\n".join(line[4:] for line in CONFIG[1].splitlines()))
    said = whet(package, tmp_path, "train", "hints.toml", "--run", "spent", "--set", "train.max_rollouts=70")
    assert "learning ended: 60 of 70 rollouts taken" in said
    assert "sealed test" in said
    assert "history.json" not in said
    assert "files are what it gives" in whet(package, tmp_path, "verify", "spent")


def test_the_gate_of_the_page_judges_a_persons_candidate(package: Path, tmp_path: Path) -> None:
    whet(package, tmp_path, "eval", "letters", "-m", "parrot:polly", "-n", "12", "--run", "r")
    (tmp_path / "better.md").write_text("Count the letters.")
    said = whet(package, tmp_path, "gate", "r", "--candidate", "better.md", "--set", "name=mean")
    assert "accepted by mean" in said


def test_the_command_of_the_page_is_listed_and_called(package: Path, tmp_path: Path) -> None:
    assert "Words and their letters." in whet(package, tmp_path, "--help")
    assert whet(package, tmp_path, "letters", "count", "hello") == "5\n"


def test_the_sink_of_the_page_is_told_figures(package: Path, tmp_path: Path) -> None:
    told = ("--set", "control.sinks.lines.file=told.txt")
    whet(package, tmp_path, "eval", "letters", "-m", "parrot:polly", "-n", "12", "--run", "r", *told)
    assert "eval/solved" in (tmp_path / "runs" / "r" / "told.txt").read_text()
