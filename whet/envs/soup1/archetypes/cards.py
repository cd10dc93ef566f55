"""Product cards: what a shop shows of a product, in several layouts that are read the same way."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from whet.envs.soup1.archetypes.markup import BLOCKS, element
from whet.envs.soup1.words import path, pick, products, sku, whole

CLASSES: Mapping[str, tuple[str, ...]] = {
    "name": ("name", "product-name", "name-link", "item-name"),
    "price": ("price", "product-price", "price-now", "item-price"),
    "sku": ("sku", "product-sku", "sku-code", "item-sku"),
    "rating": ("rating", "user-rating", "rating-value", "item-rating"),
    "stock": ("stock", "stock-info", "stock-level", "item-stock"),
}
"""What the cards of a page say, and the classes that it may have."""

IN, OUT = "In stock", "Out of stock"


@dataclass(frozen=True, slots=True)
class Ware:
    """A product with what its card says."""

    name: str
    cents: int
    sku: str
    tenths: int
    stocked: bool
    url: str

    @property
    def price(self) -> str:
        return f"${self.cents // 100:,}.{self.cents % 100:02d}"

    @property
    def rating(self) -> str:
        return f"{self.tenths // 10}.{self.tenths % 10}"

    @property
    def stock(self) -> str:
        return IN if self.stocked else OUT


def goods(rng: random.Random, count: int, low: int = 500, high: int = 250_000) -> list[Ware]:
    """Products whose names, prices, numbers and links differ."""
    cents = rng.sample(range(low, high), count)
    return [
        Ware(name, amount, sku(rng), whole(rng, 21, 50), rng.random() < 0.5, path(rng))
        for name, amount in zip(products(rng, count), cents, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class Layout:
    """How the cards of a page look: tags, the class of a card, and of what it says in their order."""

    card: str
    tag: str
    line: str
    classes: Mapping[str, str]

    def write(self, rng: random.Random, good: Ware, classes: str = "", inside: str = "") -> str:
        """A card, with more `classes` of its own; `inside` is more markup within it."""
        line = self.line
        said = [
            f'<h3><a class="{name}" href="{good.url}">{good.name}</a></h3>'
            if role == "name"
            else f'<{line} class="{name}">{getattr(good, role)}</{line}>'
            for role, name in self.classes.items()
        ]
        body = "\n".join(said)
        named = f"{self.card} {classes}" if classes else self.card
        return element(rng, self.tag, f"\n{body}{inside}\n", ("class", named))

    def shelf(self, rng: random.Random, name: str, cards: Sequence[str]) -> str:
        """Cards in a box with an id."""
        return element(rng, pick(rng, ("div", "section")), "\n".join(cards), ("id", name))


def layout(rng: random.Random, card: str) -> Layout:
    roles = {role: pick(rng, CLASSES[role]) for role in rng.sample(tuple(CLASSES), len(CLASSES))}
    return Layout(card, pick(rng, BLOCKS), pick(rng, ("span", "div", "p")), roles)
