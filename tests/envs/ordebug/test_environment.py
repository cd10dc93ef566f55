"""The environment through its family: addresses, arguments, tasks, the promises that `check` tries."""

from __future__ import annotations

import pickle
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from whet.envs.ordebug import FAMILY
from whet.envs.ordebug.demonstrations import demonstration
from whet.envs.ordebug.environment import OrDebug, instance_of
from whet.envs.ordebug.families import HELD_OUT, SEEN
from whet.envs.ordebug.family import CELL_NAMES, RUNG_NAMES
from whet.envs.ordebug.play import OrDebugSettings
from whet.errors import WhetError
from whet.rollout.drive import drive
from whet.rollout.workbench import Workbench
from whet.run.contract import likeness
from whet.run.contract.check import check

SAMPLE = Path(__file__).parent / "data" / "sample"


@pytest.fixture(autouse=True, scope="module")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


def build(variant: str = "", source: str = "", **args: Any) -> OrDebug:
    env = FAMILY.build(variant, source, args)
    assert isinstance(env, OrDebug)
    return env


def test_there_are_twelve_cells_and_thirteen_rungs() -> None:
    assert len(CELL_NAMES) == 12
    assert FAMILY.variants() == (*CELL_NAMES, *RUNG_NAMES)
    assert len(RUNG_NAMES) == 13


def test_fault_types_take_turns_on_a_rung() -> None:
    env = build("tiny_near")
    assert [env.label("train", index).kind for index in range(6)] == ["A", "B", "C", "D", "mixed", "A"]
    assert {build("tiny_near", type="C").label("train", index).kind for index in range(4)} == {"C"}
    assert build(size="tiny", subtlety="near").label("train", 0) == env.label("train", 0)


def test_families_that_are_held_out_are_never_trained_on() -> None:
    env = build("tiny_near", families="held_out")
    assert env.size("train") == 0
    with pytest.raises(WhetError, match="held out"):
        env.instance("train", 0)
    assert env.instance("select", 0).family in HELD_OUT
    every = build("tiny_near", families="all")
    assert {every.instance("train", index).family for index in range(4)} <= set(SEEN)


def test_the_form_of_the_specification_changes_the_text_and_nothing_else() -> None:
    prose, table = build("tiny_near"), build("tiny_near", spec="table")
    assert prose.instance("train", 0) == table.instance("train", 0)
    assert prose.task("train", 0).data["model"] == table.task("train", 0).data["model"]
    assert "Remarks" in prose.task("train", 0).messages[0].text
    assert "Requirements:" in table.task("train", 0).messages[0].text
    assert prose.fingerprint != table.fingerprint


def test_a_tiny_prompt_is_short() -> None:
    env = build("tiny_near")
    for index in range(5):
        assert len(env.instance("train", index).sabotaged.rows) <= 6
        assert len(env.task("train", index).messages[0].text) / 3.0 <= 900


def test_cells_take_turns() -> None:
    labels = [build().label("train", index) for index in range(13)]
    assert len(set(labels)) == 12
    assert labels[0] == labels[12]


@pytest.mark.parametrize(
    ("variant", "args", "kinds"),
    [
        ("type_B_hard", {}, {("B", "hard")}),
        ("", {"cell": "type_B_hard"}, {("B", "hard")}),
        ("", {"type": "C"}, {("C", "easy"), ("C", "medium"), ("C", "hard")}),
        ("", {"type": "C", "difficulty": "easy"}, {("C", "easy")}),
    ],
)
def test_cells_are_chosen_by_variant_or_argument(variant: str, args: dict[str, Any], kinds: set[object]) -> None:
    env = build(variant, **args)
    assert {(label.kind, label.difficulty) for label in (env.label("test", index) for index in range(12))} == kinds


@pytest.mark.parametrize(
    ("variant", "source", "args", "complaint"),
    [
        ("type_A_eazy", "", {}, "type_A_easy"),
        ("type_A_easy", "somewhere", {}, "takes no cell"),
        ("", "", {"cell": "type_A_easy", "type": "A"}, "the one or the other"),
        ("", "", {"difficulty": "harder"}, "difficulty"),
        ("", "", {"difficulty": "hard", "size": "tiny"}, "the one or the other"),
        ("huge_near", "", {}, "reveal=query"),
        ("small_mid", "", {"type": "missing"}, "no problems of that type"),
        ("tiny_mid", "", {}, "no cell 'tiny_mid'"),
        ("tiny_far", "", {}, "no cell 'tiny_far'"),
        ("", "", {"max_steps": 0}, "above 0"),
        ("", "", {"reveal": "nothing"}, "reveal"),
        ("", "/nowhere/at/all", {}, "not a directory"),
    ],
)
def test_what_cannot_be_built_is_one_line(variant: str, source: str, args: dict[str, Any], complaint: str) -> None:
    with pytest.raises(WhetError, match=complaint) as caught:
        FAMILY.build(variant, source, args)
    assert "\n" not in str(caught.value)


