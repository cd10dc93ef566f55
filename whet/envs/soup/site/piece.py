"""Markup with slots, compiled once and filled in bulk: what makes a page of 300 kB cost milliseconds.

A source such as `<a class="‹link›" href="/«noun»">«Adj» «noun»</a>` has two kinds of slots: «values» are drawn afresh
for each place, ‹roles› are what the look of the site gives (`‹@role›` its further attributes). A piece is the text
with `%s` in the place of the slots and the numbers of the slots; pieces are joined by joining both.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

_SLOT = re.compile("«([^»]+)»|‹([^›]+)›")

_MACROS = (
    ("«path»", "«dir»«way»"),
    ("«far»", "https://www.«noun».example/«adj»-«noun»/«num5»?src=«noun»&amp;cid=«hex32»"),
    ("«adj» «noun»", "«thing»"),
    ("«Adj» «Noun»", "«Thing»"),
    ("«firm-name»", "«Noun» «firm»"),
)
"""Slots that are made of others, the longest way first."""

NUMBERS: dict[str, int] = {}
"""Slots by name, in the order in which they were first met. Roles keep their brackets."""
NAMES: list[str] = []


def number(name: str) -> int:
    """The number of the slot with this name."""
    found = NUMBERS.get(name)
    if found is None:
        found = NUMBERS[name] = len(NAMES)
        NAMES.append(name)
    return found


@dataclass(frozen=True, slots=True)
class Piece:
    """Markup with places for what is drawn."""

    text: str
    slots: tuple[int, ...] = ()

    def times(self, count: int) -> Piece:
        return Piece(self.text * count, self.slots * count)


EMPTY = Piece("")


@functools.lru_cache(maxsize=8192)
def compiled(source: str) -> Piece:
    slots: list[int] = []
    for name, meaning in _MACROS:
        source = source.replace(name, meaning)

    def place(match: re.Match[str]) -> str:
        slots.append(number(match[1] or f"‹{match[2]}›"))
        return "%s"

    return Piece(_SLOT.sub(place, source.replace("%", "%%")), tuple(slots))


def joined(pieces: Iterable[Piece]) -> Piece:
    every = list(pieces)
    return Piece("".join([piece.text for piece in every]), tuple(chain.from_iterable([piece.slots for piece in every])))


@functools.lru_cache(maxsize=8192)
def written(*sources: str) -> Piece:
    """The piece of several sources, each compiled once in the life of the process."""
    return joined([compiled(source) for source in sources])
