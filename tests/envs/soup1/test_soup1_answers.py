"""Kinds of answers: compared by type, after one decode."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.envs.soup1.answers import AnswerKind, Boolean, Integer, ListOf, Money, Nullable, RecordOf, Text, same

NAMED = RecordOf({"cheaper": Text(), "price_difference": Money()}, {"difference": "price_difference"})
KINDS: tuple[AnswerKind, ...] = (
    *(Text(), Money(), Integer(), Boolean(), Nullable(Money())),
    *(ListOf(Text()), ListOf(ListOf(Integer()), ordered=False), NAMED, ListOf(NAMED)),
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)


@pytest.mark.parametrize("text", ["4.8", "302.17", "12", "true", "null", '"x"', "[1]"])
def test_a_text_that_looks_like_json_is_compared_as_text(text: str) -> None:
    assert same(Text(), text, text)
    assert not same(Text(), text + "0", text)


@pytest.mark.parametrize(
    ("kind", "said", "truth"),
    [
        (Text(), "  two\n words ", "two words"),
        (Text(), "e\u0301t\u00e9", "\u00e9te\u0301"),
        (Text(), 4.8, "4.8"),
        (Money(), 302.17, "$302.17"),
        (Money(), "1,234.50", "$1234.50"),
        (Money(), "-$5.00", "$-5.00"),
        (Money(), "$12.5", "$12.50"),
        (Integer(), "7", 7),
        (Integer(), 7.0, 7),
        (ListOf(Text(), ordered=False), ["b", "a"], ["a", "b"]),
        (NAMED, {"difference": "5", "cheaper": "A"}, {"cheaper": "A", "price_difference": "$5.00"}),
    ],
)
def test_what_says_the_same_is_the_same(kind: AnswerKind, said: Any, truth: Any) -> None:
    assert kind.problem(said) == ""
    assert same(kind, said, truth)


@pytest.mark.parametrize(
    ("kind", "said", "truth"),
    [
        (Money(), "$302.18", "$302.17"),
        (Money(), "€5.00 ", "about $5"),
        (ListOf(Text()), ["b", "a"], ["a", "b"]),
        (ListOf(Text(), ordered=False), ["a", "a", "b"], ["a", "b", "b"]),
        (Boolean(), True, False),
        (Nullable(Text()), None, "x"),
        (Nullable(Text()), "", None),
    ],
)
def test_what_says_something_else_is_not_the_same(kind: AnswerKind, said: Any, truth: Any) -> None:
    assert kind.problem(said) == ""
    assert not same(kind, said, truth)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (Text(), True),
        (Text(), None),
        (Text(), ["x"]),
        (Text(), float("nan")),
        (Money(), False),
        (Integer(), True),
        (Integer(), "٣"),
        (Integer(), 7.5),
        (Integer(), float("inf")),
        (Integer(), 10**400),
        (Integer(), "9" * 5000),
        (Boolean(), 1),
        (Boolean(), "true"),
        (ListOf(Text()), "x"),
        (ListOf(Text()), [["x"]]),
        (NAMED, {"cheaper": "A"}),
        (NAMED, {"cheaper": "A", "price_difference": 1, "more": 2}),
        (NAMED, [("cheaper", "A")]),
    ],
)
def test_a_value_of_another_type_has_a_problem(kind: AnswerKind, said: Any) -> None:
    assert kind.problem(said)


def test_an_alias_does_not_overwrite_the_key_itself() -> None:
    said = {"price_difference": "$5.00", "difference": "$9.00", "cheaper": "A"}
    assert same(NAMED, said, {"cheaper": "A", "price_difference": "$5.00"})


def test_a_list_earns_the_share_of_its_items_whatever_the_order_of_keys() -> None:
    kind = ListOf(NAMED)
    truth = [{"cheaper": "A", "price_difference": "$1.00"}, {"cheaper": "B", "price_difference": "$2.00"}]
    said = [{"price_difference": 1, "cheaper": "  A"}, {"cheaper": "C", "price_difference": 2}]
    assert kind.credit(said, truth) == pytest.approx(0.5)


def test_an_object_earns_the_share_of_its_keys() -> None:
    said = {"cheaper": "A", "price_difference": "$2.00"}
    assert NAMED.credit(said, {"cheaper": "A", "price_difference": "$1.00"}) == pytest.approx(0.5)


@given(st.sampled_from(KINDS), VALUES)
def test_any_value_is_either_named_as_a_problem_or_compares_with_itself(kind: AnswerKind, value: Any) -> None:
    if not kind.problem(value):
        assert same(kind, value, value)
        assert 0.0 <= kind.credit(value, value) <= 1.0


@given(st.sampled_from(KINDS))
def test_the_example_that_is_shown_has_the_shape_that_is_asked_for(kind: AnswerKind) -> None:
    assert kind.problem(kind.example()) == ""
