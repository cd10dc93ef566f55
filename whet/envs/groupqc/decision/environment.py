"""Stage-B for tickets that nobody has judged: `groupqc/open:FILE.jsonl`. No task has a truth; only form is graded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from whet.envs.arguments import Argument, accept
from whet.envs.base import Baseline, Environment, Play
from whet.envs.fingerprint import fingerprint
from whet.envs.groupqc.baselines import baselines
from whet.envs.groupqc.decision.desk import TicketDesk
from whet.envs.groupqc.feedback import ticket_verdict
from whet.envs.groupqc.pack.schema import Mission, Pack
from whet.envs.groupqc.tickets.file import Reject
from whet.envs.groupqc.tickets.open import OpenLine, OpenTicket, read_open
from whet.envs.groupqc.tickets.prompt import PromptRules
from whet.errors import WhetError
from whet.types import Label, Rollout, Split, Task

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
        self.desk = TicketDesk(given)
        wanted = self.desk.wanted
        read = read_open(Path(source), self.desk.missions, wanted=wanted)
        self.about = f"tickets of {Path(source).name} that nobody has judged"
        over = [line for line in read.lines if self.desk.over_length(line.ticket)]
        left = {id(line) for line in over}
        self.lines: tuple[OpenLine, ...] = tuple(line for line in read.lines if id(line) not in left)
        self.rejects: tuple[Reject, ...] = (*read.rejects, *map(_too_long, over))
        self.excluded: tuple[str, ...] = ()
        self.voter = self.desk.digest
        """What a verdict depends on besides its ticket and the policy: the words around it."""
        self.fingerprint = fingerprint(NAME, self, arguments=given, data=(read.digest, self.desk.packs))

    def __reduce__(self) -> tuple[Any, ...]:
        return OpenTickets, self._made_from

    def size(self, split: Split) -> int | None:
        return len(self.lines) if split == "test" else 0

    def label(self, split: Split, index: int) -> Label:
        return Label(self.open_ticket(index).mission)

    def open_ticket(self, index: int) -> OpenTicket:
        return self.lines[index].ticket

    def mission(self, name: str) -> tuple[Pack, Mission]:
        return self.desk.missions[name]

    def task(self, split: Split, index: int) -> Task:
        return self.desk.task(self.open_ticket(index), split, index)

    def play(self, task: Task) -> Play:
        return self.desk.play(task)

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


def _too_long(line: OpenLine) -> Reject:
    said = f"{line.ticket.group_id} with {len(line.ticket.images)} photos is longer than max_prompt"
    return Reject(line.file, line.line, "over_length", said, line.ticket.group_id)
