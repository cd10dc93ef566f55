"""How a group of items is called: by its members, by what they have in common, or by the name of a list."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from whet.envs.ordebug.families.story import Item
from whet.envs.ordebug.families.vocabulary import Vocabulary

_NAMES = (
    *("Amber", "Basil", "Cobalt", "Dahlia", "Ember", "Falcon", "Garnet", "Heron", "Indigo", "Jasper", "Kestrel"),
    *("Lotus", "Maple", "Nimbus", "Onyx", "Pewter", "Quartz", "Raven", "Saffron", "Topaz", "Umber", "Violet"),
    *("Willow", "Yarrow", "Zephyr", "Alder", "Bronze", "Cedar", "Drake", "Elm", "Flint", "Gannet", "Hazel", "Ivory"),
)


@dataclass(slots=True)
class Names:
    """Names for lists, rules and figures; none is given twice."""

    rng: random.Random
    taken: list[str] = field(default_factory=list)
    _free: list[str] = field(default_factory=list)
    _round: int = 0

    def fresh(self) -> str:
        if not self._free:
            self._round += 1
            mark = "" if self._round == 1 else f" {self._round}"
            self._free = [f"{name}{mark}" for name in self.rng.sample(_NAMES, len(_NAMES))]
        self.taken.append(self._free.pop())
        return self.taken[-1]


def listed(parts: Sequence[str]) -> str:
    """`a, b and c`."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def item_text(words: Vocabulary, item: Item) -> str:
    if item.switch:
        return f"{item.thing} at {item.place}"
    return words.item.format(thing=item.thing, place=item.place)


@dataclass(slots=True)
class References:
    """Calls groups of a problem's items by their names."""

    rng: random.Random
    words: Vocabulary
    items: Mapping[str, Item]

    def one(self, name: str) -> str:
        return item_text(self.words, self.items[name])

    def some(self, names: Sequence[str]) -> str:
        """The group, by what its members have in common where that says exactly who belongs to it."""
        common = self._common(frozenset(names))
        if common and self.rng.random() < 0.75:
            return self.rng.choice(common)
        return self._members(names)

    def _common(self, names: frozenset[str]) -> list[str]:
        found: list[str] = []
        plain = {name: item for name, item in self.items.items() if not item.switch}
        gates = {item.place for item in self.items.values() if item.switch}
        for place in {item.place for item in plain.values()} - gates:
            there = {name for name, item in plain.items() if item.place == place}
            found += self._but(
                names, there, (f"everything under {place}", f"the {place} lines", f"all {place} business")
            )
        for thing in {item.thing for item in plain.values()}:
            there = {name for name, item in plain.items() if item.thing == thing}
            found += self._but(names, there, (f"{thing} of every place", f"all {thing}", f"{thing} wherever it goes"))
        if not gates:
            found += self._but(names, set(plain), ("the whole plan", "every line of the plan"))
        return sorted(found)

    def _but(self, names: frozenset[str], there: set[str], said: tuple[str, ...]) -> list[str]:
        """The set, or the set without one or two of its members."""
        if len(there) < 2 or not names <= there or len(names) < 2:
            return []
        left = sorted(there - names)
        if not left:
            return list(said)
        if len(left) > 2:
            return []
        gone = listed([self.one(name) for name in left])
        return [f"{text} {mark} {gone}" for text in said for mark in ("except", "other than", "leaving out")]

    def _members(self, names: Sequence[str]) -> str:
        """One by one, with items of one place drawn together."""
        by_place: dict[str, list[str]] = {}
        for name in self.rng.sample(list(names), len(names)):
            by_place.setdefault(self.items[name].place, []).append(self.items[name].thing)
        parts = []
        for place, things in by_place.items():
            switch = self.items[names[0]].switch
            text = listed(things)
            parts.append(f"{text} at {place}" if switch else self.words.item.format(thing=text, place=place))
        return "; ".join(parts[:-1]) + f"; {parts[-1]}" if len(parts) > 2 else listed(parts)
