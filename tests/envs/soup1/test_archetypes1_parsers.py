"""Broken markup: what each parser makes of it is what the archetype says, and the task names the parser."""

from __future__ import annotations

import random
from collections import Counter

import bs4
import pytest
from envs.soup1.first_families import ALL
from envs.soup1.first_trying import PARSERS, drawn, run

from whet.envs.soup1.archetypes.markup import answered
from whet.envs.soup1.archetypes.parsers import broken

COUNT = 120

ONE = next(one for one in ALL if one.name == "advanced.parser_differences")


@pytest.mark.parametrize("parser", PARSERS)
def test_a_parser_reads_broken_markup_as_the_archetype_says(parser: str) -> None:
    for seed in range(COUNT):
        one = broken(random.Random(seed))
        page = f"<html><body><div>{one.markup}</div><p>after</p></body></html>"
        assert run(answered(one.read), page, parser=parser)["answer"] == one.answers[parser], one.markup


def test_parsers_disagree_about_every_broken_fragment() -> None:
    for seed in range(COUNT):
        assert len(set(broken(random.Random(seed)).answers.values())) > 1


def test_the_question_names_one_parser_and_the_oracle_uses_it() -> None:
    for seed in range(COUNT):
        draft = drawn(ONE, seed)
        (parser,) = [one for one in PARSERS if one in draft.query]
        assert f"make_soup({parser!r})" in draft.code[0]


def test_every_parser_is_asked_for() -> None:
    asked = Counter(parser for seed in range(300) for parser in PARSERS if parser in drawn(ONE, seed).query)
    assert min(asked.values()) > 60


def test_the_joined_text_does_not_depend_on_how_it_is_joined() -> None:
    for seed in range(COUNT):
        draft = drawn(ONE, seed)
        if "the text of the element" in draft.query:
            (parser,) = [one for one in PARSERS if one in draft.query]
            name = draft.query.split('class "')[1].split('"')[0]
            soup = bs4.BeautifulSoup("\n".join(draft.sheet.parts), parser)
            assert " ".join(soup.find(class_=name).get_text().split()) == draft.answer  # type: ignore[union-attr]
