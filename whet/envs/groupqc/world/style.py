"""What the objects of a site are drawn like: equipment of a time, and a leaning towards or away from a condition.

A leaning only makes a condition likely. What a ticket really shows is judged afterwards, and drawn again if it is not
what was wanted.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from whet.envs.groupqc.pack.condition import (
    Appearance,
    Condition,
    Conjunction,
    Disjunction,
    LabelFormat,
    Location,
    Negation,
    Period,
)

Place = tuple[str, str]
"""A category and an attribute of it."""

NOTHING = Conjunction(())
"""A condition that asks nothing."""


@dataclass(frozen=True, slots=True)
class SiteStyle:
    """How objects are drawn. `drift` is how often the new brand and the new label format are used."""

    drift: float = 0.0
    favoured: Mapping[Place, str] = field(default_factory=dict)
    avoided: Mapping[Place, str] = field(default_factory=dict)
    least: Mapping[str, int] = field(default_factory=dict)
    most: Mapping[str, int] = field(default_factory=dict)
    """How many of a category stand together."""
    added: frozenset[str] = frozenset()
    left_out: frozenset[str] = frozenset()
    """Categories that nobody asks for, and that are to be shown, or not."""
    repeated: frozenset[str] = frozenset()
    single: frozenset[str] = frozenset()
    """Categories to be shown in a second photo, or in one alone."""
    noted: frozenset[str] = frozenset()
    plain: frozenset[str] = frozenset()
    """Categories whose photos carry a note, or none."""
    template: str = ""
    other_than: str = ""
    """The template of labels, or the one that none has."""
    asked: frozenset[Place] = frozenset()
    """Attributes that needs speak of: they are told of even where no drawing shows them."""


def lean(
    style: SiteStyle, rng: random.Random, condition: Condition, wanted: bool, site: str = "", date: str = ""
) -> SiteStyle:
    """The style in which a condition is likely to hold, or not to, on a ticket of that site and date."""
    if condition == NOTHING or settled(condition, site, date) is not None:
        return style
    match condition:
        case Appearance():
            return _towards(style, condition) if wanted else _away_from(style, condition)
        case LabelFormat(template):
            return replace(style, template=template) if wanted else replace(style, other_than=template)
        case Negation(part):
            return lean(style, rng, part, not wanted, site, date)
        case Conjunction(parts) | Disjunction(parts):
            open_parts = [part for part in parts if settled(part, site, date) is None]
            every = isinstance(condition, Conjunction) == wanted
            for part in open_parts if every else [rng.choice(open_parts)]:
                style = lean(style, rng, part, wanted, site, date)
    return style


def settled(condition: Condition, site: str, date: str) -> bool | None:
    """Whether a condition holds by the site and the date alone; None where that depends on the photos."""
    match condition:
        case Location(name):
            return site == name
        case Period(before):
            return bool(date) and date < before
        case Negation(part):
            inner = settled(part, site, date)
            return None if inner is None else not inner
        case Conjunction(parts) | Disjunction(parts):
            decisive = isinstance(condition, Disjunction)
            known = [settled(part, site, date) for part in parts]
            if decisive in known:
                return decisive
            return None if None in known else not decisive
    return None


def bare(condition: Condition) -> Condition:
    """What a condition asks of the photos, whatever the site and the date: an empty one where it asks nothing."""
    match condition:
        case Conjunction(parts) | Disjunction(parts):
            kept = tuple(inner for part in parts if (inner := bare(part)) != NOTHING)
            joined = Conjunction(kept) if isinstance(condition, Conjunction) else Disjunction(kept)
            return kept[0] if len(kept) == 1 else joined if kept else NOTHING
        case Negation(part):
            inner = bare(part)
            return NOTHING if inner == NOTHING else Negation(inner)
        case Location() | Period():
            return NOTHING
    return condition


def _towards(style: SiteStyle, seen: Appearance) -> SiteStyle:
    style = replace(style, added=style.added | {seen.category})
    if seen.noted:
        style = replace(style, noted=style.noted | {seen.category})
    if seen.value:
        style = replace(style, favoured={**style.favoured, (seen.category, seen.attribute): seen.value})
    if seen.least > 1:
        style = replace(style, least={**style.least, seen.category: seen.least})
    if seen.photos > 1:
        style = replace(style, repeated=style.repeated | {seen.category})
    return style


def _away_from(style: SiteStyle, seen: Appearance) -> SiteStyle:
    if seen.noted:
        return replace(style, plain=style.plain | {seen.category})
    if seen.photos > 1:
        return replace(style, single=style.single | {seen.category})
    if seen.least > 1:
        return replace(style, most={**style.most, seen.category: seen.least - 1})
    if seen.value:
        return replace(style, avoided={**style.avoided, (seen.category, seen.attribute): seen.value})
    return replace(style, left_out=style.left_out | {seen.category})
