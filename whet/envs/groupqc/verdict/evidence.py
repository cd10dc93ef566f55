"""Whether a condition holds for what a ticket shows, and which photos bear it out."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from whet.envs.groupqc.pack.condition import (
    Appearance,
    Condition,
    Conjunction,
    Disjunction,
    LabelFormat,
    Location,
    Negation,
    Period,
    appearances,
)
from whet.envs.groupqc.pack.schema import Pack
from whet.envs.groupqc.summaries.counts import SummaryEntry, SummaryReading

NumberedReadings = Sequence[tuple[int, SummaryReading]]
"""Readings with the number of their image, from 1."""


@dataclass(frozen=True, slots=True)
class TicketEvidence:
    """Photos that are judged together, and what stands on the ticket: the kind of site, the date it was handed in."""

    pack: Pack
    photos: NumberedReadings
    site: str = ""
    date: str = ""


def holds(condition: Condition, evidence: TicketEvidence) -> bool:
    """Whether a condition holds. A site or a date that is not given is none that was named."""
    match condition:
        case Appearance():
            return len(showing(condition, evidence)) >= condition.photos
        case LabelFormat(template):
            return any(_labelled(evidence.pack, template, reading) for _, reading in evidence.photos)
        case Location(site):
            return evidence.site == site
        case Period(before):
            return bool(evidence.date) and evidence.date < before
        case Conjunction(parts):
            return all(holds(part, evidence) for part in parts)
        case Disjunction(parts):
            return any(holds(part, evidence) for part in parts)
        case Negation(part):
            return not holds(part, evidence)


def showing(appearance: Appearance, evidence: TicketEvidence) -> tuple[int, ...]:
    """The images that show what an appearance asks of one photo."""
    return tuple(
        number
        for number, reading in evidence.photos
        if (reading.notes or not appearance.noted) and _count(appearance, reading) >= appearance.least
    )


def images_of(condition: Condition, evidence: TicketEvidence) -> tuple[int, ...]:
    """The images that show something of what a condition speaks of."""
    return tuple(sorted({number for appearance in appearances(condition) for number in showing(appearance, evidence)}))


def _count(appearance: Appearance, reading: SummaryReading) -> int:
    entries = reading.of(appearance.category)
    if not appearance.attribute:
        return sum(objects(entry) for entry in entries)
    if appearance.value:
        return sum(entry.values(appearance.attribute).get(appearance.value, 0) for entry in entries)
    return sum(sum(entry.values(appearance.attribute).values()) for entry in entries)


def objects(entry: SummaryEntry) -> int:
    """How many objects an entry speaks of: as many as the attribute that is told of most."""
    return max([1, *(sum(values.values()) for values in entry.counts.values())])


def _labelled(pack: Pack, template: str, reading: SummaryReading) -> bool:
    form = label_form(pack, template)
    return any(
        form.fullmatch(text) for entry in reading.of(pack.labels.category) for text in entry.values(pack.labels.text)
    )


@functools.cache
def label_form(pack: Pack, template: str) -> re.Pattern[str]:
    """What a label after this template looks like."""
    zones = "|".join(re.escape(zone) for zone in pack.labels.zones)
    form = re.escape(template)
    for field, what in (("zone", f"(?:{zones})"), ("n", "[1-9]"), ("m", "[1-9][0-9]?")):
        form = form.replace(re.escape("{" + field + "}"), what)
    return re.compile(form)
