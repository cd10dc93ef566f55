"""What a topic says: another thing in each half, one thing for each trait, and values that fit each other."""

from __future__ import annotations

import itertools
import random

import pytest
from envs.soup.extractors import small, soup

from whet.envs.near import NearIndex
from whet.envs.soup.archetypes import kinds
from whet.envs.soup.archetypes.nested import TALK
from whet.envs.soup.desk import LABELLED, PLACES, PagePlan
from whet.envs.soup.site import HALVES
from whet.envs.soup.topics import TOPICS
from whet.envs.soup.traits import Halved, Topic

EVERY = (*TOPICS, TALK)


def said(topic: Topic) -> list[Halved]:
    own = [topic.single, topic.own, topic.other, topic.many, topic.many_own, topic.many_other]
    return own + [ways for trait in topic.traits for ways in (trait.asks, trait.labels)]


def words_of(half: str) -> set[str]:
    every = [ways for topic in EVERY for ways in said(topic)] + [*PLACES.values(), LABELLED]
    return {words.casefold() for ways in every for words in ways[half]}  # type: ignore[index]


def test_no_label_heading_or_wording_stands_in_both_halves() -> None:
    train, bench = (words_of(half) for half in HALVES)
    assert len(train) > 200
    assert len(bench) > 200
    assert train & bench == set()


@pytest.mark.parametrize("topic", EVERY, ids=lambda topic: topic.thing)
def test_a_label_tells_its_trait_and_a_heading_its_region(topic: Topic) -> None:
    for half in HALVES:
        labels = [label.casefold() for trait in topic.traits for label in trait.labels[half]]
        assert len(set(labels)) == len(labels)
        for own, other in itertools.product(topic.own[half] + topic.many_own[half], topic.other[half]):
            assert own.casefold() != other.casefold()


def test_a_question_of_the_bench_is_no_near_duplicate_of_one_in_train() -> None:
    env, count = soup(), 88
    prompts = [env.task(split, index).messages[1].text for split in ("train", "test") for index in range(count)]
    alike = NearIndex(prompts).resemblance(range(count, 2 * count), range(count))
    assert alike.share <= 0.05


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("rows.products", "price", "before"),
        ("record.invoice_record", "issued", "due"),
        ("record.article_head", "published", "updated"),
        ("record.order_record", "tax", "total"),
        ("record.order_record", "shipping", "total"),
    ],
)
def test_values_of_a_record_fit_each_other(name: str, least: str, most: str) -> None:
    plan, rng = small(kinds()[name], "train", 0).plan, random.Random(1)
    for _ in range(300):
        matter = plan.draw(rng, PagePlan())[0]
        for record in matter if isinstance(matter, list) else [matter]:
            assert record[least] <= record[most]


def test_a_reduction_is_more_than_nothing() -> None:
    plan, rng = small(kinds()["computed.saving"], "test", 0).plan, random.Random(2)
    assert min(plan.draw(rng, PagePlan())[1] for _ in range(500)) > 0
