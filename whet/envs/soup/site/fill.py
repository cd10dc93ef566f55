"""What stands in the slots of pieces: drawn in bulk, so many values of a kind at once."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import repeat

from whet.envs.soup.site import vocabulary
from whet.envs.soup.site.lexicon import Lexicon
from whet.envs.soup.site.look import Look
from whet.envs.soup.site.piece import NAMES, Piece
from whet.envs.soup.site.vocabulary import Half

_HEX = {"hex6": 6, "hex8": 8, "hex12": 12, "hex32": 32}

_CLEAN = ("&mdash;", " &ndash; ", ", ", "; ", " — ", " – ", ", ")
_QUOTES = ("&rsquo;", "'", "’", "&#39;", "&#8217;")
_BROKEN = ("â€”", " â€“ ", "Â ", ", ", "\ufffd ", "; ")
_BROKEN_QUOTES = ("â€™", "Â´", "\ufffd", "&amp;#39;", "’")
"""What is left of dashes and quotes after the wrong charset."""


def _numbers(low: int, high: int) -> tuple[str, ...]:
    return tuple(map(str, range(low, high)))


@cache
def _pools(half: Half) -> dict[str, tuple[str, ...]]:
    """What all sites of a half draw from."""
    nouns, adjectives, verbs = vocabulary.NOUNS[half], vocabulary.ADJECTIVES[half], vocabulary.VERBS[half]
    return {
        "adj": adjectives,
        "Adj": tuple(word.capitalize() for word in adjectives),
        "noun": nouns,
        "Noun": tuple(word.capitalize() for word in nouns),
        "NOUN": tuple(word.upper() for word in nouns),
        "dash-noun": nouns[:40],
        "verb": verbs,
        "Verb": tuple(word.removesuffix("s").capitalize() for word in verbs),
        "first": vocabulary.FIRST_NAMES[half],
        "city": vocabulary.CITIES[half],
        "Month": ("Jan", "Feb", "March", "April", "May", "June", "July", "Aug", "Sept", "Oct", "Nov", "Dec"),
        "month": tuple(f"{number:02d}" for number in range(1, 13)),
        "day": _numbers(1, 29),
        "day2": tuple(f"{number:02d}" for number in range(1, 24)),
        "year": _numbers(2009, 2027),
        "ago": ("minutes", "hours", "days", "weeks"),
        "num1": _numbers(1, 10),
        "num2": _numbers(10, 100),
        "num3": _numbers(100, 1000),
        "num4": _numbers(1000, 10_000),
        "cents": ("00", "49", "50", "95", "99", *(f"{number:02d}" for number in range(1, 100, 4))),
        "ext": ("jpg", "jpg", "png", "webp", "jpeg"),
        "dup": tuple("abcdefgh"),
    }


@cache
def _mean(pool: tuple[str, ...]) -> float:
    return sum(map(len, pool)) / len(pool)


_DIRS = (
    ("/{0}/", "/{1}/", "/{2}/{0}/", "../{1}/"),
    ("https://www.{0}{1}.example/{2}/", "https://www.{0}{1}.example/{3}/", "//{0}{1}.example/{2}/", "/{3}/"),
    ("{0}/", "../{1}/", "../../{2}/", "./{3}/"),
    ("https://{0}.example/{1}/", "https://{0}.example/{2}/{3}/", "https://{0}.example/", "/{1}/"),
)


class Draws:
    """The sources of one site: for a slot and a count, so many values."""

    __slots__ = ("look", "pools", "roles", "sizes")

    def __init__(self, look: Look, words: Lexicon, kind: int) -> None:
        self.look = look
        pool, dice = _pools(look.half), look.dice("dirs")
        names = [dice.of(words.nouns) for _ in range(8)]
        self.pools: dict[str, tuple[str, ...]] = {
            **pool,
            "last": words.last_names,
            "product": words.products,
            "firm": words.firms,
            "dash": _CLEAN,
            "quote": _QUOTES,
            "dir": tuple(form.format(*names[start:]) for form in _DIRS[kind] for start in range(4)),
        }
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

    def source(self, rng: random.Random, slot: int, count: int, broken: bool) -> Iterator[str]:
        name = NAMES[slot]
        if name[0] == "‹":
            return repeat(self.role(slot))
        width = _HEX.get(name)
        if width is not None:
            digits = f"{rng.getrandbits(4 * count * width):0{count * width}x}"
            return iter([digits[start : start + width] for start in range(0, count * width, width)])
        pool = self.pools[name]
        if broken and name in ("dash", "quote"):
            pool = _BROKEN if name == "dash" else _BROKEN_QUOTES
        return iter(rng.choices(pool, k=count))

    def filled(
        self,
        rng: random.Random,
        piece: Piece,
        given: Mapping[int, Iterator[str]] | None = None,
        broken: bool = False,
    ) -> str:
        """The text of a piece. `given` are slots that the caller fills; `broken`: as if read in the wrong charset."""
        counts = Counter(piece.slots)
        sources: dict[int, Callable[[], str]] = {}
        for slot in sorted(counts, key=NAMES.__getitem__):
            values = given[slot] if given and slot in given else self.source(rng, slot, counts[slot], broken)
            sources[slot] = values.__next__
        return piece.text % tuple([sources[slot]() for slot in piece.slots])

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
        else:
            size = _mean(self.draws.pools.get(name, ("",)))
        self[slot] = size - 2
        return size - 2
