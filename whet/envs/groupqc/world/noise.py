"""The eleven noise channels of the generator. Each is switched by its rate; each leaves a record of what it changed.

Five act on the summary of a photo (omission, flip, jitter, ocr, foreign), one on its text (malformed), and five on the
ticket (label, unobservable, resubmission, drift, ambiguous); the last five are drawn by `SiteWorld`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, get_args

from whet.envs.groupqc.pack.schema import Pack
from whet.envs.groupqc.records import Channel, NoiseEvent, PhotoObject
from whet.envs.groupqc.summaries.text import canonical, plain_text, summarise, with_header
from whet.errors import WhetError, nearest

CHANNELS: tuple[Channel, ...] = get_args(Channel)


@dataclass(frozen=True, slots=True)
class Noise:
    """How often each channel acts: a share of the photos, or for the last five a share of the tickets.

    An `ambiguous` ticket shows the same thing good and bad, and reviewers toss a coin. `drift` takes effect on sites
    from `drift_after` on, a date as in 2026-07-01.
    """

    omission: float = 0.0
    flip: float = 0.0
    jitter: float = 0.0
    malformed: float = 0.0
    ocr: float = 0.0
    label: float = 0.0
    unobservable: float = 0.0
    resubmission: float = 0.0
    foreign: float = 0.0
    drift: float = 0.0
    drift_after: str = "2026-07-01"
    ambiguous: float = 0.0

    @classmethod
    def of(cls, rates: Mapping[str, Any]) -> Noise:
        """Noise from a mapping, as a user writes it."""
        known = [field.name for field in fields(cls)]
        for name, rate in rates.items():
            if name not in known:
                raise WhetError(f"there is no noise channel {name!r}.{nearest(name, known)}")
            if name == "drift_after":
                if not isinstance(rate, str):
                    raise WhetError(f"noise: 'drift_after' takes a date such as '2026-07-01', not {rate!r}")
            elif isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 <= rate <= 1:
                raise WhetError(f"noise channel {name!r} takes a rate from 0 to 1, not {rate!r}")
        return cls(**rates)

    @property
    def on_photos(self) -> bool:
        return bool(self.omission or self.flip or self.jitter or self.malformed or self.ocr or self.foreign)


NO_NOISE = Noise()

REALISTIC = Noise(
    omission=0.05,
    flip=0.02,
    jitter=0.05,
    malformed=0.02,
    ocr=0.1,
    label=0.02,
    unobservable=0.08,
    resubmission=0.1,
    foreign=0.03,
)
"""Rates like those of a real archive, where many rejections have causes that no summary shows."""

Change = tuple[str, str, str]
"""What was changed, before and after."""

Entries = list[dict[str, Any]]


def corrupt(
    rng: random.Random,
    pack: Pack,
    noise: Noise,
    image: int,
    items: Sequence[PhotoObject],
    notes: Sequence[str],
    extra: float,
) -> tuple[str, list[NoiseEvent]]:
    """The noisy summary of a photo that shows `items`, and what was done. `extra` adds to the rate of omissions."""
    summary = summarise(pack, items, notes)
    entries: Entries = [
        {key: dict(value) if isinstance(value, dict) else value for key, value in entry.items()}
        for entry in summary[pack.words.statistics]
    ]
    summary[pack.words.statistics] = entries
    events: list[NoiseEvent] = []
    changes: tuple[tuple[Channel, float, Callable[[random.Random, Pack, Entries], Change | None]], ...] = (
        ("omission", noise.omission + extra, _omit),
        ("flip", noise.flip, _flip),
        ("jitter", noise.jitter, _jitter),
        ("ocr", noise.ocr, _misread),
        ("foreign", noise.foreign, _intrude),
    )
    for channel, rate, change in changes:
        if rate and rng.random() < rate:
            done = change(rng, pack, entries)
            if done:
                events.append(NoiseEvent(channel, image, *done))
    if not entries:
        return pack.words.irrelevant, events
    text = canonical(pack.words, summary)
    if noise.malformed and rng.random() < noise.malformed:
        name, spoil = rng.choice(_SPOILS)
        text, before = spoil(rng, pack, text, items), text
        events.append(NoiseEvent("malformed", image, name, before, text))
    return text, events


def _attributes(pack: Pack, entries: Entries) -> list[tuple[dict[str, Any], str]]:
    """Every attribute that an entry has, those of stations apart."""
    skip = pack.stations.category if pack.stations else ""
    own = pack.words.category
    return [(entry, name) for entry in entries if entry[own] != skip for name in entry if name != own]


def _omit(rng: random.Random, pack: Pack, entries: Entries) -> Change | None:
    """A whole category goes, or one attribute of one."""
    attributes = _attributes(pack, entries)
    if rng.random() < 0.5 or not attributes:
        gone = entries.pop(rng.randrange(len(entries)))
        return "category", str(gone[pack.words.category]), ""
    entry, name = rng.choice(attributes)
    values = entry.pop(name)
    return f"{entry[pack.words.category]}.{name}", _counted(values), ""


def _flip(rng: random.Random, pack: Pack, entries: Entries) -> Change | None:
    """One value becomes another that the attribute could have had."""
    choices = []
    for entry, name in _attributes(pack, entries):
        category = pack.category(entry[pack.words.category])
        attribute = category.attribute(name) if category else None
        if attribute is not None and attribute.kind == "state" and len(attribute.values) > 1:
            choices.append((entry, name, attribute))
    if not choices:
        return None
    entry, name, attribute = rng.choice(choices)
    values = entry[name]
    old = rng.choice(list(values))
    new = rng.choice([value for value in attribute.values if value != old])
    before = _counted(values)
    count = values.pop(old)
    values[new] = values.get(new, 0) + count
    return f"{entry[pack.words.category]}.{name}", before, _counted(values)


def _jitter(rng: random.Random, pack: Pack, entries: Entries) -> Change | None:
    """A count goes up or down by one; it never falls below one."""
    attributes = _attributes(pack, entries)
    if not attributes:
        return None
    entry, name = rng.choice(attributes)
    value = rng.choice(list(entry[name]))
    count = entry[name][value]
    entry[name][value] = count + 1 if count == 1 or rng.random() < 0.5 else count - 1
    return f"{entry[pack.words.category]}.{name}", f"{value}×{count}", f"{value}×{entry[name][value]}"


_LOOKALIKES = {"0": "O", "O": "0", "1": "I", "I": "1", "8": "B", "B": "8", "5": "S", "S": "5", "2": "Z", "区": "匹"}


def _misread(rng: random.Random, pack: Pack, entries: Entries) -> Change | None:
    """A character of a label becomes one that looks like it, or is lost."""
    name = pack.labels.text
    labels = [entry for entry in entries if entry[pack.words.category] == pack.labels.category and entry.get(name)]
    if not labels:
        return None
    entry = rng.choice(labels)
    text = rng.choice(list(entry[name]))
    place = rng.randrange(len(text))
    read = text[:place] + _LOOKALIKES.get(text[place], "") + text[place + 1 :]
    entry[name][read or "?"] = entry[name].pop(text)
    return f"{pack.labels.category}.{name}", text, read or "?"


def _intrude(rng: random.Random, pack: Pack, entries: Entries) -> Change | None:
    """An object of another domain."""
    if not pack.foreign:
        return None
    stranger = rng.choice(pack.foreign)
    entries.append(
        {pack.words.category: stranger.category, **{name: {value: 1} for name, value in stranger.states.items()}}
    )
    return "category", "", stranger.category


def _counted(values: Mapping[str, int]) -> str:
    return ",".join(f"{value}×{count}" for value, count in values.items())


TextDamage = Callable[[random.Random, Pack, str, Sequence[PhotoObject]], str]


def _cut_off(rng: random.Random, pack: Pack, text: str, items: Sequence[PhotoObject]) -> str:
    return text[: max(8, int(len(text) * rng.uniform(0.4, 0.9)))]


def _headed(rng: random.Random, pack: Pack, text: str, items: Sequence[PhotoObject]) -> str:
    return with_header(pack, text)


def _assignment(rng: random.Random, pack: Pack, text: str, items: Sequence[PhotoObject]) -> str:
    """`统计=[…]` without the braces around it."""
    return text[1:-1].replace(f'"{pack.words.statistics}": ', f"{pack.words.statistics}=", 1)


def _flat(rng: random.Random, pack: Pack, text: str, items: Sequence[PhotoObject]) -> str:
    return plain_text(pack, items)


_SPOILS: tuple[tuple[str, TextDamage], ...] = (
    ("cut_off", _cut_off),
    ("header", _headed),
    ("assignment", _assignment),
    ("plain_text", _flat),
)
