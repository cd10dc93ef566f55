"""The last words of a policy: an object, or a named reason why there is none."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.envs.soup1.reply import MOST_TEXT, FinalAnswer, MissingAnswer, read


@pytest.mark.parametrize(
    "text",
    [
        '{"status": "ok", "answer": "x"}',
        ' \n{"status": "ok", "answer": "x"}\n',
        '```json\n{"status": "ok", "answer": "x"}\n```',
        'The answer:\n```\n{"status": "ok", "answer": "x"}\n``` as asked.',
        'I looked at {"a": 1} and then {"status": "ok", "answer": "x"}',
        '{"status": "ok", "answer": "draft"} no, rather {"status": "ok", "answer": "x"}',
        'set notation {x | x > 0} first. {"status": "ok", "answer": "x", "limit": null} {"note": 1}',
    ],
)
def test_the_last_object_with_a_status_is_the_answer(text: str) -> None:
    assert read(text) == FinalAnswer("ok", "x")


def test_a_limit_is_read_with_reason_and_evidence() -> None:
    text = '{"status": "limit", "answer": null, "limit": {"reason": "js_required", "evidence": "<b>"}}'
    assert read(text) == FinalAnswer("limit", None, "js_required", "<b>")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no_answer"),
        (" \n ", "no_answer"),
        ("forty two", "not_json"),
        ('{"status": "ok", "answer": ', "not_json"),
        ('{"status": "ok", "answer": NaN}', "not_json"),
        ('{"status": "ok", "answer": -Infinity}', "not_json"),
        ('{"status": "ok", "answer": 1e999}', "not_json"),
        ('{"status": "ok", "answer": ' + "9" * 5000 + "}", "not_json"),
        ("[1]", "not_object"),
        ("3", "not_object"),
        ('"x"', "not_object"),
        ("null", "not_object"),
        ("{}", "bad_form"),
        ('{"answer": 1}', "bad_form"),
        ('{"status": "ok"}', "bad_form"),
        ('{"status": ["ok"], "answer": 1}', "bad_form"),
        ('{"status": "maybe", "answer": 1}', "bad_form"),
        ('{"status": "ok", "answer": 1, "why": 2}', "bad_form"),
        ('{"status": "ok", "answer": 1, "limit": {"reason": "a", "evidence": "b"}}', "bad_form"),
        ('{"status": "limit"}', "bad_form"),
        ('{"status": "limit", "limit": "js_required"}', "bad_form"),
        ('{"status": "limit", "limit": {"reason": 3, "evidence": "x"}}', "bad_form"),
        ('{"status": "limit", "answer": 1, "limit": {"reason": "a", "evidence": "b"}}', "bad_form"),
        ('{"status": "ok", "answer": "' + "A" * 5_000_000 + '"}', "too_long"),
        ('{"status": "ok", "answer": ' + "[" * 400 + "]" * 400 + "}", "too_deep"),
        ("{" * 90_000, "not_json"),
        ('{"a":' * 30_000, "not_json"),
    ],
)
def test_what_is_no_answer_has_a_named_reason(text: str, reason: str) -> None:
    read_as = read(text)
    assert isinstance(read_as, MissingAnswer)
    assert read_as.reason == reason
    assert read_as.detail


def test_lone_surrogates_are_read_as_any_other_text() -> None:
    assert read('{"status": "ok", "answer": "a\\ud800b"}') == FinalAnswer("ok", "a\ud800b")


@given(st.text(max_size=300))
def test_reading_is_total(text: str) -> None:
    assert isinstance(read(text), FinalAnswer | MissingAnswer)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5))
def test_an_answer_is_decoded_exactly_once(value: object) -> None:
    said = read(json.dumps({"status": "ok", "answer": value}))
    assert isinstance(said, FinalAnswer)
    assert said.answer == value


def test_the_longest_reply_that_is_read_is_read() -> None:
    text = json.dumps({"status": "ok", "answer": "A" * (MOST_TEXT - 40)})
    assert isinstance(read(text), FinalAnswer)
