"""What a change could release: looked at where its rules speak, on the gate's tickets and on further ones."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from rules_shop import LetterShop, brought, removal
from rules_world import BLUE, STRICT, config

from whet.gate import Decision, Draw
from whet.learn.rules.book import Operation
from whet.learn.rules.further import further_tickets
from whet.learn.rules.records import ReleaseReading
from whet.learn.rules.releases import ReleaseWatch
from whet.types import Rule, Task

SOUTH = {"verdict": "pass", "site": "south"}


def read(shop: LetterShop, operation: Operation, rules: Sequence[Rule], **bounds: Any) -> ReleaseReading | None:
    """The reading of one operation on a book, after a gate that drew both books once on every ticket."""
    branch, record = brought(shop, operation, rules)
    assert record.policy is not None
    draws = [
        (Draw(arm, task, 0), shop.gate.read(shop.score(policy, task)))
        for arm, policy in zip(("incumbent", "candidate"), (branch.policy, record.policy), strict=True)
        for task in shop.select
    ]
    decision = Decision("accept", "paired", "gain_shown", "", draws=tuple(draws))
    record.judgement = SimpleNamespace(decision=decision)  # type: ignore[assignment]
    watch = ReleaseWatch.of(shop, config(bounds=bounds))  # type: ignore[arg-type]
    return asyncio.run(watch.read(branch, record))


def unwritten(task: Task) -> bool:
    """Broken seals fail, and so do fragile blue crates of the north, which no rule says."""
    hidden = (task.data["colour"], task.data["site"], task.data["load"]) == ("blue", "north", "fragile")
    return hidden or task.data["seal"] == "broken"


def test_a_removal_that_releases_what_no_other_rule_fails_is_refused() -> None:
    found = read(LetterShop(unwritten), removal(), [Rule("G1", STRICT, predicate=BLUE)], confirm=400)
    assert found is not None
    assert found.rise > 0.03
    assert not found.holds
    assert "false releases move by +0." in str(found)


def test_it_holds_once_another_rule_fails_the_same() -> None:
    hidden = {"verdict": "fail", "colour": "blue", "site": "north", "load": "fragile"}
    rules = [Rule("G1", STRICT, predicate=BLUE), Rule("G2", "Such a crate fails.", predicate=hidden)]
    found = read(LetterShop(unwritten), removal(), rules, confirm=400)
    assert found is not None
    assert found.holds
    assert found.rise == 0.0


def test_further_tickets_are_drawn_only_where_the_change_speaks_and_the_candidate_only_where_they_fail() -> None:
    shop = LetterShop(lambda task: task.data["seal"] == "broken")
    found = read(shop, removal(), [Rule("G1", STRICT, predicate=BLUE)], confirm=400)
    assert found is not None
    assert found.holds
    crates = [shop.env.task("select", index).data for index in shop.asked]
    assert crates
    assert all(crate["colour"] == "blue" and crate["seal"] == "whole" for crate in crates)
    assert not set(shop.asked) & set(shop.select)
    assert len(shop.asked) == len(set(shop.asked)), "none of them fails, so the candidate is drawn on none"


def test_more_tickets_rule_out_less() -> None:
    few, many = (
        read(
            LetterShop(lambda task: task.data["seal"] == "broken"),
            removal(),
            [Rule("G1", STRICT, predicate=BLUE)],
            confirm=n,
        )
        for n in (0, 800)
    )
    assert few is not None
    assert many is not None
    assert many.upper < few.upper / 3
    assert few.holds, "with few tickets the limit is what no release at all can meet"


def test_a_rule_that_says_pass_is_looked_at_where_nothing_else_blocks() -> None:
    freeing = Operation("upsert", "Crates from the south pass.", predicate=SOUTH)
    shop = LetterShop(lambda task: task.data["seal"] == "broken")
    found = read(shop, freeing, [], confirm=400)
    assert found is not None
    assert found.rise > 0.3
    assert found.hopeless
    assert not found.holds


@pytest.mark.parametrize("predicate", [None, {"verdict": "fail", "colour": "red"}])
def test_what_does_not_say_where_it_speaks_and_what_can_release_nothing_costs_no_draw(predicate: Any) -> None:
    shop = LetterShop(unwritten)
    found = read(shop, Operation("upsert", "Red crates fail.", predicate=predicate), [], confirm=400)
    assert found is None or (found.holds and found.tickets == 0)
    assert not shop.asked


def test_further_tickets_are_none_of_the_gates() -> None:
    shop, settings = LetterShop(unwritten, select=90, size=100), config(bounds={"confirm": 50})
    assert sorted(further_tickets(shop, settings)) == list(range(90, 100))  # type: ignore[arg-type]
    assert further_tickets(shop, config(bounds={"confirm": 0})) == ()  # type: ignore[arg-type]


def test_an_early_look_has_no_easier_limit_and_a_higher_bar() -> None:
    """One release in 4,000 tickets: an early look does not rule out enough, all of them do."""
    shop = LetterShop(lambda task: task.data["seal"] == "broken", select=60, size=4060)
    leaving = removal(), [Rule("G1", STRICT, predicate=BLUE)]
    few = read(shop, *leaving, confirm=700)
    many = read(shop, *leaving, confirm=4000)
    assert few is not None
    assert many is not None
    assert many.limit == 0.0085 < few.limit
    assert many.failing < few.failing * 3, "nothing speaks against it, so a look that is not the last is enough"
    assert many.upper <= many.limit
