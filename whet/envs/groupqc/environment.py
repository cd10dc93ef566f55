"""Stage-B as an environment: one ticket, text only, and a verdict in two lines.

`groupqc` draws tickets from the generator; `groupqc:FILE.jsonl` takes those of a Stage-A file. `groupqc/photo` is
Stage-A, in `photos/`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from whet.envs.arguments import Argument, accept
from whet.envs.base import Baseline, Environment, Play, ask
from whet.envs.fingerprint import fingerprint
from whet.envs.groupqc.baselines import baselines
from whet.envs.groupqc.feedback import ticket_feedback, ticket_verdict
from whet.envs.groupqc.pack.file import load_packs
from whet.envs.groupqc.pack.schema import Mission, Pack
from whet.envs.groupqc.records import SiteTicket
from whet.envs.groupqc.tickets.file import Reject, TicketFile, TicketLine, read_exclusions, read_tickets
from whet.envs.groupqc.tickets.line import json_line
from whet.envs.groupqc.tickets.prompt import PromptRules, estimated_tokens, evidence, messages, rule_slots, seed_rules
from whet.envs.groupqc.tickets.source import FiledTickets, GeneratedTickets, Missions, TicketSource, refuse_rejects
from whet.envs.groupqc.verdict.conventions import Convention
from whet.envs.groupqc.verdict.grounds import Vocabulary, grounds
from whet.envs.groupqc.verdict.language import TicketLanguage
from whet.envs.groupqc.verdict.lines import VerdictReading, read_verdict, verdict_grammar
from whet.envs.groupqc.verdict.rewards import Scheme, VerdictCosts, score
from whet.envs.groupqc.world.noise import NO_NOISE, REALISTIC, Noise
from whet.errors import WhetError, nearest
from whet.files import write_atomically
from whet.types import Feedback, Label, Message, Reply, Rollout, Rule, RuleSlot, Score, Shape, Split, Task

NAME = "groupqc"

SHARED = (
    Argument("pack", str | list[str], "", "packs: bbu, rru, firesafety or .toml files; by default all that come along"),
    Argument("mission", str | list[str], "", "only these missions"),
    Argument(
        "rules", PromptRules, "seed", "'none' leaves a mission's rules out of the prompt, for a playbook to bring them"
    ),
    Argument("reward", Scheme, "label", "'asymmetric': a false block costs too; a false release always costs more"),
    Argument("grounded", bool, False, "reward reasons whose claims the photos that they cite bear out"),
    Argument("constrained", bool, False, "hold the decoder to the two lines by a grammar, where the model can be"),
    Argument("max_prompt", int, 8192, "tickets whose prompt has more tokens (estimated) are left out and reported"),
)
GENERATED = (
    Argument("noise", str | dict, "", "'realistic', or rates by channel: noise.omission=0.1"),
    Argument("seed", int, 0, "another seed draws other sites"),
    Argument(
        "conventions", int | str, 0, "seed of the reviewers' unwritten conventions; 'none': the checklist decides"
    ),
)
FILED = (
    Argument("strict", bool, True, "refuse a file with a line that is no ticket; false: set such lines aside"),
    Argument("rejects", str, "", "where they are listed; by default FILE.rejects.jsonl"),
    Argument("exclude", str | list[str], "", "ticket keys to leave out: a list, or a file with one a line"),
)
LOOKED_AT = 200
"""Tickets on which the references are measured for a description."""

PLACES = ("rejects", "strict")
"""Arguments that no ticket depends on."""


class GroupQc(Environment):
    """Tickets with their summaries; the policy says pass or fail, and why."""

    chooses = True
    tie = "fail"

    def __init__(self, source: str, args: Mapping[str, Any]) -> None:
        self._made_from = (source, dict(args))
        self.name = f"{NAME}:{Path(source).name}" if source else NAME
        given = accept(self.name, (*SHARED, *(FILED if source else GENERATED)), args)
        packs = load_packs(_listed(given.get("pack", "")))
        self._missions = chosen_missions(packs, _listed(given.get("mission", "")))
        self._rules: PromptRules = given.get("rules", "seed")
        self._scheme: Scheme = given.get("reward", "label")
        self._grounded: bool = given.get("grounded", False)
        self._constrained: bool = given.get("constrained", False)
        self._max_prompt: int = given.get("max_prompt", 8192)
        self._names = {name: Vocabulary.of(pack, mission) for name, (pack, mission) in self._missions.items()}
        self._conventions: dict[str, tuple[Convention, ...]] = {}
        self._pass_shares = {name: mission.pass_share for name, (_, mission) in self._missions.items()}
        self._frames: dict[str, int] = {}
        self._languages: dict[str, TicketLanguage] = {}
        self.rejects: tuple[Reject, ...] = ()
        self.excluded: tuple[str, ...] = ()
        if source:
            read = self._read(Path(source), packs, given)
            self._source: TicketSource = self._filed(source, read, given)
            self.about = f"tickets of {Path(source).name}: pass or fail, with a reason"
            made_of = read.digest
        else:
            generated = GeneratedTickets.of(
                self._missions,
                chosen_noise(given.get("noise", "")),
                given.get("seed", 0),
                chosen_conventions(given.get("conventions", 0)),
            )
            self._source = generated
            self._conventions = {world.mission.name: world.conventions for world in generated.worlds}
            self._pass_shares = {world.mission.name: world.pass_share for world in generated.worlds}
            self.about = "generated site inspections: pass or fail, with a reason"
            made_of = ""
        kept = {name: value for name, value in given.items() if name not in PLACES}
        data = (made_of, [pack.digest for pack in packs])
        self.fingerprint = fingerprint(self.name, self, arguments=kept, data=data)

    def __reduce__(self) -> tuple[Any, ...]:
        return GroupQc, self._made_from

    def size(self, split: Split) -> int | None:
        return self._source.size(split)

    def label(self, split: Split, index: int) -> Label:
        return self._source.label(split, index)

    def ticket(self, split: Split, index: int) -> SiteTicket:
        """The ticket behind a task, label and all: for audits, never for a prompt."""
        return self._source.ticket(split, index)

    def mission(self, name: str) -> tuple[Pack, Mission]:
        return self._missions[name]

    def conventions(self, name: str) -> tuple[Convention, ...]:
        """The unwritten conventions planted in a mission: for reports and references, never for a prompt."""
        return self._conventions.get(name, ())

    def task(self, split: Split, index: int) -> Task:
        ticket = self._source.ticket(split, index)
        pack, mission = self._missions[ticket.mission]
        summaries = evidence(pack, mission, ticket)
        asked = messages(pack, mission, summaries, self._rules, ticket.site, ticket.submitted)
        data = {"mission": mission.name, "images": list(ticket.images), "summaries": list(summaries)}
        data |= {name: getattr(ticket, name) for name in ("site", "submitted") if getattr(ticket, name)}
        return Task(split, index, self._source.label(split, index), asked, {"label": ticket.label}, data)

    def play(self, task: Task) -> Play:
        language = self._missions[task.data["mission"]][0].language
        shape = Shape(grammar=verdict_grammar(language)) if self._constrained else Shape()
        reply: Reply = yield from ask(task.messages, shape=shape, corrections=0, rules=self._slots(task))
        return self._grade(task, read_verdict(reply.text, cut_off=reply.truncated))

    def _slots(self, task: Task) -> tuple[RuleSlot, ...]:
        """Where the request has its rules, for a rule book to take their place."""
        told = (task.data.get("site", ""), task.data.get("submitted", ""))
        return rule_slots(*self._missions[task.data["mission"]], self._rules, *told)

    def rule_language(self, task: Task) -> TicketLanguage:
        name = task.data["mission"]
        known = self._languages.get(name)
        if known is None:
            known = self._languages[name] = TicketLanguage(*self._missions[name])
        return known

    def rule_book(self, task: Task) -> tuple[Rule, ...]:
        return seed_rules(self._missions[task.data["mission"]][1])

    def feedback(self, task: Task, rollout: Rollout) -> Feedback:
        return ticket_feedback(task, rollout)

    def verdict(self, task: Task, rollout: Rollout) -> str | None:
        return ticket_verdict(rollout)

    def right(self, task: Task) -> str:
        label: str = task.truth["label"]
        return label

    def baselines(self) -> Mapping[str, Baseline]:
        return baselines(self.mission, self.conventions if any(self._conventions.values()) else None)

    def standing(self) -> str:
        """How often the checklist is right, and how often the ceiling, where conventions are planted."""
        planted = sum(len(several) for several in self._conventions.values())
        if not planted:
            return ""
        tasks = [self.task("select", index) for index in range(LOOKED_AT)]
        policies, right = self.baselines(), {}
        for name in ("rules", "ceiling"):
            calls = [read_verdict(str(policies[name](task, task.messages))).call for task in tasks]
            right[name] = sum(call == task.truth["label"] for call, task in zip(calls, tasks, strict=True)) / LOOKED_AT
        return (
            f"of {LOOKED_AT} select tickets the checklist (rules) gets {right['rules']:.2f} right, the ceiling "
            f"{right['ceiling']:.2f}; between them lie {planted} unwritten conventions"
        )

    def too_long(self, split: Split, index: int) -> bool:
        """Whether a ticket's prompt is longer than allowed. A file's own are left out from the start."""
        return estimated_tokens(self.task(split, index).messages) > self._max_prompt

    @property
    def left_out(self) -> str:
        """What is not among the tasks, in words; '' where nothing is missing."""
        over = sum(reject.reason == "over_length" for reject in self.rejects)
        counted = ((len(self.rejects) - over, "no tickets"), (over, "too long"), (len(self.excluded), "excluded"))
        return ", ".join(f"{count} lines are {what}" for count, what in counted if count)

    def _grade(self, task: Task, reading: VerdictReading) -> Score:
        pack, mission = self._missions[task.data["mission"]]
        share = None
        if self._grounded:
            told = (task.data.get("site", ""), task.data.get("submitted", ""))
            share = grounds(self._names[mission.name], reading.reason, task.data["summaries"], *told).share
        costs = VerdictCosts.of(pack.rewards, self._scheme, self._pass_shares[mission.name])
        return score(reading, task.truth["label"], costs, share)

    def _read(self, path: Path, packs: Sequence[Pack], given: Mapping[str, Any]) -> TicketFile:
        known = {mission.name for pack in packs for mission in pack.missions}
        exclude = read_exclusions(given["exclude"]) if given.get("exclude") else frozenset()
        return read_tickets(path, known, wanted=_listed(given.get("mission", "")), exclude=exclude)

    def _filed(self, source: str, read: TicketFile, given: Mapping[str, Any]) -> FiledTickets:
        filed = FiledTickets(read, [line for line in read.lines if self._over(line)])
        if given.get("strict", True):
            refuse_rejects(source, filed.rejects)
        if given.get("rejects") or not given.get("strict", True):
            _list_rejects(Path(given.get("rejects") or f"{source.rstrip('/')}.rejects.jsonl"), filed.rejects)
        self.rejects, self.excluded = filed.rejects, filed.excluded
        return filed

    def _over(self, line: TicketLine) -> bool:
        """A prompt has at most as many tokens as letters: only what may be too long is built."""
        pack, mission = self._missions[line.ticket.mission]
        frame = self._frames.get(mission.name)
        if frame is None:
            frame = self._frames[mission.name] = _letters(messages(pack, mission, (), self._rules))
        if frame + sum(len(text) + 64 for text in line.ticket.summaries) <= self._max_prompt:
            return False
        ticket = line.ticket
        asked = messages(pack, mission, evidence(pack, mission, ticket), self._rules, ticket.site, ticket.submitted)
        return estimated_tokens(asked) > self._max_prompt


def _letters(asked: Sequence[Message]) -> int:
    return sum(len(message.text) for message in asked)


def _listed(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) and given else tuple(given)


def chosen_missions(packs: Sequence[Pack], wanted: Sequence[str]) -> Missions:
    """The missions of the packs by name, or those wanted among them."""
    known = {mission.name: (pack, mission) for pack in packs for mission in pack.missions}
    for name in wanted:
        if name not in known:
            hint = nearest(name, known) or f" Known: {', '.join(known)}."
            raise WhetError(
                f"there is no mission {name!r} in the packs {', '.join(pack.name for pack in packs)}.{hint}"
            )
    return {name: known[name] for name in wanted} if wanted else known


def chosen_noise(given: str | Mapping[str, Any]) -> Noise:
    if isinstance(given, Mapping):
        return Noise.of(given)
    if given not in ("", "none", "realistic"):
        raise WhetError(f"noise is {given!r}: write realistic, or a rate for a channel, as in noise.omission=0.1")
    return REALISTIC if given == "realistic" else NO_NOISE


def chosen_conventions(given: int | str) -> int | None:
    """The seed of the conventions; None where the checklist decides."""
    if given == "none":
        return None
    try:
        return int(given)
    except ValueError:
        raise WhetError(f"conventions is {given!r}: write a number, the seed of another set of them, or none") from None


def _list_rejects(path: Path, rejects: Sequence[Reject]) -> None:
    """The lines that are no tickets, with where and why; no file where there are none."""
    try:
        if rejects:
            write_atomically(path, b"".join(json_line(reject.as_line()) for reject in rejects))
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise WhetError(f"{path}: rejects cannot be listed here ({error.strerror}); set rejects=PATH") from None


class _GroupQcFamily:
    """What the registry knows about group quality control."""

    name = NAME
    about = "photos of a site to one verdict: groupqc (generated), groupqc:FILE.jsonl, groupqc/photo"
    alone = True

    def variants(self) -> Sequence[str]:
        return ("photo", "open")

    def arguments(self, variant: str) -> Sequence[Argument]:
        if variant == "open":
            from whet.envs.groupqc.decision.environment import ARGUMENTS

            return ARGUMENTS
        if variant:
            from whet.envs.groupqc.photos.environment import photo_arguments

            return photo_arguments()
        return (*SHARED, *GENERATED, *FILED)

    def build(self, variant: str, source: str, args: Mapping[str, Any]) -> Environment:
        if not variant:
            return GroupQc(source, args)
        if variant not in self.variants():
            raise WhetError(f"groupqc has no variant {variant!r}: it has {', '.join(self.variants())}")
        if variant == "open":
            from whet.envs.groupqc.decision.environment import OpenTickets

            return OpenTickets(source, args)
        from whet.envs.groupqc.photos.environment import build_photo

        return build_photo(source, args)


FAMILY = _GroupQcFamily()
