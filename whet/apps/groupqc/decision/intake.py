"""Tickets as new work for a champion: read from a Stage-A line, with or without a label, which is not looked at."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from whet.apps.groupqc.decision.verdicts import cited_images
from whet.envs.arguments import accept
from whet.envs.base import Baseline, Play
from whet.envs.feedback import last_words
from whet.envs.fingerprint import fingerprint
from whet.envs.groupqc.baselines import baselines
from whet.envs.groupqc.decision.desk import TicketDesk
from whet.envs.groupqc.decision.environment import ARGUMENTS
from whet.envs.groupqc.decision.gap import evidence_gap
from whet.envs.groupqc.drift.traits import TicketTraits, ticket_traits
from whet.envs.groupqc.drift.watch import FEWEST, DriftWatch
from whet.envs.groupqc.feedback import ticket_verdict
from whet.envs.groupqc.pack.schema import Mission, Pack
from whet.envs.groupqc.summaries.counts import read_summary
from whet.envs.groupqc.tickets.line import BadLine
from whet.envs.groupqc.tickets.open import OpenTicket, open_line
from whet.envs.groupqc.verdict.lines import read_verdict
from whet.errors import WhetError
from whet.keys import digest
from whet.outside import shown_line
from whet.release.intake import OpenWork, Watch, WorkEvidence
from whet.types import Rollout, Task

LONGEST = 1 << 20
"""Bytes of a line that is read at all."""

TAKEN = frozenset(argument.name for argument in ARGUMENTS)
"""Arguments of the training environment that say how a ticket is asked about; noise and seeds do not."""

_SHA256 = re.compile(r"[0-9a-f]{64}")
_VERDICT = re.compile(r"v\W*e\W*r\W*d\W*i\W*c\W*t|[<‹]\|im_|\[/?INST\]", re.IGNORECASE)
"""What no summary says of itself. Without the word no reply that is made of what was read is a verdict."""

_DATE = re.compile(r"\d{4}-\d{2}(?:-\d{2})?")


class TicketIntake:
    """New tickets of the missions that a champion was trained on."""

    choices = ("pass", "fail")
    releases = "pass"
    tie = "fail"

    def __init__(self, environment: str, arguments: Mapping[str, Any]) -> None:
        self.name = "groupqc"
        kept = {name: value for name, value in arguments.items() if name in TAKEN}
        self._desk = TicketDesk(accept(environment, ARGUMENTS, kept))
        self.fingerprint = fingerprint("groupqc/intake", TicketIntake, arguments=kept, data=self._desk.packs)

    def read(self, line: bytes) -> OpenWork:
        ticket = self._ticket(line)[0]
        if self._desk.wanted and ticket.mission not in self._desk.wanted:
            raise WhetError(f"the champion was not trained for the mission {shown_line(ticket.mission, 80)!r}")
        row = {**ticket.as_line(None), **_photos(line)}
        try:
            key = digest("ticket", row)
        except (TypeError, ValueError):  # a half of a character, which no file can hold
            raise WhetError("not a ticket: it holds text that is not Unicode") from None
        task = self._desk.task(ticket, "test", int(key[:12], 16))
        if self._desk.too_long(task):
            raise WhetError(f"not decided: with {len(ticket.images)} photos it is longer than max_prompt")
        pack, _ = self._desk.missions[ticket.mission]
        return OpenWork(
            key,
            ticket.group_id,
            task,
            functools.cache(functools.partial(self._evidence, ticket, task)),
            ticket.images,
            ticket.site if pack.sites is not None and ticket.site in pack.sites.names else "",
            found[0] if (found := _DATE.match(ticket.submitted)) else "",
            row,
        )

    def _evidence(self, ticket: OpenTicket, task: Task) -> WorkEvidence:
        pack, mission = self._desk.missions[ticket.mission]
        summaries = task.data["summaries"]
        refused = [(photo.image, photo.reason) for photo in ticket.refused]
        gap = evidence_gap(pack, mission, summaries, refused, ticket.site, ticket.submitted)
        suspect = any(_VERDICT.search(text) for text in (*ticket.summaries, *summaries))
        return WorkEvidence(gap.score, gap.as_data(), _vendor(pack, summaries), suspect)

    def _ticket(self, line: bytes) -> tuple[OpenTicket, str | None]:
        if len(line) > LONGEST:
            raise WhetError(f"not a ticket: {len(line)} bytes, and at most {LONGEST} are read")
        try:
            return open_line(line, self._desk.missions)
        except BadLine as bad:
            raise WhetError(f"not a ticket ({bad.reason}): {shown_line(bad.detail, 300)}") from None
        except RecursionError:
            raise WhetError("not a ticket: nested too deep") from None

    def label(self, line: bytes) -> str | None:
        return self._ticket(line)[1]

    def play(self, task: Task) -> Play:
        return self._desk.play(task)

    def verdict(self, task: Task, rollout: Rollout) -> str | None:
        return ticket_verdict(rollout)

    def reason(self, work: OpenWork, rollout: Rollout) -> tuple[str, tuple[str, ...]]:
        reason = read_verdict(last_words(rollout), cut_off=rollout.truncated).reason
        return reason, tuple(cited_images(reason, work.images))

    def baselines(self) -> Mapping[str, Baseline]:
        return {name: policy for name, policy in baselines(self._mission).items() if name != "oracle"}

    def labelled(self, row: Mapping[str, Any], verdict: str, source: str, at: str) -> dict[str, Any]:
        return {**row, "label": verdict, "label_source": source, "label_timestamp": at}

    def watch(self, reference: Sequence[bytes], alpha: float) -> Watch | None:
        known = [self.traits(self.read(line)) for line in reference]
        sites = {(traits.mission, traits.site) for traits in known}
        return TicketWatch(self, DriftWatch(known, alpha)) if len(sites) >= FEWEST else None

    def traits(self, work: OpenWork) -> TicketTraits:
        """What can move when sites, cameras, vendors or the reading of photos change."""
        data = work.task.data
        pack, mission = self._mission(data["mission"])
        told = (data["site"], data["submitted"])
        return ticket_traits(pack, mission, work.name, data["summaries"], None, *told)

    def _mission(self, name: str) -> tuple[Pack, Mission]:
        return self._desk.missions[name]


class TicketWatch:
    """The day-by-day watch over tickets (`whet groupqc watch`), one at a time."""

    def __init__(self, intake: TicketIntake, watch: DriftWatch) -> None:
        self._intake = intake
        self._watch = watch

    def take(self, work: OpenWork) -> str:
        alarms = self._watch.take([self._intake.traits(work)]).alarms
        return "; ".join(
            f"{alarm.about}: {alarm.reference:.2f} in the reference, {alarm.since:.2f} lately" for alarm in alarms[:3]
        )


def _photos(line: bytes) -> dict[str, Any]:
    """The digests of the photos themselves, where a line has them: the same words about another photo are new work."""
    told = orjson.loads(line.removeprefix(b"\xef\xbb\xbf")).get("image_sha256") if b"image_sha256" in line else None
    if told is None:
        return {}
    if not isinstance(told, list) or not all(isinstance(text, str) and _SHA256.fullmatch(text) for text in told):
        raise WhetError("not a ticket (bad_field): 'image_sha256' must be a list of SHA-256 digests in hexadecimal")
    return {"image_sha256": told}


def _vendor(pack: Pack, summaries: Sequence[str]) -> str:
    """The makes that the photos show, of the attribute that the pack knows vendors by."""
    brand = pack.brand
    if brand is None:
        return ""
    category, attribute, _ = brand
    seen = {
        value
        for text in summaries
        for entry in read_summary(pack, text).of(category)
        for value in entry.values(attribute)
    }
    known = pack.category(category)
    named = known.attribute(attribute) if known is not None else None
    return "+".join(sorted(value for value in seen if named is not None and value in named.values))
