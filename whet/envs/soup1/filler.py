"""Filler: what surrounds the matter of a page, in pieces that are written once for each style and then only joined.

Pieces are self-contained: each begins and ends at the same depth under every parser, the damaged ones too.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from whet.envs.soup1.styles import STYLES, PageStyle
from whet.envs.soup1.words import NOUNS, chance, person, phrase, pick, price, product, sentence, sentences, whole

LARGE_PIECES = 72
SMALL_PIECES = 24


@dataclass(frozen=True, slots=True)
class Filler:
    """The pieces of one style: `large` of 1 to 5 kB, `small` below 0.5 kB, `damaged` ones, heads and feet."""

    large: tuple[str, ...]
    small: tuple[str, ...]
    damaged: tuple[str, ...]
    headers: tuple[str, ...]
    footers: tuple[str, ...]
    heads: tuple[str, ...]


@functools.cache
def filler(number: int) -> Filler:
    """The pieces of the style with this number: the same in every process."""
    style = STYLES[number]
    rng = random.Random(f"filler {style.name}")
    makers = (_grid, _talk, _aside, _story, _menu, _news)
    return Filler(
        large=tuple(makers[turn % len(makers)](rng, style) for turn in range(LARGE_PIECES)),
        small=tuple(_note(rng, style) for _ in range(SMALL_PIECES)),
        damaged=tuple(damage(rng, style) for damage in _DAMAGES for _ in range(4)),
        headers=tuple(_header(rng, style, whole(rng, 4, 6)) for _ in range(12)),
        footers=tuple(_footer(rng, style) for _ in range(12)),
        heads=tuple(_head(rng, style) for _ in range(12)),
    )


def _link(rng: random.Random, style: PageStyle) -> str:
    noun = pick(rng, NOUNS)
    return f'<a class="{style.classes["link"]}" href="/{noun}/{pick(rng, NOUNS)}">{phrase(rng)}</a>'


def _links(rng: random.Random, style: PageStyle, count: int) -> str:
    item = style.open("li", "entry")
    return style.open("ul", "list") + "".join(f"\n  {item}{_link(rng, style)}</li>" for _ in range(count)) + "\n</ul>"


def _header(rng: random.Random, style: PageStyle, count: int) -> str:
    return f"<header>{style.open('nav', 'nav')}{_links(rng, style, count)}</nav></header>\n"


def _footer(rng: random.Random, style: PageStyle) -> str:
    return f"{style.open('footer', 'foot')}<p>{phrase(rng)} {pick(rng, NOUNS)}</p>{_link(rng, style)}</footer>\n"


def _head(rng: random.Random, style: PageStyle) -> str:
    return (
        f'<meta name="description" content="{sentence(rng)}">\n<meta name="robots" content="index,follow">\n'
        f'<meta property="og:site_name" content="{phrase(rng)}">\n<link rel="icon" href="/{pick(rng, NOUNS)}.ico">\n'
        f"{style.assets}\n"
    )


def _grid(rng: random.Random, style: PageStyle) -> str:
    cards = "".join(
        f'\n{style.open("div", "card")}<h3 class="{style.classes["title"]}">{product(rng)}</h3>'
        f'<p class="{style.classes["text"]}">{sentence(rng)}</p>'
        f'<span class="{style.classes["amount"]}">{price(rng)}</span></div>'
        for _ in range(whole(rng, 6, 14))
    )
    return f"<section>{style.open('div', 'grid')}{cards}</div></section>\n"


def _talk(rng: random.Random, style: PageStyle) -> str:
    def post(depth: int) -> str:
        reply = post(depth + 1) if depth < 2 and chance(rng, 0.3) else ""
        return f"\n{style.open('div', 'reply')}<b>{person(rng)}</b> <p>{sentences(rng, 2)}</p>{reply}</div>"

    return style.open("div", "talk") + "".join(post(0) for _ in range(whole(rng, 6, 12))) + "</div>\n"


def _aside(rng: random.Random, style: PageStyle) -> str:
    blocks = "".join(f"<h4>{phrase(rng)}</h4>{_links(rng, style, whole(rng, 5, 8))}" for _ in range(3))
    return f"{style.open('aside', 'aside')}{blocks}</aside>\n"


def _story(rng: random.Random, style: PageStyle) -> str:
    text = "".join(
        f'\n<p class="{style.classes["text"]}">{sentences(rng, whole(rng, 3, 7))}</p>' for _ in range(whole(rng, 4, 8))
    )
    return f"<section><h2>{phrase(rng)}</h2>{text}\n<!-- {pick(rng, NOUNS)} block -->\n</section>\n"


def _menu(rng: random.Random, style: PageStyle) -> str:
    return f"{style.open('nav', 'nav')}{_links(rng, style, whole(rng, 16, 30))}</nav>\n"


def _news(rng: random.Random, style: PageStyle) -> str:
    items = "".join(
        f"\n{style.open('article', 'card')}<h3>{phrase(rng)}</h3><small>{person(rng)}</small>"
        f'<p class="{style.classes["text"]}">{sentences(rng, 3)}</p></article>'
        for _ in range(whole(rng, 4, 8))
    )
    return f"<section><h2>{phrase(rng)}</h2>{items}</section>\n"


def _note(rng: random.Random, style: PageStyle) -> str:
    return (
        f'{style.open("div", "card")}<p class="{style.classes["text"]}">{sentence(rng)}</p>{_link(rng, style)}</div>\n'
    )


# --------------------------------------------------------------------------------------------- damage


def _open_items(rng: random.Random, style: PageStyle) -> str:
    items = "".join(f"\n{style.open('li', 'entry')}{phrase(rng)}" for _ in range(5))
    return f"<div>{style.open('ul', 'list')}{items}</ul></div>\n"


def _open_paragraphs(rng: random.Random, style: PageStyle) -> str:
    return f"{style.open('div', 'card')}<p>{sentence(rng)}<p>{sentence(rng)}</div>\n"


def _crossed(rng: random.Random, style: PageStyle) -> str:
    return f"<div><p>{phrase(rng)} <b>{phrase(rng)} <i>{phrase(rng)}</b></i></p></div>\n"


def _stray_end(rng: random.Random, style: PageStyle) -> str:
    return f"{style.open('div', 'card')}<p>{sentence(rng)}</span></p></em></div>\n"


def _unquoted(rng: random.Random, style: PageStyle) -> str:
    link = f"<a href=/{pick(rng, NOUNS)} title=more>{phrase(rng)}</a>"
    return f"<div class=loose data-kind={pick(rng, NOUNS)}>{link}</div>\n"


def _bare_ampersand(rng: random.Random, style: PageStyle) -> str:
    return f"<div><p>{phrase(rng)} & {phrase(rng)} < {whole(rng, 2, 90)} &nosuch; done</p></div>\n"


def _twice(rng: random.Random, style: PageStyle) -> str:
    return f'<div class="loose" title="{pick(rng, NOUNS)}" title="again"><p>{sentence(rng)}</p></div>\n'


_DAMAGES: Sequence[Callable[[random.Random, PageStyle], str]] = (
    _open_items,
    _open_paragraphs,
    _crossed,
    _stray_end,
    _unquoted,
    _bare_ampersand,
    _twice,
)
