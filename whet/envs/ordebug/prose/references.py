"""How a group of items is called: by its members, by what they have in common, or by the name of a list."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from whet.envs.ordebug.algebra import number
from whet.envs.ordebug.families.story import Item
from whet.envs.ordebug.families.vocabulary import Trade

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


def item_text(words: Trade, item: Item) -> str:
    if item.switch:
        return f"{item.thing} at {item.place}"
    return words.item.format(thing=item.thing, place=item.place)


@dataclass(slots=True)
class References:
    """Calls the lines of a problem, and groups of them, by their names or by what is true of them.

    `register`: the columns in the order in which the document lists them, with what a unit costs or earns.
    """

    rng: random.Random
    words: Trade
    items: Mapping[str, Item]
    register: Sequence[tuple[str, float]]
    described: float = 0.75
    """How often a line is called by something that is true of it alone."""

    def named(self, name: str) -> str:
        return item_text(self.words, self.items[name])

    def one(self, name: str) -> str:
        if self.rng.random() < self.described:
            known = self._descriptions(name)
            if known:
                return self.rng.choice(known)
        return self.named(name)

    def _descriptions(self, name: str) -> list[str]:
        """What is true of one line and of no other: its place in the register, its price, its rank."""
        order = [listed_name for listed_name, _ in self.register]
        price = dict(self.register)
        place = order.index(name)
        found: list[str] = []
        if place and not self.items[order[place - 1]].switch:
            above = self.named(order[place - 1])
            found += [f"the entry right below {above}", f"what the register lists next after {above}"]
        if place + 1 < len(order):
            found.append(f"the entry right above {self.named(order[place + 1])}")
        if place in (0, len(order) - 1):
            end = "first" if place == 0 else "last"
            found += [f"the {end} entry of the register", f"the line that the register has {end}"]
        found += self._ranked(name, order, price, "line of the register", "line of all")
        beside = [other for other in order if self.items[other].place == self.items[name].place]
        found += self._ranked(name, beside, price, f"{self.items[name].place} entry")
        alike = [other for other in order if self.items[other].thing == self.items[name].thing]
        if len(beside) == 1:
            found.append(f"the only {self.items[name].place} entry")
        if len(alike) == 1 and not self.items[name].switch:
            found.append(f"the only {self.items[name].thing} line")
        if list(price.values()).count(price[name]) == 1:
            found.append(f"the line at {number(price[name])} a unit")
        return found

    def _ranked(self, name: str, among: Sequence[str], price: Mapping[str, float], *sorts: str) -> list[str]:
        """The dearest or cheapest of some lines, or the next to it."""
        ranked = sorted(among, key=lambda other: price[other])
        if len(ranked) < 2 or len({price[other] for other in ranked}) < len(ranked):
            return []
        ranks = {ranked[0]: "cheapest", ranked[-1]: "dearest"}
        if len(ranked) > 3:
            ranks |= {ranked[1]: "second cheapest", ranked[-2]: "second dearest"}
        return [f"the {ranks[name]} {sort}" for sort in sorts] if name in ranks else []

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
            calls = (f"everything under {place}", f"the {place} lines", f"all {place} business")
            found += self._but(names, there, calls)
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
        parts: list[str] = []
        for name in self.rng.sample(list(names), len(names)):
            if self.items[name].switch or self.rng.random() < self.described:
                parts.append(self.one(name))
            else:
                by_place.setdefault(self.items[name].place, []).append(self.items[name].thing)
        parts += [self.words.item.format(thing=listed(things), place=place) for place, things in by_place.items()]
        return "; ".join(parts[:-1]) + f"; {parts[-1]}" if len(parts) > 2 else listed(parts)
