"""Splits that are disjoint because the content decides."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.envs.splits import NoItem, draw, split_of
from whet.errors import WhetError
from whet.types import SPLITS, Split

splits = st.sampled_from(SPLITS)
indices = st.integers(0, 10**9)


def word(number: int) -> str:
    return f"{Random(number).randrange(10**6)}"


def drawn(split: Split, index: int) -> str:
    return draw(("words",), split, index, word, content=str)


@given(split=splits, index=indices)
def test_what_is_drawn_for_a_split_belongs_to_it(split: Split, index: int) -> None:
    assert split_of(drawn(split, index)) == split


@given(split=splits, index=indices, other=indices)
def test_a_draw_depends_on_nothing_drawn_before(split: Split, index: int, other: int) -> None:
    first = drawn(split, index)
    drawn(split, other)
    assert drawn(split, index) == first


@given(st.text(st.characters(codec=None, exclude_categories=())))
def test_any_text_belongs_to_some_split(text: str) -> None:
    assert split_of(text) in SPLITS


def test_half_is_train_and_a_quarter_each_select_and_test() -> None:
    shares = Counter(split_of(str(number)) for number in range(4000))
    assert shares["train"] == pytest.approx(2000, rel=0.1)
    assert shares["select"] == pytest.approx(1000, rel=0.15)


def test_too_few_different_tasks_are_refused_by_name() -> None:
    lonely = next(split for split in SPLITS if split != split_of("same"))
    with pytest.raises(WhetError, match="tiny has too few different tasks to fill the split"):
        draw(("tiny",), lonely, 0, lambda number: "same", content=str)


def test_a_generator_that_makes_nothing_is_refused_with_what_it_said() -> None:
    def barren(number: int) -> str:
        raise NoItem("no pair found")

    with pytest.raises(WhetError, match="barren makes no task with these arguments: no pair found"):
        draw(("barren",), "train", 0, barren, content=str)


def test_a_generator_may_give_up_now_and_then() -> None:
    def moody(number: int) -> str:
        if number % 10 == 0:
            raise NoItem("not today")
        return word(number)

    assert all(draw(("moody",), "test", index, moody, content=str) for index in range(50))
