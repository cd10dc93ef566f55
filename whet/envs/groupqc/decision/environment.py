"""Stage-B for tickets that nobody has judged: `groupqc/open:FILE.jsonl`. No task has a truth; only form is graded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from whet.envs.arguments import Argument, accept
from whet.envs.base import Baseline, Environment, Play, ask
from whet.envs.fingerprint import fingerprint
from whet.envs.groupqc.baselines import baselines
from whet.envs.groupqc.feedback import ticket_verdict
from whet.envs.groupqc.pack.file import load_packs
from whet.envs.groupqc.pack.schema import Mission, Pack
from whet.envs.groupqc.tickets.file import Reject
from whet.envs.groupqc.tickets.open import OpenLine, OpenTicket, read_open
from whet.envs.groupqc.tickets.prompt import PromptRules, estimated_tokens, evidence, messages, rule_slots
from whet.envs.groupqc.verdict.lines import read_verdict, verdict_grammar
from whet.errors import WhetError, nearest
from whet.keys import digest
from whet.types import Label, Reply, Rollout, Score, Shape, Split, Task, failed

NAME = "groupqc/open"

ARGUMENTS = (
    Argument("pack", str | list[str], "", "packs: bbu, rru, firesafety or .toml files; by default all that come along"),
    Argument("mission", str | list[str], "", "only these missions"),
    Argument("rules", PromptRules, "seed", "'none' leaves a mission's rules out of the prompt, for a playbook"),
    Argument("constrained", bool, False, "hold the decoder to the two lines by a grammar, where the model can be"),
    Argument("max_prompt", int, 8192, "tickets whose prompt has more tokens (estimated) are left out and reported"),
)


class OpenTickets(Environment):
    """Tickets of Stage-A files, labelled or not: no label is looked at."""

    chooses = True
    tie = "fail"

    def __init__(self, source: str, args: Mapping[str, Any]) -> None:
        if not source:
            raise WhetError(f"{NAME} needs a Stage-A file: {NAME}:FILE.jsonl")
        self._made_from = (source, dict(args))
        self.name = f"{NAME}:{Path(source).name}"
        given = accept(self.name, ARGUMENTS, args)
        packs = load_packs(_listed(given.get("pack", "")))
        self._missions = {mission.name: (pack, mission) for pack in packs for mission in pack.missions}
        wanted = _listed(given.get("mission", ""))
        for name in wanted:
            if name not in self._missions:
                raise WhetError(f"there is no mission {name!r}.{nearest(name, self._missions)}")
        self._rules: PromptRules = given.get("rules", "seed")
        self._constrained: bool = given.get("constrained", False)
        self._max_prompt: int = given.get("max_prompt", 8192)
        read = read_open(Path(source), self._missions, wanted=wanted)
        self.about = f"tickets of {Path(source).name} that nobody has judged"
        over = [line for line in read.lines if self._tokens(line.ticket) > self._max_prompt]
        left = {id(line) for line in over}
        self.lines: tuple[OpenLine, ...] = tuple(line for line in read.lines if id(line) not in left)
        self.rejects: tuple[Reject, ...] = (*read.rejects, *map(_too_long, over))
        self.excluded: tuple[str, ...] = ()
        self.voter = digest([[pack.digest for pack in packs], self._rules, self._constrained])
        """What a verdict depends on besides its ticket and the policy: the words around it."""
        self.fingerprint = fingerprint(NAME, self, arguments=given, data=(read.digest, [pack.digest for pack in packs]))

    def __reduce__(self) -> tuple[Any, ...]:
        return OpenTickets, self._made_from

    def size(self, split: Split) -> int | None:
        return len(self.lines) if split == "test" else 0

    def label(self, split: Split, index: int) -> Label:
        return Label(self.open_ticket(index).mission)

    def open_ticket(self, index: int) -> OpenTicket:
        return self.lines[index].ticket

    def mission(self, name: str) -> tuple[Pack, Mission]:
        return self._missions[name]

    def task(self, split: Split, index: int) -> Task:
        ticket = self.open_ticket(index)
        pack, mission = self._missions[ticket.mission]
        summaries = evidence(pack, mission, ticket)
        asked = messages(pack, mission, summaries, self._rules, ticket.site, ticket.submitted)
        data = {"mission": mission.name, "images": list(ticket.images), "summaries": list(summaries)}
        data |= {"site": ticket.site, "submitted": ticket.submitted}
        return Task(split, index, self.label(split, index), asked, None, data)

    def play(self, task: Task) -> Play:
        language = self._missions[task.data["mission"]][0].language
        shape = Shape(grammar=verdict_grammar(language)) if self._constrained else Shape()
        told = (task.data["site"], task.data["submitted"])
        slots = rule_slots(*self._missions[task.data["mission"]], self._rules, *told)
        reply: Reply = yield from ask(task.messages, shape=shape, corrections=0, rules=slots)
        reading = read_verdict(reply.text, cut_off=reply.truncated)
        if not reading.valid:
            return failed(reading.code, "", format=0.0)
        return Score(1, 1.0, 1.0, {"format": 1.0}, "not_verified", "nobody has judged this ticket")

    def verdict(self, task: Task, rollout: Rollout) -> str | None:
        return ticket_verdict(rollout)

    def baselines(self) -> Mapping[str, Baseline]:
        return {name: policy for name, policy in baselines(self.mission).items() if name != "oracle"}

    def too_long(self, split: Split, index: int) -> bool:
        """None is: they are left out from the start."""
        return False

    @property
    def left_out(self) -> str:
        return f"{len(self.rejects)} lines cannot be asked about" if self.rejects else ""

    def _tokens(self, ticket: OpenTicket) -> int:
        pack, mission = self._missions[ticket.mission]
        summaries = evidence(pack, mission, ticket)
        return estimated_tokens(messages(pack, mission, summaries, self._rules, ticket.site, ticket.submitted))


def _too_long(line: OpenLine) -> Reject:
    said = f"{line.ticket.group_id} with {len(line.ticket.images)} photos is longer than max_prompt"
    return Reject(line.file, line.line, "over_length", said, line.ticket.group_id)


def _listed(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) and given else tuple(given)
