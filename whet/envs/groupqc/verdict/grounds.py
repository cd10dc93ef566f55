"""Whether a reason has grounds: does the photo that it cites show what it says?

A claim names an object, a value and a photo, and the summary of that very photo must show that value of that object.
The pack's own sentences for a need are claims too. Naming a photo earns nothing, nor does an object without its value;
a claim that is false counts against the reason wherever it stands.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from whet.envs.groupqc.pack.schema import Mission, Need, Pack
from whet.envs.groupqc.records import NeedStatus
from whet.envs.groupqc.summaries.counts import SummaryReading, read_summary
from whet.envs.groupqc.verdict.evidence import NumberedReadings, TicketEvidence
from whet.envs.groupqc.verdict.rules import asked_categories, judge, need_finding

_REFERENCE = re.compile(r"(?:image|photo|图片|图)\s*_?\s*(\d{1,4})", re.IGNORECASE)
_SEGMENT = re.compile(r"[;；]")
_CLAUSE = re.compile(r"[,，。、:：]")
_ABSENCE = re.compile(r"未|没有|没|无|缺|\b(?:no|not|missing|without|absent|lacks?)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The names of a pack's objects and values, and a mission's own sentences: the longest first, so that 不符合 is not
    符合."""

    pack: Pack
    mission: Mission
    names: re.Pattern[str]
    sentences: re.Pattern[str]
    categories: dict[str, str] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)
    claims: dict[str, tuple[Need, NeedStatus]] = field(default_factory=dict)

    @classmethod
    def of(cls, pack: Pack, mission: Mission) -> Vocabulary:
        categories = {category.name.lower(): category.name for category in pack.categories}
        values = {
            value.lower(): value
            for category in pack.categories
            for attribute in category.attributes
            for value in attribute.values
            if len(value) > 1
        }
        claims: dict[str, tuple[Need, NeedStatus]] = {}
        for need in mission.needs:
            said: tuple[tuple[str, NeedStatus], ...] = (
                (need.text, "ok"),
                (need.broken, "defect"),
                (need.absent, "absent"),
            )
            claims |= {text.lower(): (need, status) for text, status in said if len(text) > 1}
        return cls(pack, mission, _any_of({*categories, *values}), _any_of(claims), categories, values, claims)


def _any_of(names: set[str] | dict[str, tuple[Need, NeedStatus]]) -> re.Pattern[str]:
    ordered = sorted(names, key=lambda name: (-len(name), name))
    return re.compile("|".join(rf"\b{re.escape(n)}\b" if n.isascii() else re.escape(n) for n in ordered))


@dataclass(frozen=True, slots=True)
class Grounds:
    """Which claims of a reason the photos bear out. A reason without any claim has no grounds."""

    borne_out: int
    claims: int

    @property
    def share(self) -> float:
        return self.borne_out / self.claims if self.claims else 0.0


def grounds(names: Vocabulary, reason: str, summaries: Sequence[str], site: str = "", date: str = "") -> Grounds:
    """Hold a reason against the summaries, part by part: a part that names photos against these alone."""
    check = _Check(names, [read_summary(names.pack, text) for text in summaries], site, date)
    for segment in filter(str.strip, _SEGMENT.split(reason.lower())):
        check.segment(segment)
    return Grounds(check.borne_out, check.claims)


class _Check:
    """Counts the claims of one reason."""

    def __init__(self, names: Vocabulary, readings: Sequence[SummaryReading], site: str, date: str) -> None:
        self.borne_out = self.claims = 0
        self._names = names
        self._photos: NumberedReadings = list(enumerate(readings, start=1))
        self._asked = asked_categories(names.mission)
        self._ticket = (site, date)
        found = judge(names.pack, names.mission, readings, site, date).findings
        self._stands = {(finding.need.id, finding.status) for finding in found}

    def segment(self, segment: str) -> None:
        numbers = {int(number) for number in _REFERENCE.findall(segment)}
        cited = [photo for photo in self._photos if photo[0] in numbers]
        self.claims += len(numbers) - len(cited)
        for sentence in self._names.sentences.findall(segment):
            self._need(*self._names.claims[sentence], cited)
        subject = ""
        for clause in _CLAUSE.split(_REFERENCE.sub(" ", self._names.sentences.sub(" ", segment))):
            subject = self._clause(clause, cited, subject)

    def _need(self, need: Need, status: NeedStatus, cited: NumberedReadings) -> None:
        """A sentence of the pack. What is absent is absent from the ticket; all else stands in the photos cited."""
        if status == "absent":
            self._count((need.id, status) in self._stands, earns=True)
        elif cited:
            found = need_finding(need, "", TicketEvidence(self._names.pack, cited, *self._ticket))
            idle = {number for number, _ in cited}.difference(found.images) if found.images else ()
            self._count(found.status == status and not idle, earns=True)
        else:
            self._count((need.id, status) in self._stands, earns=False)

    def _clause(self, clause: str, cited: NumberedReadings, subject: str) -> str:
        """One clause; a value without an object belongs to the object named before it in the same part."""
        terms = self._names.names.findall(clause)
        objects = [self._names.categories[term] for term in terms if term in self._names.categories]
        values = [self._names.values[term] for term in terms if term not in self._names.categories]
        subject = objects[-1] if objects else subject
        denied = bool(_ABSENCE.search(self._names.names.sub(" ", clause)))
        for value in values:
            self._value(subject, value, denied, cited)
        for category in objects if not values else ():
            self._object(category, denied, cited)
        return subject

    def _value(self, category: str, value: str, denied: bool, cited: NumberedReadings) -> None:
        """A value of an object. Each photo cited must show it: naming all of them is no way to name the right one."""
        photos = cited or self._photos
        seen = [_has(reading, category, value) for _, reading in photos]
        shown = any(reading.of(category) for _, reading in photos)
        holds = not any(seen) if denied else all(seen) if cited else any(seen)
        self._count(bool(category) and shown and holds, earns=bool(cited))

    def _object(self, category: str, denied: bool, cited: NumberedReadings) -> None:
        """An object alone: its absence is a claim where the mission asks for it; its presence is none."""
        seen = any(reading.of(category) for _, reading in cited or self._photos)
        self._count(seen != denied, earns=denied and not cited and category in self._asked)

    def _count(self, true: bool, *, earns: bool) -> None:
        """A true claim counts where it can earn; a false one always."""
        self.claims += earns or not true
        self.borne_out += true and earns


def _has(reading: SummaryReading, category: str, value: str) -> bool:
    return any(value in values for entry in reading.of(category) for values in entry.counts.values())
