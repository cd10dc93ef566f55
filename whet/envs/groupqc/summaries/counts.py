"""The one-line summary of a photo, read back into counts whatever form it has, and what is odd about it.

`whet.envs.groupqc.summaries.text` writes and cleans one.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from whet.envs.groupqc.pack.file import load_packs
from whet.envs.groupqc.pack.schema import Mission, Pack
from whet.envs.groupqc.records import PhotoObject
from whet.envs.groupqc.summaries.text import canonical, clean_summary, find_summary, tally

SummaryForm = Literal["json", "plain", "irrelevant", "broken"]

_COUNT = re.compile(r"[×xX*]\s*(\d{1,6})\s*$")


@dataclass(frozen=True, slots=True)
class SummaryEntry:
    """What a summary says about one category."""

    category: str
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def values(self, attribute: str) -> Mapping[str, int]:
        return self.counts.get(attribute, {})


@dataclass(frozen=True, slots=True)
class SummaryReading:
    """A summary as counts. `odd` lists what did not have the form it should have."""

    form: SummaryForm
    entries: tuple[SummaryEntry, ...] = ()
    notes: tuple[str, ...] = ()
    groups: Mapping[str, int] = field(default_factory=dict)
    text: str = ""
    odd: tuple[str, ...] = ()

    @property
    def irrelevant(self) -> bool:
        return self.form == "irrelevant"

    def of(self, category: str) -> tuple[SummaryEntry, ...]:
        return tuple([entry for entry in self.entries if entry.category == category])

    def station(self, pack: Pack) -> str | None:
        """The number that says which photos belong together, None where the photo has none."""
        if pack.stations is None:
            return None
        for entry in self.of(pack.stations.category):
            for value in entry.values(pack.stations.attribute):
                return value
        return None

    def objects(self) -> int:
        """About how many objects the photo shows: a hint at which one is the overview."""
        if self.form == "broken":
            return max(1, len(re.split(r"[，;]", self.text)))
        return sum(max([1, *(sum(values.values()) for values in entry.counts.values())]) for entry in self.entries)


def reading_of(items: Iterable[PhotoObject], notes: Sequence[str] = ()) -> SummaryReading:
    """The reading of the canonical summary of these items, without writing it first."""
    entries = tuple(SummaryEntry(category, counts) for category, counts in tally(items).items())
    return SummaryReading("json", entries, tuple(notes)) if entries else SummaryReading("irrelevant")


@lru_cache(maxsize=256)
def read_summary(pack: Pack, text: str) -> SummaryReading:
    """What a stored summary says. Total: anything gives a reading. One ticket is looked at from several sides."""
    stripped = text.strip()
    if stripped.startswith(pack.words.irrelevant):
        return SummaryReading("irrelevant", text=stripped)
    found = find_summary(pack.words, stripped)
    if found is not None:
        return _from_object(pack, found, stripped)
    entries = _from_chains(pack, clean_summary(pack, stripped))
    return SummaryReading("plain" if entries else "broken", entries, text=stripped)


def _from_object(pack: Pack, summary: Mapping[str, Any], text: str) -> SummaryReading:
    words, odd = pack.words, []
    listed = summary.get(words.statistics)
    if not isinstance(listed, list):
        listed = []
        odd.append(f"{words.statistics} is not a list")
    entries = []
    for number, entry in enumerate(listed, start=1):
        category = entry.get(words.category) if isinstance(entry, dict) else None
        if not isinstance(category, str) or not category:
            odd.append(f"entry {number} has no {words.category}")
            continue
        entries.append(SummaryEntry(category, _counts(words.category, entry, number, odd)))
    notes = summary.get(words.notes, [])
    groups = summary.get(words.groups, {})
    return SummaryReading(
        "json",
        tuple(entries),
        tuple(str(note) for note in notes) if isinstance(notes, list) else (),
        {key: value for key, value in groups.items() if type(value) is int} if isinstance(groups, dict) else {},
        text,
        tuple(odd),
    )


def _counts(own: str, entry: Mapping[str, Any], number: int, odd: list[str]) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = {}
    for attribute, values in entry.items():
        if attribute == own:
            continue
        if isinstance(values, str):
            values = {values: 1}
            odd.append(f"entry {number}: {attribute} is not a map from value to count")
        if not isinstance(values, dict):
            odd.append(f"entry {number}: {attribute} is not a map from value to count")
            continue
        sound = {value: count for value, count in values.items() if type(count) is int and count > 0}
        if len(sound) < len(values):
            odd.append(f"entry {number}: {attribute} has a count that is not a positive whole number")
        if sound:
            counts[attribute] = sound
    return counts


def _from_chains(pack: Pack, text: str) -> tuple[SummaryEntry, ...]:
    """The entries of the flat form `category/value,value×count`; chains of unknown categories are left out."""
    entries = []
    for chain in text.split(pack.words.joiner.strip()):
        counted = _COUNT.search(chain)
        count = int(counted[1]) if counted else 1
        name, _, rest = (chain[: counted.start()] if counted else chain).strip().partition("/")
        category = pack.category(name.strip())
        if category is None or count < 1:
            continue
        counts: dict[str, dict[str, int]] = {}
        for value in filter(None, (part.strip() for part in rest.split(","))):
            attribute = _attribute_of(pack, category.name, value)
            if attribute:
                counts.setdefault(attribute, {})[value] = count
        entries.append(SummaryEntry(category.name, counts))
    return tuple(entries)


@functools.lru_cache(maxsize=4096)
def _attribute_of(pack: Pack, category: str, value: str) -> str:
    """The attribute that a bare value belongs to: the one that lists it, else one that takes text or numbers."""
    known = pack.category(category)
    attributes = known.attributes if known else ()
    for attribute in attributes:
        if value in attribute.values:
            return attribute.name
    wanted = ("number", "pair", "text") if value.isdigit() else ("text",)
    return next((attribute.name for kind in wanted for attribute in attributes if attribute.kind == kind), "")


def problems(pack: Pack, mission: Mission, reading: SummaryReading) -> tuple[str, ...]:
    """What a linter objects to in one summary of this mission."""
    if reading.irrelevant:
        return ()
    if reading.form != "json":
        return (f"not a summary object ({reading.form} text)",)
    found = list(reading.odd)
    for entry in reading.entries:
        category = pack.category(entry.category)
        if category is None:
            found.append(f"unknown category {entry.category!r}")
            continue
        for name, values in entry.counts.items():
            attribute = category.attribute(name)
            if attribute is None:
                found.append(f"{entry.category} has no attribute {name!r}")
            elif attribute.kind == "state":
                found += [
                    f"{entry.category}, {name}: unknown value {value!r}"
                    for value in values
                    if value not in attribute.values
                ]
            elif attribute.kind in ("number", "pair"):
                found += [
                    f"{entry.category}, {name}: {value!r} is not a number" for value in values if not value.isdigit()
                ]
    twice = [entry.category for entry in reading.entries]
    found += [f"category {name!r} is listed twice" for name in dict.fromkeys(twice) if twice.count(name) > 1]
    return tuple(found) + _station_problems(pack, mission, reading)


def _station_problems(pack: Pack, mission: Mission, reading: SummaryReading) -> tuple[str, ...]:
    if pack.stations is None or not mission.per_station:
        return ()
    name = pack.stations.category
    numbers = [value for entry in reading.of(name) for value in entry.values(pack.stations.attribute)]
    if len(numbers) != 1:
        return (f"{name} is given {len(numbers)} times: it must be given once",)
    return () if reading.entries[0].category == name else (f"{name} must be the first entry",)


def without_stations(pack: Pack, text: str) -> str:
    """The summary without any trace of a station number, for missions that are not judged station by station."""
    names = _station_names(pack)
    if not any(name in text for name in names):
        return text
    summary = find_summary(pack.words, text)
    if summary is not None and isinstance(summary.get(pack.words.statistics), list):
        kept = [_without(entry, names, pack.words.category) for entry in summary[pack.words.statistics]]
        return canonical(pack.words, {**summary, pack.words.statistics: [entry for entry in kept if entry is not None]})
    for name in names:
        text = re.sub(rf"\{{[^{{}}]*{re.escape(name)}[^{{}}]*(?:\{{[^{{}}]*\}}[^{{}}]*)*\}}\s*,?\s*", "", text)
        text = re.sub(rf"{re.escape(name)}\s*[/:：=]?\s*\d*\s*(?:×\d+)?\s*[，,;]?\s*", "", text)
    return text


def _without(entry: Any, names: Sequence[str], own: str) -> Any:
    if not isinstance(entry, dict):
        return entry
    return None if entry.get(own) in names else {key: value for key, value in entry.items() if key not in names}


@functools.cache
def _station_names(pack: Pack) -> tuple[str, ...]:
    """What a station is called in this pack, or where it has none, in the other packs of its language."""
    packs = (pack,) if pack.stations else tuple(other for other in load_packs() if other.language == pack.language)
    stations = [pack.stations for pack in packs if pack.stations]
    return tuple(sorted({name for station in stations for name in (station.category, station.attribute)}))
