"""From the latent state of a site to what each of its photos shows."""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import get_args

from whet.envs.groupqc.pack.schema import Attribute, Mission, Need, ObjectCategory, Pack
from whet.envs.groupqc.records import Photo, PhotoObject, UnrelatedKind
from whet.envs.groupqc.verdict.rules import asked_categories
from whet.envs.groupqc.world.state import SiteState, Station
from whet.envs.groupqc.world.style import SiteStyle

MOST_PHOTOS = 38
MOST_ITEMS = 11
"""Objects in one photo, a watermark apart: as many as fit into a drawing."""

UNRELATED_SHARE = 0.12
REPEATED = 0.3
DISTRACTED = 0.35
ILLEGIBLE = 0.15
NOTED = 0.055

PhotoPlan = tuple[tuple[PhotoObject, ...], tuple[str, ...], UnrelatedKind | None]
"""What a photo is to show: items and notes, or something unrelated."""

_UNRELATED: tuple[UnrelatedKind, ...] = get_args(UnrelatedKind)


@dataclass(slots=True)
class _Shot:
    """A photo in the making."""

    station: str
    items: list[PhotoObject] = field(default_factory=list)
    pairs: int = 0


def photo_count(rng: random.Random) -> int:
    """One and a geometric number more: half of all tickets have three photos or fewer, few have many."""
    return min(MOST_PHOTOS, 1 + int(math.log(1.0 - rng.random()) / math.log(0.72)))


def shoot(
    rng: random.Random, pack: Pack, mission: Mission, state: SiteState, count: int, style: SiteStyle
) -> list[PhotoPlan]:
    """What each of `count` photos shows: items, notes, or something unrelated."""
    if state.blank:
        return [((), (), rng.choice(_UNRELATED)) for _ in range(count)]
    relevant = sorted(rng.sample(range(count), _relevant(rng, count, len(state.stations))))
    shots = [_Shot(state.stations[n].number if n < len(state.stations) else "") for n in range(len(relevant))]
    for shot in shots[len(state.stations) :]:
        shot.station = rng.choice(state.stations).number
    for station in state.stations:
        _fill(rng, pack, mission, station, [shot for shot in shots if shot.station == station.number], style)
    watermark = _stray_watermark(rng, pack, mission)
    made: list[PhotoPlan] = []
    for place in range(count):
        if place not in relevant:
            made.append(((), (), rng.choice(_UNRELATED)))
            continue
        shot = shots[relevant.index(place)]
        _distract(rng, pack, mission, shot, style)
        made.append((_with_watermark(pack, shot, watermark), _notes(rng, pack, shot, style), None))
    return made


def _notes(rng: random.Random, pack: Pack, shot: _Shot, style: SiteStyle) -> tuple[str, ...]:
    if not pack.notes:
        return ()
    shown = {item.category for item in shot.items}
    noted = rng.random() < NOTED
    if style.noted or style.plain:
        noted = bool(shown & style.noted) or (noted and not shown & style.plain)
    return (rng.choice(pack.notes),) if noted else ()


def _relevant(rng: random.Random, count: int, least: int) -> int:
    seen = sum(rng.random() >= UNRELATED_SHARE for _ in range(count))
    return max(least, seen)


def _fill(
    rng: random.Random, pack: Pack, mission: Mission, station: Station, shots: list[_Shot], style: SiteStyle
) -> None:
    """Put what is to be seen of a station into its photos: each category into one, then many into the first as well."""
    placed: list[list[PhotoObject]] = []
    for category, needs in _by_category(mission):
        cluster = _cluster(rng, pack, mission, station, category, needs, style)
        if not cluster:
            continue
        shot = shots[int(rng.random() * len(shots))]
        _place(pack, shot, cluster)
        if shot is not shots[0]:
            placed.append(cluster)
    for cluster in placed:
        if cluster[0].category in style.single:
            continue
        if rng.random() < REPEATED and len(shots[0].items) + len(cluster) <= MOST_ITEMS:
            _place(pack, shots[0], cluster)
    if style.repeated or style.added:
        _lean(rng, pack, mission, shots, style)


def _lean(rng: random.Random, pack: Pack, mission: Mission, shots: list[_Shot], style: SiteStyle) -> None:
    """What the style adds to the photos of a station: a second photo of something, things that nobody asks for."""
    for name in sorted(style.repeated):
        without = [shot for shot in shots if all(item.category != name for item in shot.items)]
        cluster = next(
            ([item for item in shot.items if item.category == name] for shot in shots if shot not in without), []
        )
        if len(shots) - len(without) == 1 and cluster and without:
            shot = rng.choice(without)
            if len(shot.items) + len(cluster) <= MOST_ITEMS:
                shot.items.extend(_without_pair(pack, item) for item in cluster)
    asked = {name for name, _ in _by_category(mission)}
    for name in sorted(style.added & ((asked_categories(mission) - asked) | set(mission.distractors))):
        if any(item.category == name for shot in shots for item in shot.items):
            continue
        shot, category = rng.choice(shots), pack.category(name)
        if len(shot.items) < MOST_ITEMS and category is not None:
            for _ in range(style.least.get(name, 1)):
                shot.items.append(_bystander(rng, pack, category, style))


