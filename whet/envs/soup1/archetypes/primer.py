"""Primer: one element and a handful of characters, for a model that has yet to learn the tools."""

from __future__ import annotations

import random

from whet.envs.soup1.answers import Integer, Text
from whet.envs.soup1.archetype import Sheet, TaskDraft, archetype
from whet.envs.soup1.words import ADJECTIVES, NOUNS, path, phrase, pick, whole


@archetype("primer", 1, Text(), size="bare")
def extract_by_id(rng: random.Random) -> TaskDraft:
    """The text of the one span, by its id."""
    text = phrase(rng)
    return TaskDraft(
        query='Return the text of the element with id "target".',
        answer=text,
        sheet=Sheet((f'<span id="target">{text}</span>',)),
        code=('print(json.dumps({"answer": make_soup().find(id="target").get_text()}))',),
    )


@archetype("primer", 1, Text(), size="bare")
def extract_by_class(rng: random.Random) -> TaskDraft:
    """The text of the one div, by its class."""
    text = phrase(rng)
    return TaskDraft(
        query='Return the text of the element with class "target".',
        answer=text,
        sheet=Sheet((f'<div class="target">{text}</div>',)),
        code=('print(json.dumps({"answer": make_soup().find(class_="target").get_text()}))',),
    )


@archetype("primer", 1, Text(), size="bare")
def extract_by_tag(rng: random.Random) -> TaskDraft:
    """The text of the one heading."""
    text = phrase(rng)
    return TaskDraft(
        query="Return the text of the h1 heading.",
        answer=text,
        sheet=Sheet((f"<h1>{text}</h1>",)),
        code=('print(json.dumps({"answer": make_soup().h1.get_text()}))',),
    )


@archetype("primer", 1, Text(), size="bare")
def extract_attribute(rng: random.Random) -> TaskDraft:
    """Where the one link leads."""
    href = path(rng)
    return TaskDraft(
        query="Return the href of the link.",
        answer=href,
        sheet=Sheet((f'<a href="{href}">{phrase(rng)}</a>',)),
        code=('print(json.dumps({"answer": make_soup().a["href"]}))',),
    )


@archetype("primer", 1, Integer(), size="bare")
def count_elements(rng: random.Random) -> TaskDraft:
    """How many items the one list has."""
    count = whole(rng, 2, 9)
    items = "".join(f"<li>{pick(rng, ADJECTIVES)} {pick(rng, NOUNS)}</li>" for _ in range(count))
    return TaskDraft(
        query="How many li elements does the list have?",
        answer=count,
        sheet=Sheet((f"<ul>{items}</ul>",)),
        code=('print(json.dumps({"answer": len(make_soup().find_all("li"))}))',),
    )


ARCHETYPES = (extract_by_id, extract_by_class, extract_by_tag, extract_attribute, count_elements)
