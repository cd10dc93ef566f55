"""The photo environment: prompts from the pack, a strict grader, drawn photos, folders with and without truth."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from photo_trees import FAIL, HEADER, MISSION, PASS, group, picture

from whet.envs.base import Environment
from whet.envs.groupqc.pack.file import find_mission, load_pack, pack_names
from whet.envs.groupqc.photos.answer import check_answer, grade_answer
from whet.envs.groupqc.photos.environment import build_photo
from whet.envs.groupqc.photos.prompt import photo_messages
from whet.envs.splits import split_of
from whet.errors import WhetError
from whet.rollout.drive import drive
from whet.types import SPLITS, Image, Reply, Score, Split, Task

PACK, ABOUT = find_mission(MISSION)
TRUTH = '{"统计": [{"类别": "电线", "捆扎": {"整齐": 2}}, {"类别": "标签", "文本": {"A区": 1}}]}'


def grade(answer: str, truth: str | None = TRUTH, **reply: Any) -> Score:
    return grade_answer(PACK, ABOUT, Reply(answer, **reply), truth)


def image_of(task: Task) -> Image:
    (image,) = (part for part in task.messages[-1].content if isinstance(part, Image))
    return image


def test_the_whole_truth_in_the_right_form_is_solved() -> None:
    score = grade(f"{HEADER}\n{TRUTH}")
    assert (score.hard, score.soft, score.reason) == (1, 1.0, "exact")
    assert score.reward == 1.2


def test_spaces_in_a_label_and_the_order_of_objects_do_not_matter() -> None:
    other = '{"统计": [{"类别": "标签", "文本": {"A 区": 1}}, {"类别": "电线", "捆扎": {"整齐": 2}}]}'
    assert grade(f"{HEADER}\n{other}").hard == 1


def test_without_its_header_an_answer_counts_but_its_form_does_not() -> None:
    score = grade(TRUTH)
    assert (score.hard, score.parts["format"], score.reward) == (1, 0.0, 1.0)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "blank"),
        (" \n ", "blank"),
        ("无关图片", "taken_for_irrelevant"),
        ("a cabinet with wires", "not_a_summary"),
        (f"{HEADER}\n{TRUTH[:-9]}", "not_a_summary"),
        (f'{HEADER}\n{{"统计": [], "统计": []}}', "duplicate_key"),
        (f'{HEADER}\n{{"统计": [{{"类别": "电线", "捆扎": {{"散乱": 2}}}}]}}', "wrong"),
        (f'{HEADER}\n{{"统计": [{{"类别": "电线", "捆扎": {{"整齐": 1}}}}]}}', "partial"),
    ],
)
def test_what_is_wrong_has_a_name(answer: str, reason: str) -> None:
    score = grade(answer)
    assert (score.hard, score.reason) == (0, reason)


def test_a_photo_of_something_else_must_be_called_irrelevant() -> None:
    assert grade("无关图片", "无关图片").reason == "exact"
    assert grade(f"{HEADER}\n{TRUTH}", "无关图片").reason == "not_seen_as_irrelevant"


def test_an_answer_that_was_cut_off_earns_nothing() -> None:
    assert grade(f"{HEADER}\n{TRUTH}", finish="length").reason == "cut_off"


def test_more_facts_that_agree_earn_more() -> None:
    half = grade(f'{HEADER}\n{{"统计": [{{"类别": "电线", "捆扎": {{"整齐": 2}}}}]}}')
    invented = grade(f"{HEADER}\n" + TRUTH.replace('"A区": 1', '"A区": 1, "B区": 1, "C区": 1, "D区": 1'))
    assert half.parts["recall"] < 1
    assert half.parts["precision"] == 1
    assert invented.parts["recall"] == 1
    assert 0 < invented.soft < half.soft < 1


def test_without_a_truth_only_the_form_is_judged() -> None:
    assert grade(f"{HEADER}\n{TRUTH}", None).reason == "not_verified"
    assert grade("nonsense", None).hard == 0


@given(
    st.text() | st.text().map(lambda text: f"{HEADER}\n{text}") | st.text().map(lambda text: f'{{"统计": [{text}]}}')
)
def test_grading_is_total(answer: str) -> None:
    score = grade(answer)
    assert 0 <= score.soft <= 1
    assert score.reason


@given(st.text())
def test_a_usable_answer_is_one_line_that_is_not_blank(text: str) -> None:
    answer = check_answer(PACK, ABOUT, Reply(text), "text")
    assert not answer.usable or (answer.summary.strip() and len(answer.summary.splitlines()) == 1)


@pytest.mark.parametrize("name", pack_names())
def test_the_prompt_is_made_of_the_packs_own_words(name: str) -> None:
    pack = load_pack(name)
    for mission in pack.missions:
        told, asked = photo_messages(pack, mission, Image("0" * 64))
        assert all(rule in told.text for rule in (*pack.prompts.photo_rules, *mission.photo_rules))
        assert all(category.name in asked.text for category in pack.categories)
        assert f"<DOMAIN={pack.words.domain}>" in asked.text
        assert mission.name in asked.text
        assert "{mission}" not in asked.text


# ------------------------------------------------------------------------------------------------ drawn photos


def drawn(**args: Any) -> Environment:
    return build_photo("", args)


@pytest.mark.parametrize("pack", pack_names())
def test_the_oracle_solves_every_drawn_photo(pack: str) -> None:
    env = drawn(pack=pack)
    for index in range(6):
        task = env.task("train", index)
        assert drive(env.play(task), lambda said, _, task=task: env.baselines()["oracle"](task, said)).score.hard == 1


def test_a_drawn_photo_is_the_same_wherever_it_is_drawn() -> None:
    one, other = drawn(pack="bbu"), drawn(pack="bbu")
    other.task("train", 5)
    task = one.task("train", 3)
    assert other.task("train", 3) == task
    assert hashlib.sha256(one.blob(image_of(task).sha256)).hexdigest() == image_of(task).sha256


def test_the_reader_looks_at_the_photo_and_not_at_the_truth() -> None:
    env = drawn(mission=MISSION)
    task = env.task("train", 1)
    blind = replace(task, truth="无关图片")
    read = env.baselines()["reader"]
    assert read(blind, task.messages) == read(task, task.messages)
    assert drive(env.play(task), lambda said, _: read(blind, said)).score.soft > 0.8


def test_one_mission_or_all_of_a_pack() -> None:
    assert {drawn(mission=MISSION).label("train", index).kind for index in range(6)} == {MISSION}
    assert len({drawn(pack="bbu").label("train", index).kind for index in range(4)}) == 4


def test_an_unknown_mission_or_pack_is_refused() -> None:
    with pytest.raises(WhetError, match="no mission"):
        drawn(mission="no such thing")
    with pytest.raises(WhetError, match="no pack"):
        drawn(pack="bbuu")


# ------------------------------------------------------------------------------------------------ folders


def folder(root: Path, *, sidecar: bool) -> Path:
    told = []
    for at in range(12):
        label = FAIL if at % 3 == 0 else PASS
        group(root, f"g{at}", 2, label=label)
        names = [f"g{at}_1.png", f"g{at}_2.png"]
        key = f"g{at}::{'fail' if label == FAIL else 'pass'}"
        told.append({"ticket_key": key, "images": names, "expected": [TRUTH, "无关图片"]})
    if sidecar:
        (root / f"{MISSION}.truth.jsonl").write_text("\n".join(map(json.dumps, told)), encoding="utf-8")
    return root


def tasks(env: Environment) -> list[tuple[Split, Task]]:
    return [(split, env.task(split, at)) for split in SPLITS for at in range(env.size(split) or 0)]


def test_a_folder_gives_every_photo_with_its_truth_and_a_group_one_split(tmp_path: Path) -> None:
    env = build_photo(str(folder(tmp_path, sidecar=True)), {"mission": MISSION})
    found = tasks(env)
    assert len(found) == 24
    assert {task.truth for _, task in found} == {TRUTH, "无关图片"}
    where = {hashlib.sha256(path.read_bytes()).hexdigest(): path.parent.name for path in tmp_path.rglob("*.png")}
    assert all(split_of(where[image_of(task).sha256]) == split for split, task in found)


def test_a_folder_without_truth_is_judged_by_form(tmp_path: Path) -> None:
    env = build_photo(str(folder(tmp_path, sidecar=False)), {"mission": MISSION})
    _, task = tasks(env)[0]
    assert task.truth is None
    assert drive(env.play(task), lambda said, ask: f"{HEADER}\n{TRUTH}").score.reason == "not_verified"


def test_another_photo_is_another_environment(tmp_path: Path) -> None:
    root = folder(tmp_path, sidecar=True)
    before = build_photo(str(root), {"mission": MISSION}).fingerprint
    (root / MISSION / FAIL / "g0" / "g0_1.png").write_bytes(picture(99))
    assert build_photo(str(root), {"mission": MISSION}).fingerprint != before


def test_a_broken_sidecar_is_refused_with_its_line(tmp_path: Path) -> None:
    root = folder(tmp_path, sidecar=True)
    path = root / f"{MISSION}.truth.jsonl"
    path.write_text(path.read_text(encoding="utf-8") + '\n{"ticket_key": "x"}', encoding="utf-8")
    with pytest.raises(WhetError, match="line 13: not a line of a sidecar"):
        build_photo(str(root), {"mission": MISSION})
