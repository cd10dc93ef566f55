"""A shop that answers by what a book says to the letter, for whoever looks at a change where its rules speak."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from rules_world import CrateLanguage, SpokenCrates

from whet.evals.metric import Metric
from whet.gate import Guard, PairedGate
from whet.keys import policy_digest, seed_for
from whet.learn.rules.book import Operation, RuleBook
from whet.learn.rules.predicate import verdict_by
from whet.learn.rules.records import Branch, OperationRecord
from whet.types import Policy, Rule, Score, Task, Ticket


class LetterShop:
    """Answers by what a book says to the letter, and counts what it is asked.

    `fails`: whether a crate truly fails. `slip`: how often an answer is turned, by chance.
    """

    def __init__(self, fails: Callable[[Task], bool], select: int = 200, size: int = 1000, slip: float = 0.0) -> None:
        self.env = SpokenCrates(select=size)
        self.select = tuple(range(select))
        self.gate = PairedGate(pace="brief", guards=(Guard(Metric("false_release"), 0.05, "down", 0.9, "failing"),))
        self.fails = fails
        self.slip = slip
        self.asked: list[int] = []

    def score(self, policy: Policy, index: int, draw: str = "") -> Score:
        task = self.env.task("select", index)
        released = verdict_by(CrateLanguage(), policy.playbook.told, task, "fail") == "pass"
        luck = random.Random(seed_for("letter shop", policy_digest(policy), index, draw)).random()
        released = released != (luck < self.slip)
        failing = self.fails(task)
        parts = {"false_release": float(released and failing), "failing": float(failing)}
        return Score(int(released != failing), 1.0, 1.0, parts)

    async def roll(
        self, purpose: str, policy: Policy, tasks: Sequence[int], split: str, draws: int = 1
    ) -> tuple[Any, ...]:
        self.asked += tasks
        return tuple(
            SimpleNamespace(
                ticket=Ticket(purpose, "select", index, draw), score=self.score(policy, index, f"{purpose} {draw}")
            )
            for draw in range(draws)
            for index in tasks
        )


def brought(shop: LetterShop, operation: Operation, rules: Sequence[Rule]) -> tuple[Branch, OperationRecord]:
    """One operation on a book of crates, before any gate."""
    book = RuleBook((Rule("G0", "A broken seal fails."), *rules), 9)
    after = book.apply(operation, 1)
    assert isinstance(after, RuleBook)
    policies = [Policy("m", playbook=each.within(Policy("m").playbook)) for each in (book, after)]
    branch = Branch("b0", policies[0], book, shop.gate.open(len(shop.select)))
    return branch, OperationRecord(1, "b0", 0, operation, book=after, policy=policies[1])


def removal(rule: str = "G1") -> Operation:
    return Operation("remove", target=rule)
