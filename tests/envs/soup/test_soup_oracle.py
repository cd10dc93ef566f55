"""Every archetype: its oracle is right on every page under every parser, and its truth is what the form says it is."""

from __future__ import annotations

import json

import pytest
from envs.soup.extractors import PARSERS, Perform, by_policy, extracted, small, small_tasks, soup

from whet.envs.soup.archetypes import FAMILIES, kinds
from whet.envs.soup.draw import is_limit
from whet.envs.soup.kinds import agree

KINDS = tuple(kinds())


def test_there_are_at_least_24_archetypes_beside_the_primer_in_eleven_families() -> None:
    assert sum(made.difficulty != "primer" for made in kinds().values()) >= 24
    assert {made.family for made in kinds().values()} == set(FAMILIES)
    assert {made.difficulty for made in kinds().values()} == {"primer", "easy", "medium", "hard"}


@pytest.mark.parametrize("name", KINDS)
def test_the_oracle_is_right_under_every_parser(name: str) -> None:
    for split, ordinal in (("train", 1), ("test", 2)):
        drawn = small(kinds()[name], split, ordinal)  # type: ignore[arg-type]
        for number in (0, 1):
            page, draft = drawn.page(number)
            if draft.limit is None:
                for parser in PARSERS:
                    value = extracted(drawn.plan.program, page, parser)
                    assert agree(drawn.plan.form, value, drawn.truths[number]), (split, number, parser, value)


@pytest.mark.parametrize("name", KINDS)
def test_truths_are_sound_and_differ_from_page_to_page(name: str) -> None:
    drawn = small(kinds()[name], "train", 3)
    assert [drawn.plan.form.problem(truth) for truth in drawn.truths] == [""] * len(drawn.truths)
    assert json.loads(json.dumps(drawn.truths)) == drawn.truths
    assert len({json.dumps(truth) for truth in drawn.truths}) > len(drawn.truths) // 2


@pytest.mark.parametrize("name", KINDS)
def test_any_archetype_has_a_twin_that_cannot_be_answered(name: str) -> None:
    made = kinds()[name]
    drawn = small(made, "train", next(ordinal for ordinal in range(200) if is_limit(made, "train", ordinal, 42)))
    page, draft = drawn.page(0)
    assert draft.limit is not None
    assert draft.limit.mark in page.html
    assert set(drawn.plan.ask) == {"given", "described", "meaning"}


def test_an_answerable_page_withholds_something_too_that_is_not_asked() -> None:
    signs = 0
    for name in KINDS:
        drawn = small(kinds()[name], "train", 0)
        if drawn.matters[0][0].hide == "other" and drawn.kind.difficulty != "primer":
            page, draft = drawn.page(0)
            assert draft.limit is None
            signs += bool(draft.stubs) or "<small>" in page.html or "<a href" in page.html
    assert signs > 30


def test_the_oracle_solves_tasks_and_limits_through_the_sandbox(perform: Perform) -> None:
    env = soup()
    oracle = env.baselines()["oracle"]
    for task in (*small_tasks(env, 5), *small_tasks(env, 2, limit=True)):
        earned = by_policy(env, task, perform, oracle)
        assert (earned.hard, earned.soft, earned.reward) == (1, 1.0, 1.0), (task.label, earned)
    single = soup(rung="answer", difficulty="easy")
    for task in small_tasks(single, 2):
        assert by_policy(single, task, perform, single.baselines()["oracle"]).reward == 1.0
