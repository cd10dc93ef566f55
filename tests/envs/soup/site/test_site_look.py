"""The look and the words of sites: pure, of one half, and mostly silent about what a thing is."""

from __future__ import annotations

import random
import re

import pytest

from whet.envs.soup.site import HALVES, Half, site, vocabulary
from whet.envs.soup.site.look import HABITS
from whet.envs.soup.site.reserved import RESERVED

LISTS = [
    {half: words[half] for half in HALVES}
    for name, words in vars(vocabulary).items()
    if name.isupper() and isinstance(words, dict) and set(words) == set(HALVES)
]


def test_no_word_belongs_to_both_halves() -> None:
    train, bench = ({word.lower() for words in LISTS for word in words[half]} for half in HALVES)
    assert train & bench == set()
    assert min(len(train), len(bench)) > 900


def test_no_framework_belongs_to_both_halves() -> None:
    assert {habit.name for habit in HABITS["train"]} & {habit.name for habit in HABITS["bench"]} == set()
    assert {habit.rooted for habit in HABITS["train"]} & {habit.rooted for habit in HABITS["bench"]} == set()


def test_no_word_of_the_vocabulary_is_reserved_for_tasks() -> None:
    said = {part for words in LISTS for half in HALVES for word in words[half] for part in word.lower().split()}
    assert said & RESERVED == set()


@pytest.mark.parametrize("half", HALVES)
def test_few_sites_name_a_thing_by_what_it_is(half: Half) -> None:
    told = sum("price" in site(seed, half).look.cls("price") for seed in range(300))
    assert 20 < told < 90


@pytest.mark.parametrize("half", HALVES)
def test_a_look_is_a_pure_function_of_seed_and_role(half: Half) -> None:
    roles = ("price", "name", "row")
    for seed in range(40):
        look = site(seed, half).look
        first = [(look.cls(role), look.ident(role), look.attrs(role), look.tag(role, "b", "i")) for role in roles]
        site.cache_clear()
        look = site(seed, half).look
        again = [(look.cls(role), look.ident(role), look.attrs(role), look.tag(role, "b", "i")) for role in roles[::-1]]
        assert first == again[::-1]
        assert all(look.key(role) in look.cls(role).split() for role in roles)
        assert len({look.key(role) for role in roles}) == 3
        assert all(not attrs or attrs[0] == " " for _, _, attrs, _ in first)


@pytest.mark.parametrize("half", HALVES)
def test_keys_and_ids_of_two_hundred_roles_are_all_different(half: Half) -> None:
    for seed in range(30):
        look = site(seed, half).look
        roles = [f"role{number}" for number in range(60)]
        assert len({look.key(role) for role in roles}) == 60
        assert len({look.ident(role) for role in roles}) == 60


@pytest.mark.parametrize("half", HALVES)
def test_names_are_safe_in_an_attribute_and_in_a_selector_that_quotes(half: Half) -> None:
    for seed in range(60):
        look = site(seed, half).look
        assert re.fullmatch(r"[\w:./ -]+", look.cls("price"))
        assert re.fullmatch(r"[\w-]+", look.ident("price"))


@pytest.mark.parametrize("half", HALVES)
def test_words_are_drawn_from_the_half_of_the_site(half: Half) -> None:
    words, rng = site(2, half).words, random.Random(2)
    assert words.person(rng).split()[0] in vocabulary.FIRST_NAMES[half]
    assert words.city(rng) in vocabulary.CITIES[half]
    for draw in (words.company, words.product, words.sentence, words.paragraph, words.address, words.email, words.sku):
        assert draw(rng) == draw(random.Random(7)) or draw(rng)
    assert re.fullmatch(r"\$[\d,]+\.\d\d", words.money(rng))
    assert re.fullmatch(r"\d{1,2} [A-Z][a-z]+ 20\d\d", words.date(rng))


def test_sites_of_one_seed_differ_between_the_halves() -> None:
    assert site(4, "train").name != site(4, "bench").name
    assert site(4, "train").look.cls("price") != site(4, "bench").look.cls("price")
