"""What records are made of: a trait has a value, the labels that sites give it, and the spellings in which it is shown.

The value is drawn first; how a page writes it is drawn for each page. No two traits of a topic have a label in common,
so a label tells its trait; no label and no wording of a question stands in both halves.
"""

from __future__ import annotations

import html
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal

from whet.envs.soup.kinds import AnswerForm, DayForm, FlagForm, MoneyForm, NumberForm, TextForm
from whet.envs.soup.site import Half, SoupWords
from whet.envs.soup.site.lexicon import pick, whole

Sort = Literal["text", "money", "number", "day", "flag"]
Halved = Mapping[Half, tuple[str, ...]]
"""What may be said in each half, several ways of it."""

Matter = Mapping[str, Any]
"""A record: values by trait; None for what the page leaves out."""

CURRENCIES = (("$", "USD"), ("€", "EUR"), ("£", "GBP"))
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_FORMS: Mapping[Sort, Callable[[bool], AnswerForm]] = {
    "text": TextForm,
    "money": MoneyForm,
    "number": NumberForm,
    "day": DayForm,
    "flag": FlagForm,
}


@dataclass(frozen=True, slots=True)
class SpellingHabit:
    """How one page of a site writes things."""

    symbol: str
    code: str
    money: int
    number: int
    day: int
    label: int

    def amount(self, cents: int) -> str:
        if self.money == 0:
            return f"{self.symbol}{cents / 100:,.2f}"
        if self.money == 1:
            return f"{cents / 100:,.2f} {self.code}"
        return f"{self.code} {cents / 100:,.2f}" if self.money == 2 else f"{self.symbol} {cents / 100:.2f}"

    def count(self, value: float, unit: str = "") -> str:
        text = f"{value:,}" if self.number else f"{value}"
        return f"{text} {unit}" if unit else text

    def date(self, value: date) -> str:
        if self.day == 0:
            return value.isoformat()
        month = MONTHS[value.month - 1]
        if self.day == 1:
            return f"{value.day} {month} {value.year}"
        return f"{month} {value.day}, {value.year}" if self.day == 2 else f"{value.day} {month[:3]} {value.year}"

    def labelled(self, label: str) -> str:
        return (label, f"{label}:", label.upper(), f"{label} ")[self.label]


def spelling(rng: random.Random, currency: tuple[str, str]) -> SpellingHabit:
    draws = [int(rng.random() * 4) for _ in range(3)]
    return SpellingHabit(*currency, draws[0], int(rng.random() * 2), draws[1], draws[2])


@dataclass(frozen=True, slots=True)
class Trait:
    """One thing that is known of a record."""

    key: str
    sort: Sort
    asks: Halved
    """How questions speak of it."""
    labels: Halved
    draw: Callable[[SoupWords, random.Random], Any]
    unit: str = ""
    words: tuple[str, str] = ("Yes", "No")
    """What a flag says when it is true, and when it is not."""
    _told: dict[Half, str] = field(default_factory=dict, repr=False, compare=False)

    def told(self, half: Half) -> str:
        """What an oracle is told of it, as code."""
        if half not in self._told:
            self._told[half] = repr((self.key, self.sort, self.labels[half], self.words[0]))
        return self._told[half]

    def form(self, missing: bool = False) -> AnswerForm:
        return _FORMS[self.sort](missing)

    def truth(self, value: Any) -> Any:
        """The value as an answer."""
        if value is None:
            return None
        return value / 100 if self.sort == "money" else value.isoformat() if self.sort == "day" else value

    def show(self, value: Any, spelled: SpellingHabit) -> str:
        """The value as the page writes it, as markup."""
        if self.sort == "money":
            return spelled.amount(value)
        if self.sort == "number":
            return spelled.count(value, self.unit)
        if self.sort == "day":
            return spelled.date(value)
        return html.escape(self.words[not value] if self.sort == "flag" else value, quote=False)


@dataclass(frozen=True, slots=True)
class Topic:
    """What a kind of page is about: one record or many, and the like ones beside it that are not meant."""

    thing: str
    single: Halved
    """How questions mean the record that the page is about."""
    own: Halved
    other: Halved
    """Headings of the record that is meant, and of the one that is not."""
    many: Halved
    many_own: Halved
    many_other: Halved
    traits: tuple[Trait, ...]
    settle: Callable[[dict[str, Any]], None] = lambda record: None
    """Makes the values of a record fit each other, where they were drawn apart."""
    _index: dict[str, Trait] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._index.update((trait.key, trait) for trait in self.traits)

    def __getitem__(self, key: str) -> Trait:
        return self._index[key]


def halves(train: str, bench: str) -> Halved:
    """The ways of each half, which a bar separates."""
    return {"train": tuple(train.split("|")), "bench": tuple(bench.split("|"))}


def cents(low: int, high: int) -> Callable[[SoupWords, random.Random], int]:
    return lambda words, rng: words.cents(rng, low, high)


def count(low: int, high: int) -> Callable[[SoupWords, random.Random], int]:
    return lambda words, rng: whole(rng, low, high)


def tenths(low: int, high: int) -> Callable[[SoupWords, random.Random], float]:
    return lambda words, rng: whole(rng, low, high) / 10


def flag(words: SoupWords, rng: random.Random) -> bool:
    return rng.random() < 0.5


def of(*choices: str) -> Callable[[SoupWords, random.Random], str]:
    return lambda words, rng: pick(rng, choices)
