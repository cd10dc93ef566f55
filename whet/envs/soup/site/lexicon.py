"""What a site calls things: names, amounts, dates and sentences of one half of the vocabulary, for authors of tasks.

Surnames, firms and products are dealt out a second time, by the seed of the site: one part for the matter of tasks, the
other for filler. So no person, company or product that a task is about stands in filler, and no word tells matter from
filler over many sites.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import TypeVar

from whet.envs.soup.site import vocabulary
from whet.envs.soup.site.look import Dice
from whet.envs.soup.site.vocabulary import Half

T = TypeVar("T")


def pick(rng: random.Random, choices: Sequence[T]) -> T:
    """What `rng.choice` does, at a third of its price."""
    return choices[int(rng.random() * len(choices))]


def whole(rng: random.Random, low: int, high: int) -> int:
    """A whole number from `low` to `high`, both included."""
    return low + int(rng.random() * (high - low + 1))


_FORMS = (
    "The {a} {n} {v} the {b} {m}.",
    "Every {n} {v} one {b} {m} before noon.",
    "When the {n} is {a}, it {v} the {b} {m}.",
    "Our {a} {n} {v} a {b} {m} each week.",
    "No {n} {v} the {b} {m} without a {a} reason.",
    "In {n} terms, the {b} {m} {v} as {a} as before.",
    "A {n} that {v} its {m} stays {a} and {b}.",
    "Most of the {a} {n} {v} what the {b} {m} leaves.",
    "Between {n} and {m}, nothing {v} a {b} or {a} line.",
    "It {v}, as {a} as any {n}, beside the {b} {m}.",
)
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)


@dataclass(frozen=True, slots=True)
class SoupWords:
    """The words of one site. Every method is a pure function of the generator that it is given."""

    half: Half
    adjectives: tuple[str, ...]
    nouns: tuple[str, ...]
    verbs: tuple[str, ...]
    first_names: tuple[str, ...]
    last_names: tuple[str, ...]
    products: tuple[str, ...]
    firms: tuple[str, ...]
    cities: tuple[str, ...]
    streets: tuple[str, ...]
    colors: tuple[str, ...]

    def adjective(self, rng: random.Random) -> str:
        return pick(rng, self.adjectives)

    def noun(self, rng: random.Random) -> str:
        return pick(rng, self.nouns)

    def verb(self, rng: random.Random) -> str:
        """In the third person, such as `carries`."""
        return pick(rng, self.verbs)

    def phrase(self, rng: random.Random) -> str:
        """Two or three words with capitals, such as a heading."""
        words = f"{pick(rng, self.adjectives)} {pick(rng, self.nouns)}"
        return (f"{words} {pick(rng, self.nouns)}" if rng.random() < 0.5 else words).title()

    def sentence(self, rng: random.Random) -> str:
        return pick(rng, _FORMS).format(
            a=pick(rng, self.adjectives),
            b=pick(rng, self.adjectives),
            n=pick(rng, self.nouns),
            m=pick(rng, self.nouns),
            v=pick(rng, self.verbs),
        )

    def paragraph(self, rng: random.Random, low: int = 2, high: int = 5) -> str:
        return " ".join(self.sentence(rng) for _ in range(whole(rng, low, high)))

    def first_name(self, rng: random.Random) -> str:
        return pick(rng, self.first_names)

    def last_name(self, rng: random.Random) -> str:
        return pick(rng, self.last_names)

    def person(self, rng: random.Random) -> str:
        return f"{pick(rng, self.first_names)} {pick(rng, self.last_names)}"

    def company(self, rng: random.Random) -> str:
        return f"{pick(rng, self.nouns).capitalize()} {pick(rng, self.firms)}"

    def product(self, rng: random.Random) -> str:
        return (
            f"{pick(rng, self.adjectives).capitalize()} {pick(rng, self.nouns).capitalize()} {pick(rng, self.products)}"
        )

    def color(self, rng: random.Random) -> str:
        return pick(rng, self.colors)

    def city(self, rng: random.Random) -> str:
        return pick(rng, self.cities)

    def street(self, rng: random.Random) -> str:
        return f"{whole(rng, 1, 980)} {pick(rng, self.streets)} {pick(rng, ('Street', 'Road', 'Lane', 'Avenue'))}"

    def address(self, rng: random.Random) -> str:
        return f"{self.street(rng)}, {pick(rng, self.cities)} {whole(rng, 10000, 99999)}"

    def cents(self, rng: random.Random, low: int = 300, high: int = 250_000) -> int:
        """An amount in cents, small ones as likely as large ones."""
        return int(low * (high / low) ** rng.random())

    def money(self, rng: random.Random, low: int = 300, high: int = 250_000) -> str:
        """An amount such as `$1,245.70`, between two numbers of cents."""
        return f"${self.cents(rng, low, high) / 100:,.2f}"

    def number(self, rng: random.Random, low: int = 1, high: int = 9999) -> int:
        return whole(rng, low, high)

    def day(self, rng: random.Random) -> date:
        return date.fromordinal(whole(rng, 734_000, 740_000))

    def date(self, rng: random.Random) -> str:
        """A day of the years 2010 to 2027, such as `14 March 2021`."""
        day = self.day(rng)
        return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"

    def email(self, rng: random.Random) -> str:
        return f"{self.first_name(rng)}.{self.last_name(rng)}@{pick(rng, self.nouns)}.example".lower()

    def phone(self, rng: random.Random) -> str:
        return f"+{whole(rng, 1, 98)} {whole(rng, 20, 999)} 555 {whole(rng, 0, 9999):04d}"

    def sku(self, rng: random.Random) -> str:
        return f"{pick(rng, 'ABCDEFGHJK')}{pick(rng, 'LMNPQRSTUV')}-{rng.getrandbits(24):06X}"

    def path(self, rng: random.Random) -> str:
        """A link within the site."""
        return (
            f"/{pick(rng, self.nouns)}/{pick(rng, self.adjectives)}-{pick(rng, self.nouns)}-{rng.getrandbits(24):06x}"
        )


@functools.lru_cache(maxsize=1024)
def _dealt(words: tuple[str, ...], start: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words in two parts, of which the first begins at `start`."""
    turned = words[start:] + words[:start]
    return turned[: len(words) // 2], turned[len(words) // 2 :]


def lexicons(dice: Dice, half: Half) -> tuple[SoupWords, SoupWords]:
    """The words for the matter of tasks and those for filler, as the dice of the site deal them out."""

    every = (vocabulary.LAST_NAMES[half], vocabulary.PRODUCTS[half], vocabulary.FIRMS[half])
    parts = zip(*[_dealt(words, dice.below(len(words))) for words in every], strict=True)
    matter, filler = (
        SoupWords(
            half=half,
            adjectives=vocabulary.ADJECTIVES[half],
            nouns=vocabulary.NOUNS[half],
            verbs=vocabulary.VERBS[half],
            first_names=vocabulary.FIRST_NAMES[half],
            last_names=last_names,
            products=products,
            firms=firms,
            cities=vocabulary.CITIES[half],
            streets=vocabulary.STREETS[half],
            colors=vocabulary.COLORS[half],
        )
        for last_names, products, firms in parts
    )
    return matter, filler
