"""The environment as the rest of Whet sees it: pure tasks, disjoint splits, an oracle, a committed benchmark."""

from __future__ import annotations

import itertools
import json
import pickle
import re
from pathlib import Path

import pytest
from envs.soup1.first_soups import Perform, by_policy, soup

from whet.envs.soup1 import FAMILY, bench, content
from whet.envs.soup1.archetypes import archetypes
from whet.envs.soup1.tools import GIVEN, SEEN
from whet.envs.splits import split_of
from whet.errors import WhetError
from whet.extras import install
from whet.keys import task_digest
from whet.types import SPLITS, Split

KINDS = tuple(archetypes())
SOME = tuple({kind.partition(".")[0]: kind for kind in KINDS}.values())
"""One archetype of each family."""


@pytest.mark.parametrize("kind", SOME)
def test_the_oracle_earns_full_credit_through_the_sandbox(perform: Perform, kind: str) -> None:
    env = soup(archetypes=[kind])
    split: Split = "train" if kind.startswith("primer") else "test"
    for index in range(2 if kind.startswith("limit") else 1):
        task = env.task(split, index)
        score = by_policy(env, task, perform, env.baselines()["oracle"])
        assert (score.hard, score.soft, score.reason.removesuffix("_limit")) == (1, 1.0, "correct"), score


def test_the_bench_is_the_one_that_was_committed() -> None:
    env = soup()
    tasks = [env.task("test", index) for index in range(1040)]
    assert bench.changed(tasks) == []


def test_the_manifest_has_twenty_different_tasks_of_every_archetype_but_the_primer() -> None:
    entries = bench.committed()["entries"]
    assert len(entries) == len({content for _, content in entries}) == 1040
    kinds = [kind for kind, _ in entries]
    assert {kind: kinds.count(kind) for kind in KINDS if not kind.startswith("primer")} == dict.fromkeys(kinds, 20)


@pytest.mark.parametrize("kind", SOME)
def test_what_is_drawn_for_one_split_is_drawn_for_no_other(kind: str) -> None:
    archetype = archetypes()[kind]
    owner: dict[str, str] = {}
    for split, ordinal in itertools.product(SPLITS, range(24)):
        draft = content.draw(archetype, split, ordinal, seed=42)
        assert owner.setdefault(draft.content, split) == split
        if not archetype.limits:
            assert split_of(draft.content) == split


def test_a_task_depends_on_split_archetype_and_ordinal_alone() -> None:
    every, one = soup(), soup(archetypes=["core.extract_links"])
    first = next(index for index in range(57) if every.label("train", index).kind == "core.extract_links")
    for turn in range(3):
        assert task_digest(every.task("train", first + 57 * turn)) == task_digest(one.task("train", turn))


def test_another_seed_deals_other_tasks_but_the_same_bench() -> None:
    first, other = soup(), soup(seed=7)
    assert task_digest(first.task("train", 3)) != task_digest(other.task("train", 3))
    assert task_digest(first.task("test", 3)) == task_digest(other.task("test", 3))


def test_half_of_the_limit_tasks_can_be_solved() -> None:
    env = soup(archetypes=[kind for kind in KINDS if kind.startswith("limit.")])
    limited = ["limit" in env.task("train", index).truth for index in range(80)]
    assert sum(limited) == 40


def test_the_fingerprint_knows_the_arguments() -> None:
    assert soup().fingerprint == soup(mode="all").fingerprint
    assert len({soup().fingerprint, soup(turns=5).fingerprint, soup(rewards={"limit": 1.0}).fingerprint}) == 3


def test_the_program_in_the_sandbox_and_the_tool_agree_on_names() -> None:
    source = Path(FAMILY.build.__code__.co_filename).with_name("runner.py").read_text()
    assert f'GIVEN = "{GIVEN}"' in source
    assert f'SEEN = "{SEEN}"' in source
    assert "import whet" not in source
    assert "from whet" not in source


def test_a_missing_package_is_one_line_that_names_the_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(WhetError, match=re.escape(install("soup"))):
        FAMILY.build("", "", {})


@pytest.mark.parametrize(("variant", "source"), [("mvp", ""), ("", "pages.csv")])
def test_soup_takes_neither_variant_nor_source(variant: str, source: str) -> None:
    with pytest.raises(WhetError, match="arguments"):
        FAMILY.build(variant, source, {})


def test_tasks_can_be_written_as_json() -> None:
    task = soup().task("test", 0)
    assert json.loads(json.dumps([task.truth, dict(task.data)])) == [task.truth, dict(task.data)]


def test_it_travels_to_another_process() -> None:
    env = soup(mode="mvp", turns=4)
    there = pickle.loads(pickle.dumps(env))
    assert there.fingerprint == env.fingerprint
    assert there.task("select", 7) == env.task("select", 7)
