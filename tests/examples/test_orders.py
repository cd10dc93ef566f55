"""The data of `make demo`: nothing that a split is made of is met in another, and no skill means no score."""

from __future__ import annotations

import csv
import functools
import itertools
import re
import runpy
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from whet.envs.base import Environment
from whet.envs.registry import load_environment
from whet.envs.trivial import trivial_baselines
from whet.rollout.drive import drive
from whet.types import SPLITS, Score, Split

EXAMPLES = Path(__file__).parents[2] / "examples"
PAIRS = list(itertools.permutations(SPLITS, 2))
SHARED = 0.3
"""Part of the shorter message's runs of three words from which two messages say the same."""


@functools.cache
def generator() -> dict[str, Any]:
    """What `examples/make_orders.py` defines."""
    return runpy.run_path(str(EXAMPLES / "make_orders.py"))


def messages(split: str) -> list[str]:
    with (EXAMPLES / "orders.csv").open(newline="", encoding="utf-8") as file:
        return [row["message"] for row in csv.DictReader(file) if row["split"] == split]


def runs_of_words(text: str) -> set[tuple[str, ...]]:
    """Every three words in a row, all numbers being the same word."""
    words = re.findall(r"[^\W\d_]+|\d+", text.casefold())
    plain = ["#" if word.isdigit() else word for word in words]
    return {tuple(plain[at : at + 3]) for at in range(max(1, len(plain) - 2))}


def repeating(texts: Iterable[str], known: Iterable[str]) -> list[str]:
    """The texts that share their core sentence with one of the known."""
    seen = [runs_of_words(text) for text in known]

    def shared(mine: set[tuple[str, ...]]) -> bool:
        return any(len(mine & other) >= SHARED * min(len(mine), len(other)) for other in seen)

    return [text for text in texts if shared(runs_of_words(text))]


def sentences(texts: Iterable[str]) -> set[str]:
    """The sentences of messages, numbers apart."""
    found = (sentence for text in texts for sentence in re.split(r"(?<=[.!?;:])\s+", text))
    return {re.sub(r"\d+", "#", sentence.casefold().strip()) for sentence in found}


def environment() -> Environment:
    args: dict[str, Any] = tomllib.loads((EXAMPLES / "demo.toml").read_text())["env"]["args"]
    return load_environment(f"data:{EXAMPLES / 'orders.csv'}", args)


def test_the_file_is_what_its_generator_writes(tmp_path: Path) -> None:
    generator()["main"](tmp_path / "orders.csv")
    assert (tmp_path / "orders.csv").read_bytes() == (EXAMPLES / "orders.csv").read_bytes()


def test_messages_that_differ_in_their_frame_share_their_core_sentence() -> None:
    train = ["Me again: The package is stuck at customs for 65 days.", "Hello, My profile still shows my old name."]
    test = ["Hi there, The package is stuck at customs for 9 days.", "The link to reset my password has expired."]
    assert repeating(test, train) == test[:1]


@pytest.mark.parametrize(("split", "other"), PAIRS)
def test_no_message_shares_its_core_sentence_with_another_split(split: str, other: str) -> None:
    assert repeating(messages(split), messages(other)) == []


@pytest.mark.parametrize(("split", "other"), PAIRS)
def test_no_sentence_is_met_in_two_splits(split: str, other: str) -> None:
    assert not sentences(messages(split)) & sentences(messages(other))


@pytest.mark.parametrize(("split", "other"), PAIRS)
def test_no_phrasing_is_like_one_of_another_split(split: str, other: str) -> None:
    sides = generator()["SIDES"]
    for part in ("phrasings", "openings", "asides", "closings"):
        assert repeating(getattr(sides[split], part), getattr(sides[other], part)) == []


@pytest.mark.parametrize(("split", "other"), PAIRS)
def test_customers_items_and_cities_belong_to_one_split(split: str, other: str) -> None:
    side, elsewhere = generator()["SIDES"][split], words_of(messages(other))
    for text in (*side.names, *side.cities, *side.items):
        assert not words_of([text]) & elsewhere, text


def words_of(texts: Sequence[str]) -> set[str]:
    return set(re.findall(r"[^\W\d_]+", " ".join(texts).casefold()))


@pytest.mark.parametrize(("split", "other"), PAIRS)
def test_the_only_names_in_two_splits_are_days(split: str, other: str) -> None:
    """Found by their capital letter, whatever the generator says about them."""
    days = {*generator()["DAYS"], *generator()["SHORT"], "I"}
    both = capitals(messages(split)) & capitals(messages(other)) - days
    assert not both


def capitals(texts: Iterable[str]) -> set[str]:
    """Words with a capital letter that do not begin a sentence."""
    return {found for text in texts for found in re.findall(r"(?<=[\w,] )[A-Z]\w*", text)}


@pytest.mark.parametrize("split", SPLITS)
def test_an_order_stands_in_its_message(split: Split) -> None:
    env = environment()
    for index in range(env.size(split) or 0):
        task = env.task(split, index)
        many, item, city, day = task.truth[0].split(" | ")
        assert item in task.messages[0].text
        assert city in task.messages[0].text
        assert day[:3].casefold() in task.messages[0].text.casefold()
        assert 2 <= int(many) <= 50


@pytest.mark.parametrize("policy", ["empty", "echo", "constant", "frequent"])
def test_without_skill_nothing_is_solved(policy: str) -> None:
    env = environment()
    play = trivial_baselines(env)[policy]
    tasks = [env.task("test", index) for index in range(env.size("test") or 0)]
    scores: list[Score] = [
        drive(env.play(task), lambda said, _, task=task: play(task, said), max_turns=1).score for task in tasks
    ]
    assert sum(score.hard for score in scores) == 0


def test_the_order_counts_and_not_its_capitals_or_spaces() -> None:
    env = environment()
    task = env.task("test", 0)
    said = "  ".join(task.truth[0].upper().split())
    assert drive(env.play(task), lambda *_: said, max_turns=1).score.hard == 1
    assert drive(env.play(task), lambda *_: said.replace("|", ","), max_turns=1).score.hard == 0