def test_an_environment_travels_between_processes() -> None:
    env = build("type_A_easy")
    again = pickle.loads(pickle.dumps(env))
    assert (again.name, again.fingerprint) == (env.name, env.fingerprint)


def test_settings_are_part_of_the_fingerprint() -> None:
    made = [build(**args).fingerprint for args in ({}, {"reveal": "query"}, {"max_steps": 9}, {"reward": "composite"})]
    assert len(set(made)) == 4


def test_a_task_holds_the_whole_instance() -> None:
    env = build("type_D_easy")
    assert instance_of(env.task("train", 0)) == env.instance("train", 0)


def test_the_prompt_tells_neither_type_nor_difficulty() -> None:
    task = build("type_D_easy").task("train", 0)
    words = task.messages[0].text.lower()
    assert not any(word in words for word in ("type_d", "type d", "sabot", "planted", "certificate"))


@pytest.mark.parametrize("args", [{}, {"reveal": "query", "protocol": "tools", "reward": "composite"}])
def test_the_promises_of_an_environment_are_kept(args: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(likeness, "LEAST_TASKS", 8)  # what is near-duplicate warns and fails nothing
    monkeypatch.setattr(likeness, "MOST_SECONDS", 0.0)
    report = check(build("type_D_easy", **args), samples=6)
    assert [finding for finding in report.findings if finding.status == "fail"] == []


def test_a_published_folder_is_an_environment_of_its_own() -> None:
    env = build("", str(SAMPLE))
    size = env.size("select")
    assert size
    assert env.size("train") == 0
    assert "There is no written specification" in env.task("select", 0).messages[0].text


def test_the_oracle_restores_published_models() -> None:
    env = build("", str(SAMPLE))
    oracle = env.baselines()["oracle"]
    with Workbench() as perform:
        for index in range(env.size("select") or 0):
            task = env.task("select", index)
            score = drive(env.play(task), lambda said, _, task=task: oracle(task, said), perform).score
            assert (score.hard, score.soft, score.parts["op"]) == (1, 1.0, 1.0)


def test_imported_problems_can_be_divided_by_content() -> None:
    env = build("", str(SAMPLE), split="content")
    sizes = [env.size(split) or 0 for split in ("train", "select", "test")]
    assert sum(sizes) == build("", str(SAMPLE)).size("select")
    assert max(sizes) < sum(sizes)


def test_beyond_the_end_of_a_folder_is_one_line() -> None:
    with pytest.raises(WhetError, match="none at 999"):
        build("", str(SAMPLE)).task("select", 999)


def test_a_missing_solver_is_named_with_its_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(WhetError, match=r"pip install .*\[ordebug\]"):
        build("type_A_easy")


def test_listing_the_cells_needs_no_solver() -> None:
    assert {one.name for one in FAMILY.arguments("")} >= {
        "cell",
        "type",
        "difficulty",
        "size",
        "subtlety",
        "spec",
        "families",
        "reveal",
        "max_steps",
        "reward",
    }


@pytest.mark.parametrize("reveal", ["full", "query"])
def test_demonstrations_are_varied_and_within_the_limit(reveal: Any) -> None:
    instance = build("type_D_easy").instance("train", 0)
    settings = OrDebugSettings(reveal=reveal, max_steps=6)
    told = [demonstration(instance, settings, seed) for seed in range(30)]
    assert all(len(one) <= 6 and one[-1].action.name == "submit" for one in told)
    assert len({tuple(step.action for step in one) for one in told}) > 2
    assert len({one[0].thought for one in told}) == 3


def test_every_name_that_the_page_gives_for_a_config_is_an_environment() -> None:
    page = (Path(__file__).parents[3] / "docs" / "ordebug.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| [^|]+ \| `ordebug/(\w+)` \| (.+) \|$", page, re.MULTILINE)
    assert len(rows) >= 10
    for variant, told in rows:
        args = tomllib.loads("\n".join(re.findall(r"`([^`]+)`", told)))
        env = FAMILY.build(variant, "", args)
        assert env.size("train") == (0 if args.get("families") == "held_out" else None)
        assert env.label("test", 0).difficulty == variant
