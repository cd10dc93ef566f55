"""The desk at which a ticket that nobody has judged is put before a policy: the words around it, and the reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from whet.envs.base import Play, ask
from whet.envs.groupqc.pack.file import load_packs
from whet.envs.groupqc.tickets.open import OpenTicket
from whet.envs.groupqc.tickets.prompt import PromptRules, estimated_tokens, evidence, messages, rule_slots
from whet.envs.groupqc.verdict.lines import read_verdict, verdict_grammar
from whet.errors import WhetError, nearest
from whet.keys import digest
from whet.types import Label, Reply, Score, Shape, Split, Task, failed


class TicketDesk:
    """How tickets of some packs are asked about. Labels are nowhere: a task has no truth, and only form is graded."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        packs = load_packs(_listed(given.get("pack", "")))
        self.missions = {mission.name: (pack, mission) for pack in packs for mission in pack.missions}
        self.wanted = _listed(given.get("mission", ""))
        """The missions that are asked for; none: all of them."""
        for name in self.wanted:
            if name not in self.missions:
                raise WhetError(f"there is no mission {name!r}.{nearest(name, self.missions)}")
        self._rules: PromptRules = given.get("rules", "seed")
        self._constrained: bool = given.get("constrained", False)
        self._max_prompt: int = given.get("max_prompt", 8192)
        self.packs = [pack.digest for pack in packs]
        self.digest = digest([self.packs, self._rules, self._constrained])

    def task(self, ticket: OpenTicket, split: Split, index: int) -> Task:
        pack, mission = self.missions[ticket.mission]
        summaries = evidence(pack, mission, ticket)
        asked = messages(pack, mission, summaries, self._rules, ticket.site, ticket.submitted)
        data = {"mission": mission.name, "images": list(ticket.images), "summaries": list(summaries)}
        data |= {"site": ticket.site, "submitted": ticket.submitted}
        return Task(split, index, Label(mission.name), asked, None, data)

    def play(self, task: Task) -> Play:
        language = self.missions[task.data["mission"]][0].language
        shape = Shape(grammar=verdict_grammar(language)) if self._constrained else Shape()
        told = (task.data["site"], task.data["submitted"])
        slots = rule_slots(*self.missions[task.data["mission"]], self._rules, *told)
        reply: Reply = yield from ask(task.messages, shape=shape, corrections=0, rules=slots)
        reading = read_verdict(reply.text, cut_off=reply.truncated)
        if not reading.valid:
            return failed(reading.code, "", format=0.0)
        return Score(1, 1.0, 1.0, {"format": 1.0}, "not_verified", "nobody has judged this ticket")

    def over_length(self, ticket: OpenTicket) -> bool:
        """Whether the prompt of a ticket is longer than allowed."""
        return self.too_long(self.task(ticket, "test", 0))

    def too_long(self, task: Task) -> bool:
        letters = sum(len(message.text) for message in task.messages)  # no letter is more than a token
        return letters > self._max_prompt and estimated_tokens(task.messages) > self._max_prompt


def _listed(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) and given else tuple(given)
