"""The specification as prose: a register of the plan's lines, and remarks from which the requirements follow.

What one requirement says is seldom in one place. A group may be a list that another remark spells out, or another list
with one line more; a figure may have a name, a history and amendments, stand in an annex in other units, or be told by
another figure or a price; a rule may be told in three remarks: whom it concerns, what sort of limit it is, how high.
Some remarks are about nothing that matters. How each is worded is up to the voice.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from whet.envs.ordebug.algebra import number
from whet.envs.ordebug.families import FAMILIES, ProblemDraft, RowSense
from whet.envs.ordebug.families.story import FACTORS, tidy
from whet.envs.ordebug.instance import Specification
from whet.envs.ordebug.model import INF, Column, LinearRow
from whet.envs.ordebug.prose.figures import COUNTED, either, plain, times
from whet.envs.ordebug.prose.grammar import Voice, raised
from whet.envs.ordebug.prose.references import Names, References, item_text, listed

_DAYS = ("2 March", "9 March", "17 March", "4 April", "21 April", "5 May", "19 May", "1 June", "14 June", "30 June")

NEAR = 20
"""So many of the last lists and figures are looked at for one that another can be told by."""

SHORT = 6
"""Up to this many rows a document is kept brief."""


@dataclass(slots=True)
class _Document:
    """Remarks in the making. `about`: the element whose remarks are being written."""

    rng: random.Random
    voice: Voice
    draft: ProblemDraft
    names: Names
    call: References
    brief: bool
    remarks: list[str] = field(default_factory=list)
    annex: list[str] = field(default_factory=list)
    sources: dict[str, list[str]] = field(default_factory=dict)
    figures: list[tuple[str, float]] = field(default_factory=list)
    """Figures with a name that others may refer to."""
    lists: list[tuple[str, frozenset[str]]] = field(default_factory=list)
    about: str = ""

    def phrase(self, key: str, **parts: str) -> str:
        return self.voice.say(self.rng, key, **parts)

    def say(self, key: str, **parts: str) -> None:
        """One remark about what is being written of."""
        said = self.phrase(f"say {key}", **parts)
        self.remarks.append(said)
        self.sources.setdefault(self.about, []).append(said)

    def plain(self, value: float) -> str:
        return plain(self.rng, self.voice, tidy(value))

    def either(self, value: float, derived: float = 0.8) -> str:
        return either(self.rng, self.voice, tidy(value), derived)

    def group(self, names: Sequence[str]) -> str:
        """A group inline, by way of a list that is there already, or under the name of a list of its own."""
        wanted = frozenset(names)
        known = self.lists[-NEAR:]
        for name, there in self.rng.sample(known, len(known)):
            if len(wanted ^ there) <= 1 and self.rng.random() < 0.7:
                return self._by_list(name, there, wanted)
        if len(names) < 2 or self.rng.random() < (0.75 if self.brief else 0.45):
            return self.call.some(names)
        name = self.names.fresh()
        self.say("list", w=name, g=self.call.some(names))
        self.lists.append((name, wanted))
        return self.phrase("group list", w=name)

    def _by_list(self, name: str, there: frozenset[str], wanted: frozenset[str]) -> str:
        if there == wanted:
            return self.phrase("group list", w=name)
        (other,) = there ^ wanted
        return self.phrase(f"group list {'with' if other in wanted else 'without'}", w=name, l=self.call.one(other))

    def figure(self, value: float, named: float = 0.6) -> str:
        """A figure inline, by way of another one, or under a name whose history other remarks tell."""
        rng = self.rng
        if rng.random() > (named / 2 if self.brief else named):
            return self._by_price(value) if rng.random() < 0.4 else self.either(value)
        if self.figures and rng.random() < 0.35:
            return self._by_others(value)
        name = self.names.fresh()
        self.history(name, value)
        return self.phrase("figure named", w=name)

    def _by_others(self, value: float) -> str:
        """A figure by one or two that have names already."""
        known = self.figures[-NEAR:]
        pairs = [(a, b) for a, x in known for b, y in known if a != b and tidy(x - y) == value]
        sums = [(a, b) for a, x in known for b, y in known if a < b and tidy(x + y) == value]
        if pairs or sums:
            one, other = self.rng.choice(sums or pairs)
            return self.phrase("figure both" if sums else "figure apart", w=one, o=other)
        name, held = self.rng.choice(self.figures)
        gap = tidy(value - held)
        if not gap:
            return self.phrase("figure named", w=name)
        return self.phrase(f"figure named {'up' if gap > 0 else 'down'}", w=name, n=self.plain(abs(gap)))

    def _by_price(self, value: float) -> str:
        """A figure by what a line costs or earns a unit."""
        name, price = self.rng.choice(self.call.register)
        gap = tidy(value - price)
        worth = ("earns", "profit") if self.draft.model.maximize else ("costs", "cost")
        parts = {"l": self.call.one(name), "v": worth[self.voice.name == "yard"]}
        if not gap:
            return self.phrase("figure price", **parts)
        return self.phrase(f"figure price {'up' if gap > 0 else 'down'}", n=self.plain(abs(gap)), **parts)

    def history(self, name: str, value: float) -> None:
        """How a named figure came to be what it is."""
        rng = self.rng
        way = rng.random()
        if self.figures and way < 0.35:
            self._by_another(name, value)
        elif way < 0.55 and not self.brief:
            units = [unit for unit, size in COUNTED.items() if tidy(value / size * 4).is_integer()]
            unit = rng.choice(units or ["ones"])
            said = f"{name}; {number(tidy(value / COUNTED[unit]))}; {unit}"
            self.annex.append(said)
            self.sources.setdefault(self.about, []).append(said)
        elif way < 0.9:
            self._amended(name, value)
        else:
            self.say("is", w=name, f=self.either(value))
        self.figures.append((name, value))
        if rng.random() < (0.1 if self.brief else 0.3):
            other = max(1.0, round(abs(value) * rng.uniform(0.5, 1.6)))
            self.say("void", w=name, n=self.plain(other))

    def _by_another(self, name: str, value: float) -> None:
        multiples = [(o, value / held) for o, held in self.figures if held > 0 and value / held in FACTORS]
        if multiples and self.rng.random() < 0.7:
            other, factor = self.rng.choice(multiples)
            self.say("gap times", w=name, o=other, x=times(self.rng, self.voice, factor))
            return
        other, held = self.rng.choice(self.figures)
        gap = tidy(value - held)
        if not gap:
            self.say("is", w=name, f=self.phrase("figure named", w=other))
            return
        self.say(f"gap {'up' if gap > 0 else 'down'}", w=name, o=other, n=self.plain(abs(gap)))

    def _amended(self, name: str, value: float) -> None:
        rng = self.rng
        step = float(rng.choice((2, 3, 4, 5, 6, 8, 10, 12, 15, 20)))
        up = rng.random() < 0.5 and value - step > 0
        start = tidy(value - step if up else value + step)
        opened = self.either(start, 0.4) if start > 0 else self.plain(start)
        way, day = "up" if up else "down", rng.choice(_DAYS)
        if rng.random() < 0.5 or self.brief:
            self.say(f"amended {way}", w=name, f=opened, n=self.plain(step), d=day)
        else:
            self.say("began", w=name, f=opened)
            self.say(f"moved {way}", w=name, n=self.plain(step), d=day)


def prose(rng: random.Random, draft: ProblemDraft, voice: Voice) -> Specification:
    words, model = FAMILIES[draft.family], draft.model
    order = rng.sample(model.columns, len(model.columns))
    call = References(rng, voice, words, draft.items, [(column.name, column.cost) for column in order])
    written = _Document(rng, voice, draft, Names(rng), call, brief=len(model.rows) <= SHORT)
    for row in rng.sample(model.rows, len(model.rows)):
        written.about = f"row:{row.name}"
        _requirement(written, row, draft.meanings[row.name])
    for column in rng.sample(model.columns, len(model.columns)):
        written.about = f"column:{column.name}"
        _declaration(written, column)
    written.about = ""
    _types(written)
    for _ in range(int(rng.random() < 0.3) if written.brief else 2 + len(model.rows) // 8):
        place = draft.items[rng.choice(model.columns).name].place
        written.say("idle", p=place, d=rng.choice(_DAYS), n=str(rng.randint(3, 90)))
    worth = "profit" if words.maximize else "cost"
    opening = written.phrase(
        "opening",
        setting=words.setting,
        Worth=raised(worth),
        worth=worth,
        much="much" if words.maximize else "little",
        unit=words.unit,
    )
    entries = [
        written.phrase("register", c=column.name, i=item_text(words, draft.items[column.name]), n=number(column.cost))
        for column in order
    ]
    parts = [opening, "\n".join([written.phrase("title", worth=worth), *entries])]
    if written.annex:
        parts.append("\n".join([written.phrase("annex"), *rng.sample(written.annex, len(written.annex))]))
    parts.append("\n".join(["Remarks", *rng.sample(written.remarks, len(written.remarks))]))
    return Specification("\n\n".join(parts), {key: tuple(said) for key, said in written.sources.items() if key})


def _requirement(written: _Document, row: LinearRow, meaning: RowSense) -> None:
    if meaning.kind == "ratio":
        _ratio(written, row)
    elif meaning.kind == "switch":
        _switch(written, row)
    elif meaning.kind == "average":
        limit = float(meaning.subject.partition("|")[2])
        _held(written, row, _average(written, row, meaning.subject.partition("|")[0], limit), limit)
    elif meaning.kind == "usage":
        _held(written, row, _usage(written, row, meaning.subject), row.rhs)
    elif meaning.kind == "carry" and written.rng.random() < 0.6:
        _carried(written, row)
    else:
        _held(written, row, _total(written, row), row.rhs)


def _held(written: _Document, row: LinearRow, quantity: str, limit: float) -> None:
    """A quantity held to a figure: in one remark, or as a rule whose parts stand in several."""
    if written.brief or written.rng.random() < 0.6:
        written.say(f"held {row.sense}", q=quantity, f=written.figure(limit))
        return
    name = written.names.fresh()
    written.say("about", w=name, q=quantity)
    written.say(f"rule {row.sense}", w=name)
    written.history(name, limit)


def _total(written: _Document, row: LinearRow) -> str:
    more, less = _sides(row)
    if not less:
        return written.phrase("quantity total", g=written.group(more))
    if not more:
        return written.phrase("quantity minus", g=written.group(less))
    return written.phrase("quantity lead", g=written.group(more), h=written.group(less))


def _sides(row: LinearRow) -> tuple[list[str], list[str]]:
    return [name for name, value in row.terms if value > 0], [name for name, value in row.terms if value < 0]


def _carried(written: _Document, row: LinearRow) -> None:
    """An opening stock and a demand whose difference is the right-hand side."""
    sides = [written.group(side) if side else written.phrase("group nothing") for side in _sides(row)]
    stock = float(written.rng.randint(2, 40)) + max(0.0, -row.rhs)
    name = written.names.fresh()
    written.say("stock", w=name, f=written.either(stock, 0.5))
    written.say(f"demand {row.sense}", w=name, g=sides[0], h=sides[1], f=written.either(row.rhs + stock))


def _usage(written: _Document, row: LinearRow, subject: str) -> str:
    """What an item uses, the first absolutely, others at times by comparison."""
    rng, call = written.rng, written.call
    terms = rng.sample(row.terms, len(row.terms))
    first, base = terms[0]
    unit = rng.choice(("minutes", "hours"))
    scale = 60.0 if unit == "minutes" else 1.0
    parts: list[str] = []
    for name, value in terms[1:] or terms:
        ratio, gap, said = value / base, tidy((value - base) * scale), call.one(name)
        if gap == 0:
            parts.append(written.phrase("rate same", l=said))
        elif ratio in FACTORS and rng.random() < 0.7:
            parts.append(written.phrase("rate times", l=said, x=times(rng, written.voice, ratio)))
        elif rng.random() < 0.5:
            parts.append(written.phrase(f"rate {'up' if gap > 0 else 'down'}", l=said, n=written.plain(abs(gap))))
        else:
            parts.append(written.phrase("rate plain", l=said, n=written.plain(value * scale)))
    opened = written.plain(base * scale)
    written.say(f"rates {unit}", l=call.one(first), n=opened, s=subject, r="; ".join(parts))
    return written.phrase("quantity hours", s=subject)


def _average(written: _Document, row: LinearRow, subject: str, limit: float) -> str:
    rng, call = written.rng, written.call
    graded = [(name, tidy(value + limit)) for name, value in rng.sample(row.terms, len(row.terms))]
    parts = [written.phrase("mark plain", l=call.one(name), n=written.plain(grade)) for name, grade in graded[:1]]
    for (_, before), (name, grade) in pairwise(graded):
        gap, said = tidy(grade - before), call.one(name)
        if gap and rng.random() < 0.6:
            parts.append(written.phrase(f"mark {'up' if gap > 0 else 'down'}", l=said, n=written.plain(abs(gap))))
        else:
            parts.append(written.phrase("mark plain", l=said, n=written.plain(grade)))
    written.say("readings", s=subject, z="; ".join(parts))
    return written.phrase("quantity average", s=subject)


def _ratio(written: _Document, row: LinearRow) -> None:
    """One line against a multiple of another: directly, by a measure with a name, or as a share of both."""
    rng, call = written.rng, written.call
    (first, _), (second, value) = sorted(row.terms, key=lambda term: term[1], reverse=True)
    way, part = rng.random(), f"part {number(-value)}"
    if way < 0.4 and part in written.voice.phrases:
        written.say(f"share {row.sense}", l=call.one(first), k=call.one(second), y=written.phrase(part))
        return
    factor = times(rng, written.voice, -value)
    figure = written.phrase("figure line", x=factor, l=call.one(second))
    if way > 0.75:
        name = written.names.fresh()
        written.say("measure", w=name, x=factor, l=call.one(second))
        figure = written.phrase("figure named", w=name)
    written.say(f"held {row.sense}", q=written.phrase("quantity line", l=call.one(first)), f=figure)


def _switch(written: _Document, row: LinearRow) -> None:
    gate, size = next((name, -value) for name, value in row.terms if written.draft.items[name].switch)
    group = [name for name, _ in row.terms if not written.draft.items[name].switch]
    quantity = written.phrase("quantity total", g=written.group(group))
    written.say(f"gate {row.sense}", l=written.call.one(gate), q=quantity, f=written.figure(size))


def _declaration(written: _Document, column: Column) -> None:
    """Bounds of a column, each in a remark of its own or both in one."""
    if column.kind == "binary":
        return
    sort = "count" if written.draft.items[column.name].switch else "line"
    low, high = column.lower != 0.0, column.upper < INF
    if low and high and written.rng.random() < 0.5:
        gap = tidy(column.upper - column.lower)
        said = written.phrase(f"quantity {sort}", l=written.call.one(column.name))
        written.say("range", q=said, f=_signed(written, column.lower), e=written.either(gap, 0.5))
        return
    for there, sense, value in ((low, ">=", column.lower), (high, "<=", column.upper)):
        if there:
            said = written.phrase(f"quantity {sort}", l=written.call.one(column.name))
            written.say(f"held {sense}", q=said, f=_signed(written, value))


def _signed(written: _Document, value: float) -> str:
    return written.figure(value, 0.25) if value > 0 else written.plain(value)


def _types(written: _Document) -> None:
    for kind, key in (("integer", "say whole"), ("binary", "say yes")):
        names = [column.name for column in written.draft.model.columns if column.kind == kind]
        if names:
            sentence = written.phrase(key, ls=listed([written.call.one(name) for name in names]))
            written.remarks.append(sentence)
            for name in names:
                written.sources.setdefault(f"column:{name}", []).append(sentence)
