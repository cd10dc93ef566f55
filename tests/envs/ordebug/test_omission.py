"""A missing row: a fault that no contradiction points to, and that only the specification tells."""

from __future__ import annotations

import pytest
from envs.ordebug.puzzles import acts, driven, made, played

from whet.envs.base import Messages
from whet.envs.ordebug.certificate import verify
from whet.envs.ordebug.edits import AddRow
from whet.envs.ordebug.families import FAMILIES
from whet.envs.ordebug.family import FAMILY
from whet.envs.ordebug.ladder import EVERY_CELL
from whet.envs.ordebug.maker import make
from whet.envs.ordebug.prose.comprehension import misread, understood
from whet.envs.ordebug.prose.voices import voice_of
from whet.envs.ordebug.solver import solve
from whet.envs.splits import split_of
from whet.types import SPLITS, Ask, Split

NAMES = ["tiny_near_missing", "small_near_missing"]


@pytest.mark.parametrize("name", NAMES)
def test_the_model_has_a_solution_that_is_too_good_and_its_rows_are_numbered_without_a_gap(name: str) -> None:
    for index in range(3):
        one = made(name, index)
        assert verify(one) == []
        found, best = solve(one.sabotaged).objective, solve(one.original).objective
        assert found is not None
        assert best is not None
        assert (found > best) if one.sabotaged.maximize else (found < best)
        assert [row.name for row in one.sabotaged.rows] == [f"r{n}" for n in range(1, len(one.sabotaged.rows) + 1)]


def test_the_row_restated_under_another_name_is_a_repair_and_submitting_or_loosening_is_none() -> None:
    one = made("tiny_near_missing")
    (edit,) = one.repair
    assert isinstance(edit, AddRow)
    terms = " + ".join(f"{value:g} {name}" for name, value in edit.terms).replace("+ -", "- ")
    said = f"add mine: {terms} {edit.sense} {edit.rhs:g}"
    assert played(one, acts(said, "submit")).score.hard == 1
    assert played(one, acts("submit")).score.hard == 0
    far = f"add mine: {terms} {edit.sense} {edit.rhs + (1e4 if edit.sense == '<=' else -1e4):g}"
    assert played(one, acts(far, "submit")).score.hard == 0


def test_one_asks_for_them_by_type_and_they_take_no_turn_among_the_others() -> None:
    wanted = FAMILY.build("tiny_near", "", {"type": "missing"})
    assert {wanted.label("test", index).kind for index in range(3)} == {"missing"}
    usual = FAMILY.build("tiny_near", "", {})
    assert "missing" not in {usual.label("test", index).kind for index in range(12)}


def test_the_prompt_says_that_something_is_missing_and_nothing_contradicts() -> None:
    heard: list[str] = []

    def answer(said: Messages, asked: Ask) -> str:
        heard.append(said[-1].text)
        return acts("get_iis", "submit")[len(heard) - 1]

    driven(made("tiny_near_missing"), answer)
    assert "Find what is\nmissing" in heard[0]
    assert "There is no contradiction to show. Solver: optimal" in heard[1]


@pytest.mark.parametrize("split", SPLITS)
def test_its_content_belongs_to_the_split_that_was_asked_for_and_the_text_has_that_splits_voice(split: Split) -> None:
    for index in range(3):
        one = make(EVERY_CELL["tiny_near_missing"], split, index)
        assert split_of(one.content) == split
        told = understood(one.prose.text, FAMILIES[one.family], [voice_of(split)])
        assert misread(told, one.original) == []
