"""Drafts of the families: drawn once and for all, of the right shape, many, and not given away by their question."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import bs4
import pytest
from envs.soup1.first_families import ALL, FAMILIES, IDENT, SOLVABLE, drafts, little, named
from envs.soup1.first_trying import drawn

from whet.envs.soup1.archetype import Archetype, TaskDraft
from whet.envs.soup1.archetypes.traversal import KEYWORDS
from whet.envs.soup1.words import ADJECTIVES, NOUNS, VERBS

CATALOGUE = {
    "traversal": (3, 0),
    "tables": (3, 1),
    "gotchas": (6, 0),
    "forms": (6, 0),
    "jsonld": (1, 1),
    "advanced": (0, 8),
    "hard": (0, 7),
    "multipage": (0, 4),
    "i18n": (0, 3),
    "limit": (4, 0),
}
"""Archetypes of phase 1 and 2 by family."""


def texts(value: Any) -> list[str]:
    """All texts in an answer."""
    if isinstance(value, list):
        return [text for one in value for text in texts(one)]
    if isinstance(value, dict):
        return [text for one in value.values() for text in texts(one)]
    return [value] if isinstance(value, str) else []


def truth(draft: TaskDraft) -> Any:
    return draft.twin.answer if draft.twin else draft.answer


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_has_its_archetypes(family: str) -> None:
    phases = Counter(one.phase for one in ALL if one.family == family)
    assert (phases[1], phases[2]) == CATALOGUE[family]


@pytest.mark.parametrize("one", ALL, ids=named)
def test_a_seed_always_draws_the_same(one: Archetype) -> None:
    assert all(drawn(one, seed) == drawn(one, seed) for seed in range(10))


@pytest.mark.parametrize("one", ALL, ids=named)
def test_the_answer_has_the_shape_that_is_asked_for(one: Archetype) -> None:
    for draft in drafts(one, 200):
        assert draft.limit or one.answer.problem(json.loads(json.dumps(draft.answer))) == ""


@pytest.mark.parametrize("one", ALL, ids=named)
def test_drafts_do_not_repeat(one: Archetype) -> None:
    assert len({drawn(one, seed).content for seed in range(1000)}) > 995


@pytest.mark.parametrize("one", ALL, ids=named)
def test_no_answer_is_frequent(one: Archetype) -> None:
    answers = Counter(json.dumps(truth(drawn(one, seed))) for seed in range(300))
    assert answers.most_common(1)[0][1] < 30


@pytest.mark.parametrize("one", [one for one in ALL if one.name != "multipage.compare_products"], ids=named)
def test_the_question_does_not_hold_the_answer(one: Archetype) -> None:
    for draft in drafts(one, 100):
        said = [text for text in texts(draft.answer) if len(text) > 4]
        assert all(text not in draft.query for text in said), draft.query


@pytest.mark.parametrize("one", ALL, ids=named)
def test_questions_are_worded_in_several_ways(one: Archetype) -> None:
    beginnings = {drawn(one, seed).query[:12] for seed in range(40)}
    assert len(beginnings) >= 2


@pytest.mark.parametrize("one", ALL, ids=named)
def test_an_id_that_a_question_names_stands_once_in_a_page(one: Archetype) -> None:
    for seed, draft in enumerate(drafts(one, 12)):
        for html in little(draft, seed).values():
            soup = bs4.BeautifulSoup(html, "lxml")
            for name in IDENT.findall(draft.query):
                assert len(soup.find_all(id=name)) <= 1, (name, draft.query)


@pytest.mark.parametrize("one", ALL, ids=named)
def test_no_id_stands_twice_in_a_page(one: Archetype) -> None:
    for seed, draft in enumerate(drafts(one, 12)):
        ids = Counter(tag["id"] for tag in bs4.BeautifulSoup(little(draft, seed)[""], "lxml").find_all(id=True))
        assert not [name for name, count in ids.items() if count > 1]


@pytest.mark.parametrize("one", SOLVABLE, ids=named)
def test_secrets_are_in_the_page_and_not_in_the_answer(one: Archetype) -> None:
    for draft in drafts(one, 60):
        for secret in draft.secrets:
            assert len(secret) >= 6
            assert secret in "".join(draft.sheet.parts)
            assert not any(secret in text for text in texts(draft.answer))


@pytest.mark.parametrize("name", ["forms.credential_detection", "advanced.attribute_selector"])
def test_pages_with_credentials_declare_them(name: str) -> None:
    one = next(one for one in ALL if one.name == name)
    assert any(draft.secrets for draft in drafts(one, 20))


def test_a_keyword_is_in_no_other_word() -> None:
    words = {word.lower() for word in (*ADJECTIVES, *NOUNS, *VERBS)}
    assert not [(keyword, word) for keyword in KEYWORDS for word in words if keyword in word]


@pytest.mark.parametrize("one", [one for one in ALL if one.family == "multipage"], ids=named)
def test_what_is_asked_for_is_not_on_the_first_page(one: Archetype) -> None:
    for seed, draft in enumerate(drafts(one, 30)):
        if one.name.endswith("pagination_aggregate"):
            continue
        answer = draft.answer["price_difference"] if isinstance(draft.answer, dict) else draft.answer
        assert answer not in little(draft, seed)[""]


@pytest.mark.parametrize("one", [one for one in ALL if one.family == "multipage"], ids=named)
def test_the_number_of_visits_is_the_number_of_programs(one: Archetype) -> None:
    for draft in drafts(one, 30):
        assert draft.visits == len(draft.code) <= 4
        assert draft.pages


def test_a_first_page_can_be_returned_to() -> None:
    one = next(one for one in ALL if one.name == "multipage.pagination_aggregate")
    assert all(draft.sheet in draft.pages.values() for draft in drafts(one, 10))


def test_the_extreme_price_is_often_not_on_the_first_page() -> None:
    one = next(one for one in ALL if one.name == "multipage.pagination_aggregate")
    first = [draft.answer in draft.sheet.parts[1] for draft in drafts(one, 200)]
    assert 30 < sum(first) < 120


def test_a_login_form_is_about_as_frequent_as_another() -> None:
    one = next(one for one in ALL if one.name == "forms.credential_detection")
    assert 60 < sum(draft.answer["is_login_form"] for draft in drafts(one, 200)) < 140


def test_a_text_that_looks_like_a_number_is_compared_as_text() -> None:
    one = next(one for one in ALL if one.name == "multipage.link_chain")
    rated = next(draft.answer for draft in drafts(one, 100) if "rating" in draft.query)
    assert one.answer.reading(rated) == rated
    assert one.answer.reading(f"{rated}0") != rated
