"""Rows after the columns of a data set that people know, drawn in memory, each with the reading that is right.

Names of columns, their order and what kind of thing stands in them are as published or as a tool exports them; the
words are drawn. What a text says depends on its label, as it does where people labelled texts.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from init.datasets import CITIES, ITEMS, PEOPLE, Reading

WORDS = """
    the a of to in on with from about after before under near without again always never often maybe
    water letter garden engine market river window paper music doctor village morning winter bridge station
    green heavy quiet early broken simple strange narrow public second modern famous local empty golden
    carry build answer follow open measure repair visit collect describe explain compare deliver return
    price road team office school student number country picture system problem history season island
    battery ticket package screen account order payment flight room service table kitchen camera phone
"""
POOL = tuple(WORDS.split())


@dataclass(frozen=True, slots=True)
class Draw:
    """What a row is made with: chance, and its number."""

    rng: random.Random
    k: int

    def pick(self, *values: Any) -> Any:
        return self.rng.choice(values)

    def int(self, low: int, high: int) -> int:
        return self.rng.randint(low, high)

    def words(self, count: int, label: object = None) -> str:
        """So many words; of a label, one in four is a word that its texts like."""
        liked = cues(label) if label is not None else POOL
        return " ".join(self.rng.choice(liked if self.rng.random() < 0.25 else POOL) for _ in range(count))

    def text(self, label: object = None, sentences: int = 2) -> str:
        """Sentences about a place and a thing."""
        told = []
        for _ in range(sentences):
            words = self.words(self.rng.randint(8, 13), label)
            told.append(f"{words[0].upper()}{words[1:]} {self.pick(*ITEMS)} in {self.pick(*CITIES)}.")
        return " ".join(told)

    def ask(self, label: object = None) -> str:
        kind = self.pick("What is the", "Who made the", "Where is the", "When was the", "Which is the")
        return f"{kind} {self.words(4, label)} {self.pick(*ITEMS)} of {self.pick(*CITIES)}?"

    def name(self) -> str:
        return str(self.rng.choice(PEOPLE))

    def city(self) -> str:
        return str(self.rng.choice(CITIES))

    def item(self) -> str:
        return str(self.rng.choice(ITEMS))

    def date(self, sign: str = "-") -> str:
        return f"2023{sign}{self.int(1, 12):02}{sign}{self.int(1, 28):02}"

    def moment(self) -> str:
        return f"{self.date()}T{self.int(0, 23):02}:{self.int(0, 59):02}:00Z"

    def hex(self, count: int) -> str:
        return f"{self.rng.getrandbits(4 * count):0{count}x}"

    def several(self, values: Sequence[str], most: int = 3) -> list[str]:
        return self.rng.sample(list(values), self.rng.randint(1, min(most, len(values))))


def cues(label: object) -> list[str]:
    """The words that texts of a label like."""
    return random.Random(f"cues of {label}").sample(POOL, 5)


@dataclass(frozen=True, slots=True)
class Schema:
    """A data set in name: how its rows are drawn, in what form they are written, and the right reading."""

    name: str
    row: Callable[[Draw], Mapping[str, Any]]
    reading: Reading
    count: int = 48
    header: bool = True
    delimiter: str = ","
    before: str = ""
    """Lines that stand before the header."""
    wrapped: Mapping[str, Any] | None = None
    """What stands around the rows; they are put in place of `...`."""

    def rows(self) -> list[Mapping[str, Any]]:
        rng = random.Random(self.name)
        return [self.row(Draw(rng, k)) for k in range(self.count)]

    def write(self, folder: Path) -> Path:
        path = folder / self.name
        rows = self.rows()
        if path.suffix in (".csv", ".tsv"):
            page = io.StringIO()
            page.write(self.before)
            writer = csv.writer(page, delimiter="\t" if path.suffix == ".tsv" else self.delimiter, lineterminator="\n")
            if self.header:
                writer.writerow(list(rows[0]))
            writer.writerows([list(row.values()) for row in rows])
            path.write_text(page.getvalue(), encoding="utf-8")
        elif path.suffix == ".json":
            held = (
                {name: rows if part is ... else part for name, part in self.wrapped.items()} if self.wrapped else rows
            )
            path.write_text(json.dumps(held, ensure_ascii=False), encoding="utf-8")
        else:
            path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
        return path

    @property
    def is_apart(self) -> bool:
        """Whether a coin kept it apart from those that the reader was built with."""
        return bool(hashlib.sha256(f"apart {self.name}".encode()).digest()[0] & 1)


def schema(
    name: str,
    answer: str | Sequence[str],
    check: str | Sequence[str],
    shows: str | Sequence[str],
    may: str | Sequence[str] = (),
    **more: Any,
) -> Callable[[Callable[[Draw], Mapping[str, Any]]], Schema]:
    """A schema out of the function that draws a row; names in one text are between bars."""

    def names(given: str | Sequence[str]) -> tuple[str, ...]:
        return tuple(given.split("|")) if isinstance(given, str) else tuple(given)

    group = more.pop("group", "")
    reading = Reading(names(answer), names(check), names(shows), names(may), group, more.pop("left", 0))
    return lambda row: Schema(name, row, reading, **more)
