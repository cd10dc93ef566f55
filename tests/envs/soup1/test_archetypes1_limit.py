"""Limits: a page and its twin ask the same, look the same, and differ in the value alone."""

from __future__ import annotations

import base64
import difflib
import html
import json
from collections import Counter
from urllib.parse import quote

import pytest
from envs.soup1.first_families import LIMITS, little, named
from envs.soup1.first_trying import drawn, pages

from whet.envs.soup1.archetype import Archetype, TaskDraft
from whet.envs.soup1.prompt import REASONS
from whet.envs.soup1.score import weakness

COUNT = 150


def pairs(one: Archetype, count: int = COUNT) -> list[tuple[TaskDraft, TaskDraft]]:
    found = []
    for seed in range(count):
        draft = drawn(one, seed)
        assert draft.twin is not None
        found.append((draft, draft.twin))
    return found


def encodings(text: str) -> list[str]:
    """A text as pages hide it."""
    raw = text.encode()
    codes = [str(ord(sign)) for sign in text]
    return [
        text,
        text[::-1],
        html.escape(text),
        quote(text),
        base64.b64encode(raw).decode().rstrip("="),
        raw.hex(),
        ",".join(codes),
        ", ".join(codes),
        "".join(f"&#{code};" for code in codes),
        "".join(f"\\x{byte:02x}" for byte in raw),
        json.dumps(text)[1:-1],
    ]


@pytest.mark.parametrize("one", LIMITS, ids=named)
def test_a_page_and_its_twin_ask_the_same(one: Archetype) -> None:
    for draft, twin in pairs(one):
        assert draft.query == twin.query
        assert draft.code == twin.code
        assert (draft.limit is None, draft.answer) == (False, None)
        assert (twin.limit, bool(twin.answer)) == (None, True)


@pytest.mark.parametrize("one", LIMITS, ids=named)
def test_the_value_is_not_in_the_page_in_any_encoding(one: Archetype) -> None:
    for seed, (draft, twin) in enumerate(pairs(one, 60)):
        page = pages(one, draft, seed)[""]
        assert not [form for form in encodings(twin.answer) if form in page]


@pytest.mark.parametrize("one", LIMITS, ids=named)
def test_the_value_is_in_the_twin_as_it_is(one: Archetype) -> None:
    for seed, (_, twin) in enumerate(pairs(one)):
        assert twin.answer in little(twin, seed)[""]


@pytest.mark.parametrize("one", LIMITS, ids=named)
def test_a_page_differs_from_its_twin_in_one_place(one: Archetype) -> None:
    for seed, (draft, twin) in enumerate(pairs(one, 60)):
        lines = (little(one, seed)[""].splitlines() for one in (draft, twin))
        changed = [line for line in difflib.ndiff(*lines) if line[0] == "+"]
        assert len(changed) == 1
        assert twin.answer in changed[0]


@pytest.mark.parametrize("one", LIMITS, ids=named)
def test_a_question_says_nothing_about_the_kind_of_limit(one: Archetype) -> None:
    words = ("script", "image", "picture", "canvas", "chart", "pdf", "document", "embed", "fetch")
    for draft, twin in pairs(one):
        asked = draft.query.lower().replace(twin.answer.lower(), "")
        assert not [word for word in words if word in asked.partition('"')[0] + asked.rpartition('"')[2]]


def test_all_limits_draw_from_the_same_questions() -> None:
    fields = ("serial number", "price", "capacity", "delivery date", "warehouse", "inspector", "batch", "test result")
    for one in LIMITS:
        asked = Counter(field for draft, _ in pairs(one, 200) for field in fields if field in draft.query)
        assert set(asked) == set(fields), one.name


@pytest.mark.parametrize("one", LIMITS, ids=named)
def test_a_mark_stands_once_in_the_page(one: Archetype) -> None:
    for seed, (draft, _) in enumerate(pairs(one, 60)):
        page = pages(one, draft, seed)[""]
        assert draft.limit
        for mark in draft.limit.marks:
            assert len(mark) >= 8
            assert page.count(mark) == 1, mark


@pytest.mark.parametrize("one", LIMITS, ids=named)
def test_the_reasons_begin_with_one_that_the_prompt_offers(one: Archetype) -> None:
    for draft, _ in pairs(one, 20):
        assert draft.limit
        assert draft.limit.reasons[0] in REASONS
        assert len(draft.limit.reasons) == 3


@pytest.mark.parametrize("one", LIMITS, ids=named)
@pytest.mark.parametrize("evidence", ["<", "<script>", "</script>", "<h2>", "application/json", "<!DOCTYPE html>"])
def test_a_piece_that_any_page_has_is_no_evidence(one: Archetype, evidence: str) -> None:
    for seed, (draft, _) in enumerate(pairs(one, 10)):
        assert draft.limit
        assert weakness(evidence, little(draft, seed)[""], list(draft.limit.marks))


@pytest.mark.parametrize("one", LIMITS, ids=named)
def test_the_other_things_of_the_page_have_values_of_their_own(one: Archetype) -> None:
    for draft, twin in pairs(one, 60):
        shown = "".join(draft.sheet.parts)
        assert twin.answer not in shown
        assert shown.lower().count(draft.query.split('"')[1].lower()) >= 1


@pytest.mark.parametrize("one", LIMITS, ids=named)
def test_twins_show_their_value_in_several_places(one: Archetype) -> None:
    places = Counter(
        line.strip()[:7]
        for seed, (_, twin) in enumerate(pairs(one, 60))
        for line in little(twin, seed)[""].splitlines()
        if twin.answer in line
    )
    assert len(places) >= 3
