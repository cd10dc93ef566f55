"""Words, names, prices and identifiers for pages, drawn fast: each function takes the task's generator first.

What a task asks for carries a random token (`ident`, `klass`, `token`), which no filler has: so it cannot collide.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def _words(text: str) -> tuple[str, ...]:
    """The words of a text; an underscore is a space within one."""
    return tuple(word.replace("_", " ") for word in text.split())


ADJECTIVES = _words(
    """
    amber brisk calm careful central clear coastal compact copper crisp daily deep early eastern elastic even
    famous fine firm formal fresh gentle global golden grand green handy heavy honest humble inner joint keen
    large late light linen local lucid major mellow mild modern modest narrow neat new noble northern oak open
    outer plain polar prime proper quick quiet rapid rare ready regular robust round rural sharp short silver
    simple sleek slow smooth solid sound southern spare steady steep still stout subtle sunny swift tall tidy
    urban useful vast velvet vivid warm western wide wooden young zesty
    """
)
NOUNS = _words(
    """
    anchor archive arrow atlas balcony barrel basin basket beacon bench binder blade board bottle branch bridge
    brush bucket cabin cable camera candle canyon carpet castle cellar chair channel circle clock cloud compass
    corner cradle crate desk drawer engine fabric factory feather fence field filter forest fountain frame garden
    gate glove hammer harbor hedge hinge island jacket kettle ladder lake lamp lantern ledger lever library market
    meadow mirror motor mountain needle notebook orchard oven panel parcel pencil pillow planet pocket quarry
    radio railway ribbon river saddle schedule shelf signal sofa spindle station stove studio table tower tunnel
    valley vessel village wagon wallet window winter workshop yard zipper
    """
)
VERBS = _words(
    """
    adjusts balances binds builds carries checks clears collects counts covers crosses divides draws enters faces
    fills follows frames gathers guards guides holds joins keeps leads leaves lifts limits links marks matches
    measures meets moves needs opens orders passes places presses protects reaches reads records reflects repairs
    replaces rests_on returns saves sends serves shapes shows sorts supports surrounds tests tracks turns updates
    warms watches wraps
    """
)
FIRST_NAMES = _words(
    """
    Ada Amir Anya Bela Carlos Chen Dana Elif Emre Fatima Goran Hana Ines Ivan Jonas Kaito Lena Luca Maya Mira
    Nadia Noah Olga Omar Petra Ravi Rosa Sven Tara Uma Viktor Wanda Yara Zoe
    """
)
LAST_NAMES = _words(
    """
    Abbott Bauer Castro Dubois Eriksen Fischer Garcia Haddad Ivanov Jensen Kowalski Larsen Moreau Nakamura Okafor
    Patel Quinn Rossi Santos Tanaka Ueda Vargas Weber Xu Yilmaz Zhang
    """
)
COMPANIES = ("Works", "Supply", "Partners", "Trading", "Labs", "Studios", "Logistics", "Goods", "Press", "Systems")
PRODUCTS = _words(
    """
    Backpack Bicycle Blender Camera Desk_Lamp Drill Fan Grinder Headset Heater Jacket Kettle Keyboard Monitor Mug
    Notebook Pan Printer Radio Router Scale Speaker Stool Tent Toaster Tripod Umbrella Vacuum Watch
    """
)
_BASES = _words(
    """
    account article author banner billing catalog contact content detail event gallery headline info invoice
    message note notice order panel profile region report result review section shipping status summary teaser
    topic update widget
    """
)
_HALVES = ("body", "box", "data", "entry", "field", "label", "line", "main", "text", "value")


def pick(rng: random.Random, choices: Sequence[T]) -> T:
    """One of `choices`: what `rng.choice` does, at a third of its price."""
    return choices[int(rng.random() * len(choices))]


def chance(rng: random.Random, share: float) -> bool:
    return rng.random() < share


def whole(rng: random.Random, low: int, high: int) -> int:
    """A whole number from `low` to `high`, both included."""
    return low + int(rng.random() * (high - low + 1))


def token(rng: random.Random, digits: int = 6) -> str:
    """Hexadecimal digits, the first one a letter."""
    return "abcdef"[int(rng.random() * 6)] + f"{rng.getrandbits(4 * (digits - 1)):0{digits - 1}x}"


def ident(rng: random.Random) -> str:
    """An id that nothing else in the page has, such as `order-value-c04f1a`."""
    return f"{pick(rng, _BASES)}-{pick(rng, _HALVES)}-{token(rng)}"


def klass(rng: random.Random) -> str:
    """A class that nothing else in the page has, such as `order-c04f1a`."""
    return f"{pick(rng, _BASES)}-{token(rng)}"


def lookalikes(rng: random.Random, name: str, count: int) -> tuple[str, ...]:
    """Different names that resemble an id or class, none of which is it."""
    stem, _, tail = name.rpartition("-")
    made = (
        f"{name}-alt",
        f"x-{name}",
        f"{stem}-{token(rng, 7)}",
        f"{name}2",
        f"{stem}s-{tail}",
        f"{name[:-1]}{'0' if name[-1] != '0' else '1'}",
    )
    return tuple(rng.sample(made, count))


def sentence(rng: random.Random) -> str:
    form = int(rng.random() * 6)
    adjective, noun, verb = pick(rng, ADJECTIVES), pick(rng, NOUNS), pick(rng, VERBS)
    other = f"{pick(rng, ADJECTIVES)} {pick(rng, NOUNS)}"
    if form == 0:
        return f"The {adjective} {noun} {verb} the {other}."
    if form == 1:
        return f"Every {noun} {verb} one {other} before noon."
    if form == 2:
        return f"When the {noun} is {adjective}, it {verb} the {other}."
    if form == 3:
        return f"Our {adjective} {noun} {verb} a {other} each week."
    if form == 4:
        return f"No {noun} {verb} the {other} without a {adjective} reason."
    return f"In {noun} terms, the {other} {verb} a {adjective} {pick(rng, NOUNS)}."


def sentences(rng: random.Random, count: int) -> str:
    return " ".join(sentence(rng) for _ in range(count))


def phrase(rng: random.Random) -> str:
    """Two or three words with capitals, such as a heading."""
    return f"{pick(rng, ADJECTIVES).capitalize()} {pick(rng, NOUNS).capitalize()} {pick(rng, NOUNS).capitalize()}"


def person(rng: random.Random) -> str:
    return f"{pick(rng, FIRST_NAMES)} {pick(rng, LAST_NAMES)}"


def company(rng: random.Random) -> str:
    return f"{pick(rng, NOUNS).capitalize()} {pick(rng, COMPANIES)}"


def product(rng: random.Random) -> str:
    return f"{pick(rng, ADJECTIVES).capitalize()} {pick(rng, NOUNS).capitalize()} {pick(rng, PRODUCTS)}"


def products(rng: random.Random, count: int) -> list[str]:
    """Different names of products."""
    found: dict[str, None] = {}
    while len(found) < count:
        found[product(rng)] = None
    return list(found)


def price(rng: random.Random, low: int = 500, high: int = 99_999) -> str:
    """An amount between two numbers of cents, such as `$12.50`."""
    cents = whole(rng, low, high)
    return f"${cents // 100}.{cents % 100:02d}"


def sku(rng: random.Random) -> str:
    return f"{pick(rng, 'ABCDEFGHJK')}{pick(rng, 'LMNPQRSTUV')}-{rng.getrandbits(24):06X}"


def path(rng: random.Random) -> str:
    """A link within the site that nothing else in the page has."""
    return f"/{pick(rng, NOUNS)}/{pick(rng, ADJECTIVES)}-{pick(rng, NOUNS)}-{token(rng)}"