def _without_pair(pack: Pack, item: PhotoObject) -> PhotoObject:
    name = _pair_name(pack, item.category)
    return replace(item, states=tuple(state for state in item.states if state[0] != name)) if name else item


def _place(pack: Pack, shot: _Shot, cluster: list[PhotoObject]) -> None:
    """Add a cluster whole. A cable and its label get a number of their own in this photo."""
    paired = len(cluster) > 1 and cluster[-1].category == pack.labels.category
    if paired and _pair_name(pack, cluster[-1].category):
        shot.pairs += 1
        number = str(shot.pairs)
        cluster = [
            replace(item, states=(*item.states, (name, number))) if (name := _pair_name(pack, item.category)) else item
            for item in cluster
        ]
    shot.items.extend(cluster)


@functools.cache
def _pair_name(pack: Pack, category: str) -> str:
    known = pack.category(category)
    return next((attribute.name for attribute in known.attributes if attribute.kind == "pair"), "") if known else ""


@functools.cache
def _by_category(mission: Mission) -> tuple[tuple[str, tuple[Need, ...]], ...]:
    names = dict.fromkeys(need.category for need in mission.needs if need.category)
    return tuple((name, tuple(need for need in mission.needs if need.category == name)) for name in names)


def _cluster(
    rng: random.Random,
    pack: Pack,
    mission: Mission,
    station: Station,
    name: str,
    needs: tuple[Need, ...],
    style: SiteStyle,
) -> list[PhotoObject]:
    """The objects of one category as their needs stand; empty where none was photographed."""
    statuses = {need.id: station.needs[need.id] for need in needs}
    category = pack.category(name)
    if category is None or all(status == "exempt" for status in statuses.values()):
        return []
    hidden: set[str] = set()
    if all(status == "absent" for status in statuses.values()):
        known = [need.known for need in needs if need.known]
        only = mission.per_station and len(_by_category(mission)) == 1
        if not only and (not known or rng.random() < 0.5):
            return []
        hidden.update(known)
    hidden.update(key for need in needs if statuses[need.id] == "absent" for key in need.good)
    forced = {key: value for need in needs for key, value in need.good.items() if key not in hidden}
    forced.update(_conditions(rng, mission, station, category, hidden))
    labelled = any(need.labelled for need in needs)
    room = min(category.most, MOST_ITEMS // len(_by_category(mission)))
    count = 1 if labelled else _several(rng, room)
    if not labelled:
        least = max(style.least.get(name, 1), *(need.least for need in needs))
        count = max(min(count, style.most.get(name, room)), min(least, room))
    faults: list[dict[str, str]] = [{} for _ in range(count)]
    for need in needs:
        if statuses[need.id] == "defect" and not need.labelled:
            faults[int(rng.random() * count)].update(_bad_values(rng, category, need))
    items = [draw_item(rng, pack, category, {**forced, **fault}, hidden, style) for fault in faults]
    if labelled:
        broken = any(need.labelled and statuses[need.id] == "defect" for need in needs)
        items = _labelled(rng, pack, items[0], needs, broken, style)
    return items


def _conditions(
    rng: random.Random, mission: Mission, station: Station, category: ObjectCategory, hidden: set[str]
) -> dict[str, str]:
    """Values that other needs depend on, and values that must be seen whatever they are."""
    forced: dict[str, str] = {}
    for need in mission.needs:
        if need.when is None or need.when[0] != category.name or need.when[1] in hidden:
            continue
        attribute = category.attribute(need.when[1])
        others = [value for value in attribute.values if value != need.when[2]] if attribute else []
        exempt = station.needs[need.id] == "exempt"
        forced[need.when[1]] = rng.choice(others) if exempt and others else need.when[2]
    for need in mission.needs:
        if need.category == category.name and need.known and need.known not in hidden and need.known not in forced:
            attribute = category.attribute(need.known)
            if attribute is not None:
                forced[need.known] = rng.choices(attribute.values, attribute.weights)[0]
    return forced


def _bad_values(rng: random.Random, category: ObjectCategory, need: Need) -> dict[str, str]:
    """A value that is not the good one, for one of the attributes that have another."""
    choices = []
    for name, good in need.good.items():
        attribute = category.attribute(name)
        if attribute is not None and len(attribute.values) > 1:
            choices.append((name, [value for value in attribute.values if value != good]))
    name, values = choices[int(rng.random() * len(choices))]
    return {name: rng.choice(values)}


def _labelled(
    rng: random.Random, pack: Pack, item: PhotoObject, needs: tuple[Need, ...], broken: bool, style: SiteStyle
) -> list[PhotoObject]:
    """A cable with its label. Broken: there is no label, or nobody can read it."""
    if not broken:
        return [item, label_item(rng, pack, style, legible=True)]
    if rng.random() < 0.5:
        return [item, label_item(rng, pack, style, legible=False)]
    bare = {key for need in needs if need.labelled for key in need.good}
    return [replace(item, states=tuple(state for state in item.states if state[0] not in bare))]


def label_item(rng: random.Random, pack: Pack, style: SiteStyle, legible: bool) -> PhotoObject:
    labels = pack.labels
    if not legible:
        return PhotoObject(labels.category, ((labels.legibility, labels.illegible),))
    new = style.drift and rng.random() < style.drift
    known = labels.new_templates if new else labels.templates
    template = style.template or rng.choice([other for other in known if other != style.other_than] or known)
    text = template.format(zone=rng.choice(labels.zones), n=rng.randrange(1, 10), m=rng.randrange(1, 100))
    return PhotoObject(labels.category, ((labels.text, text),))


def draw_item(
    rng: random.Random,
    pack: Pack,
    category: ObjectCategory,
    forced: Mapping[str, str],
    hidden: set[str],
    style: SiteStyle,
    calm: bool = False,
) -> PhotoObject:
    """One object: forced values hold, hidden ones are not seen, the rest is drawn by weight."""
    states: dict[str, str] = {}
    for attribute in category.attributes:
        if attribute.name in hidden or not (attribute.marks or (category.name, attribute.name) in style.asked):
            continue
        if attribute.only is not None and states.get(attribute.only[0]) != attribute.only[1]:
            continue
        if attribute.name in forced:
            states[attribute.name] = forced[attribute.name]
            continue
        favoured = style.favoured.get((category.name, attribute.name), "")
        if attribute.shown < 1.0 and not favoured and rng.random() >= attribute.shown:
            continue
        states[attribute.name] = _value(rng, pack, category, attribute, states, forced, style, calm)
    return PhotoObject(category.name, tuple(states.items()))


def _value(
    rng: random.Random,
    pack: Pack,
    category: ObjectCategory,
    attribute: Attribute,
    states: Mapping[str, str],
    forced: Mapping[str, str],
    style: SiteStyle,
    calm: bool,
) -> str:
    for (other, value), fixed in attribute.implied.items():
        if states.get(other) == value:
            return fixed
    barred = {style.avoided.get((category.name, attribute.name), "")} if len(attribute.values) > 1 else set()
    barred |= {
        value
        for later in category.attributes
        if later.name in forced
        for (other, value), fixed in later.implied.items()
        if other == attribute.name and fixed != forced[later.name]
    }
    wanted = style.favoured.get((category.name, attribute.name), "")
    if wanted and wanted not in barred:
        return wanted
    if attribute.kind != "state":
        return str(rng.randrange(1, 100))
    brand = pack.brand
    favoured = style.drift and brand and brand[:2] == (category.name, attribute.name) and brand[2] not in barred
    if brand and favoured and rng.random() < style.drift:
        return brand[2]
    if calm and len(set(attribute.weights)) == 1 and rng.random() < 0.75 and attribute.values[0] not in barred:
        return attribute.values[0]
    weights = [
        0.0 if choice in barred else weight for choice, weight in zip(attribute.values, attribute.weights, strict=True)
    ]
    return rng.choices(attribute.values, weights if any(weights) else attribute.weights)[0]


def _several(rng: random.Random, most: int) -> int:
    count = 1
    while count < most and rng.random() < 0.4:
        count += 1
    return count


def _distract(rng: random.Random, pack: Pack, mission: Mission, shot: _Shot, style: SiteStyle) -> None:
    """Objects that nobody asked about; a photo that would show nothing shows one of them."""
    while (not shot.items or rng.random() < DISTRACTED) and len(shot.items) < MOST_ITEMS:
        category = pack.category(rng.choice(mission.distractors))
        if category is not None and (category.name not in style.left_out or not shot.items):
            shot.items.append(_bystander(rng, pack, category, style))


def _bystander(rng: random.Random, pack: Pack, category: ObjectCategory, style: SiteStyle) -> PhotoObject:
    """An object that nobody asked about."""
    if category.name == pack.labels.category:
        return label_item(rng, pack, style, legible=bool(style.template) or rng.random() >= ILLEGIBLE)
    return draw_item(rng, pack, category, {}, set(), style, calm=True)


def _stray_watermark(rng: random.Random, pack: Pack, mission: Mission) -> str:
    """A station number on the photos of a mission that does not ask for it."""
    if pack.stations is None or mission.per_station or rng.random() >= 0.4:
        return ""
    return str(rng.randint(pack.stations.least, pack.stations.most))


def _with_watermark(pack: Pack, shot: _Shot, stray: str) -> tuple[PhotoObject, ...]:
    number = shot.station or stray
    if not number or pack.stations is None:
        return tuple(shot.items)
    return (PhotoObject(pack.stations.category, ((pack.stations.attribute, number),)), *shot.items)


def as_photo(name: str, shown: PhotoPlan, rng: random.Random) -> Photo:
    items, notes, unrelated = shown
    return Photo(name, items, notes, unrelated, rng.getrandbits(48))
