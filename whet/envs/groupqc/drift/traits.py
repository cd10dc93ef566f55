"""The traits of a ticket: what can move when a site, a camera, a vendor or a model changes, each a number from 0 to 1.

A trait belongs to one ticket, so that a test over tickets needs to know nothing about how many photos, objects or draws
a ticket has: they are clustered by construction.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from whet.envs.groupqc.pack.schema import Mission, Pack
from whet.envs.groupqc.summaries.counts import SummaryReading, read_summary
from whet.envs.groupqc.verdict.rules import RuleJudgement, judge_summaries

VALUE = "value/"
"""How the names of traits begin that say something only where their object is shown."""

OUT_OF_PLACE = 12.0
"""A sum of oddness that stands for half of the scale from 0 to 1."""

MOST_ODD = 20.0
"""One value alone counts no more than this."""

RARE = 8.0
"""Oddness from which a value, or two together, are rare."""

COMMON = 0.02
"""A label format or a word that fewer tickets than this share have is rare."""

_RUNS = re.compile(r"[0-9]+|[A-Za-z]+|[^\W\d_]+|[\W_]", re.UNICODE)
_WORDS = re.compile(r"[A-Za-z]{2,}|[\u3400-\u9fff]+")


PhotoFact = tuple[str, str]
"""Category and attribute, and the value."""


@dataclass(frozen=True, slots=True)
class TicketTraits:
    """One ticket: its traits by name (those that are 0 left out), and what a lexicon is made of."""

    site: str
    mission: str
    shares: Mapping[str, float]
    facts: tuple[tuple[PhotoFact, ...], ...] = ()
    """What each photo says."""
    formats: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    pairs: tuple[tuple[PhotoFact, ...], ...] = ()
    """Two attributes of one object and their values: a value read wrongly seldom goes with the others."""

    def with_shares(self, more: Mapping[str, float]) -> TicketTraits:
        together = {**self.shares, **more}
        return replace(self, shares=together)


def ticket_traits(
    pack: Pack,
    mission: Mission,
    site: str,
    summaries: Sequence[str],
    label: str | None = None,
    kind: str = "",
    submitted: str = "",
) -> TicketTraits:
    """What a ticket's summaries say, as traits. `kind` of site and date are what needs may hang on."""
    readings = [read_summary(pack, text) for text in summaries]
    found: dict[str, float] = {}
    for form, count in Counter(reading.form for reading in readings).items():
        found[f"summary/{form}"] = count / len(readings)
    found[f"photos/{_bucket(len(readings))}"] = 1.0
    if label is not None:
        found["label/pass"] = float(label == "pass")
    photos = [tuple(fact for fact in _facts(reading) if _listed(pack, fact[0])) for reading in readings]
    facts = list(itertools.chain.from_iterable(photos))
    told = Counter(slot for slot, _ in facts)
    for (slot, value), count in Counter(facts).items():
        found[f"{VALUE}{slot}={value}"] = count / told[slot]
    found.update({f"category/{entry.category}": 1.0 for reading in readings for entry in reading.entries})
    found.update(_keys(pack, readings))
    found.update(_checklist(judge_summaries(pack, mission, tuple(summaries), kind, submitted)))
    values: dict[str, set[str]] = {}
    for slot, value in facts:
        values.setdefault(slot, set()).add(value)
    divided = sum(len(seen) > 1 for seen in values.values())
    found["values that differ within a ticket"] = min(1.0, divided / 4)
    texts = [text for reading in readings for text in _texts(pack, reading)]
    if texts:
        found["length of label texts"] = min(1.0, sum(map(len, texts)) / len(texts) / 40)
    for note in {note for reading in readings for note in reading.notes}:
        found[f"note/{note[:40]}"] = 1.0
    words = dict.fromkeys(word for text in texts for word in _WORDS.findall(text))
    formats, pairs = tuple(map(label_format, texts)), tuple(tuple(_pairs(pack, reading)) for reading in readings)
    return TicketTraits(site, mission.name, found, tuple(photos), formats, tuple(words), pairs)


def label_format(text: str) -> str:
    """The format of a label's text: what kinds of letters follow each other, as in `A-A9-字`."""

    def kind(run: str) -> str:
        if run.isdecimal():
            return "9"
        return "A" if run.isascii() and run.isalpha() else "字" if run.isalpha() else run

    return "".join(kind(run) for run in _RUNS.findall(text))[:24]


def vote_shares(row: Mapping[str, Any]) -> dict[str, float]:
    """The traits of a row of `baseline_ticket_stats.jsonl` or `verdicts.jsonl`: draws become shares of their ticket."""
    valid = row["pass_count"] + row["fail_count"]
    drawn = max(1, valid + row["invalid_count"])
    return {
        f"verdict/{row['majority_pred'] or 'invalid'}": 1.0,
        "invalid draws": row["invalid_count"] / drawn,
        "divided votes": float(valid > 1 and row["agreement"] < 1.0),
    }


