"""Oracles of the families: right on every draft, under every parser, on sound and on damaged pages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from envs.soup1.first_families import ALL, LARGE, SOLVABLE, drafts, little, named
from envs.soup1.first_trying import PARSERS, drawn, pages, solved

from whet.envs.soup1.answers import same
from whet.envs.soup1.archetype import Archetype, TaskDraft
from whet.envs.soup1.score import weakness


def right(one: Archetype, draft: TaskDraft, said: Any, html: str) -> bool:
    """Whether the oracle's last words earn full credit."""
    if draft.limit is None:
        return "answer" in said and same(one.answer, said["answer"], draft.answer)
    limit = said["limit"]
    return limit["reason"] == draft.limit.reasons[0] and not weakness(limit["evidence"], html, list(draft.limit.marks))


@pytest.mark.parametrize("one", ALL, ids=named)
def test_the_oracle_is_right_under_every_parser(one: Archetype) -> None:
    for seed, draft in enumerate(drafts(one, 16)):
        built = little(draft, seed, malformed=seed % 2 == 1 and one.malformed > 0)
        for parser in PARSERS:
            assert right(one, draft, solved(draft, built, parser), built[""]), (seed, parser, draft.query)


@pytest.mark.parametrize("one", ALL, ids=named)
def test_the_oracle_is_right_on_many_drafts(one: Archetype) -> None:
    for seed, draft in enumerate(drafts(one, 60, start=1000)):
        built = little(draft, seed)
        assert right(one, draft, solved(draft, built, "lxml"), built[""]), (seed, draft.query)


@pytest.mark.parametrize("one", SOLVABLE, ids=named)
def test_the_answer_does_not_depend_on_how_texts_are_joined(one: Archetype) -> None:
    for seed, draft in enumerate(drafts(one, 12, start=500)):
        plain = [code.replace("get_text(' ', strip=True)", "get_text().strip()") for code in draft.code]
        plain = [code.replace("get_text(' ')", "get_text()") for code in plain]
        said = solved(replace(draft, code=tuple(plain)), little(draft, seed))
        assert same(one.answer, said["answer"], draft.answer), draft.query


@pytest.mark.parametrize("one", LARGE, ids=named)
def test_the_oracle_is_right_on_a_large_page(one: Archetype) -> None:
    draft = drawn(one, 7)
    built = pages(one, draft, 7, malformed=one.malformed > 0)
    for parser in PARSERS if one.family != "multipage" else PARSERS[:2]:
        assert right(one, draft, solved(draft, built, parser), built[""]), parser


@pytest.mark.parametrize("one", ALL, ids=named)
def test_the_oracle_uses_beautiful_soup_and_not_the_answer(one: Archetype) -> None:
    for draft in drafts(one, 20):
        assert all("make_soup(" in program for program in draft.code)
        if isinstance(draft.answer, str) and len(draft.answer) > 12:
            assert all(draft.answer not in program for program in draft.code), draft.query
