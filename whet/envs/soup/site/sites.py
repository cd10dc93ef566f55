"""A site: its look, its words, and its pages.

A page is the chrome of the site, filler that is drawn afresh, and the parts of a task at places among it. It is joined
and filled, never parsed.
"""

from __future__ import annotations

import functools
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain
from typing import Literal

from whet.envs.soup.site import chrome
from whet.envs.soup.site.damage import damages
from whet.envs.soup.site.fill import Draws
from whet.envs.soup.site.lexicon import SoupWords, lexicons, whole
from whet.envs.soup.site.look import Look, look_of
from whet.envs.soup.site.piece import EMPTY, Piece, compiled, joined, number, written
from whet.envs.soup.site.regions import REGIONS, Region
from whet.envs.soup.site.vocabulary import Half

Size = Literal["bare", "small", "large", "huge"]

LARGE = (100_000, 500_000)
"""Characters that a large page aims at, small ones as likely as large ones: half of them are above 224,000."""
HUGE = (400_000, 500_000)
SMALL = (0, 3)
"""Regions of filler on a small page."""

_PART = number("\0part")
_GIVEN = number("\0given")
_HERE = Piece("%s\n", (_PART,))
_TEXT = Piece("%s", (_GIVEN,))
_CUT = Piece("\0")

_NAMES = tuple(REGIONS)
_WEIGHTS = tuple(accumulate(weight for _, weight in REGIONS.values()))
_MINOR = ("story", "links", "facts", "trail", "cloud", "form", "dates", "table")
"""Regions of small pages."""


