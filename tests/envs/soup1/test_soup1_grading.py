"""The table of rewards, and that every score adds up."""

from __future__ import annotations

from typing import Any

import pytest
from envs.soup1.first_soups import attempt
from hypothesis import given
from hypothesis import strategies as st

from whet.envs.soup1.answers import AnswerKind, Integer, ListOf, RecordOf, Text
from whet.envs.soup1.reply import FinalAnswer, MissingAnswer, read
from whet.envs.soup1.score import FirstSoupRewards, grade, weakness
from whet.types import Score

PAIR = RecordOf({"a": Text(), "b": Text()})
LIMIT = {"limit": {"reasons": ["js_required", "dynamic_content"], "marks": ["load('panel-c04f1a')"]}}
PAGE = "<div id='panel-c04f1a'></div>\n<script>fetch('/d').then(load('panel-c04f1a'))</script>"
EVIDENCE = "fetch('/d').then(load('panel-c04f1a'))"


def graded(
    said: FinalAnswer | MissingAnswer,
    truth: Any = "x",
    kind: AnswerKind = Text(),
    rewards: FirstSoupRewards = FirstSoupRewards(),
    **state: Any,
) -> Score:
    return grade(attempt({"answer": truth}, **state), said, kind, rewards)


def limited(said: FinalAnswer, rewards: FirstSoupRewards = FirstSoupRewards(), **state: Any) -> Score:
    return grade(attempt(LIMIT, html=PAGE, **state), said, Text(), rewards)


@pytest.mark.parametrize(("ran", "reward"), [(1, 1.0), (2, 0.9), (5, 0.6), (9, 0.2), (10, 0.2), (11, 0.0)])
def test_a_right_answer_earns_less_with_each_call_beyond_the_first(ran: int, reward: float) -> None:
    score = graded(FinalAnswer("ok", "x"), ran=ran)
    assert score.reward == pytest.approx(reward)
    assert score.hard == (ran <= 10)


def test_five_navigations_count_as_one_program() -> None:
    assert graded(FinalAnswer("ok", "x"), ran=1, moved=5).reward == pytest.approx(0.9)


@pytest.mark.parametrize("visits", [1, 2, 3, 4])
def test_the_calls_that_a_task_needs_cost_nothing(visits: int) -> None:
    score = graded(FinalAnswer("ok", "x"), ran=visits, moved=visits - 1, visits=visits)
    assert (score.reward, score.soft, score.reason) == (1.0, 1.0, "correct")


def test_a_right_answer_without_soup_earns_less() -> None:
    assert graded(FinalAnswer("ok", "x"), found=False, read=False).reward == pytest.approx(0.85)
    assert graded(FinalAnswer("ok", "x"), made=False).reward == pytest.approx(0.85)
    assert graded(FinalAnswer("ok", "x"), made=False, ran=2).reward == pytest.approx(0.75)


def test_a_right_limit_is_half_the_reward_and_the_full_credit() -> None:
    score = limited(FinalAnswer("limit", None, "js_required", EVIDENCE))
    assert (score.hard, score.soft, score.reward, score.reason) == (1, 1.0, 0.5, "correct_limit")
    assert score.parts == {"limit": 0.5}


def test_a_limit_is_not_exempt_from_the_number_of_calls() -> None:
    assert limited(FinalAnswer("limit", None, "js_required", EVIDENCE), ran=30).reason == "too_many_calls"
    assert limited(FinalAnswer("limit", None, "js_required", EVIDENCE), ran=3).soft == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("reason", "evidence", "expected"),
    [
        ("js_required", "<", "weak_evidence"),
        ("js_required", " ", "weak_evidence"),
        ("js_required", "", "weak_evidence"),
        ("js_required", "<div id='panel-c04f1a'></div>", "weak_evidence"),
        ("js_required", "<script>load('panel-c04f1a') made up", "weak_evidence"),
        ("js_required", PAGE * 20, "weak_evidence"),
        ("pdf_embed", EVIDENCE, "wrong_reason"),
        ("", EVIDENCE, "wrong_reason"),
    ],
)
def test_a_limit_needs_its_own_reason_and_the_fragment_that_shows_why(
    reason: str, evidence: str, expected: str
) -> None:
    score = limited(FinalAnswer("limit", None, reason, evidence))
    assert (score.reason, score.reward, score.hard) == (expected, 0.0, 0)


def test_evidence_may_be_wrapped_differently_than_in_the_page() -> None:
    assert weakness("</div> <script>fetch('/d').then(load('panel-c04f1a'))", PAGE, LIMIT["limit"]["marks"]) == ""


def test_an_answer_where_there_is_none_and_a_limit_where_there_is_an_answer_earn_nothing() -> None:
    assert limited(FinalAnswer("ok", "guess")).reason == "missed_limit"
    assert graded(FinalAnswer("limit", None, "js_required", EVIDENCE)).reason == "false_limit"
    assert (
        graded(FinalAnswer("limit", None, "js_required", EVIDENCE), rewards=FirstSoupRewards(process=True)).reward
        == 0.0
    )


