"""The optimiser's replies: prose, fences, cut-off JSON, wrong types. Read, or asked for once more, or left out."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.learn.prompt_text import prompt
from whet.learn.reflact.edit_items import items_in
from whet.learn.reflact.records import Draft, Edit, Suggestion
from whet.learn.replies import Unreadable, notes_in, object_in
from whet.types import Reply


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}',
        'Here it is:\n```json\n{"a": 1}\n```\nDone.',
        'Sure! {"a": 1}',
        'With {braces} in prose.\n{"a": 1}',
        '{"a": 1} and then some words',
    ],
)
def test_an_object_is_found_in_what_stands_around_it(text: str) -> None:
    assert object_in(Reply(text)) == {"a": 1}


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (Reply("I would add a rule."), "no JSON object"),
        (Reply("", finish="length"), "cut off by the token limit"),
        (Reply('{"patch": {"edits": [{"op": "app', finish="length"), "cut off"),
        (Reply("{'a': 1}"), "cannot be parsed"),
        (Reply("[1, 2]"), "no JSON object"),
    ],
)
def test_what_cannot_be_read_is_named(reply: Reply, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        object_in(reply)


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(Unreadable):
        assert isinstance(object_in(Reply(text)), dict)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ({}, "it has no 'edits'"),
        ({"edits": "append"}, "must be a list"),
        ({"edits": ["append"]}, "must be an object"),
        ({"edits": [{"content": "x"}]}, "no 'op'"),
        ({"edits": [{"op": "append", "content": 3}]}, "must be text"),
    ],
)
def test_a_wrong_shape_is_told_to_the_optimiser(data: dict[str, object], why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        items_in(data, "patch", "failure")


def test_the_three_forms_are_read() -> None:
    assert items_in({"edits": [{"op": "append", "content": "x", "support_count": 3}]}, "patch", "failure") == (
        Edit("append", "x", support=3),
    )
    (suggestion,) = items_in(
        {"revise_suggestions": [{"title": "t", "instruction": "i"}]}, "rewrite_from_suggestions", "success"
    )
    assert suggestion == Suggestion("t", "i", source="success")
    (draft,) = items_in({"skill_candidates": [{"new_skill": "b"}]}, "full_rewrite_minibatch", "failure")
    assert draft == Draft("b")


def test_lone_surrogates_do_not_reach_a_file() -> None:
    (edit,) = items_in({"edits": [{"op": "append", "content": "\ud800x"}]}, "patch", "failure")
    assert isinstance(edit, Edit)
    edit.content.encode()


def test_notes_may_be_texts_or_objects() -> None:
    assert notes_in({"appendix_notes": ["a ", {"note": "b"}, {"content": "c"}, 3, ""]}) == ("a", "b", "c")


PROMPTS = {
    "analyst_failure": {"budget": 4, "things": "edits"},
    "analyst_success": {"budget": 4, "things": "edits"},
    "form_edits": {"notes": ""},
    "form_suggestions": {"notes": ""},
    "form_drafts": {"notes": ""},
    "lapses": {},
    "merge": {"what": "failed attempts", "key": "edits"},
    "merge_final": {"key": "edits"},
    "rank": {"budget": 2},
    "lr": {"available": 5},
    "rewrite": {"bytes": 1000},
    "mend": {},
    "slow": {},
    "meta": {},
    "consolidate": {"most": 3},
    "again": {"problem": "it is empty"},
}


@pytest.mark.parametrize("name", PROMPTS)
def test_a_prompt_is_short_complete_and_holds_no_placeholder(name: str) -> None:
    text = prompt(name, **PROMPTS[name])
    assert len(text) < 1600
    assert "$" not in text


@pytest.mark.parametrize("name", [name for name in PROMPTS if name not in ("lapses", "again")])
def test_every_role_is_told_to_answer_in_json_alone_or_by_its_form(name: str) -> None:
    text = prompt(name, **PROMPTS[name])
    assert "JSON object and nothing else" in text or name.startswith("analyst")


@pytest.mark.parametrize("name", ["analyst_failure", "analyst_success", "slow"])
def test_whoever_writes_for_the_target_is_asked_for_facts_and_not_for_answers_to_single_tasks(name: str) -> None:
    """Nobody else can tell the target a domain's facts; an answer that no other task needs teaches nothing."""
    text = prompt(name, **PROMPTS[name]).lower()
    assert "fact" in text
    assert "conventions" in text or "convention of this domain" in text
    assert "answers to single tasks" in text
    assert "leave them out" in text or "do not" in text.partition("answers to single tasks")[2]


@pytest.mark.parametrize("name", ["form_edits", "form_drafts", "rewrite"])
def test_whoever_changes_the_body_is_told_what_is_kept_apart(name: str) -> None:
    assert "kept apart" in prompt(name, **PROMPTS[name])


def test_a_missing_word_is_an_error_not_an_empty_place() -> None:
    with pytest.raises(KeyError):
        prompt("rank")
