"""Near-duplicates: what changes of a text do not make another question, and what the splits do about it."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from data_env.rows import as_csv, environment
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.envs.near import NearIndex, split_texts
from whet.run.contract.likeness import likeness_of
from whet.types import SPLITS

WORDS = ("amber", "basin", "copper", "delta", "ember", "fallow", "granite", "harbour", "indigo", "juniper", "kettle")
NAMES = ("Anna", "Bruno", "Carla", "Dmitri")


def passage(luck: random.Random, sentences: int = 3) -> list[str]:
    """Sentences of words at random, each with a name and a number."""
    made = []
    for _ in range(sentences):
        words = [luck.choice(WORDS) + luck.choice(WORDS) for _ in range(luck.randint(7, 12))]
        words[2], words[5] = luck.choice(NAMES), str(luck.randint(10, 999))
        made.append(" ".join(words).capitalize() + ".")
    return made


CHANGES = {
    "a number": lambda said, luck: " ".join(said).replace(said[0].split()[5], "4711", 1),
    "a name": lambda said, luck: " ".join(said).replace(said[0].split()[2], "Ottilie", 1),
    "the spacing": lambda said, luck: "\n\n ".join(said).replace(" ", "  "),
    "the case": lambda said, luck: " ".join(said).upper(),
    "an added sentence": lambda said, luck: " ".join([*said, *passage(luck, 1)]),
    "a greeting and a closing": lambda said, luck: "Good morning, " + " ".join(said) + " Thanks a lot!",
    "the order of the sentences": lambda said, luck: " ".join(reversed(said)),
    "a dropped sentence": lambda said, luck: " ".join(said[:-1]),
}


@pytest.mark.parametrize("change", CHANGES)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_a_planted_near_duplicate_is_found_among_others(change: str, seed: int) -> None:
    luck = random.Random(seed)
    passages = [passage(luck) for _ in range(30)]
    copy = CHANGES[change](passages[0], luck)
    clusters = NearIndex([*(" ".join(said) for said in passages), copy]).clusters()
    assert [0, 30] in clusters
    assert len(clusters) == 30


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_planted_near_duplicates_are_never_on_two_sides(seed: int) -> None:
    luck = random.Random(seed)
    texts, owner = [], []
    for number in range(40):
        said = passage(luck)
        variants = luck.sample(sorted(CHANGES), luck.randint(0, 2))
        texts += [" ".join(said), *(CHANGES[change](said, luck) for change in variants)]
        owner += [number] * (1 + len(variants))
    sides = split_texts(texts, seed=seed)
    assert len({*zip(owner, sides, strict=True)}) == 40
    assert {*sides} == {*SPLITS}


def test_texts_of_a_script_without_spaces_are_compared_by_characters() -> None:
    same = ["请把发票上的地址改成北京市朝阳区", "请把发票上的地址改成上海市朝阳区", "应用程序在打开设置时崩溃"]
    assert NearIndex(same).clusters() == [[0, 1], [2]]


@pytest.mark.parametrize("first", [0x0E01, 0x0E81, 0x1000, 0x1780, 0x3041, 0x4E00, 0xAC00])
def test_every_script_without_spaces_is_read_by_characters_also_behind_a_latin_word(first: int) -> None:
    luck = random.Random(first)
    texts = ["".join(chr(first + luck.randrange(40)) for _ in range(40)) for _ in range(6)]
    copy = f"SKU7{texts[0][:20]}{chr(first + 41)}{texts[0][21:]}"
    assert NearIndex([*texts, copy]).clusters()[0] == [0, 6]


def test_rows_of_three_templates_are_kept_together_by_what_their_template_does_not_say(tmp_path: Path) -> None:
    luck = random.Random(4)
    forms = [" ".join(passage(luck, 6)) for _ in range(3)]
    rows, pairs = [], []
    for number in range(60):
        said = " ".join(passage(luck, 2))
        pairs.append((len(rows), len(rows) + 1))
        rows += [f"{forms[number % 3]} {said}", f"{forms[number % 3]} {said.replace(said.split()[5], '4711', 1)}"]
    env = environment(as_csv(tmp_path / "rows.csv", [{"question": row, "answer": "yes"} for row in rows]))
    side = {env.task(split, at).messages[0].text: split for split in SPLITS for at in range(env.size(split) or 0)}
    by_row = [next(split for text, split in side.items() if row in text) for row in rows]
    assert all(by_row[one] == by_row[other] for one, other in pairs)
    assert "too many rows are tied together" in env.warning("test")


def test_the_form_that_all_texts_share_does_not_tie_them_together() -> None:
    texts = [
        f"Read the note and answer with one word of yes or no. {passage(random.Random(at), 1)[0]}" for at in range(20)
    ]
    assert len(NearIndex(texts).clusters()) == 20


def test_empty_and_single_words_are_near_only_what_they_equal() -> None:
    assert NearIndex(["", "cat", "dog", "cat", "  "]).clusters() == [[0, 4], [1, 3], [2]]


# ------------------------------------------------------------------------------------------- a user's file


def ticket_rows(cores: int, each: int) -> list[dict[str, str]]:
    luck = random.Random(3)
    kinds = [passage(luck, 1)[0] for _ in range(cores)]
    ends = ("Please help.", "This is urgent.", "Thanks.", "What should I do?", "Any idea?")
    return [
        {
            "id": f"T{core}-{copy}",
            "text": f"{('Hello,', 'Hi,', '')[copy % 3]} {kinds[core]} {ends[copy % 5]}",
            "answer": "a",
        }
        for core in range(cores)
        for copy in range(each)
    ]


def test_rows_with_the_same_core_sentence_stay_on_one_side(tmp_path: Path) -> None:
    path = as_csv(tmp_path / "rows.csv", ticket_rows(24, 4))
    env = environment(path, prompt="Sort this: {text}")
    side: dict[str, str] = {}
    for split in SPLITS:
        for index in range(env.size(split) or 0):
            core = env.task(split, index).messages[0].text.split(",")[-1].split(": ")[-1].split(".")[0].strip()
            assert side.setdefault(core, split) == split
    assert env.warning("test") == ""
    assert json.loads((tmp_path / "rows.csv.splits.json").read_text())["near"]["threshold"] == 0.5


def test_rows_that_are_all_alike_are_split_anyway_and_the_score_says_so(tmp_path: Path) -> None:
    """Three requests in many variants cannot fill three sides with five clusters each."""
    env = environment(as_csv(tmp_path / "rows.csv", ticket_rows(3, 15)), prompt="Sort this: {text}")
    assert all(env.size(split) for split in SPLITS)
    assert "have a near-duplicate in train (too many rows are tied together" in env.warning("test")
    held = json.loads((tmp_path / "rows.csv.splits.json").read_text())
    assert held["near"]["threshold"] != 0.5


def test_a_column_of_the_users_own_is_left_alone_and_counted(tmp_path: Path) -> None:
    rows = [{**row, "split": ("train", "train", "val", "test")[at % 4]} for at, row in enumerate(ticket_rows(20, 4))]
    env = environment(as_csv(tmp_path / "rows.csv", rows), prompt="Sort this: {text}")
    assert [env.size(split) for split in SPLITS] == [40, 20, 20]
    assert env.warning("test").startswith("test shares its wording with train: 20 of 20 rows (100 %)")
    assert env.warning("train") == ""


def test_rows_that_come_later_join_their_near_duplicates_and_move_nobody(tmp_path: Path) -> None:
    rows = ticket_rows(24, 4)
    few = [row for row in rows if not row["id"].endswith("-3")]

    def sides(given: list[dict[str, str]]) -> dict[str, str]:
        env = environment(as_csv(tmp_path / "rows.csv", given), prompt="Sort this: {text}")
        return {env.task(s, i).messages[0].text: s for s in SPLITS for i in range(env.size(s) or 0)}

    before = sides(few)
    after = sides(rows)
    assert before.items() <= after.items()
    assert environment(tmp_path / "rows.csv", prompt="Sort this: {text}").warning("test") == ""


def test_a_manifest_of_before_is_read_and_its_sides_are_kept(tmp_path: Path) -> None:
    path = as_csv(tmp_path / "rows.csv", ticket_rows(24, 4))
    environment(path, prompt="Sort this: {text}")
    manifest = tmp_path / "rows.csv.splits.json"
    held = json.loads(manifest.read_text())
    del held["near"]
    held["version"] = 1
    manifest.write_text(json.dumps(held))
    environment(path, prompt="Sort this: {text}")
    assert "near" not in json.loads(manifest.read_text())


def test_the_check_tells_clusters_and_what_test_shares_with_train(tmp_path: Path) -> None:
    rows = [{**row, "split": ("train", "val", "test", "train")[at % 4]} for at, row in enumerate(ticket_rows(20, 4))]
    found = likeness_of(environment(as_csv(tmp_path / "rows.csv", rows), prompt="Sort this: {text}"))
    assert found.words() == (
        "80 tasks in 20 clusters, the largest of 4; 100 % of select (20 of 20) near one in train, "
        "100 % of test (20 of 20) near one in train"
    )
    assert "in train and" in found.detail()
