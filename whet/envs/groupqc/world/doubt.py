"""Ambiguous tickets: one thing that a need asks for is shown good and bad, so that reviewers do not agree."""

from __future__ import annotations

import random
from collections.abc import Sequence

from whet.envs.groupqc.pack.schema import Mission, Need, Pack
from whet.envs.groupqc.records import PhotoObject
from whet.envs.groupqc.world.scene import PhotoPlan


def contradict(rng: random.Random, pack: Pack, mission: Mission, photos: Sequence[PhotoPlan]) -> tuple[PhotoPlan, ...]:
    """The photos with one object shown once more, of the other value, and with a note where the pack has notes.

    Where nothing that can be good or bad is shown, the photos stay as they are: the doubt is the reviewers' alone.
    """
    judged = [
        (at, item, need)
        for at, (items, _, _) in enumerate(photos)
        for item in items
        for need in mission.needs
        if need.category == item.category and any(item.value(name) for name in need.good)
    ]
    if not judged:
        return tuple(photos)
    at, item, need = rng.choice(judged)
    other = _turned(rng, pack, item, need)
    shown, notes, unrelated = photos[at]
    doubt = (rng.choice(pack.notes),) if pack.notes else notes
    return (*photos[:at], ((*shown, other), doubt, unrelated), *photos[at + 1 :])


def _turned(rng: random.Random, pack: Pack, item: PhotoObject, need: Need) -> PhotoObject:
    """The object with one value that is not what it was; what depends on the old value goes."""
    category = pack.category(item.category)
    names = [name for name in need.good if item.value(name)]
    name = rng.choice(names)
    attribute = category.attribute(name) if category else None
    old = item.value(name)
    others = [value for value in attribute.values if value != old] if attribute else []
    states = {**dict(item.states), name: rng.choice(others)} if others else dict(item.states)
    for known in category.attributes if category else ():
        if known.only is not None and known.only[0] == name and states.get(name) != known.only[1]:
            states.pop(known.name, None)
    return PhotoObject(item.category, tuple(states.items()))
