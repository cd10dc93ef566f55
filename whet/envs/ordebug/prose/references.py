"""How a group of items is called: by its members, by what they have in common, or by the name of a list."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from whet.envs.ordebug.algebra import number
from whet.envs.ordebug.families.story import Item
from whet.envs.ordebug.families.vocabulary import Trade
from whet.envs.ordebug.prose.grammar import Voice

COINED = (
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
            self._free = [f"{name}{mark}" for name in self.rng.sample(COINED, len(COINED))]
        self.taken.append(self._free.pop())
        return self.taken[-1]


def listed(parts: Sequence[str]) -> str:
    """`a, b and c`."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def item_text(words: Trade, item: Item) -> str:
    if item.switch:
        return words.gate.format(place=item.place)
    return words.item.format(thing=item.thing, place=item.place)


SORTED_BY = ("place", "thing")
"""What lines may have in common."""


@dataclass(slots=True)
class References:
    """Calls the lines of a problem, and groups of them, by their names or by what is true of them.

    `register`: the columns in the order in which the document lists them, with what a unit costs or earns.
    """

    rng: random.Random
    voice: Voice
    words: Trade
    items: Mapping[str, Item]
    register: Sequence[tuple[str, float]]
    described: float = 0.75
    """How often a line is called by something that is true of it alone."""

    _order: list[str] = field(default_factory=list)
    _place: dict[str, int] = field(default_factory=dict)
    _prices: Counter[float] = field(default_factory=Counter)
    _sorts: dict[str, Counter[str]] = field(default_factory=dict)
    _ranks: dict[str, dict[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """What is true of a line is looked up, not counted again for every mention of it."""
        self._order = [name for name, _ in self.register]
        self._place = {name: place for place, name in enumerate(self._order)}
        self._prices = Counter(price for _, price in self.register)
        self._sorts = {sort: Counter(getattr(self.items[name], sort) for name in self._order) for sort in SORTED_BY}
        beside: dict[str, list[str]] = {"": self._order}
        for name in self._order:
            beside.setdefault(self.items[name].place, []).append(name)
        self._ranks = {place: self._ranked(names) for place, names in beside.items()}

    def named(self, name: str) -> str:
        return item_text(self.words, self.items[name])

    def one(self, name: str) -> str:
        if self.rng.random() < self.described:
            known = self._descriptions(name)
            if known:
                key, parts = self.rng.choice(known)
                return self.voice.say(self.rng, key, **parts)
        return self.named(name)

    def _descriptions(self, name: str) -> list[Described]:
        """What is true of one line and of no other: its place in the register, its price, its rank."""
        order, place, item = self._order, self._place[name], self.items[name]
        price = self.register[place][1]
        found: list[Described] = []
        if place:
            found.append(("line after", {"i": self.named(order[place - 1])}))
        if place + 1 < len(order):
            found.append(("line before", {"i": self.named(order[place + 1])}))
        if place in (0, len(order) - 1):
            found.append(("line first" if place == 0 else "line last", {}))
        if name in self._ranks[""]:
            found.append((self._ranks[""][name], {}))
        rank = self._ranks[item.place].get(name, "second")
        if "second" not in rank:
            found.append((f"{rank} of", {"p": item.place}))
        if self._sorts["place"][item.place] == 1:
            found.append(("line only place", {"p": item.place}))
        if self._sorts["thing"][item.thing] == 1 and not item.switch:
            found.append(("line only thing", {"t": item.thing}))
        if self._prices[price] == 1:
            found.append(("line price", {"n": number(price)}))
        return found

    def _ranked(self, among: Sequence[str]) -> dict[str, str]:
        """The dearest and the cheapest of some lines, and the next to them."""
        price = dict(self.register)
        ranked = sorted(among, key=lambda other: price[other])
        if len(ranked) < 2 or len({price[other] for other in ranked}) < len(ranked):
            return {}
        ranks = {ranked[0]: "low", ranked[-1]: "high"}
        if len(ranked) > 3:
            ranks |= {ranked[1]: "second low", ranked[-2]: "second high"}
        worth = "profit" if self.words.maximize else "cost"
        return {name: f"line {rank} {worth}" for name, rank in ranks.items()}

    def some(self, names: Sequence[str]) -> str:
        """The group, by what its members have in common where that says exactly who belongs to it."""
        common = self._common(frozenset(names))
        if common and self.rng.random() < 0.75:
            key, parts = self.rng.choice(common)
            return self.voice.say(self.rng, key, **parts)
        return listed([self.one(name) for name in self.rng.sample(list(names), len(names))])

    def _common(self, names: frozenset[str]) -> list[Described]:
        found: list[Described] = []
        plain = {name: item for name, item in self.items.items() if not item.switch}
        gates = {item.place for item in self.items.values() if item.switch}
        for sort, barred in (("place", gates), ("thing", set[str]())):
            for common in sorted({getattr(self.items[name], sort) for name in names} - barred):
                there = {name for name, item in plain.items() if getattr(item, sort) == common}
                found += self._but(names, there, f"group {sort}", {sort[0]: common})
        if not gates:
            found += self._but(names, set(plain), "group whole", {})
        return found

    def _but(self, names: frozenset[str], there: set[str], key: str, parts: dict[str, str]) -> list[Described]:
        """The set, or the set without one or two of its members."""
        if len(there) < 2 or not names <= there or len(names) < 2:
            return []
        left = sorted(there - names)
        if not left:
            return [(key, parts)]
        return [(f"{key} but", {**parts, "ls": listed([self.one(name) for name in left])})] if len(left) < 3 else []


Described = tuple[str, dict[str, str]]
"""A phrase by its key, with its parts."""
