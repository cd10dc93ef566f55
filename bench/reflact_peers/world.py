"""The world of the comparison: tasks, the pool of possible edits with their hidden effects, and the exact truth.

A skill is judged by the edits whose sentence stands in it. How often a task is then solved follows from `pool.toml`
alone, so the true score of any text can be computed without asking anybody.
"""

from __future__ import annotations

import hashlib
import math
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import NormalDist
from typing import ClassVar

POOL = Path(__file__).with_name("pool.toml")
SIZES = {"train": 60, "select": 42, "test": 24}
QUANTILES = 401
AT = [NormalDist().inv_cdf((step + 0.5) / QUANTILES) for step in range(QUANTILES)]
"""Where the tasks of a kind stand that stand for all of them."""

_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of task: log-odds of the average one under the starting skill, how they spread, how they are asked."""

    name: str
    base: float
    spread: float
    question: str


@dataclass(frozen=True, slots=True)
class Edit:
    """A sentence that may be added to a skill. `about` can be seen by anyone, `effect` (log-odds by kind) by nobody."""

    id: str
    label: str
    text: str
    about: tuple[str, ...]
    effect: Mapping[str, float] = field(hash=False)
    group: str


@dataclass(frozen=True, slots=True)
class Task:
    """One question of a split; `z` is where it stands among the tasks of its kind."""

    id: str
    kind: str
    question: str
    answer: str
    z: float


Present = frozenset[str]


@dataclass(frozen=True)
class World:
    """All kinds, all edits and the text that every system starts from."""

    start: str
    kinds: Mapping[str, Kind]
    edits: Mapping[str, Edit]

    check: ClassVar[str] = "contains"
    """How a reply is judged: it contains the answer, or its last number is the answer."""
    asked: ClassVar[re.Pattern[str]] = re.compile(r"\b(?P<name>(?P<kind>[a-z]+)-(?:train|select|test)-\d{3})\b")
    """How a task is recognised in a prompt."""

    def kinds_shown(self, text: str) -> list[str]:
        """The kinds of the tasks that a text speaks of, one for each task."""
        only = next(iter(self.kinds))
        names = {found["name"]: found.groupdict().get("kind", only) for found in self.asked.finditer(text)}
        return [kind for kind in names.values() if kind in self.kinds]

    def present(self, text: str) -> Present:
        """The edits whose sentence stands in a text, however it is wrapped."""
        flat = _SPACE.sub(" ", text)
        return frozenset(name for name, edit in self.edits.items() if edit.text in flat)

    def shift(self, present: Iterable[str], kind: str) -> float:
        """What a set of edits does to the log-odds of a kind: of each group the strongest member, the rest added up."""
        strongest: dict[str, float] = {}
        for name in present:
            edit = self.edits[name]
            amount = edit.effect.get(kind, 0.0)
            strongest[edit.group] = max(strongest.get(edit.group, amount), amount)
        return sum(strongest.values())

    def chance(self, present: Iterable[str], kind: str, z: float) -> float:
        """How often a task is solved."""
        one = self.kinds[kind]
        return 1.0 / (1.0 + math.exp(-(one.base + one.spread * z + self.shift(present, kind))))

    def score(self, present: Iterable[str]) -> float:
        """The mean solve probability over all tasks there could be, kinds alike: by quantiles of the normal law."""
        edits = tuple(present)
        total = 0.0
        for kind in self.kinds.values():
            level = kind.base + self.shift(edits, kind.name)
            total += sum(1.0 / (1.0 + math.exp(-(level + kind.spread * z))) for z in AT)
        return total / (len(self.kinds) * QUANTILES)

    def true_score(self, text: str) -> float:
        return self.score(self.present(text))

    def gain_of(self, name: str, present: Present) -> float:
        """What an edit is worth inside a set that holds it: the score with it minus the score without it."""
        return self.score(present) - self.score(present - {name})

    def useless(self, present: Present) -> Present:
        """The edits of a set that are worth nothing or less in it."""
        return frozenset(name for name in present if self.gain_of(name, present) <= 1e-12)

    def false_edits(self, before: Present, after: Present) -> int:
        """Of the changes between two skills, how many are worth nothing or less: additions and removals alike."""
        added = sum(self.gain_of(name, after) <= 1e-12 for name in after - before)
        removed = sum(self.gain_of(name, after | {name}) >= -1e-12 for name in before - after)
        return added + removed

    def ceiling(self) -> float:
        """The best score that adding edits one by one can reach."""
        chosen: Present = frozenset()
        while True:
            best = max(self.edits.keys() - chosen, key=lambda name: self.score(chosen | {name}))
            if self.score(chosen | {best}) <= self.score(chosen) + 1e-12:
                return self.score(chosen)
            chosen |= {best}

    def tasks(self, seed: int, sizes: Mapping[str, int] = SIZES) -> dict[str, list[Task]]:
        """The tasks of a seed by split, every kind equally often, in an order by chance."""
        return {split: self._split(split, size, seed) for split, size in sizes.items()}

    def _split(self, split: str, size: int, seed: int) -> list[Task]:
        rng = Random(f"{seed}/{split}")
        names = list(self.kinds)
        order = [names[number % len(names)] for number in range(size)]
        rng.shuffle(order)
        made = []
        for number, kind in enumerate(order):
            name = f"{kind}-{split}-{number:03d}"
            asked = self.kinds[kind].question.format(id=name, line=rng.randint(2, 60))
            made.append(Task(name, kind, asked, reference(seed, name), rng.gauss(0.0, 1.0)))
        return made


def reference(seed: int, name: str) -> str:
    """The reference number that answers a task."""
    return str(1000 + int.from_bytes(hashlib.blake2b(f"{seed}/{name}".encode(), digest_size=4).digest(), "big") % 9000)


def load_world(path: Path = POOL) -> World:
    """The world of a pool file."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    kinds = {name: Kind(name, **fields) for name, fields in data["kinds"].items()}
    edits = {}
    for row in data["edits"]:
        group = row.get("group", row["id"])
        edits[row["id"]] = Edit(row["id"], row["class"], row["text"], tuple(row["about"]), row["effect"], group)
    return World(data["start"], kinds, edits)


