"""Specifications: prose that says what the model should say, in no order and seldom in one place; a table that does so
line by line."""

from __future__ import annotations

import random
import re

import pytest
from envs.ordebug.puzzles import made

from whet.envs.ordebug.prose.figures import expression, plain, words


def value(text: str) -> float:
    """What a plain number says, in digits or in words."""
    return next(n for n in range(1000) if words(n) == text) if text[0].isalpha() else float(text)


@pytest.mark.parametrize("number", [2.0, 17.0, 40.0, 99.0])
def test_a_number_in_words_is_the_number(number: float) -> None:
    assert {value(plain(random.Random(seed), number)) for seed in range(20)} == {number}


@pytest.mark.parametrize("number", [3.0, 12.0, 37.5, 84.0, 240.0])
def test_an_expression_has_the_value_it_stands_for(number: float) -> None:
    worked = {"plus": lambda a, b: a + b, "less": lambda a, b: a - b, "short of": lambda a, b: b - a}
    seen = 0
    for seed in range(200):
        said = expression(random.Random(seed), number)
        for mark, work in worked.items():
            parts = said.split(f" {mark} ")
            if len(parts) == 2:
                assert work(value(parts[0]), value(parts[1])) == pytest.approx(number)
                seen += 1
    assert seen > 20


def test_the_prose_lists_every_column_and_not_in_the_order_of_the_model() -> None:
    orders = []
    for index in range(4):
        one = made("small_near_A", index)
        listed = re.findall(r"^(x\d+); ", one.prose.text, re.MULTILINE)
        names = [column.name for column in one.sabotaged.columns]
        assert sorted(listed) == sorted(names)
        orders.append(listed == names)
    assert not all(orders)


def test_the_prose_names_no_constraint_and_a_column_only_in_the_register() -> None:
    for index in range(4):
        remarks = made("small_near_A", index).prose.text.partition("\nRemarks\n")[2]
        assert not re.search(r"\b[xr]\d+\b", remarks)


def test_every_requirement_rests_on_passages_of_the_text() -> None:
    for form in ("prose", "table"):
        one = made("small_near_A")
        told = one.specification(form)  # type: ignore[arg-type]
        for row in one.original.rows:
            assert told.sources[f"row:{row.name}"]
        for passages in told.sources.values():
            assert all(passage in told.text for passage in passages)


def test_most_requirements_need_more_than_one_remark() -> None:
    counts = [
        len(made("small_near_A", index).prose.sources[f"row:{row.name}"])
        for index in range(6)
        for row in made("small_near_A", index).original.rows
    ]
    assert sum(count > 1 for count in counts) > 0.5 * len(counts)


def test_a_row_that_nobody_asked_for_rests_on_nothing() -> None:
    one = next(
        one for one in (made("tiny_near_D", index) for index in range(60)) if one.faults[0].form == "foreign_row"
    )
    (element,) = one.elements
    assert element not in one.prose.sources
    assert element not in one.table.sources


def test_the_table_says_each_row_of_the_original() -> None:
    one = made("small_near_A")
    lines = [line for line in one.table.text.splitlines() if line.startswith("  - ")]
    assert len(lines) == len(one.original.rows)


def test_figures_of_the_model_seldom_stand_in_the_prose_as_they_are() -> None:
    shown, total = 0, 0
    for index in range(6):
        one = made("small_near_A", index)
        told = {
            float(found) for found in re.findall(r"(?<![\w.])\d+(?:\.\d+)?", one.prose.text.partition("Remarks")[2])
        }
        figures = [row.rhs for row in one.original.rows if row.rhs > 12]
        shown += sum(figure in told for figure in figures)
        total += len(figures)
    assert shown < 0.4 * total
