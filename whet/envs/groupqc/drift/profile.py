"""The profile of a set of tickets or of the votes on them: how often each outcome was seen, to compare two sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from whet.envs.groupqc.drift.shift import Counts
from whet.envs.groupqc.pack.schema import Mission, Pack
from whet.envs.groupqc.records import SiteTicket
from whet.envs.groupqc.summaries.counts import SummaryReading, read_summary
from whet.envs.groupqc.tickets.prompt import evidence

UNKNOWN = "(unknown)"


@dataclass(slots=True)
class Profile:
    """Counts of outcomes by what they are about: `verdict`, `category/挡风板`, `missing/光纤.弯曲半径` and so on."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, about: str, outcome: str, times: int = 1) -> None:
        self.counts.setdefault(about, Counter())[outcome] += times

    def of(self, about: str) -> Counts:
        return self.counts.get(about, {})


def profile_tickets(
    tickets: Iterable[SiteTicket], missions: Mapping[str, tuple[Pack, Mission]], rejects: int, into: Profile
) -> None:
    """Add what Stage-A wrote: labels, forms, categories, and which keys are missing where one was to be expected."""
    total, packs = 0, {pack.name: pack for pack, _ in missions.values()}
    shown: Counter[tuple[str, str]] = Counter()
    of_pack: Counter[str] = Counter()
    for ticket in tickets:
        total += 1
        pack, mission = missions[ticket.mission]
        of_pack[pack.name] += 1
        into.add("label", ticket.label)
        into.add("mission", ticket.mission)
        into.add("photos", _bucket(len(ticket.images)))
        readings = [read_summary(pack, text) for text in evidence(pack, mission, ticket)]
        for reading in readings:
            into.add("summary", reading.form)
            _add_keys(pack, reading, into)
        shown.update({(pack.name, name) for name in _categories(pack, readings)})
    for name, pack in packs.items():
        for category in (*(category.name for category in pack.categories), UNKNOWN):
            seen, whole = shown[name, category], of_pack[name]
            if whole:
                about = f"category/{category}" if len(of_pack) == 1 else f"category/{name}/{category}"
                into.add(about, "shown", seen)
                into.add(about, "not shown", whole - seen)
    into.add("line", "ticket", total)
    into.add("line", "reject", rejects)


def _bucket(photos: int) -> str:
    return str(photos) if photos <= 3 else "4-5" if photos <= 5 else "6-9" if photos <= 9 else "10+"


def _categories(pack: Pack, readings: Iterable[SummaryReading]) -> set[str]:
    known = {category.name for category in pack.categories}
    return {entry.category if entry.category in known else UNKNOWN for reading in readings for entry in reading.entries}


def _add_keys(pack: Pack, reading: SummaryReading, into: Profile) -> None:
    """For each object that is summarised, which of the keys that it can always have are there."""
    for entry in reading.entries:
        category = pack.category(entry.category)
        for attribute in category.attributes if category else ():
            if attribute.kind == "state" and attribute.marks and attribute.only is None:
                present = "there" if entry.values(attribute.name) else "missing"
                into.add(f"missing/{entry.category}.{attribute.name}", present)
        if entry.category == pack.labels.category:
            into.add("label text", "readable" if entry.values(pack.labels.text) else "unreadable")


def profile_votes(stats: Iterable[Mapping[str, Any]], into: Profile) -> None:
    """Add what Stage-B said, from the rows of `baseline_ticket_stats.jsonl`."""
    for row in stats:
        into.add("verdict", row["majority_pred"] or "invalid")
        valid = row["pass_count"] + row["fail_count"]
        into.add("invalid", "valid", valid)
        into.add("invalid", "invalid", row["invalid_count"])
        if valid > 1:
            into.add("agreement", "all agree" if row["agreement"] == 1.0 else "divided")