@dataclass(frozen=True, slots=True)
class TraitLexicon:
    """How often values, label formats and words were seen in a set of tickets: what is rare is rare against it."""

    values: Mapping[str, Counter[str]]
    totals: Mapping[str, int]
    common: frozenset[str]
    """Label formats and words that are not rare."""

    @classmethod
    def of(cls, tickets: Iterable[TicketTraits]) -> TraitLexicon:
        values: dict[str, Counter[str]] = {}
        formats: Counter[str] = Counter()
        words: Counter[str] = Counter()
        total = 0
        for ticket in tickets:
            total += 1
            for slot, value in itertools.chain.from_iterable((*ticket.facts, *ticket.pairs)):
                values.setdefault(slot, Counter())[value] += 1
            formats.update(set(ticket.formats))
            words.update(ticket.words)
        least = max(2.0, COMMON * total)
        common = frozenset(name for seen in (formats, words) for name, count in seen.items() if count >= least)
        totals = {slot: seen.total() for slot, seen in values.items()}
        return cls(values, totals, common)

    def shares(self, ticket: TicketTraits) -> dict[str, float]:
        """The traits that need a set to be compared with."""
        found = {f"label format/{name}": 1.0 for name in ticket.formats if name in self.common}
        found.update({f"word/{name}": 1.0 for name in ticket.words if name in self.common})
        if ticket.formats:
            found["rare label formats"] = _share(name not in self.common for name in ticket.formats)
        if ticket.words:
            found["rare words"] = _share(name not in self.common for name in ticket.words)
        for name, said in (("values", ticket.facts), ("values together", ticket.pairs)):
            odds = [[self._odd(*fact) for fact in photo] for photo in said if photo]
            total = sum(sum(photo) / len(photo) for photo in odds)
            found[f"{name} out of place"] = max(0.0, min(1.0, 0.5 + total / OUT_OF_PLACE))
            if odds:
                found[f"rare {name}"] = _share(odd > RARE for photo in odds for odd in photo)
        return found

    def _odd(self, slot: str, value: str) -> float:
        """How much likelier a value is when any of the slot's would do as well: 0 on average where nothing is wrong.

        The sum over a ticket, each photo with the same weight, is the locally most powerful test for photos in which
        one reading is replaced by chance.
        """
        seen = self.values.get(slot, _NOTHING)
        often = seen.get(value)
        kinds, total = len(seen) + (often is None), self.totals.get(slot, 0)
        odd = (total + 0.5 * kinds) / (kinds * ((often or 0) + 0.5))
        return (odd if odd < MOST_ODD else MOST_ODD) - 1.0


_NOTHING: Counter[str] = Counter()


def _share(holds: Iterable[bool]) -> float:
    listed = list(holds)
    return sum(listed) / len(listed)


def _bucket(photos: int) -> str:
    return str(photos) if photos <= 3 else "4-5" if photos <= 5 else "6-9" if photos <= 9 else "10+"


def _facts(reading: SummaryReading) -> Iterator[PhotoFact]:
    for entry in reading.entries:
        for attribute, values in entry.counts.items():
            yield from ((f"{entry.category}.{attribute}", value) for value in values)


def _pairs(pack: Pack, reading: SummaryReading) -> Iterator[PhotoFact]:
    """Values of two attributes that stand in one entry, and which of its keys an entry has beside a value."""
    for entry in reading.entries:
        listed = [name for name in sorted(entry.counts) if _listed(pack, f"{entry.category}.{name}")]
        for name, other in itertools.combinations(listed, 2):
            for value, beside in itertools.product(sorted(entry.counts[name]), sorted(entry.counts[other])):
                yield f"{entry.category}.{name}+{other}", f"{value}+{beside}"
        for name in listed:
            for value in sorted(entry.counts[name]):
                yield f"{entry.category}.{name}+keys", f"{value}: {','.join(listed)}"


@functools.lru_cache(maxsize=4096)
def _listed(pack: Pack, slot: str) -> bool:
    """Whether a slot takes one of a list of values: texts and numbers are told apart by their formats instead."""
    name, dot, attribute = slot.partition(".")
    category = pack.category(name)
    known = category.attribute(attribute) if category and dot else None
    return known is None or known.kind == "state"


def _keys(pack: Pack, readings: Sequence[SummaryReading]) -> dict[str, float]:
    """Keys that an object could always have and lacks, words that the pack does not know, labels nobody can read."""
    lacking: Counter[str] = Counter()
    objects: Counter[str] = Counter()
    unknown = told = unread = labels = 0
    for entry in itertools.chain.from_iterable(reading.entries for reading in readings):
        category = pack.category(entry.category)
        told += 1
        unknown += category is None
        for attribute in category.attributes if category else ():
            values = entry.values(attribute.name)
            if attribute.kind == "state":
                told += len(values)
                unknown += sum(value not in attribute.values for value in values)
                if attribute.marks and attribute.only is None:
                    slot = f"{entry.category}.{attribute.name}"
                    objects[slot] += 1
                    lacking[slot] += not values
        if entry.category == pack.labels.category:
            labels += 1
            unread += not entry.values(pack.labels.text)
    found = {f"missing/{slot}": count / objects[slot] for slot, count in lacking.items() if count}
    found["missing keys"] = lacking.total() / objects.total() if objects else 0.0
    found["unknown words"] = unknown / told if told else 0.0
    found["unreadable labels"] = unread / labels if labels else 0.0
    return found


def _checklist(judgement: RuleJudgement) -> dict[str, float]:
    """How the mission's needs stand: what a verdict hangs on."""
    found = {f"need/{finding.need.id}={finding.status}": 1.0 for finding in judgement.findings}
    wrong = sum(finding.status in ("defect", "absent") for finding in judgement.findings)
    found["needs not met"] = wrong / max(1, len(judgement.findings))
    found["checklist/pass"] = float(judgement.verdict == "pass")
    return found


def _texts(pack: Pack, reading: SummaryReading) -> Iterator[str]:
    """What stands on labels, and other free text."""
    for entry in reading.entries:
        category = pack.category(entry.category)
        for name, values in entry.counts.items():
            known = category.attribute(name) if category else None
            if (known is not None and known.kind == "text") or name == pack.labels.text:
                yield from values
