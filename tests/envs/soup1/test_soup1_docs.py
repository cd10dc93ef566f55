"""The table of commands in docs/soup1.md: every command of its right column runs, with a baseline as the model."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from command_line import Whet

from whet.envs.soup1.archetypes import FAMILIES, archetypes
from whet.envs.soup1.deck import TIERED, ArchetypeChoice
from whet.envs.soup1.score import FirstSoupRewards
from whet.envs.soup1.settings import ARGUMENTS

PAGE = (Path(__file__).parents[3] / "docs" / "soup1.md").read_text("utf-8")
COMMANDS = re.findall(r"\| `(whet [^`]+)` \|$", PAGE, re.MULTILINE)
QUICKLY = {"-n": "4", "-r": "2"}
"""Counts in the docs are for measuring; here it is enough that the command does what it says."""


def words(command: str) -> list[str]:
    parts = shlex.split(command.replace("MODEL", "baseline:first-match"))[1:]
    return [QUICKLY.get(before, word) for before, word in zip(["", *parts], parts, strict=False)]


def test_the_table_has_its_commands() -> None:
    assert len(COMMANDS) >= 15


@pytest.mark.parametrize("command", [one for one in COMMANDS if "RUN" not in one])
def test_a_command_of_the_table_runs(whet: Whet, command: str) -> None:
    floor = ["--set", "eval.floor=false"] if "eval" in words(command) else []
    said = whet(*words(command), *floor)
    assert said.code == 0, said.err
    assert said.out


def test_a_run_is_shown_with_its_archetypes_and_transcripts(whet: Whet) -> None:
    whet("eval", "soup@1", "-m", "baseline:oracle", "-n", "6", "--run", "one", "--set", "eval.floor=false")
    shown = whet("runs", "show", "one").out
    assert re.search(r"(core|advanced|hard|forms|gotchas|tables)\.\w+", shown)
    task = next(iter(re.findall(r"select/\d+", (Path("runs") / "one" / "results.json").read_text())))
    assert "run_python" in whet("runs", "show", "one", "--task", task).out


def test_the_baselines_stand_beside_any_model(whet: Whet) -> None:
    whet("eval", "soup@1", "-m", "baseline:oracle", "-n", "4", "--run", "two")
    floor = (Path("runs") / "two" / "results.json").read_text()
    assert all(f'"{name}"' in floor for name in ("always-limit", "regex-only", "first-match", "frequent"))


def test_the_page_says_what_the_code_says() -> None:
    for argument in ARGUMENTS:
        assert f"`{argument.name}`" in PAGE
    for family in FAMILIES:
        count = sum(one.family == family for one in archetypes().values())
        assert f"| `{family}` | {count} |" in PAGE
    for mode, count in (("mvp", 33), ("phase2", 24), ("hard_only", 18), ("bootstrap", 15)):
        assert len(ArchetypeChoice(mode).members(archetypes())) == count  # type: ignore[arg-type]
    assert dict(TIERED) == {"primer": 0.0, "easy": 0.2, "medium": 0.4, "hard": 0.4}
    assert (
        FirstSoupRewards().correct,
        FirstSoupRewards().limit,
        FirstSoupRewards().unsafe,
        FirstSoupRewards().without_soup,
    ) == (
        1.0,
        0.5,
        -0.5,
        0.15,
    )
