"""The book of ACE: small operations and nothing else, so that no curator, however careless, can make it collapse."""

from __future__ import annotations

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.learn.ace.bullets import LOST, Bullet, BulletBook, BulletOperation

WORDS = [f"word{letter}" for letter in string.ascii_lowercase]


def book(*texts: str, **counts: int) -> BulletBook:
    made, refused = BulletBook("Read first.").apply([BulletOperation("add", text, "Facts") for text in texts], 1)
    assert not refused
    return made.counted(
        [("b0001", "helpful")] * counts.get("helpful", 0) + [("b0001", "harmful")] * counts.get("harmful", 0)
    )


def test_a_book_is_read_back_from_the_body_it_makes() -> None:
    made = book("Alpha is one.", "Beta is two.")
    again = BulletBook.read(made.text)
    assert [bullet.text for bullet in again.bullets] == ["Alpha is one.", "Beta is two."]
    assert (again.preamble, again.fresh, again.text) == ("Read first.", 3, made.text)


def test_a_text_of_somebody_else_is_a_preamble_to_the_last_byte() -> None:
    body = "Do this.\n\n## Learned\n\nBy heart."
    assert BulletBook.read(body) == BulletBook(body)
    assert BulletBook.read(body).text == body


def test_an_id_is_never_given_twice() -> None:
    made = book("Alpha is one.", "Beta is two.")
    without, _ = made.apply([BulletOperation("remove", ids=("b0002",))], 2)
    again, _ = without.apply([BulletOperation("add", "Gamma is three.")], 3)
    assert [bullet.id for bullet in again.bullets] == ["b0001", "b0003"]


def test_records_are_not_in_the_text_that_the_target_reads() -> None:
    made = book("Alpha is one.")
    assert made.counted([("b0001", "helpful")]).text == made.text


def test_a_tag_for_a_bullet_that_is_not_there_counts_for_nothing() -> None:
    made = book("Alpha is one.")
    assert made.counted([("b9999", "harmful"), ("b0001", "neutral")]) == made


@pytest.mark.parametrize("same", ["alpha is ONE", "One is the alpha!", "Alpha - one."])
def test_what_the_book_says_already_is_not_added(same: str) -> None:
    made, refused = book("Alpha is one.").apply([BulletOperation("add", same)], 2)
    assert [why for _, why in refused] == ["the book says so already"]
    assert len(made.bullets) == 1


@pytest.mark.parametrize("other", ["Alpha is two.", "Alpha is not one.", "Alphas are one."])
def test_facts_that_differ_in_one_word_are_different_facts(other: str) -> None:
    made, refused = book("Alpha is one.").apply([BulletOperation("add", other)], 2)
    assert not refused
    assert len(made.bullets) == 2


def test_only_what_says_nearly_the_same_is_joined_and_the_records_add_up() -> None:
    first = "Write the date of a delivery as day, month and year."
    second = "Write the date of a delivery as day, month, and year always."
    made = book(first, second, "Weights are in pounds, rounded up.", "Names are upper case.", helpful=2)
    made = made.counted([("b0002", "helpful"), ("b0002", "harmful")])
    joined, refused = made.apply([BulletOperation("merge", "", "", ("b0001", "b0002"))], 2)
    assert not refused
    assert (joined.bullets[0].helpful, joined.bullets[0].harmful, len(joined.bullets)) == (3, 1, 3)
    _, refused = made.apply([BulletOperation("merge", "All.", "", ("b0001", "b0003"))], 2)
    assert [why for _, why in refused] == ["they do not say the same"]


def test_a_bullet_whose_record_speaks_for_it_is_neither_removed_nor_reworded() -> None:
    made = book("Alpha is one.", "Beta is two.", helpful=1)
    wanted = [BulletOperation("remove", ids=("b0001",)), BulletOperation("revise", "Alpha is nine.", ids=("b0001",))]
    kept, refused = made.apply(wanted, 2)
    assert kept == made
    assert len(refused) == 2


def test_reworded_text_starts_without_a_record() -> None:
    made, _ = book("Alpha is one.", harmful=2).apply([BulletOperation("revise", "Alpha is nine.", ids=("b0001",))], 2)
    assert (made.bullets[0].text, made.bullets[0].harmful) == ("Alpha is nine.", 0)


def test_a_bullet_that_harms_goes_and_the_least_go_first_where_there_are_too_many() -> None:
    made = book("Alpha is one.", "Beta is two.", "Gamma is three.", harmful=3).counted([("b0003", "helpful")])
    assert [bullet.id for bullet in made.refined(3, 99, 9999).bullets] == ["b0002", "b0003"]
    assert [bullet.id for bullet in made.refined(9, 1, 9999).bullets] == ["b0003"]
    assert len(made.refined(9, 99, 60).text.encode()) <= 60


operations = st.builds(
    BulletOperation,
    st.sampled_from(["add", "revise", "merge", "remove"]),
    st.one_of(st.text(max_size=30), st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)),
    st.text(max_size=10),
    st.lists(st.sampled_from([f"b{number:04d}" for number in range(1, 14)]), max_size=5).map(tuple),
)


@settings(max_examples=50, deadline=None)
@given(st.lists(operations, max_size=20), st.integers(1, 12))
def test_no_step_takes_away_more_than_its_part_nor_anything_that_helped(
    wanted: list[BulletOperation], size: int
) -> None:
    texts = [f"Fact {number} about {WORDS[number % 26]} is {number * 7}." for number in range(size)]
    start = book(*texts).counted([(f"b{number:04d}", "helpful") for number in range(1, size + 1, 2)])
    made, _ = start.apply(wanted, 2)
    left = made.by_id()
    gone = [bullet for bullet in start.bullets if bullet.id not in left]
    assert len(gone) <= max(1, int(LOST * size))
    joined = sum(bullet.helpful for bullet in made.bullets)
    assert joined >= sum(bullet.helpful for bullet in start.bullets), "no record that speaks for a text is lost"
    assert len({bullet.id for bullet in made.bullets}) == len(made.bullets)
    assert made.preamble == start.preamble
    assert BulletBook.read(made.text).text == made.text


def test_a_bullet_is_one_line_of_bounded_length() -> None:
    made, refused = book("Alpha is one.").apply(
        [BulletOperation("add", "x y " * 500), BulletOperation("add", "one\n\n- [b0001] two")], 2
    )
    assert [why[:6] for _, why in refused] == ["it has"]
    assert made.bullets[-1].text == "one - [b0001] two"
    assert isinstance(made.bullets[0], Bullet)
