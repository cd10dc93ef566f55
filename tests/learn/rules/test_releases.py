"""What a change could release: looked at where its rules speak, on the gate's tickets and on further ones."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from rules_world import BLUE, STRICT, CrateLanguage, SpokenCrates, config

from whet.evals.metric import Metric
from whet.gate import Decision, Draw, Guard, PairedGate
from whet.learn.rules.book import Operation, RuleBook
from whet.learn.rules.predicate import verdict_by
from whet.learn.rules.records import Branch, OperationRecord, ReleaseReading
from whet.learn.rules.releases import ReleaseWatch, further_tickets
from whet.types import Policy, Rule, Score, Task, Ticket

SOUTH = {"verdict": "pass", "site": "south"}


class Shop:
    """Answers by what a book says to the letter, and counts what it is asked. `fails`: whether a crate truly fails."""

    def __init__(self, fails: Any, select: int = 200, size: int = 1000) -> None:
        self.env = SpokenCrates(select=size)
        self.select = tuple(range(select))
        self.gate = PairedGate(pace="brief", guards=(Guard(Metric("false_release"), 0.05, "down", 0.9, "failing"),))
        self.fails = fails
        self.asked: list[int] = []

    def score(self, policy: Policy, index: int) -> Score:
        task = self.env.task("select", index)
        released = verdict_by(CrateLanguage(), policy.playbook.told, task, "fail") == "pass"
        failing = self.fails(task)
        parts = {"false_release": float(released and failing), "failing": float(failing)}
        return Score(int(released != failing), 1.0, 1.0, parts)

    async def roll(self, purpose: str, policy: Policy, tasks: Sequence[int], split: str) -> tuple[Any, ...]:
        self.asked += tasks
        return tuple(
            SimpleNamespace(ticket=Ticket(purpose, "select", index), score=self.score(policy, index)) for index in tasks
        )


def read(shop: Shop, operation: Operation, rules: Sequence[Rule], **bounds: Any) -> ReleaseReading | None:
    """The reading of one operation on a book, after a gate that drew both books once on every ticket."""
    settings = config(bounds=bounds)
    book = RuleBook((Rule("G0", "A broken seal fails."), *rules), 9)
    after = book.apply(operation, 1)
    assert isinstance(after, RuleBook)
    policies = [Policy("m", playbook=each.within(Policy("m").playbook)) for each in (book, after)]
    draws = [
        (Draw(arm, task, 0), shop.gate.read(shop.score(policy, task)))
        for arm, policy in zip(("incumbent", "candidate"), policies, strict=True)
        for task in shop.select
    ]
    decision = Decision("accept", "paired", "gain_shown", "", draws=tuple(draws))
    branch = Branch("b0", policies[0], book, shop.gate.open(len(shop.select)))
    record = OperationRecord(1, "b0", 0, operation, book=after, policy=policies[1])
    record.judgement = SimpleNamespace(decision=decision)  # type: ignore[assignment]
    return asyncio.run(ReleaseWatch.of(shop, settings).read(branch, record))  # type: ignore[arg-type]


def removal(rule: str = "G1") -> Operation:
    return Operation("remove", target=rule)


def unwritten(task: Task) -> bool:
    """Broken seals fail, and so do fragile blue crates of the north, which no rule says."""
    hidden = (task.data["colour"], task.data["site"], task.data["load"]) == ("blue", "north", "fragile")
    return hidden or task.data["seal"] == "broken"


def test_a_removal_that_releases_what_no_other_rule_fails_is_refused() -> None:
    found = read(Shop(unwritten), removal(), [Rule("G1", STRICT, predicate=BLUE)], confirm=400)
    assert found is not None
    assert found.rise > 0.03
    assert not found.holds
    assert "false releases move by +0." in str(found)


def test_it_holds_once_another_rule_fails_the_same() -> None:
    hidden = {"verdict": "fail", "colour": "blue", "site": "north", "load": "fragile"}
    rules = [Rule("G1", STRICT, predicate=BLUE), Rule("G2", "Such a crate fails.", predicate=hidden)]
    found = read(Shop(unwritten), removal(), rules, confirm=400)
    assert found is not None
    assert found.holds
    assert found.rise == 0.0


def test_further_tickets_are_drawn_only_where_the_change_speaks_and_the_candidate_only_where_they_fail() -> None:
    shop = Shop(lambda task: task.data["seal"] == "broken")
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
            Shop(lambda task: task.data["seal"] == "broken"), removal(), [Rule("G1", STRICT, predicate=BLUE)], confirm=n
        )
        for n in (0, 800)
    )
    assert few is not None
    assert many is not None
    assert many.upper < few.upper / 3
    assert few.holds, "with few tickets the limit is what no release at all can meet"


def test_a_rule_that_says_pass_is_looked_at_where_nothing_else_blocks() -> None:
    freeing = Operation("upsert", "Crates from the south pass.", predicate=SOUTH)
    shop = Shop(lambda task: task.data["seal"] == "broken")
    found = read(shop, freeing, [], confirm=400)
    assert found is not None
    assert found.rise > 0.3
    assert found.hopeless
    assert not found.holds


@pytest.mark.parametrize("predicate", [None, {"verdict": "fail", "colour": "red"}])
def test_what_does_not_say_where_it_speaks_and_what_can_release_nothing_costs_no_draw(predicate: Any) -> None:
    shop = Shop(unwritten)
    found = read(shop, Operation("upsert", "Red crates fail.", predicate=predicate), [], confirm=400)
    assert found is None or (found.holds and found.tickets == 0)
    assert not shop.asked


def test_further_tickets_are_none_of_the_gates() -> None:
    shop, settings = Shop(unwritten, select=90, size=100), config(bounds={"confirm": 50})
    assert sorted(further_tickets(shop, settings)) == list(range(90, 100))  # type: ignore[arg-type]
    assert further_tickets(shop, config(bounds={"confirm": 0})) == ()  # type: ignore[arg-type]
