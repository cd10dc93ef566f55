"""A sound model with what its columns and rows mean: drawn around a plan that keeps every requirement.

Nothing in it is regular on purpose. Groups are arbitrary sets of items, each kind of requirement occurs with every
sense it can have, columns start above, at or below 0, figures have decimals, and some requirements differ from another
one only in sense and figure: whatever a fault looks like, sound rows look like that too.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from whet.envs.ordebug.families.vocabulary import RequirementKind, Trade
from whet.envs.ordebug.model import INF, Column, Kind, LinearProgram, LinearRow, Sense

Terms = dict[str, float]

RATES = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 15.0, 20.0)
"""What an item uses of a resource: so spread that a tenth, or ten times, of one is another one."""

FACTORS = (0.25, 0.4, 0.5, 0.8, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0)


@dataclass(frozen=True, slots=True)
class Item:
    """What a column stands for. A switch is a yes or no at its place."""

    thing: str
    place: str
    switch: bool = False


@dataclass(frozen=True, slots=True)
class RowSense:
    """What a row is about: its kind, and the resource or trait it is named after (with a letter: 'dryer B')."""

    kind: RequirementKind
    subject: str = ""


@dataclass(frozen=True, slots=True)
class ProblemDraft:
    """A sound model; `items` by column and `meanings` by row say what stands behind the names."""

    family: str
    model: LinearProgram
    items: Mapping[str, Item]
    meanings: Mapping[str, RowSense]

    @property
    def content(self) -> str:
        return self.model.digest


@dataclass(slots=True)
class _Sketch:
    """A draft in the making."""

    rng: random.Random
    words: Trade
    columns: list[Column]
    items: dict[str, Item]
    plan: dict[str, float]
    rows: list[LinearRow]
    meanings: dict[str, RowSense]

    def plain(self) -> list[str]:
        return [name for name, item in self.items.items() if not item.switch]

    def add(self, kind: RequirementKind, terms: Terms, sense: Sense, rhs: float, subject: str = "") -> None:
        name = f"r{len(self.rows) + 1}"
        self.rows.append(LinearRow(name, tuple(terms.items()), sense, tidy(rhs)))
        self.meanings[name] = RowSense(kind, subject)

    def activity(self, terms: Terms) -> float:
        return sum(value * self.plan[name] for name, value in terms.items())


def draw(rng: random.Random, words: Trade, rows: int, columns: int) -> ProblemDraft:
    """A model of about `rows` rows and `columns` columns that the plan satisfies."""
    sketch = _Sketch(rng, words, [], {}, {}, [], {})
    _columns(sketch, columns)
    kinds = list(words.mix)
    weights = [words.mix[kind] for kind in kinds]
    while len(sketch.rows) < rows:
        if sketch.rows and rng.random() < 0.22:
            _companion(sketch)
            continue
        _DRAWN[rng.choices(kinds, weights)[0]](sketch)
    return _shuffled(sketch)


def _columns(sketch: _Sketch, count: int) -> None:
    rng, words = sketch.rng, sketch.words
    places = rng.sample(words.places, min(len(words.places), max(2, round(count**0.5) + 1)))
    things = rng.sample(words.things, min(len(words.things), max(2, -(-count // len(places)) + 1)))
    cells = [(thing, place) for thing in things for place in places]
    while len(cells) < count:
        cells += [(f"{thing} {len(cells) // len(things)}", places[0]) for thing in things]
    switches = max(1, count // 6) if words.mix.get("switch") else 0
    switched = rng.sample(places, min(switches, len(places)))
    for thing, place in rng.sample(cells, max(2, count - len(switched))):
        _column(sketch, Item(thing, place))
    for place in switched:
        _column(sketch, Item(words.switch, place, switch=True))


def _column(sketch: _Sketch, item: Item) -> None:
    rng, words = sketch.rng, sketch.words
    name = f"x{len(sketch.columns) + 1}"
    cost = float(rng.choice((rng.randint(1, 9), rng.randint(10, 90), rng.randint(2, 60) / 4)))
    if item.switch:
        planned = float(rng.random() < 0.75)
        sketch.columns.append(Column(name, 0.0, 1.0, "binary", cost))
    else:
        whole = rng.random() < words.whole
        planned = float(rng.randint(3, 24)) if whole else rng.randint(8, 96) / 2
        low, high = _bounds(rng, planned, whole, words)
        kind: Kind = "integer" if whole else "continuous"
        sketch.columns.append(Column(name, low, high, kind, cost))
    sketch.items[name], sketch.plan[name] = item, planned


def _bounds(rng: random.Random, planned: float, whole: bool, words: Trade) -> tuple[float, float]:
    step = 1.0 if whole else 0.5
    below = round(planned * rng.uniform(0.05, 0.95) / step) * step
    low = rng.choice((0.0, below, below))
    if rng.random() < words.signed:
        low = -round(planned * rng.uniform(0.1, 0.6) / step) * step
    above = planned + max(step, round(planned * rng.uniform(0.02, 0.9) / step) * step)
    high = INF if rng.random() < 0.25 and not words.maximize else above
    return low, high


def _sense(rng: random.Random) -> Sense:
    return rng.choices(("<=", ">=", "="), (0.42, 0.42, 0.16))[0]


def _figure(sketch: _Sketch, terms: Terms, sense: Sense) -> float:
    """A right-hand side that the plan keeps, with little or some room."""
    value = sketch.activity(terms)
    if sense == "=":
        return value
    scale = sum(abs(factor * sketch.plan[name]) for name, factor in terms.items())
    room = scale * sketch.rng.choice((0.0, 0.03, 0.08, 0.2)) * sketch.rng.uniform(0.5, 1.2)
    step = 0.5 if scale < 60 else 1.0
    steps = round(room / step)
    return value + steps * step if sense == "<=" else value - steps * step


def _some(sketch: _Sketch, least: int, most: int) -> list[str]:
    """A few items, often of one place or one thing: requirements meet in the same columns."""
    rng, pool = sketch.rng, sketch.plain()
    if rng.random() < 0.7:
        first = sketch.items[rng.choice(pool)]
        near = [n for n in pool if sketch.items[n].place == first.place or sketch.items[n].thing == first.thing]
        pool = near if len(near) >= least else pool
    count = min(len(pool), rng.randint(least, most))
    return rng.sample(pool, count)


def _group(sketch: _Sketch) -> None:
    terms: Terms = dict.fromkeys(_some(sketch, 1 if sketch.rng.random() < 0.15 else 2, 4), 1.0)
    sense = _sense(sketch.rng)
    sketch.add("group", terms, sense, _figure(sketch, terms, sense))


def _net(sketch: _Sketch) -> None:
    chosen = _some(sketch, 2, 5)
    cut = sketch.rng.randint(1, len(chosen) - 1) if len(chosen) > 1 else 1
    terms: Terms = {name: 1.0 if place < cut else -1.0 for place, name in enumerate(chosen)}
    sense = _sense(sketch.rng)
    sketch.add("net", terms, sense, _figure(sketch, terms, sense))


def _carry(sketch: _Sketch) -> None:
    """Two or three items against one: an equation whose figure is a demand less an opening stock."""
    chosen = _some(sketch, 2, 3)
    terms: Terms = {name: -1.0 if place == len(chosen) - 1 else 1.0 for place, name in enumerate(chosen)}
    sketch.add("carry", terms, "=", sketch.activity(terms))


def _usage(sketch: _Sketch) -> None:
    terms: Terms = {name: sketch.rng.choice(RATES) for name in _some(sketch, 2, 4)}
    sense = _sense(sketch.rng)
    subject = _subject(sketch, sketch.rng.choice(sketch.words.resources))
    sketch.add("usage", terms, sense, _figure(sketch, terms, sense), subject)


def _average(sketch: _Sketch) -> None:
    rng, chosen = sketch.rng, _some(sketch, 2, 4)
    grades = {name: rng.randint(4, 96) / 4 for name in chosen}
    total = sum(abs(sketch.plan[name]) for name in chosen)
    mean = sum(grades[name] * abs(sketch.plan[name]) for name in chosen) / total
    sense: Sense = rng.choice(("<=", ">="))
    room = rng.choice((0.25, 0.5, 1.0))
    limit = round((mean + room if sense == "<=" else mean - room) * 4 + (0.5 if sense == "<=" else -0.5)) / 4
    terms: Terms = {name: tidy(grade - limit) for name, grade in grades.items()}
    if not all(terms.values()):
        return
    sketch.add("average", terms, sense, 0.0, f"{_subject(sketch, rng.choice(sketch.words.traits))}|{limit}")


def _ratio(sketch: _Sketch) -> None:
    rng = sketch.rng
    first, second = rng.sample(sketch.plain(), 2)
    ratio = sketch.plan[first] / sketch.plan[second]
    sense: Sense = rng.choice(("<=", ">="))
    fitting = [factor for factor in FACTORS if (factor >= ratio if sense == "<=" else factor <= ratio)]
    if fitting:
        near = sorted(fitting, key=lambda factor: abs(factor - ratio))[:3]
        sketch.add("ratio", {first: 1.0, second: -rng.choice(near)}, sense, 0.0)


def _switch(sketch: _Sketch) -> None:
    rng = sketch.rng
    switches = [name for name, item in sketch.items.items() if item.switch]
    if not switches:
        return
    gate = rng.choice(switches)
    chosen = _some(sketch, 1, 2)
    total = sum(sketch.plan[name] for name in chosen)
    sense: Sense = rng.choice(("<=", "<=", ">="))
    if sketch.plan[gate] == 0.0 and sense == "<=":
        sense = ">="
    size = max(1.0, round(total * rng.uniform(1.0, 1.6)) if sense == "<=" else round(total * rng.uniform(0.4, 0.9)))
    size = size if sense == ">=" or size >= total else size + 1.0
    sketch.add("switch", {**dict.fromkeys(chosen, 1.0), gate: -float(size)}, sense, 0.0)


def _companion(sketch: _Sketch) -> None:
    """The same left side as another requirement (or all of it but one item), under another sense or figure."""
    rng, row = sketch.rng, sketch.rng.choice(sketch.rows)
    meaning = sketch.meanings[row.name]
    if meaning.kind not in ("group", "net", "usage"):
        return
    terms = dict(row.terms)
    if len(terms) > 2 and rng.random() < 0.5 and meaning.kind != "usage":
        terms.pop(rng.choice(list(terms)))
    sense = _sense(rng)
    subject = _subject(sketch, meaning.subject.rpartition(" ")[0]) if meaning.subject else ""
    sketch.add(meaning.kind, terms, sense, _figure(sketch, terms, sense), subject)


def _subject(sketch: _Sketch, word: str) -> str:
    """The next free letter of a resource: every row that is not a companion has figures of its own."""
    known = {meaning.subject.partition("|")[0] for meaning in sketch.meanings.values()}
    for number in range(26 * 26):
        tens, ones = divmod(number, 26)
        letter = (chr(64 + tens) if tens else "") + chr(65 + ones)
        if f"{word} {letter}" not in known:
            return f"{word} {letter}"
    return f"{word} {len(sketch.rows)}"


_DRAWN = {
    "group": _group,
    "net": _net,
    "carry": _carry,
    "usage": _usage,
    "average": _average,
    "ratio": _ratio,
    "switch": _switch,
}


def _shuffled(sketch: _Sketch) -> ProblemDraft:
    """Columns and rows in random order under neutral names; terms in column order."""
    rng = sketch.rng
    columns = rng.sample(sketch.columns, len(sketch.columns))
    rows = rng.sample(sketch.rows, len(sketch.rows))
    codes = {column.name: f"x{place}" for place, column in enumerate(columns, start=1)}
    place_of = {code: place for place, code in enumerate(codes.values())}
    named = tuple(Column(codes[c.name], c.lower, c.upper, c.kind, c.cost) for c in columns)
    made = tuple(
        LinearRow(
            f"r{place}",
            tuple(sorted(((codes[name], value) for name, value in row.terms), key=lambda term: place_of[term[0]])),
            row.sense,
            row.rhs,
        )
        for place, row in enumerate(rows, start=1)
    )
    return ProblemDraft(
        sketch.words.name,
        LinearProgram(sketch.words.name, named, made, sketch.words.maximize),
        {codes[name]: item for name, item in sketch.items.items()},
        {f"r{place}": sketch.meanings[row.name] for place, row in enumerate(rows, start=1)},
    )


def tidy(value: float) -> float:
    """Without the noise of floating-point sums."""
    return round(value, 6) + 0.0
