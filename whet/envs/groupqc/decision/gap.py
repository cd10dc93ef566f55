"""The evidence gap of a ticket: what a verdict would need and its photos do not give, in named parts from 0 to 1."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whet.envs.groupqc.pack.schema import Mission, Pack
from whet.envs.groupqc.summaries.counts import SummaryReading, problems, read_summary
from whet.envs.groupqc.verdict.rules import judge_summaries

NAMED = 8
"""Things that are said of one part."""


@dataclass(frozen=True, slots=True)
class GapPart:
    """One way in which evidence falls short: how much of it does, and what exactly."""

    share: float
    said: tuple[str, ...] = ()

    @classmethod
    def of(cls, found: Sequence[str], whole: int) -> GapPart:
        return cls(min(1.0, len(found) / whole) if whole else 0.0, tuple(found[:NAMED]))


@dataclass(frozen=True, slots=True)
class EvidenceGap:
    """What is missing, what contradicts itself, what cannot be read, and words that the pack does not know."""

    missing: GapPart
    contradictory: GapPart
    unreadable: GapPart
    unknown: GapPart

    @property
    def score(self) -> float:
        """0: nothing is lacking; 1: one part at least is lacking as a whole."""
        parts = (self.missing, self.contradictory, self.unreadable, self.unknown)
        return 1.0 - math.prod(1.0 - part.share for part in parts)

    def as_data(self) -> dict[str, Any]:
        parts = {
            "missing": self.missing,
            "contradictory": self.contradictory,
            "unreadable": self.unreadable,
            "unknown": self.unknown,
        }
        named = {name: {"share": round(part.share, 4), "what": list(part.said)} for name, part in parts.items()}
        return {"score": round(self.score, 4), **named}


def evidence_gap(
    pack: Pack,
    mission: Mission,
    summaries: Sequence[str],
    refused: Sequence[tuple[str, str]] = (),
    site: str = "",
    submitted: str = "",
) -> EvidenceGap:
    """What the summaries of a ticket leave open. `refused` are photos without a summary: their names and why."""
    readings = [read_summary(pack, text) for text in summaries]
    findings = judge_summaries(pack, mission, tuple(summaries), site, submitted).findings
    absent = [finding.says for finding in findings if finding.status == "absent"]
    unknown, told = _unknown(pack, mission, readings)
    return EvidenceGap(
        GapPart.of(absent, len(findings)),
        _contradictions(pack, mission, readings),
        _unread(pack, readings, refused),
        GapPart.of(unknown, told),
    )


def _contradictions(pack: Pack, mission: Mission, readings: Sequence[SummaryReading]) -> GapPart:
    """Attributes of what the mission asks about that two photos of one station tell quite differently."""
    wanted = {need.category for need in mission.needs}
    shown: dict[tuple[str, str, str], dict[int, set[str]]] = {}
    for number, reading in enumerate(readings, start=1):
        station = (reading.station(pack) or "") if mission.per_station else ""
        for entry in reading.entries:
            category = pack.category(entry.category)
            if entry.category not in wanted or category is None:
                continue
            for name, values in entry.counts.items():
                attribute = category.attribute(name)
                if attribute is not None and attribute.kind == "state":
                    photos = shown.setdefault((station, entry.category, name), {})
                    photos.setdefault(number, set()).update(values)
    several = {place: photos for place, photos in shown.items() if len(photos) > 1}
    return GapPart.of([said for place, photos in several.items() if (said := _apart(place, photos))], len(several))


def _apart(place: tuple[str, str, str], photos: Mapping[int, set[str]]) -> str:
    for (number, values), (other, beside) in itertools.combinations(photos.items(), 2):
        if not values & beside:
            station, category, name = place
            ends = f"Image{number} {'/'.join(sorted(values))}, Image{other} {'/'.join(sorted(beside))}"
            return f"{f'{station}: ' if station else ''}{category}.{name}: {ends}"
    return ""


def _unread(pack: Pack, readings: Sequence[SummaryReading], refused: Sequence[tuple[str, str]]) -> GapPart:
    """Photos that were refused or have no readable summary, and labels that nobody can read."""
    lost = [f"{name}: {why}" for name, why in refused]
    lost += [
        f"Image{number}: no summary" for number, reading in enumerate(readings, start=1) if reading.form == "broken"
    ]
    labels = [
        (number, bool(entry.values(pack.labels.text)))
        for number, reading in enumerate(readings, start=1)
        for entry in reading.of(pack.labels.category)
    ]
    dim = [f"Image{number}: a label" for number, readable in labels if not readable]
    photos = GapPart.of(lost, len(readings) + len(refused))
    marks = GapPart.of(dim, len(labels))
    return GapPart(1.0 - (1.0 - photos.share) * (1.0 - marks.share / 2), (*photos.said, *marks.said)[:NAMED])


def _unknown(pack: Pack, mission: Mission, readings: Sequence[SummaryReading]) -> tuple[list[str], int]:
    found = [
        f"Image{number}: {problem}"
        for number, reading in enumerate(readings, start=1)
        if reading.form == "json"
        for problem in problems(pack, mission, reading)
        if "unknown" in problem or "has no attribute" in problem
    ]
    told = sum(1 + len(entry.counts) for reading in readings for entry in reading.entries)
    return found, max(1, told)
