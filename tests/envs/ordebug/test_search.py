"""The edit search: a fixed order, a budget in tries, and a rate over several budgets."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from envs.ordebug.puzzles import crossed, doubled, flipped, made

from whet.envs.ordebug.candidates import Clues, candidates
from whet.envs.ordebug.edits import DropRow, SetSense, apply_all
from whet.envs.ordebug.equivalence import Checker
from whet.envs.ordebug.families import FAMILIES, draw
from whet.envs.ordebug.instance import Instance
from whet.envs.ordebug.search import BUDGETS, SearchResult, search, search_with, sequences
from whet.envs.ordebug.witnesses import Witnesses

BROKEN = (flipped, crossed, doubled)


def clues(one: Instance | None = None) -> Clues:
    one = one or flipped()
    return Clues(one.sabotaged, one.certificate.subsystem, one.prose.text)


def test_a_sequence_is_tried_once_and_names_different_candidates_in_order() -> None:
    plan = sequences(500)
    assert len(set(plan)) == 500
    assert all(list(places) == sorted(set(places)) for places in plan)


def test_a_larger_budget_only_adds_tries() -> None:
    assert sequences(400)[:100] == sequences(100)


def test_sequences_of_two_and_three_edits_are_among_the_first_hundred() -> None:
    assert {len(places) for places in sequences(100)} == {1, 2, 3}


def test_the_first_candidates_are_about_the_subsystem() -> None:
    first = candidates(clues(), 2)
    assert isinstance(first[0], SetSense)
    assert isinstance(first[1], DropRow)
    assert first[0].row == flipped().certificate.subsystem.row_names[0]


def test_candidates_are_different_edits_that_can_be_applied() -> None:
    found = candidates(clues(), 200)
    assert len(set(found)) == len(found)
    for edit in found:
        edit.apply(flipped().sabotaged)


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.__name__)
def test_what_the_search_finds_is_a_repair(broken: Callable[[], Instance]) -> None:
    one = broken()
    found = search(one)
    assert found.edits is not None
    assert Checker(one.original).repaired(apply_all(one.sabotaged, found.edits))


def test_a_budget_that_is_one_try_short_finds_nothing() -> None:
    tries = search(crossed()).tries
    assert search(crossed(), tries).edits is not None
    assert search(crossed(), tries - 1) == SearchResult(None, tries - 1)


def test_the_rate_is_the_share_of_budgets_that_suffice() -> None:
    edits = (DropRow("r1"),)
    assert [SearchResult(edits, budget).rate for budget in BUDGETS] == [1.0, 0.8, 0.6, 0.4, 0.2]
    assert SearchResult(None, BUDGETS[-1]).rate == 0.0


def test_tries_that_are_not_made_do_not_change_the_outcome() -> None:
    """Leaving something wrong untouched never repairs: with nothing known to be wrong, the outcome is the same."""

    class Silent(Witnesses):
        def against(self, model: object) -> frozenset[str]:
            return frozenset()

    one, checker = flipped(), Checker(flipped().original)
    assert search_with(clues(one), checker, 32, Silent(checker)) == search_with(clues(one), checker, 32)


def test_the_points_of_the_original_say_nothing_against_it() -> None:
    for family in sorted(FAMILIES):
        model = draw(random.Random(5), FAMILIES[family], 10, 7).model
        assert Witnesses(Checker(model)).against(model) == frozenset()


@pytest.mark.parametrize("kind", "ABCD")
def test_the_witnesses_point_at_every_planted_element(kind: str) -> None:
    one = made(f"tiny_near_{kind}")
    assert Witnesses(Checker(one.original)).against(one.sabotaged) == one.elements