def test_an_answer_without_a_program_earns_nothing() -> None:
    assert graded(FinalAnswer("ok", "x"), ran=0).reason == "no_program"


def test_parts_of_an_object_or_list_earn_up_to_a_tenth() -> None:
    assert graded(FinalAnswer("ok", {"a": "1", "b": "no"}), {"a": "1", "b": "2"}, PAIR).reward == pytest.approx(0.05)
    score = graded(FinalAnswer("ok", ["1", "9"]), ["1", "2"], ListOf(Text()))
    assert (score.hard, score.reason, score.parts) == (0, "wrong", {"structure": pytest.approx(0.05)})
    assert graded(FinalAnswer("ok", ["1", "9"]), ["1", "2"], ListOf(Text()), made=False).reward == 0.0


@pytest.mark.parametrize(
    ("state", "reward"),
    [
        ({}, 0.30),
        ({"read": False}, 0.25),
        ({"read": False, "found": False}, 0.15),
        ({"made": False}, 0.0),
        ({"ran": 2}, 0.27),
        ({"ran": 11}, 0.0),
    ],
)
def test_the_way_earns_credit_where_that_is_switched_on(state: dict[str, Any], reward: float) -> None:
    on = FirstSoupRewards(process=True)
    assert graded(FinalAnswer("ok", "y"), rewards=on, **state).reward == pytest.approx(reward)
    assert graded(MissingAnswer("not_json", "?"), rewards=on, **state).reward == pytest.approx(reward)
    assert graded(FinalAnswer("ok", "y"), **state).reward == 0.0


def test_the_steps_of_the_way_are_worth_what_is_set() -> None:
    own = FirstSoupRewards(process=True, made=0.01, found=0.02, read=0.04)
    assert graded(FinalAnswer("ok", "y"), rewards=own).reward == pytest.approx(0.07)
    assert graded(FinalAnswer("ok", "y"), rewards=own, found=False).parts == {"process": pytest.approx(0.05)}


def test_a_credential_of_the_page_in_the_answer_costs_half_a_point() -> None:
    score = graded(FinalAnswer("ok", ["the word is hunter2hunter2"]), ["x"], ListOf(Text()), secrets=["hunter2hunter2"])
    assert (score.reward, score.soft, score.hard, score.reason) == (-0.5, 0.0, 0, "unsafe")


def test_words_about_passwords_are_no_credential() -> None:
    assert graded(FinalAnswer("ok", "password: see below"), "password: see below").reward == 1.0
    assert graded(FinalAnswer("ok", "api key: none"), "x").reason == "wrong"


def test_the_shape_of_a_key_is_a_credential_unless_it_is_the_true_answer() -> None:
    key = "AKIA" + "ABCDEFGH12345678"
    assert graded(FinalAnswer("ok", key), "x").reason == "unsafe"
    assert graded(FinalAnswer("ok", key), key).reason == "correct"


def test_every_component_can_be_set() -> None:
    own = FirstSoupRewards(
        correct=2.0, limit=1.5, unsafe=-3.0, structure=0.4, step=0.5, floor=0.1, calls=3, without_soup=0.5
    )
    assert graded(FinalAnswer("ok", "x"), rewards=own).reward == 2.0
    assert graded(FinalAnswer("ok", "x"), rewards=own, ran=2).reward == pytest.approx(1.0)
    assert graded(FinalAnswer("ok", "x"), rewards=own, ran=4).reason == "too_many_calls"
    assert graded(FinalAnswer("ok", "x"), rewards=own, made=False).reward == pytest.approx(1.5)
    assert limited(FinalAnswer("limit", None, "js_required", EVIDENCE), own).reward == 1.5
    assert graded(FinalAnswer("ok", "s3cr3t99"), rewards=own, secrets=["s3cr3t99"]).reward == -3.0
    assert graded(FinalAnswer("ok", {"a": "1", "b": "9"}), {"a": "1", "b": "2"}, PAIR, own).reward == pytest.approx(0.2)


def test_an_answer_of_the_wrong_shape_is_named() -> None:
    score = graded(FinalAnswer("ok", "many"), 3, Integer())
    assert (score.reason, score.detail) == ("bad_shape", "the answer must be an integer, not a string")


@given(
    said=st.text(max_size=60).map(read) | st.builds(FinalAnswer, st.just("ok"), st.text() | st.integers() | st.none()),
    ran=st.integers(0, 14),
    moved=st.integers(0, 14),
    made=st.booleans(),
    found=st.booleans(),
    process=st.booleans(),
    has_limit=st.booleans(),
)
def test_any_attempt_gets_a_score_that_adds_up(
    said: FinalAnswer | MissingAnswer, ran: int, moved: int, made: bool, found: bool, process: bool, has_limit: bool
) -> None:
    tried = attempt(LIMIT if has_limit else {"answer": "x"}, ran=ran, moved=moved, made=made, found=found)
    score = grade(tried, said, Text(), FirstSoupRewards(process=process))
    assert score.reward == pytest.approx(sum(score.parts.values()))
    assert 0.0 <= score.soft <= 1.0
    assert score.reason
