"""What stands in the slots of pieces: drawn in bulk, so many values of a kind at once."""

from __future__ import annotations

import random
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import repeat

from whet.envs.soup.site import vocabulary
from whet.envs.soup.site.lexicon import SoupWords
from whet.envs.soup.site.look import Look
from whet.envs.soup.site.piece import NAMES, Piece
from whet.envs.soup.site.vocabulary import Half

_HEX = {"hex6": 6, "hex8": 8, "hex12": 12, "hex32": 32}
_BLOB = 88
"""Characters of a token in base 64, with letters for the two signs, so that it is one word."""

_COMPOUNDS = {
    "slug": ("%s-%s", ("noun", "noun")),
    "thing": ("%s %s", ("adj", "noun")),
    "Thing": ("%s %s", ("Adj", "Noun")),
    "way": ("%s/%s-%s-%s-%s", ("noun", "adj", "noun", "noun", "num5")),
}
"""Slots that are made of several words: at most 256 different ones on a page, drawn for the page."""

_CLEAN = ("&mdash;", " &ndash; ", ", ", "; ", " — ", " – ", ", ")
_QUOTES = ("&rsquo;", "'", "’", "&#39;", "&#8217;")
_BROKEN = ("â€”", " â€“ ", "Â ", ", ", "\ufffd ", "; ")
_BROKEN_QUOTES = ("â€™", "Â´", "\ufffd", "&amp;#39;", "’")
"""What is left of dashes and quotes after the wrong charset."""


