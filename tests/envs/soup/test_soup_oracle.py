"""Every archetype: its oracle is right on every page under every parser, and its truth is what the form says it is."""

from __future__ import annotations

import json
import random
import re

import pytest
from envs.soup.extractors import PARSERS, Perform, by_policy, extracted, small, small_tasks, soup

from whet.envs.soup.archetypes import FAMILIES, kinds
from whet.envs.soup.desk import PagePlan
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
    assert all(drawn.plan.ask(address) for address in ("given", "described", "meaning"))


def test_a_name_that_is_withheld_is_not_the_title_of_the_page() -> None:
    asked = 0
    for name in ("record.order_record", "record.contact", "record.invoice_record", "record.session_record"):
        made = kinds()[name]
        for ordinal in range(200):
            if is_limit(made, "train", ordinal, 42):
                drawn = small(made, "train", ordinal)
                draft, (wanted, truth) = drawn.draft(0), next(iter(drawn.truths[0].items()))
                asked += wanted in ("number", "name", "title")
                assert truth not in draft.title if isinstance(truth, str) else True
    assert asked > 5


def test_a_label_that_the_question_quotes_stands_in_the_explored_page() -> None:
    for ordinal in range(30):
        drawn = small(kinds()["record.order_record"], "train", ordinal)
        shown = "".join(drawn.draft(0).parts).casefold()
        quoted = re.findall(r'labelled "([^"]+)"', drawn.plan.ask("described"))
        assert len(quoted) >= 2
        assert all(label.casefold() in shown for label in quoted), quoted


@pytest.mark.parametrize(("name", "key"), [("rows.cheapest", "price"), ("rows.long_reads", "published")])
def test_a_row_that_is_asked_for_by_rank_has_a_rank_of_its_own(name: str, key: str) -> None:
    plan, rng = small(kinds()[name], "train", 0).plan, random.Random(1)
    for _ in range(2500):
        values = [row[key] for row in plan.draw(rng, PagePlan())[0]]
        assert values.count(min(values)) == 1
        assert key != "published" or len(set(values)) == len(values)


def test_an_answerable_page_withholds_something_too_that_is_not_asked() -> None:
    signs = 0
    for name in KINDS:
        drawn = small(kinds()[name], "train", 0)
        if drawn.pages[0].hide == "other" and drawn.kind.difficulty != "primer":
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
