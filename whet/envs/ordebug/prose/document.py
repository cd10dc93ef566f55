"""The specification as prose: a register of the plan's lines, and remarks from which the requirements follow.

What one requirement says is seldom in one place. A group may be a list that another remark spells out, a figure may
have a name and a history, a rule may be told in three remarks: whom it concerns, what sort of limit it is, how high.
Some remarks are about nothing that matters.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import pairwise

from whet.envs.ordebug.algebra import number
from whet.envs.ordebug.families import FAMILIES, ProblemDraft, RowSense, Trade
from whet.envs.ordebug.families.story import tidy
from whet.envs.ordebug.instance import Specification
from whet.envs.ordebug.model import INF, Column, LinearRow
from whet.envs.ordebug.prose.comparisons import compared, raised, standing
from whet.envs.ordebug.prose.figures import either, expression, plain, times
from whet.envs.ordebug.prose.references import Names, References, item_text, listed

_DAYS = ("2 March", "9 March", "17 March", "4 April", "21 April", "5 May", "19 May", "1 June", "14 June", "30 June")

_IDLE = (
    "The {place} office moved to a new building on {day}.",
    "Last year's plan for {place} had {n} lines and was thought too long.",
    "A visitor asked whether {thing} could do with {n} more; nobody took it up.",
    "The auditors praised {place}; their report runs to {n} pages.",
    "At {place} the canteen serves {n} guests a day.",
    "On {day} the board discussed {thing} for {n} minutes without a result.",
)

SHORT = 6
"""Up to this many rows a document is kept brief."""


@dataclass(slots=True)
class _Document:
    """Remarks in the making. `about`: the element whose remarks are being written."""

    rng: random.Random
    draft: ProblemDraft
    names: Names
    call: References
    brief: bool
    remarks: list[str] = field(default_factory=list)
    sources: dict[str, list[str]] = field(default_factory=dict)
    figures: list[tuple[str, float]] = field(default_factory=list)
    """Figures with a name that others may refer to."""
    about: str = ""

    def say(self, *sentences: str) -> None:
        """One remark; sentences of one remark stay together."""
        said = " ".join(sentences)
        self.remarks.append(said)
        self.sources.setdefault(self.about, []).append(said)

    def group(self, names: list[str]) -> str:
        """A group inline, or under the name of a list that another remark spells out."""
        if len(names) < 2 or self.rng.random() < (0.75 if self.brief else 0.45):
            return self.call.some(names)
        name = self.names.fresh()
        members = self.call.some(names)
        self.say(
            self.rng.choice(
                (
                    f"The {name} list is made up of {members}.",
                    f"By {name} we mean {members}.",
                    f"{raised(members)} {'go' if len(names) > 1 else 'goes'} by the name of {name}.",
                    f"Whoever says {name} speaks of {members}.",
                )
            )
        )
        return self.rng.choice((f"the {name} list", name, f"whatever is in {name}"))

    def figure(self, value: float, named: float = 0.6) -> str:
        """A figure inline, or under a name whose history other remarks tell."""
        rng = self.rng
        if rng.random() > (named / 2 if self.brief else named):
            return self._by_price(value) if rng.random() < 0.4 else either(rng, value)
        name = self.names.fresh()
        self._history(name, value)
        return rng.choice((f"the {name} figure", f"what {name} stands at", f"the amount called {name}"))

    def _by_price(self, value: float) -> str:
        """A figure by what a line costs or earns a unit."""
        name, price = self.rng.choice(self.call.register)
        gap = tidy(value - price)
        worth = "earns" if self.draft.model.maximize else "costs"
        if not gap:
            return f"as much as {self.call.one(name)} {worth} a unit"
        return f"{plain(self.rng, abs(gap))} {'more' if gap > 0 else 'less'} than {self.call.one(name)} {worth} a unit"

    def _history(self, name: str, value: float) -> None:
        """How a named figure came to be what it is."""
        rng = self.rng
        known = [(other, held) for other, held in self.figures if held != value]
        way = rng.random()
        if known and way < 0.35:
            other, held = rng.choice(known)
            gap = tidy(value - held)
            more = f"{plain(rng, abs(gap))} {'more' if gap > 0 else 'less'} than"
            self.say(
                rng.choice((f"The {name} figure is {more} that of {other}.", f"Take {other}: {name} is {more} it."))
            )
        elif way < 0.85:
            self._amended(name, value)
        else:
            self.say(f"The {name} figure is {expression(rng, value)}.")
        self.figures.append((name, value))
        if rng.random() < (0.1 if self.brief else 0.3):
            self._turned_down(name, value)

    def _amended(self, name: str, value: float) -> None:
        rng = self.rng
        step = float(rng.choice((1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20)))
        up = rng.random() < 0.5 or value - step < 0
        start = value - step if up else value + step
        if start <= 0:
            up, start = False, abs(value) + step if value >= 0 else value + step
        opened = (
            f"{name} began at {either(rng, tidy(start), 0.4)}"
            if start >= 0
            else f"{name} began at {number(tidy(start))}"
        )
        moved = "raised" if value > start else "lowered"
        gap = plain(rng, abs(tidy(value - start)))
        day = rng.choice(_DAYS)
        later = rng.choice((f"On {day} it was {moved} by {gap}.", f"A memo of {day} has it {moved} by {gap}."))
        apart = rng.choice(
            (f"Since {day} {name} is {moved} by {gap}.", f"The note of {day} speaks of {name}: {moved} by {gap}.")
        )
        if rng.random() < 0.5 or self.brief:
            self.say(f"{opened}.", later)
        else:
            self.say(f"{opened}.")
            self.say(apart)

    def _turned_down(self, name: str, value: float) -> None:
        other = plain(self.rng, max(1.0, round(abs(value) * self.rng.uniform(0.5, 1.6))))
        self.say(
            self.rng.choice(
                (f"A motion to set {name} to {other} was turned down.", f"Years ago, {name} stood at {other}.")
            )
        )


def prose(rng: random.Random, draft: ProblemDraft) -> Specification:
    words, model = FAMILIES[draft.family], draft.model
    order = rng.sample(model.columns, len(model.columns))
    call = References(rng, words, draft.items, [(column.name, column.cost) for column in order])
    written = _Document(rng, draft, Names(rng), call, brief=len(model.rows) <= SHORT)
    for row in rng.sample(model.rows, len(model.rows)):
        written.about = f"row:{row.name}"
        _requirement(written, row, draft.meanings[row.name])
    for column in rng.sample(model.columns, len(model.columns)):
        written.about = f"column:{column.name}"
        _declaration(written, column)
    written.about = ""
    _types(written)
    for _ in range(int(rng.random() < 0.3) if written.brief else 2 + len(model.rows) // 8):
        item = draft.items[rng.choice(model.columns).name]
        idle = rng.choice(_IDLE)
        thing = "the matter" if item.switch else item.thing
        written.say(idle.format(place=item.place, thing=thing, day=rng.choice(_DAYS), n=rng.randint(3, 90)))
    remarks = rng.sample(written.remarks, len(written.remarks))
    lines = [
        f"{words.setting} {'Profit' if words.maximize else 'Cost'} is what counts: "
        f"{'as much' if words.maximize else 'as little'} of it as possible. Amounts are {words.unit}; unless something "
        "else is said, they start at 0, have no upper limit and may be split.",
        "",
        f"Register (line; what it is; {'profit' if words.maximize else 'cost'} a unit)",
        *(_entry(words, draft, column) for column in order),
        "",
        "Remarks",
        *remarks,
    ]
    return Specification("\n".join(lines), {key: tuple(said) for key, said in written.sources.items() if key})


def _entry(words: Trade, draft: ProblemDraft, column: Column) -> str:
    return f"{column.name}; {item_text(words, draft.items[column.name])}; {number(column.cost)}"


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
    rng = written.rng
    if written.brief or rng.random() < 0.6:
        written.say(compared(rng, row.sense, quantity, written.figure(limit)))
        return
    name = written.names.fresh()
    written.say(
        rng.choice(
            (
                f"{name} is about {quantity}.",
                f"The rule {name} looks at {quantity}.",
                f"{raised(quantity)}: see {name}.",
            )
        )
    )
    written.say(standing(rng, row.sense, name))
    written._history(name, limit)


def _total(written: _Document, row: LinearRow) -> str:
    rng = written.rng
    more, less = _sides(row)
    if not more or not less:
        group = written.group(more or less)
        if not more:
            return f"zero less {group}"
        return rng.choice((f"the total of {group}", f"{group} taken together", f"the sum over {group}"))
    one, other = written.group(more), written.group(less)
    return rng.choice(
        (
            f"the lead of {one} over {other}",
            f"the sum of {one} after taking off {other}",
            f"what remains of {one} when {other} {'is' if len(less) == 1 else 'are'} set against it",
            f"the surplus of {one} against {other}",
        )
    )


def _sides(row: LinearRow) -> tuple[list[str], list[str]]:
    return [name for name, value in row.terms if value > 0], [name for name, value in row.terms if value < 0]


def _carried(written: _Document, row: LinearRow) -> None:
    """An opening stock and a demand whose difference is the right-hand side."""
    rng = written.rng
    more, less = _sides(row)
    stock = float(rng.randint(2, 40)) + max(0.0, -row.rhs)
    need = tidy(row.rhs + stock)
    one = written.group(more) if more else "nothing new"
    other = f", less {written.group(less)}," if less else ""
    verb = {"=": "meets exactly", ">=": "covers at least", "<=": "goes no further than"}[row.sense]
    name = written.names.fresh()
    told = f"A stock of {either(rng, stock, 0.5)} is there to begin with in {name}."
    asked = f"In {name}, the opening stock with {one}{other} {verb} a demand of {either(rng, need)}."
    if written.brief:
        written.say(told, asked)
    else:
        written.say(told)
        written.say(asked)


def _usage(written: _Document, row: LinearRow, subject: str) -> str:
    """What an item uses, the first absolutely, others at times by comparison."""
    rng, call = written.rng, written.call
    terms = rng.sample(row.terms, len(row.terms))
    first, base = terms[0]
    minutes = rng.random() < 0.5
    unit = "minutes" if minutes else "hours"
    scale = 60.0 if minutes else 1.0
    parts = [f"a unit of {call.one(first)} takes {plain(rng, tidy(base * scale))} {unit} of {subject}"]
    for name, value in terms[1:]:
        ratio = value / base
        gap = tidy((value - base) * scale)
        if ratio in (0.25, 0.4, 0.5, 0.8, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0) and rng.random() < 0.7:
            parts.append(f"{call.one(name)} {times(rng, ratio)} that")
        elif gap == 0:
            parts.append(f"{call.one(name)} just as much")
        elif rng.random() < 0.5:
            parts.append(f"{call.one(name)} {plain(rng, abs(gap))} {'more' if gap > 0 else 'fewer'} than that")
        else:
            parts.append(f"{call.one(name)} {plain(rng, tidy(value * scale))}")
    written.say(f"{raised('; '.join(parts))}.")
    return rng.choice((f"the hours of {subject}", f"time on {subject}, in hours,", f"{subject} (hours)"))


def _average(written: _Document, row: LinearRow, subject: str, limit: float) -> str:
    rng, call = written.rng, written.call
    graded = [(name, tidy(value + limit)) for name, value in rng.sample(row.terms, len(row.terms))]
    parts = [f"{call.one(name)} {plain(rng, grade)}" for name, grade in graded[:1]]
    for (_, before), (name, grade) in pairwise(graded):
        gap = tidy(grade - before)
        if gap and rng.random() < 0.6:
            parts.append(f"{call.one(name)} {plain(rng, abs(gap))} {'above' if gap > 0 else 'below'} the one before")
        else:
            parts.append(f"{call.one(name)} {plain(rng, grade)}")
    written.say(f"Readings of {subject}: {'; '.join(parts)}.")
    return f"the average {subject} of all that was read, each weighed by its amount,"


def _ratio(written: _Document, row: LinearRow) -> None:
    rng, call = written.rng, written.call
    (first, _), (second, value) = sorted(row.terms, key=lambda term: term[1], reverse=True)
    figure = f"{times(rng, -value)} {call.one(second)}"
    if rng.random() < 0.4:
        name = written.names.fresh()
        written.say(f"{name} stands for {figure}.")
        figure = f"the {name} measure"
    written.say(compared(rng, row.sense, call.one(first), figure))


def _switch(written: _Document, row: LinearRow) -> None:
    rng, call = written.rng, written.call
    gates = [(name, -value) for name, value in row.terms if written.draft.items[name].switch]
    group = [name for name, _ in row.terms if not written.draft.items[name].switch]
    gate, size = gates[0]
    one, limit, key = written.group(group), written.figure(size), call.one(gate)
    said = {
        "<=": (
            f"Without {key} there is nothing of {one}; with it, {limit} is the end of it.",
            f"{raised(one)} lives off {key}: none if it is missing, no more than {limit} for each.",
        ),
        ">=": (
            f"Each {key.removeprefix('a ')} obliges us: {one} must then make {limit} for it.",
            f"Taking {key} means that {one} has to reach {limit} for each; without it nothing is asked.",
        ),
        "=": (
            f"With {key}, {one} is {limit} for each, neither more nor less; without it, none.",
            f"{raised(one)} comes to {limit} for every {key.removeprefix('a ')}, on the nose.",
        ),
    }
    written.say(rng.choice(said[row.sense]))


def _declaration(written: _Document, column: Column) -> None:
    """Bounds of a column, each in a remark of its own or both in one."""
    rng, item = written.rng, written.draft.items[column.name]
    if column.kind == "binary":
        return
    said = written.call.one(column.name)
    count = f"the number of times there is {said}" if item.switch else said
    low, high = column.lower != 0.0, column.upper < INF
    if low and high and rng.random() < 0.5:
        gap = tidy(column.upper - column.lower)
        start = _signed(written, column.lower)
        span = either(rng, gap, 0.5) if gap > 0 else "nothing"
        written.say(
            rng.choice(
                (
                    f"{raised(count)} starts from {start} and may go {span} higher.",
                    f"{raised(count)}: from {start}, with {span} to spare above that.",
                )
            )
        )
        return
    if low:
        written.say(compared(rng, ">=", count, _signed(written, column.lower)))
    if high:
        written.say(compared(rng, "<=", count, _signed(written, column.upper)))


def _signed(written: _Document, value: float) -> str:
    return written.figure(value, 0.25) if value > 0 else "zero" if value == 0 else f"minus {number(-value)}"


def _types(written: _Document) -> None:
    whole = [column.name for column in written.draft.model.columns if column.kind == "integer"]
    gates = [column.name for column in written.draft.model.columns if column.kind == "binary"]
    if whole:
        names = [written.call.one(name) for name in whole]
        sentence = written.rng.choice(
            (f"Only whole units are possible for {listed(names)}.", f"{raised(listed(names))} cannot be split.")
        )
        written.remarks.append(sentence)
        for name in whole:
            written.sources.setdefault(f"column:{name}", []).append(sentence)
    if gates:
        names = [written.call.one(name) for name in gates]
        sentence = f"There is one or none of {listed(names)}."
        written.remarks.append(sentence)
        for name in gates:
            written.sources.setdefault(f"column:{name}", []).append(sentence)