FAMILIES: Mapping[str, Mapping[str, float]] = {
    "even": {"helpful": 13, "null": 19, "harmful": 13, "mixed": 7, "duplicate": 4, "redundant": 4, "size": 1.0},
    "sparse": {"helpful": 7, "null": 33, "harmful": 12, "mixed": 4, "duplicate": 2, "redundant": 2, "size": 1.2},
    "small": {"helpful": 20, "null": 14, "harmful": 14, "mixed": 6, "duplicate": 3, "redundant": 3, "size": 0.6},
    "rough": {"helpful": 12, "null": 8, "harmful": 24, "mixed": 12, "duplicate": 2, "redundant": 2, "size": 1.1},
}
"""Families of pools: how many edits of each class there are, and how large their effects are beside `pool.toml`."""

NULL = {"helpful": 0, "null": 60, "harmful": 0, "mixed": 0, "duplicate": 0, "redundant": 0, "size": 1.0}
"""A pool in which no edit does anything."""


def drawn_world(family: str, seed: int) -> World:
    """A pool drawn from a seed: the kinds of `pool.toml` with other odds, and edits with effects of their own."""
    fixed, shape, rng = load_world(), NULL if family == "null" else FAMILIES[family], Random(f"pool/{family}/{seed}")
    kinds = {
        name: Kind(name, round(rng.uniform(-1.6, 0.6), 2), kind.spread, kind.question)
        for name, kind in fixed.kinds.items()
    }
    names = list(kinds)
    edits: dict[str, Edit] = {}

    def add(label: str, about: tuple[str, ...], effect: Mapping[str, float], group: str = "") -> None:
        name = f"{label}-{len(edits):02d}"
        text = f"Rule {seed % 997}-{len(edits):02d}: mind the {' and the '.join(about)} in the way the house does it."
        edits[name] = Edit(name, label, text, about, effect, group or name)

    def amount(low: float, high: float) -> float:
        return round(shape["size"] * rng.uniform(low, high), 2)

    for _ in range(int(shape["helpful"])):
        about = tuple(rng.sample(names, rng.choice((1, 1, 2))))
        add("helpful", about, {kind: amount(0.8, 2.4) for kind in about})
    for _ in range(int(shape["null"])):
        add("null", (rng.choice(names),), {})
    for _ in range(int(shape["harmful"])):
        about = (rng.choice(names),)
        add("harmful", about, {kind: -amount(0.8, 2.2) for kind in about})
    for _ in range(int(shape["mixed"])):
        up, down = rng.sample(names, 2)
        add("mixed", (up,), {up: amount(0.8, 1.6), down: -amount(1.0, 2.0)})
    strong = [edit for edit in edits.values() if edit.label == "helpful"]
    for label, share in (("duplicate", 1.0), ("redundant", 0.4)):
        for edit in rng.sample(strong, int(shape[label])):
            add(label, edit.about, {kind: round(share * size, 2) for kind, size in edit.effect.items()}, edit.group)
    order = list(edits.values())
    rng.shuffle(order)
    return World(fixed.start, kinds, {edit.id: edit for edit in order})