def _bytes(pool: Sequence[str]) -> tuple[str, ...]:
    """The pool as 256 entries, so that a random byte is a draw; of a larger pool as many, evenly."""
    size = len(pool)
    if size > 256:
        return tuple(pool[number * size // 256] for number in range(256))
    return (tuple(pool) * (256 // size + 1))[:256]


def _numbers(low: int, high: int) -> tuple[str, ...]:
    """Numbers of one length that follow no pattern that a reader would see."""
    return tuple(str(low + (number * 0.6180339887 % 1.0) * (high - low)).partition(".")[0] for number in range(256))


@cache
def _pools(half: Half) -> dict[str, tuple[str, ...]]:
    """What all sites of a half draw from."""
    nouns, adjectives, verbs = vocabulary.NOUNS[half], vocabulary.ADJECTIVES[half], vocabulary.VERBS[half]
    pools: dict[str, Sequence[str]] = {
        "adj": adjectives,
        "Adj": [word.capitalize() for word in adjectives],
        "noun": nouns,
        "Noun": [word.capitalize() for word in nouns],
        "NOUN": [word.upper() for word in nouns],
        "dash-noun": nouns[:40],
        "verb": verbs,
        "Verb": [word.removesuffix("s").capitalize() for word in verbs],
        "first": vocabulary.FIRST_NAMES[half],
        "city": vocabulary.CITIES[half],
        "Month": ("Jan", "Feb", "March", "April", "May", "June", "July", "Aug", "Sept", "Oct", "Nov", "Dec"),
        "month": [f"{number:02d}" for number in range(1, 13)],
        "day": [str(number) for number in range(1, 29)],
        "day2": [f"{number:02d}" for number in range(1, 24)],
        "year": _numbers(2009, 2027),
        "ago": ("minutes", "hours", "days", "weeks"),
        "num1": _numbers(1, 10),
        "num2": _numbers(10, 100),
        "num3": _numbers(100, 1000),
        "num4": _numbers(1000, 10_000),
        "num5": _numbers(10_000, 100_000),
        "num6": _numbers(100_000, 1_000_000),
        "cents": ("00", "49", "50", "95", "99", *(f"{number:02d}" for number in range(1, 100, 4))),
        "ext": ("jpg", "jpg", "png", "webp", "jpeg"),
        "dup": tuple("abcdefgh"),
        "dash": _CLEAN,
        "quote": _QUOTES,
    }
    return {name: _bytes(pool) for name, pool in pools.items()}


@cache
def _means(half: Half) -> dict[str, float]:
    """How long the words of each pool are, on average."""
    return {name: sum(map(len, pool)) / 256 for name, pool in _pools(half).items()}


_DIRS = (
    ("/{0}/", "/{1}/", "/{2}/{0}/", "../{1}/"),
    ("https://www.{0}{1}.example/{2}/", "https://www.{0}{1}.example/{3}/", "//{0}{1}.example/{2}/", "/{3}/"),
    ("{0}/", "../{1}/", "../../{2}/", "./{3}/"),
    ("https://{0}.example/{1}/", "https://{0}.example/{2}/{3}/", "https://{0}.example/", "/{1}/"),
)


class Draws:
    """The sources of one site: for a slot and a count, so many values."""

    __slots__ = ("kind", "look", "pools", "roles", "sizes", "words")

    def __init__(self, look: Look, words: SoupWords, kind: int) -> None:
        self.look, self.words, self.kind = look, words, kind
        self.pools: dict[str, tuple[str, ...]] = dict(_pools(look.half))
        self.roles: dict[int, str] = {}
        self.sizes = Sizes(self)

    def role(self, slot: int) -> str:
        """What the look gives for the slot of a role."""
        known = self.roles.get(slot)
        if known is None:
            name = NAMES[slot][1:-1]
            known = self.look.attrs(f"~{name[1:]}") if name[0] == "@" else self.look.cls(f"~{name}")
            self.roles[slot] = known
        return known

    def pool(self, name: str) -> tuple[str, ...]:
        """What the slots of a name are drawn from; what belongs to the site is made when it is first needed."""
        known = self.pools.get(name)
        if known is None:
            known = self.pools[name] = _bytes(self._own(name))
        return known

    def _own(self, name: str) -> Sequence[str]:
        if name == "dir":
            dice = self.look.dice("dirs")
            names = [dice.of(self.words.nouns) for _ in range(8)]
            return [form.format(*names[start:]) for form in _DIRS[self.kind] for start in range(4)]
        words = self.words
        return {"last": words.last_names, "product": words.products, "firm": words.firms}[name]

    def source(self, rng: random.Random, slot: int, count: int, broken: bool) -> Iterator[str]:
        role = self.roles.get(slot)
        if role is not None:
            return repeat(role)
        name = NAMES[slot]
        if name in self.pools and not broken:
            return map(self.pools[name].__getitem__, rng.randbytes(count))
        if name[0] == "‹":
            return repeat(self.role(slot))
        width = _HEX.get(name)
        if width is not None:
            digits = rng.randbytes(count * width // 2).hex()
            return iter([digits[start : start + width] for start in range(0, count * width, width)])
        if name == "blob":
            text = b64encode(rng.randbytes(count * _BLOB * 3 // 4), b"Qz").decode()
            return iter([text[start : start + _BLOB] for start in range(0, count * _BLOB, _BLOB)])
        if name in _COMPOUNDS:
            form, names = _COMPOUNDS[name]
            some = min(count, 256)
            words = zip(*[map(self.pool(part).__getitem__, rng.randbytes(some)) for part in names], strict=True)
            made = [form % word for word in words]
            return iter(made) if some == count else map(made.__getitem__, rng.randbytes(count))
        pool = self.pool(name)
        if broken and name in ("dash", "quote"):
            pool = _bytes(_BROKEN if name == "dash" else _BROKEN_QUOTES)
        return map(pool.__getitem__, rng.randbytes(count))

    def filled(
        self,
        rng: random.Random,
        piece: Piece,
        given: Mapping[int, Iterator[str]] | None = None,
        broken: bool = False,
    ) -> str:
        """The text of a piece. `given` are slots that the caller fills; `broken`: as if read in the wrong charset."""
        counts = Counter(piece.slots)
        sources: dict[int, Iterator[str]] = {}
        for slot in sorted(counts, key=NAMES.__getitem__):
            values = given[slot] if given and slot in given else self.source(rng, slot, counts[slot], broken)
            sources[slot] = values
        return piece.text % tuple(map(next, map(sources.__getitem__, piece.slots)))

    def size(self, piece: Piece) -> float:
        """How long the piece will be, on average."""
        return len(piece.text) + sum(map(self.sizes.__getitem__, piece.slots))


class Sizes(dict[int, float]):
    """What a slot adds to the length of a piece beyond its two characters, measured when first asked for."""

    def __init__(self, draws: Draws) -> None:
        super().__init__()
        self.draws = draws

    def __missing__(self, slot: int) -> float:
        name = NAMES[slot]
        if name[0] == "‹":
            size = float(len(self.draws.role(slot)))
        elif name in _HEX:
            size = float(_HEX[name])
        elif name == "blob":
            size = float(_BLOB)
        else:
            means = _means(self.draws.look.half)
            form, names = _COMPOUNDS.get(name, ("", (name,)))
            size = (
                len(form) - 2 * len(names) + sum([means.get(part, 8.0) for part in names])
                if form
                else means.get(name, 8.0)
            )
        self[slot] = size - 2
        return size - 2
