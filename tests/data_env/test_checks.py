"""The checks: what counts as right, what earns credit, and which truths are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from data_env.rows import one_row, scored
from hypothesis import given
from hypothesis import strategies as st

from whet.envs.data.checks.choice import chosen
from whet.envs.data.checks.distance import edits
from whet.errors import WhetError

DICT = {"city": "Bonn", "people": 336_465, "tags": ["on the Rhine"]}


@pytest.mark.parametrize(
    ("check", "truth", "reply", "reason"),
    [
        ({"check": "exact"}, "New York", " New  York\n", "correct"),
        ({"check": "number"}, "678.05", "678,05", "correct"),
        ({"check": "number"}, "678,05", "Gesamt: 678,05 EUR", "correct"),
        ({"check": "number"}, "1172.01", "1.172,01 €", "correct"),
        ({"check": "number"}, "1172", "1,172", "correct"),
        ({"check": "number"}, "5", "pages 3,4,5", "correct"),
        ({"check": "number"}, "678.05", "67805", "wrong"),
        ({"check": "exact"}, "New York", "new york", "wrong"),
        ({"check": "exact", "ignore_case": True}, "New York", "new york", "correct"),
        ({"check": "exact"}, ["a", "b"], "b", "correct"),
        ({"check": "exact", "separator": "|"}, "a|b", "b", "correct"),
        ({"check": "exact"}, "x", "  \n", "no_answer"),
        ({"check": "contains"}, "17", "It is 17.", "correct"),
        ({"check": "contains"}, "7", "It is 17.", "wrong"),
        ({"check": "contains"}, "C++", "Use C++, then", "correct"),
        ({"check": "regex"}, r"\bT-\d{3}\b", "see T-042", "correct"),
        ({"check": "regex"}, r"\bT-\d{3}\b", "see T-42", "wrong"),
        ({"check": "number"}, 1234.5, "So it is $1,234.50.", "correct"),
        ({"check": "number"}, "-3", "minus: \u22123", "correct"),
        ({"check": "number"}, 12, "12kg", "correct"),
        ({"check": "number"}, 12, "about 13", "wrong"),
        ({"check": "number"}, 12, "a dozen", "no_number"),
        ({"check": "number", "tolerance": 0.5}, 12, "12.4", "correct"),
        ({"check": "number", "relative": 0.1}, 200, "215", "correct"),
        ({"check": "em"}, "The Beatles", "beatles!", "correct"),
        ({"check": "em"}, "The Beatles", "the stones", "wrong"),
        ({"check": "anls"}, "Invoice 2024", "invoice 2024", "correct"),
        ({"check": "anls"}, "Invoice 2024", "something else", "wrong"),
        (
            {"check": "json"},
            DICT,
            '```json\n{"city": "bonn", "people": "336465", "tags": ["On the Rhine"]}\n```',
            "correct",
        ),
        ({"check": "json", "fields": ["city"]}, DICT, 'Here: {"city": "Bonn", "more": 1}', "correct"),
        ({"check": "json"}, DICT, '{"city": "Bonn"}', "partial"),
        ({"check": "json"}, DICT, "Bonn", "no_json"),
        ({"check": "exact", "read": "line"}, "4", "Well.\n**Answer:** 4\nBye", "correct"),
        ({"check": "exact", "read": "tag"}, "4", "so <answer>3</answer> no, <answer> 4 </answer>", "correct"),
        ({"check": "exact", "read": "tag"}, "4", "4", "no_answer"),
        ({"check": "exact", "read": "code"}, "x = 1", "Here:\n```python\nx = 1\n```\nDone.", "correct"),
    ],
)
def test_a_reply_gets_the_reason_that_is_its_due(
    tmp_path: Path, check: dict[str, Any], truth: Any, reply: str, reason: str
) -> None:
    assert scored(one_row(tmp_path, truth, **check), reply).reason == reason


@pytest.mark.parametrize(
    ("check", "truth", "reply", "soft", "hard"),
    [
        ({"check": "f1"}, "the big red dog", "a red dog", 0.8, 0),
        ({"check": "f1", "threshold": 0.8}, "the big red dog", "a red dog", 0.8, 1),
        ({"check": "anls"}, "abcdefghij", "abcdefghiX", 0.9, 0),
        ({"check": "anls"}, "abcdefghij", "abcdeXXXXX", 0.0, 0),
        ({"check": "number", "tolerance": 1.0}, 10, "14", 0.25, 0),
        ({"check": "number"}, 10, "10.001", 0.0, 0),
        ({"check": "json"}, {"a": 1, "b": 2, "c": 3, "d": 4}, '{"a": 1, "b": 2, "c": 0}', 0.5, 0),
    ],
)
def test_credit_is_graded_where_a_part_is_worth_something(
    tmp_path: Path, check: dict[str, Any], truth: Any, reply: str, soft: float, hard: int
) -> None:
    score = scored(one_row(tmp_path, truth, **check), reply)
    assert (score.soft, score.hard) == (pytest.approx(soft), hard)


@pytest.mark.parametrize(
    ("check", "truth", "said"),
    [
        ({"check": "exact"}, "", "one.jsonl, row 1, column 'answer': there is no answer"),
        ({"check": "exact"}, [], "there is no answer"),
        ({"check": "regex"}, "(", "row 1, column 'answer': '(' is not a pattern"),
        ({"check": "regex"}, "a*", "'a*' matches an empty reply"),
        ({"check": "number"}, "many", "row 1, column 'answer': 'many' is not a number"),
        ({"check": "json"}, "[1]", "row 1, column 'answer': must hold a JSON object"),
        ({"check": "json"}, "{", "row 1, column 'answer': is not JSON"),
        ({"check": "json", "fields": ["x"]}, {"y": 1}, "the object has no field 'x'"),
        ({"check": "choice", "choices": ["ja", "nein"]}, "naein", "Did you mean 'nein'?"),
        ({"check": "choice", "choices": ["ja"]}, "ja", "at least two labels"),
        ({"check": "choice", "choices": ["ja", "JA "]}, "ja", "at least two labels"),
        ({"check": ""}, "x", "check: no check is named. The checks are exact"),
        ({"check": "exakt"}, "x", "Did you mean 'exact'?"),
        (
            {"check": "exact", "tolerance": 1.0},
            "x",
            "the check 'exact' has no argument 'tolerance': it belongs to number, quantity, json",
        ),
        ({"check": "python"}, "x", "function: '' is not the address of a check"),
        ({"check": "command"}, "x", "command: name a program"),
        ({"check": "rubric"}, "x", "rubric: is empty"),
    ],
)
def test_a_truth_or_a_check_that_cannot_work_is_refused(
    tmp_path: Path, check: dict[str, Any], truth: Any, said: str
) -> None:
    with pytest.raises(WhetError) as refused:
        one_row(tmp_path, truth, **check)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("reply", "named"),
    [
        ("billing", {0}),
        ("**Billing.**", {0}),
        ("I would say it goes to delivery", {1}),
        ("billing or delivery", {0, 1}),
        ("late delivery", {2}),
        ("rebilling", set()),
        ("", set()),
    ],
)
def test_a_choice_is_named_as_words_of_its_own_and_the_longer_label_wins(reply: str, named: set[int]) -> None:
    assert chosen(reply, ["billing", "delivery", "late delivery"]) == named


@pytest.mark.parametrize(
    ("reply", "named"),
    [("B", {1}), ("(b)", {1}), ("B. Paris", {1}), ("The answer is **C**", {2}), ("A dog is not a cat", set())],
)
def test_a_letter_counts_only_where_it_is_marked_as_the_answer(reply: str, named: set[int]) -> None:
    assert chosen(reply, ["A", "B", "C"]) == named


@pytest.mark.parametrize(("truth", "reply"), [("Paris", "B"), ("B", "paris"), (1, "(B) Paris"), ("1", "b")])
def test_a_row_may_list_its_own_options(tmp_path: Path, truth: Any, reply: str) -> None:
    from data_env.rows import as_lines, environment

    rows = [{"question": "Capital of France?", "options": ["Rome", "Paris"], "answer": truth}]
    env = environment(as_lines(tmp_path / "o.jsonl", rows), check="choice", choices="options", split=[1.0, 0.0, 0.0])
    assert "A. Rome\nB. Paris" in env.task("train", 0).messages[0].text
    assert scored(env, reply).reason == "correct"


def slow_edits(one: str, other: str) -> int:
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        last, row[0] = row[0], i
        for j, b in enumerate(other, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (a != b))
    return row[-1]


@given(st.text("abc", max_size=12), st.text("abc", max_size=12))
def test_the_edit_distance_is_that_of_the_textbook(one: str, other: str) -> None:
    assert edits(one, other) == slow_edits(one, other)


@given(st.text(max_size=60))
def test_any_reply_gets_a_score_from_every_check_of_text(reply: str) -> None:
    from whet.envs.data.checks import CHECKS

    truths: dict[str, Any] = {
        "choice": {"right": 0, "options": ["ja", "nein"]},
        "number": "3",
        "json": {"a": 1},
    }
    own = {"choice": {"choices": ["ja", "nein"]}}
    for name in ("exact", "contains", "number", "choice", "em", "f1", "anls", "json"):
        score = CHECKS[name]("answer", ("answer",), own.get(name, {})).score(truths.get(name, ["ja"]), reply)
        assert score.hard in (0, 1)
        assert 0.0 <= score.soft <= 1.0
