"""`whet envs` as a user types it."""

from __future__ import annotations

import json
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import pytest
from command_line import Whet
from typer.testing import CliRunner, Result

from whet import plugins
from whet.cli.envs import app
from whet.errors import WhetError

ROOT = Path(__file__).parents[2]
SUMS = f"{ROOT}/examples/sums.py:Sums"
BROKEN = f"{ROOT}/tests/envs/broken.py"


def whet_envs(*words: str) -> Result:
    return CliRunner().invoke(app, list(words), catch_exceptions=False)


def test_without_a_command_the_families_are_listed() -> None:
    assert "reasoning-gym  procedural reasoning tasks" in whet_envs().stdout


def test_a_family_that_cannot_be_loaded_is_one_line_and_the_rest_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    own = list(entry_points(group="whet.envs"))
    theirs = EntryPoint("theirs", "no_such_package:family", "whet.envs")
    monkeypatch.setattr(plugins, "entry_points", lambda group: [*own, theirs])
    listed = " ".join(whet_envs().stdout.split())
    assert "reasoning-gym procedural reasoning tasks" in listed
    assert "theirs the environment 'theirs' of" in listed
    assert "No module named 'no_such_package'" in listed


def test_show_lists_the_variants_of_a_family() -> None:
    shown = whet_envs("show", "reasoning-gym").stdout
    assert "leg_counting" in shown
    assert "104 variants" in shown


def test_show_tells_arguments_splits_baselines_and_an_example() -> None:
    shown = whet_envs("show", "reasoning-gym/leg_counting", "-a", "max_animals=3").stdout
    for told in ("min_instances", "select unbounded", "oracle", "how many legs are there in total"):
        assert told in shown


def test_sample_prints_tasks_without_their_truth_unless_asked() -> None:
    assert "truth" not in whet_envs("sample", SUMS, "-n", "2").stdout
    assert whet_envs("sample", SUMS, "-n", "2", "--truth").stdout.count("truth") == 2


def test_sample_as_json_is_an_object_a_line() -> None:
    lines = whet_envs("sample", SUMS, "--json", "-s", "test", "-n", "3").stdout.splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["test/0", "test/1", "test/2"]


def test_sample_gives_no_more_than_a_split_has() -> None:
    assert len(whet_envs("sample", SUMS, "--json", "-s", "test", "-n", "9", "-a", "test=2").stdout.splitlines()) == 2


def test_check_exits_with_zero_or_one() -> None:
    assert whet_envs("check", SUMS, "-n", "6").exit_code == 0
    failed = whet_envs("check", f"{BROKEN}:GraderRaises", "-n", "6")
    assert failed.exit_code == 1
    assert "fail  grading" in failed.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("show", "reasoning-gim"), "Did you mean 'reasoning-gym'?"),
        (("sample", SUMS, "-s", "tst"), "Did you mean 'test'?"),
        (("sample", SUMS, "-a", "select"), "key=value"),
    ],
)
def test_mistakes_go_up_as_one_line(words: tuple[str, ...], said: str) -> None:
    with pytest.raises(WhetError) as refused:
        whet_envs(*words)
    assert said in str(refused.value)


@pytest.mark.parametrize("family", ["soup", "ordebug", "groupqc"])
def test_a_family_whose_bare_name_is_an_environment_is_shown_beside_its_variants(whet: Whet, family: str) -> None:
    said = whet("envs", "show", family)
    assert said.code == 0, said.err
    assert "See one with" in said.out
    assert "fingerprint" in said.out
    assert "argument" in said.out