@dataclass(frozen=True, slots=True)
class SoupSite:
    """One generated site. The same seed gives the same bytes in every process."""

    seed: int
    half: Half
    name: str
    look: Look
    words: SoupWords
    """For the matter of tasks; filler has other persons, companies and products."""
    draws: Draws
    _regions: dict[str, Region] = field(default_factory=dict, compare=False, repr=False)
    _lengths: dict[str, tuple[tuple[float, ...], float]] = field(default_factory=dict, compare=False, repr=False)
    _chrome: dict[bool, tuple[str, str, str]] = field(default_factory=dict, compare=False, repr=False)

    @property
    def state_key(self) -> str:
        """The key of the task's own state within the JSON that a page carries."""
        return self.look.dice("state").code(6)

    def page(
        self,
        rng: random.Random,
        parts: Sequence[str],
        *,
        size: Size,
        title: str = "",
        head: str = "",
        tail: str = "",
        state: Mapping[str, object] | None = None,
        damage: float = 0.0,
        visible: bool = True,
    ) -> str:
        """A page that holds the parts, in their order, at places among filler that are drawn.

        `bare` is the parts alone. `head` and `tail` stand at the end of `head` and `body`. `state` stands in a script
        of type `application/json` whose id is `look.ident("state")`, under `state_key`. `damage` is how likely the page
        is broken, in ways that change no answer. Parts that are not `visible` stand in boxes that are not shown.
        """
        if size == "bare":
            return "\n".join(parts)
        broken = rng.random() < damage
        body = self._small(rng) if size == "small" else self._large(rng, LARGE if size == "large" else HUGE)
        if broken:
            body.regions += [[piece] for piece in rng.choices(damages(), k=whole(rng, 1, 4))]
            rng.shuffle(body.regions)
        shown = parts if visible else [f'<div style="display:none" hidden>{part}</div>' for part in parts]
        if state is not None:
            tail = self._state(rng, state) + tail
        piece, texts = self._assembled(rng, body, len(parts), title, head, tail, broken)
        given: dict[int, Iterator[str]] = {_PART: iter(shown), _GIVEN: iter(texts)}
        return self.draws.filled(rng, piece, given, broken)

    # ----------------------------------------------------------------------------------------- bodies

    def _region(self, name: str) -> Region:
        """The region as this site has it."""
        known = self._regions.get(name)
        if known is None:
            known = self._regions[name] = REGIONS[name][0](self.look.dice("region", name))
        return known

    def _length(self, name: str) -> tuple[tuple[float, ...], float]:
        """How long the items of a region are on this site, and what stands around them."""
        known = self._lengths.get(name)
        if known is None:
            region, size = self._region(name), self.draws.size
            known = tuple(map(size, region.items)), size(region.start) + size(region.end)
            self._lengths[name] = known
        return known

    def _small(self, rng: random.Random) -> Body:
        regions = []
        for name in rng.choices(_MINOR, k=whole(rng, *SMALL)):
            region = self._region(name)
            regions.append([region.start, *rng.choices(region.items, k=min(3, region.low)), region.end])
        return Body(regions, EMPTY, small=True)

    def _large(self, rng: random.Random, sizes: tuple[int, int]) -> Body:
        wanted = sizes[0] * (sizes[1] / sizes[0]) ** rng.random()
        state = wanted * (0.12 + 0.42 * rng.random() ** 1.3)
        dice = self.look.dice("code")
        late = joined((chrome.scripts(dice, whole(rng, 3, 8)), chrome.records(dice, int(state / 212))))
        left = wanted - state - sum(map(len, self._shared(small=False)))
        regions: list[list[Piece]] = []
        while left > 0:
            for name in rng.choices(_NAMES, cum_weights=_WEIGHTS, k=24):
                region = self._region(name)
                lengths, around = self._length(name)
                count = whole(rng, region.low, region.high)
                if len(lengths) == 1:
                    regions.append([region.start, *region.items * count, region.end])
                    left -= around + count * lengths[0]
                else:
                    places = [int(rng.random() * len(lengths)) for _ in range(count)]
                    regions.append([region.start, *[region.items[place] for place in places], region.end])
                    left -= around + sum([lengths[place] for place in places])
                if left <= 0:
                    break
        return Body(regions, late, small=False)

    # ----------------------------------------------------------------------------------------- the page around them

    def _assembled(
        self, rng: random.Random, body: Body, parts: int, title: str, head: str, tail: str, broken: bool
    ) -> tuple[Piece, list[str]]:
        """The whole page as one piece, and the texts of its slots for given ones, in order."""
        dice = self.look.dice("frame", "small" if body.small else "large")
        depth = dice.below(2) if body.small else 2 + dice.below(6)
        open_divs = "".join(f'<div class="‹wrap-{level}›"‹@wrap-{level}›>\n' for level in range(depth))
        inner = dice.of(("main", "div", "div"))
        regions = body.regions
        places = sorted([int(rng.random() * (len(regions) + 1)) for _ in range(parts)])
        mixed: list[Piece] = []
        done = 0
        for place in places:
            mixed += chain.from_iterable(regions[done:place])
            mixed.append(_HERE)
            done = place
        mixed += chain.from_iterable(regions[done:])
        ends = "</div>" * depth if not (broken and rng.random() < 0.5) else ""
        closing = "</body>\n</html>\n" if not (broken and rng.random() < 0.5) else ""
        before, top, foot = self._shared(body.small)
        piece = joined(
            (
                compiled(dice.of(_DOCTYPES)),
                Piece("<title>%s</title>\n", (_GIVEN,)) if title else written("<title>«Adj» «Noun» | «Noun»</title>\n"),
                _TEXT,
                _TEXT,
                written("</head>\n", dice.of(_BODIES)),
                _TEXT,
                written(f'<div id="{self.look.habit.rooted}"><{inner} class="‹inner›"‹@inner›>\n', open_divs),
                *mixed,
                written(f"{ends}</{inner}></div>\n"),
                _TEXT,
                body.late,
                _TEXT,
                compiled(closing),
            )
        )
        texts = [*([title] if title else []), before, head, top, foot, tail]
        return piece, texts

    def _shared(self, small: bool) -> tuple[str, str, str]:
        """Head, top and foot: the same text on all pages of the site."""
        known = self._chrome.get(small)
        if known is None:
            dice = self.look.dice("chrome", "small" if small else "large")
            rng = random.Random(int.from_bytes(dice.digest[:8], "big"))
            head, top, foot = (write(dice) for write in (chrome.SMALL if small else chrome.LARGE))
            text = self.draws.filled(rng, joined((head, _CUT, top, _CUT, foot)))
            before, middle, after = text.split(_CUT.text)
            known = self._chrome[small] = before, middle, after
        return known

    def _state(self, rng: random.Random, state: Mapping[str, object]) -> str:
        held = {"build": f"{rng.getrandbits(48):012x}", "route": f"/{self.words.noun(rng)}", self.state_key: state}
        text = json.dumps(held, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
        return f'<script id="{self.look.ident("state")}" type="application/json">{text}</script>\n'


_DOCTYPES = (
    '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
    '<!doctype html><html lang="en-US" class="‹html›"><head><meta charset="UTF-8"/>\n',
    '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" '
    '"http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">\n'
    '<html xmlns="http://www.w3.org/1999/xhtml">\n<head>\n<meta http-equiv="Content-Type" '
    'content="text/html; charset=utf-8" />\n',
)
_BODIES = ("<body>\n", '<body class="‹body›">\n', '<body class="‹body› page-«num4»" data-page="«noun»">\n')


@dataclass(slots=True)
class Body:
    """What one page has beside chrome and parts: regions, then code."""

    regions: list[list[Piece]]
    late: Piece
    small: bool


@functools.lru_cache(maxsize=256)
def site(seed: int, half: Half) -> SoupSite:
    """The site with this seed: the same in every process."""
    look = look_of(seed, half)
    dice = look.dice("site")
    matter, filler = lexicons(dice, half)
    return SoupSite(
        seed,
        half,
        f"{dice.of(matter.nouns).capitalize()} {dice.of(matter.firms)}",
        look,
        matter,
        Draws(look, filler, dice.below(4)),
    )
