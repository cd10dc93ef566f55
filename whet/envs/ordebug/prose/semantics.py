"""What a remark means: linear forms over columns and over the names that other remarks define.

A key of a form is a column, `@NAME` (a figure), `$NAME` (a list), `#SUBJECT` (hours of a resource) or empty (a
constant).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from whet.envs.ordebug.families.vocabulary import Trade
from whet.envs.ordebug.prose.figures import number_of
from whet.envs.ordebug.prose.grammar import Tree

Form = Mapping[str, float]
Claim = tuple[object, ...]
"""What one remark claims, in a form that can be compared: two readings are the same if their claims are."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the register."""

    column: str
    item: str
    thing: str
    place: str
    price: float


def entry_of(trade: Trade, column: str, item: str, price: float) -> Entry:
    """The thing and the place that a line of the register speaks of; a switch has a thing of its own."""
    for template in (trade.gate, trade.item):
        pattern = re.escape(template).replace(r"\{thing\}", "(?P<thing>.+)").replace(r"\{place\}", "(?P<place>.+)")
        found = re.fullmatch(pattern, item)
        if found:
            parts = found.groupdict()
            return Entry(column, item, parts.get("thing", ""), parts["place"], price)
    return Entry(column, item, item, "", price)


@dataclass(frozen=True, slots=True)
class Semantics:
    """Reads trees with the register at hand."""

    register: Sequence[Entry]

    def claim(self, tree: Tree) -> Claim:
        """What a remark claims."""
        sort = tree.key.split()
        match sort[1]:
            case "held":
                return self._held(tree, sort[2])
            case "about":
                return ("about", self._name(tree), *self._watched(tree.parts["q"]))
            case "rule":
                return ("rule", self._name(tree), sort[2])
            case "list":
                return ("define", f"${self._name(tree)}", _frozen(self.group(tree.parts["g"])))
            case "is" | "began":
                return ("define", f"@{self._name(tree)}", _frozen(self.figure(tree.parts["f"])))
            case "moved":
                size = self.number(tree.parts["n"])
                return ("move", f"@{self._name(tree)}", size if sort[2] == "up" else -size)
            case "amended":
                moved = _sum(self.figure(tree.parts["f"]), {"": self._signed(tree, sort[2])})
                return ("define", f"@{self._name(tree)}", _frozen(moved))
            case "gap":
                return ("define", f"@{self._name(tree)}", _frozen(self._gap(tree, sort[2])))
            case "measure":
                form = {self.line(tree.parts["l"]): self.times(tree.parts["x"])}
                return ("define", f"@{self._name(tree)}", _frozen(form))
            case "rates":
                return ("define", f"#{tree.parts['s'].text}", _frozen(self._rates(tree, sort[2])))
            case "readings":
                return ("marks", tree.parts["s"].text, _frozen(self._marks(tree)))
            case "share":
                form = {self.line(tree.parts["l"]): 1.0, self.line(tree.parts["k"]): -self.times(tree.parts["y"])}
                return ("limit", _frozen(form), sort[2], ())
            case "gate":
                limited, limit = self.quantity(tree.parts["q"]), self.figure(tree.parts["f"])
                return ("gate", _frozen(limited), sort[2], _frozen(limit), self.line(tree.parts["l"]))
            case "stock":
                return ("stock", self._name(tree), _frozen(self.figure(tree.parts["f"])))
            case "demand":
                form = _sum(self.group(tree.parts["g"]), self.group(tree.parts["h"]), -1.0)
                return ("demand", self._name(tree), _frozen(form), sort[2], _frozen(self.figure(tree.parts["f"])))
            case "range":
                low = self.figure(tree.parts["f"])
                high = _sum(low, self.figure(tree.parts["e"]))
                return ("range", _frozen(self.quantity(tree.parts["q"])), _frozen(low), _frozen(high))
            case "whole" | "yes":
                return (sort[1], frozenset(self.lines(tree.parts["ls"])))
            case _:
                return ("nothing",)

    def _held(self, tree: Tree, sense: str) -> Claim:
        return (*self._watched(tree.parts["q"]), sense, _frozen(self.figure(tree.parts["f"])))

    def _watched(self, tree: Tree) -> Claim:
        """What is limited: a form, one line's amount, or an average."""
        if tree.key == "quantity average":
            return ("average", tree.parts["s"].text)
        sort = "bound" if tree.key in ("quantity line", "quantity count") else "limit"
        return (sort, _frozen(self.quantity(tree)))

    def _name(self, tree: Tree) -> str:
        return tree.parts["w"].text

    def _signed(self, tree: Tree, way: str) -> float:
        return self.number(tree.parts["n"]) * (1.0 if way == "up" else -1.0)

    def _gap(self, tree: Tree, way: str) -> Form:
        other = {f"@{tree.parts['o'].text}": 1.0}
        if way == "times":
            return _sum({}, other, self.times(tree.parts["x"]))
        return _sum(other, {"": self._signed(tree, way)})

    def _rates(self, tree: Tree, unit: str) -> Form:
        scale = 60.0 if unit == "minutes" else 1.0
        base = self.number(tree.parts["n"])
        found = {self.line(tree.parts["l"]): base / scale}
        for part in tree.parts["r"].parts.values():
            found[self.line(part.parts["l"])] = self._rate(part, base) / scale
        return found

    def _rate(self, part: Tree, base: float) -> float:
        """What a line uses, where the first uses `base`."""
        match part.key.split()[1]:
            case "plain":
                return self.number(part.parts["n"])
            case "times":
                return base * self.times(part.parts["x"])
            case "same":
                return base
            case way:
                return base + self._signed(part, way)

    def _marks(self, tree: Tree) -> Form:
        found: dict[str, float] = {}
        before = 0.0
        for part in tree.parts["z"].parts.values():
            sort, size = part.key.split()[1], self.number(part.parts["n"])
            before = size if sort == "plain" else before + (size if sort == "up" else -size)
            found[self.line(part.parts["l"])] = before
        return found

    def number(self, tree: Tree) -> float:
        value = number_of(tree.text)
        assert value is not None
        return value

    def times(self, tree: Tree) -> float:
        said = tree.key.split()[1]
        return self.number(tree.parts["n"]) if said == "any" else float(said)

    def figure(self, tree: Tree) -> Form:
        """The value of a figure: a constant, with the names and prices that it goes by."""
        numbers = [self.number(tree.parts[name]) for name in "nm" if name in tree.parts]
        match tree.key.split()[1:]:
            case []:
                return {"": self.number(tree)}
            case ["sum"]:
                return {"": numbers[0] + numbers[1]}
            case ["difference"]:
                return {"": numbers[0] - numbers[1]}
            case ["multiple"]:
                return {"": self.times(tree.parts["x"]) * numbers[0]}
            case ["lots"]:
                return {"": numbers[0] * numbers[1]}
            case ["percent"]:
                return {"": numbers[0] * numbers[1] / 100}
            case ["price", *way]:
                price = self._entry(tree.parts["l"]).price
                return {"": price + (self._signed(tree, way[0]) if way else 0.0)}
            case ["named", *way]:
                return _sum({f"@{self._name(tree)}": 1.0}, {"": self._signed(tree, way[0]) if way else 0.0})
            case ["both" | "apart" as way]:
                other = {f"@{tree.parts['o'].text}": 1.0}
                return _sum({f"@{self._name(tree)}": 1.0}, other, 1.0 if way == "both" else -1.0)
            case _:
                return {self.line(tree.parts["l"]): self.times(tree.parts["x"])}

    def quantity(self, tree: Tree) -> Form:
        match tree.key.split()[1]:
            case "lead":
                return _sum(self.group(tree.parts["g"]), self.group(tree.parts["h"]), -1.0)
            case "minus":
                return _sum({}, self.group(tree.parts["g"]), -1.0)
            case "total":
                return self.group(tree.parts["g"])
            case "hours":
                return {f"#{tree.parts['s'].text}": 1.0}
            case "average":
                return {f"%{tree.parts['s'].text}": 1.0}
            case _:
                return {self.line(tree.parts["l"]): 1.0}

    def group(self, tree: Tree) -> Form:
        """A sum of lines and lists."""
        parts = tree.parts
        gone = dict.fromkeys(self.lines(parts["ls"]), 1.0) if "ls" in parts else {}
        plain = [entry for entry in self.register if entry.thing]
        match tree.key.split()[1:]:
            case []:
                return dict.fromkeys((self.line(part) for part in parts.values()), 1.0)
            case ["nothing"]:
                return {}
            case ["place", *_]:
                there = [entry.column for entry in plain if entry.place == parts["p"].text]
            case ["thing", *_]:
                there = [entry.column for entry in plain if entry.thing == parts["t"].text]
            case ["whole", *_]:
                there = [entry.column for entry in plain]
            case ["list", *way]:
                added = {} if not way else {self.line(parts["l"]): 1.0}
                return _sum({f"${self._name(tree)}": 1.0}, added, -1.0 if way == ["without"] else 1.0)
        return _sum(dict.fromkeys(there, 1.0), gone, -1.0)

    def lines(self, tree: Tree) -> list[str]:
        return [self.line(part) for part in tree.parts.values()]

    def line(self, tree: Tree) -> str:
        return self._entry(tree).column

    def _entry(self, tree: Tree) -> Entry:
        order = list(self.register)
        names = [entry.item for entry in order]
        parts = tree.parts
        match tree.key.split()[1:]:
            case []:
                return order[names.index(tree.text)]
            case ["after"]:
                return order[(names.index(parts["i"].text) + 1) % len(order)]
            case ["before"]:
                return order[names.index(parts["i"].text) - 1]
            case ["first"]:
                return order[0]
            case ["last"]:
                return order[-1]
            case ["only", "place"]:
                return next(entry for entry in order if entry.place == parts["p"].text)
            case ["only", "thing"]:
                return next(entry for entry in order if entry.thing == parts["t"].text)
            case ["price"]:
                return next(entry for entry in order if entry.price == self.number(parts["n"]))
            case ranks:
                there = [entry for entry in order if "p" not in parts or entry.place == parts["p"].text]
                ranked = sorted(there, key=lambda entry: entry.price, reverse="high" in ranks)
                return ranked[1 if "second" in ranks else 0]


def _sum(one: Form, other: Form, factor: float = 1.0) -> dict[str, float]:
    found = dict(one)
    for name, value in other.items():
        found[name] = found.get(name, 0.0) + factor * value
    return {name: value for name, value in found.items() if value}


def _frozen(form: Form) -> tuple[tuple[str, float], ...]:
    return tuple(sorted((name, round(value, 6)) for name, value in form.items() if round(value, 6)))
