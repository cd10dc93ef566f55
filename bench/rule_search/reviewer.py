"""A simulated policy: it goes by the checklist and by the rules of its book, and errs at rates that are known.

A draw follows each rule with a probability of its own, misjudges a ticket now and then, and tosses a coin over a ticket
that shows the same thing good and bad. It reads the rules from its playbook and what they mean from their predicates; a
rule without one it does not understand. The truth of a ticket it never looks at.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import compress, product
from math import comb
from typing import Any

from whet.envs.groupqc.pack.schema import TicketVerdict
from whet.envs.groupqc.summaries.counts import read_summary
from whet.envs.groupqc.verdict.conventions import judge_with
from whet.envs.groupqc.verdict.evidence import TicketEvidence
from whet.envs.groupqc.verdict.language import TicketLanguage
from whet.envs.groupqc.verdict.lines import write_verdict
from whet.envs.groupqc.verdict.rules import stations
from whet.keys import digest
from whet.models.base import FREE, Model, Request
from whet.types import Playbook, Reply, Task, Usage

Facts = tuple[tuple[bool, frozenset[tuple[str, str]]], ...]
"""What one rule does at each station: whether it is violated, and the faults that it lets pass there."""


@dataclass(slots=True)
class Reviewer:
    """One policy. `miss`: how often a draw overlooks a rule; `slip`: turns a verdict; `mute`: says nothing."""

    language: TicketLanguage
    miss: float = 0.1
    slip: float = 0.03
    mute: float = 0.01
    _faults: dict[tuple[Any, ...], tuple[frozenset[tuple[str, str]], ...]] = field(default_factory=dict)
    _doubts: dict[tuple[Any, ...], bool] = field(default_factory=dict)
    _facts: dict[tuple[Any, ...], Facts] = field(default_factory=dict)
    _readings: dict[tuple[Any, ...], tuple[list[Any], str, str]] = field(default_factory=dict)
    _named: dict[int, tuple[int, Any]] = field(default_factory=dict)
    _numbers: dict[str, int] = field(default_factory=dict)

    def call(self, task: Task, playbook: Playbook, key: str) -> TicketVerdict | None:
        """One draw: the same key gives the same one."""
        rng = random.Random(int(key[:16], 16))
        if rng.random() < self.mute:
            return None
        if self._in_doubt(task):
            return "pass" if rng.random() < 0.5 else "fail"
        followed = [rule for rule in playbook.told if rule.predicate is not None and rng.random() >= self.miss]
        passes = self.passes(task, [rule.predicate for rule in followed])
        return "pass" if passes != (rng.random() < self.slip) else "fail"

    def passes(self, task: Task, predicates: list[Any]) -> bool:
        """What checklist and rules give together, without any error."""
        facts = [self._fact(task, predicate) for predicate in predicates]
        for station, faults in enumerate(self._wrong(task)):
            if any(fact[station][0] for fact in facts):
                return False
            if faults and not faults <= frozenset().union(*(fact[station][1] for fact in facts)):
                return False
        return True

    def release(self, task: Task, predicates: list[Any], votes: int) -> float:
        """The chance that a vote of so many draws passes a ticket: exact, from the rates and not from draws."""
        said = 0.5 if self._in_doubt(task) else self._chance(task, predicates)
        said = said if self._in_doubt(task) else said * (1.0 - self.slip) + (1.0 - said) * self.slip
        return sum(
            comb(votes, read)
            * (1.0 - self.mute) ** read
            * self.mute ** (votes - read)
            * sum(comb(read, k) * said**k * (1.0 - said) ** (read - k) for k in range(read // 2 + 1, read + 1))
            for read in range(1, votes + 1)
        )

    def _chance(self, task: Task, predicates: list[Any]) -> float:
        """How often a draw that may overlook each rule passes a ticket, before any slip."""
        about = [
            predicate
            for predicate in predicates
            if any(violated or waived for violated, waived in self._fact(task, predicate))
        ]
        return sum(
            (1.0 - self.miss) ** sum(kept) * self.miss ** (len(kept) - sum(kept))
            for kept in product((True, False), repeat=len(about))
            if self.passes(task, list(compress(about, kept)))
        )

    def _wrong(self, task: Task) -> tuple[frozenset[tuple[str, str]], ...]:
        """The needs that are not met, station by station."""
        key = _shown(task)
        known = self._faults.get(key)
        if known is None:
            found = judge_with(self.language.pack, self.language.mission, (), *self._seen(task))
            known = self._faults[key] = tuple(
                frozenset((each.need.id, each.status) for each in case.findings if each.status in ("defect", "absent"))
                for case in found.cases
            )
        return known

    def _fact(self, task: Task, predicate: Any) -> Facts:
        key = (*_shown(task), self._name(predicate))
        known = self._facts.get(key)
        if known is None:
            rule = self.language.convention(predicate)
            found = judge_with(self.language.pack, self.language.mission, (rule,), *self._seen(task))
            lets = frozenset({(rule.need, rule.status)})
            known = self._facts[key] = tuple(
                (bool(case.violated), lets if case.waived else frozenset()) for case in found.cases
            )
        return known

    def _name(self, predicate: Any) -> int:
        """A number for a predicate, the same for equal ones. It is kept, so that nothing else takes its place."""
        known = self._named.get(id(predicate))
        if known is None:
            number = self._numbers.setdefault(repr(predicate), len(self._numbers))
            known = self._named[id(predicate)] = (number, predicate)
        return known[0]

    def _in_doubt(self, task: Task) -> bool:
        """Whether something that a need asks for is shown good and bad at once."""
        key = _shown(task)
        known = self._doubts.get(key)
        if known is None:
            pack, mission = self.language.pack, self.language.mission
            readings, site, date = self._seen(task)
            groups = stations(pack, mission, readings).values()
            evidences = [TicketEvidence(pack, photos, site, date) for photos in groups]
            known = self._doubts[key] = any(
                len(
                    {
                        value
                        for _, reading in shown.photos
                        for entry in reading.of(need.category)
                        for value in entry.values(name)
                    }
                )
                > 1
                for shown in evidences
                for need in mission.needs
                for name in need.good
            )
        return known

    def _seen(self, task: Task) -> tuple[list[Any], str, str]:
        known = self._readings.get(_shown(task))
        if known is None:
            readings = [read_summary(self.language.pack, text) for text in task.data["summaries"]]
            known = self._readings[_shown(task)] = (readings, task.data.get("site", ""), task.data.get("submitted", ""))
        return known


def _shown(task: Task) -> tuple[Any, ...]:
    return (task.split, task.index)


class ReviewerModel(Model):
    """The simulated policy as a model, for runs with an engine and a ledger."""

    price = FREE
    places_playbook = True
    sees_task = True
    tells_all = True

    def __init__(self, reviewer: Reviewer) -> None:
        self.reviewer = reviewer
        self.name = "simulated:reviewer"
        self.fingerprint = digest("reviewer", reviewer.miss, reviewer.slip, reviewer.mute)

    async def complete(self, request: Request) -> Reply:
        assert request.task is not None
        call = self.reviewer.call(request.task, request.playbook or Playbook(), request.attempt)
        return Reply(said(call, self.reviewer.language.pack.language), usage=Usage(1, 0, 0, 0, 0.0))


def said(call: TicketVerdict | None, language: str) -> str:
    return "no idea" if call is None else write_verdict(call, "Overall: so it stands", language)
