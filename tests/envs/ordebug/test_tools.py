"""The tools of practitioners: further contradictions, relaxations, multipliers, and a look into the specification."""

from __future__ import annotations

import re

from envs.ordebug.puzzles import BAKERY, acts, crossed, driven, flipped

from whet.envs.base import Messages
from whet.envs.ordebug.edits import SetBounds, SetRhs, apply_all
from whet.envs.ordebug.iis import another_iis, find_iis
from whet.envs.ordebug.instance import Instance
from whet.envs.ordebug.prompt import FOUND_AT_ONCE, found_text
from whet.envs.ordebug.solver import farkas, relaxation
from whet.types import Ask


def answer(one: Instance, line: str) -> str:
    """What the play says to one action."""
    heard: list[str] = []
    replies = iter(acts(line, "submit"))

    def reply(said: Messages, asked: Ask) -> str:
        heard.append(said[-1].text)
        return next(replies)

    driven(one, reply)
    return heard[-1]


def test_another_subsystem_leaves_something_of_the_first_out() -> None:
    model = apply_all(BAKERY, [SetRhs("r3", 200.0), SetRhs("r4", 300.0)])
    shown = find_iis(model)
    assert shown is not None
    other = another_iis(model, shown)
    assert other is not None
    assert set(other.row_names) != set(shown.row_names)


def test_where_there_is_one_contradiction_there_is_no_other() -> None:
    assert "no other" in answer(flipped(), "another_iis")


def test_a_relaxation_blames_bounds_too() -> None:
    found = relaxation(SetBounds("x1", 60.0, 40.0).apply(BAKERY))
    assert found.total > 0
    assert any("bound of x1" in name for name, _ in found.rows)
    assert "bound of x1 by" in answer(crossed(), "relaxation")


def test_multipliers_prove_that_no_point_can_do_it() -> None:
    """The weighted sum of the rows, at its best over the bounds, stays short of the weighted right-hand sides."""
    model = flipped().sabotaged
    proof = farkas(model)
    assert proof
    weights: dict[str, float] = {}
    for name, value in proof.items():
        for column, factor in model.row(name).terms:
            weights[column] = weights.get(column, 0.0) + value * factor
    needed = sum(value * model.row(name).rhs for name, value in proof.items())
    best = sum(
        max(weight * model.column(name).lower, weight * model.column(name).upper) for name, weight in weights.items()
    )
    least = sum(
        min(weight * model.column(name).lower, weight * model.column(name).upper) for name, weight in weights.items()
    )
    assert best < needed - 1e-6 or least > needed + 1e-6
    assert re.search(r"Multipliers: .*r2", answer(flipped(), "farkas"))


def test_a_feasible_model_has_no_multipliers() -> None:
    assert farkas(BAKERY) is None


def test_find_shows_lines_with_all_the_words() -> None:
    text = "\n".join([f"oats for Arden {n}" for n in range(20)] + ["rye for Brack"])
    assert found_text(text, ("rye", "brack")) == "rye for Brack"
    assert len(found_text(text, ("oats",)).splitlines()) == FOUND_AT_ONCE + 1
    assert "No line" in found_text(text, ("wheat",))
    assert "Work: 2 x1 + x2" in answer(flipped(), "find work hours")
