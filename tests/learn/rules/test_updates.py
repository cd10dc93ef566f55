"""Rules of the book are worded anew: on their day, narrower, or as what they should have said."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from whet.envs.groupqc.environment import GroupQc
from whet.learn.rules.book import Operation, RuleBook
from whet.learn.rules.miner import Miner
from whet.learn.rules.types import PoolAttempt, RuleStep, TriedOperation
from whet.learn.sealed import SealedEnvironment
from whet.types import Rule, Task

ROUTE = "Escape route check"
DAY = "2026-07-17"


@pytest.fixture(scope="module")
def route() -> GroupQc:
    return GroupQc("", {"pack": "firesafety", "mission": ROUTE, "conventions": 1})


@pytest.fixture(scope="module")
def tickets(route: GroupQc) -> list[Task]:
    return [route.task("train", index) for index in range(300)]


def book_of(route: GroupQc, **instead: Any) -> RuleBook:
    """A book with every planted convention, some of them with another condition in its place."""
    rules = [Rule("G0", "All must be in order.")]
    for number, planted in enumerate(route.conventions(ROUTE), 1):
        told = {key: value for key, value in planted.as_data().items() if key in ("effect", "need", "status")}
        condition = instead.get(f"C{number}", planted.as_data()["condition"])
        rules.append(Rule(f"G{number}", _said(planted.text, condition), predicate={**told, "condition": condition}))
    return RuleBook(tuple(rules), len(rules))


def _said(text: str, condition: Any) -> str:
    if DAY in text and DAY not in repr(condition):
        return text.replace(DAY, "2026-05-20")
    return text


def brought(route: GroupQc, tickets: list[Task], book: RuleBook, **more: Any) -> list[Operation]:
    language = route.rule_language(tickets[0])
    told = [rule.predicate for rule in book.active if rule.predicate is not None]
    attempts = tuple(PoolAttempt(task, task.truth["label"], language.judged(told, task)) for task in tickets)
    step = RuleStep(SealedEnvironment(route), book, (), attempts, mission=ROUTE, **more)
    found: Any = asyncio.run(Miner().propose(step, 4))
    return list(found.operations)


def moved_day(route: GroupQc) -> Any:
    return _replaced(route.conventions(ROUTE)[4].as_data()["condition"])


def _replaced(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: "2026-05-20" if key == "before" else _replaced(value) for key, value in data.items()}
    return [_replaced(part) for part in data] if isinstance(data, list) else data


def test_a_right_book_is_left_alone(route: GroupQc, tickets: list[Task]) -> None:
    assert brought(route, tickets, book_of(route)) == []


def test_a_rule_whose_day_is_wrong_is_moved(route: GroupQc, tickets: list[Task]) -> None:
    book = book_of(route, C5=moved_day(route))
    found = [operation for operation in brought(route, tickets, book) if operation.op == "update"]
    assert [operation.target for operation in found] == ["G5"]
    day = found[0].predicate["condition"]["any"][0]["not"]["before"]  # type: ignore[index]
    assert "2026-07-10" <= day <= "2026-07-24"
    assert day in found[0].text
    assert not found[0].evidence
    tried = TriedOperation(found[0], 1, "rejected", book=book.told)
    assert found[0] not in brought(route, tickets, book, tried=(tried,))


def test_a_rule_that_is_too_wide_is_narrowed_once_its_removal_was_refused(route: GroupQc, tickets: list[Task]) -> None:
    """The strict rule fails what a convention of one kind of site fails, at every site: it hides that convention."""
    wide = {"not": {"category": "corridor", "noted": True}}
    book = book_of(route, C3=wide)
    first = brought(route, tickets, book)
    assert ("remove", "G3") in [(operation.op, operation.target) for operation in first]
    assert ("update", "G3") not in [(operation.op, operation.target) for operation in first]
    refused = TriedOperation(Operation("remove", target="G3"), 1, "harmful", book=book.told)
    then = next(each for each in brought(route, tickets, book, tried=(refused,)) if each.target == "G3")
    assert then.op == "update"
    assert then.predicate == {"effect": "require", "condition": {"any": [{"not": {"site": "clinic"}}, wide]}}


def test_what_a_gate_refused_for_other_tickets_may_come_again_beside_another_book(route: GroupQc) -> None:
    """One whose gain was shown where it speaks has an effect above 0, whatever the mean over all tickets was."""
    book = book_of(route)
    other = RuleBook(book.rules[:-1], book.fresh)
    shown = TriedOperation(Operation("upsert", "Fail where a door is open."), 1, "rejected", 0.4, book.told)
    assert shown.bars(book)
    assert not shown.bars(other)
    assert replace(shown, effect=-0.01).bars(other)
