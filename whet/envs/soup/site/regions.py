"""Regions of filler: a beginning, items without number, an end. How often each stands on a page is "
"fitted to real pages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from whet.envs.soup.site.grammar import (
    DATES,
    ICONS,
    IMAGES,
    SENTENCES,
    TITLES,
    link,
    paragraph,
    post,
    row,
    teaser,
    tile,
)
from whet.envs.soup.site.look import Dice
from whet.envs.soup.site.piece import EMPTY, Piece, written


@dataclass(frozen=True, slots=True)
class Region:
    """What one site writes where it has such a region. `low` to `high` items stand in it."""

    start: Piece
    items: tuple[Piece, ...]
    end: Piece
    low: int
    high: int


def _heading(dice: Dice) -> str:
    title = dice.of(TITLES[:4])
    return dice.of(
        (
            f'<h2 class="‹heading›"‹@heading›>{title}</h2>\n',
            f'<h3 class="‹heading›">{title}</h3>\n',
            f'<div class="‹heading›"><span>{title}</span><a class="‹all›" href="«path»">«Verb» &raquo;</a></div>\n',
            f'<header class="‹heading-box›"><h2 id="sec-«dup»">{title}</h2></header>\n',
            f"<h4>{title}</h4>\n",
        )
    )


def _lines(dice: Dice) -> str:
    """Comments that templates leave behind."""
    return dice.of(("", "<!-- «noun» «num4» -->\n", "<!-- /«noun»-«noun» -->\n", "<!-- BEGIN «slug» («hex6») -->\n"))


def _wrapped(dice: Dice, role: str, depth: int) -> tuple[str, str]:
    start = "".join(
        dice.of(
            (
                f'<div class="‹{role}-{level}›"‹@{role}-{level}›>',
                f'<div class="‹{role}-{level}›" style="flex:«num1»">\n'
                if level == 2
                else f'<div class="‹{role}-{level}›">\n',
                f'<div class="‹{role}-{level}›" id="«slug»-«hex6»">',
                f'<div class="‹{role}-{level}›">',
            )
        )
        for level in range(depth)
    )
    return start, "</div>" * depth


def _grid(dice: Dice) -> Region:
    start, end = _wrapped(dice, "grid", 1 + dice.below(3))
    several = tuple(tile(dice) for _ in range(2))
    # An item that is an `li` needs a list around it, under every parser.
    holder = ('<ul class="‹grid-list›">', "</ul>") if any("<li" in piece.text for piece in several) else ("", "")
    return Region(
        written(_lines(dice), '<section class="‹grid›"‹@grid›>', _heading(dice), start, holder[0]),
        several,
        written(holder[1], end, "</section>\n"),
        3,
        12,
    )


def _teasers(dice: Dice) -> Region:
    start, end = _wrapped(dice, "news", 1 + dice.below(3))
    several = tuple(teaser(dice) for _ in range(2))
    holder = ('<ol class="‹news-list›">', "</ol>") if any("<li" in piece.text for piece in several) else ("", "")
    return Region(
        written(_lines(dice), '<div class="‹news›"‹@news›>', _heading(dice), start, holder[0]),
        several,
        written(holder[1], end, "</div>\n"),
        3,
        10,
    )


def _story(dice: Dice) -> Region:
    figure = f'<figure class="‹figure›">{dice.of(IMAGES)}<figcaption>«Adj» «noun», «city»</figcaption></figure>\n'
    quote = f'<blockquote class="‹quote›"><p>{dice.of(SENTENCES)}</p></blockquote>\n' if dice.below(2) else ""
    return Region(
        written('<div class="‹story›"‹@story›>\n', _heading(dice), dice.of((figure, "", quote))),
        tuple(paragraph(dice) for _ in range(4)),
        written(dice.of((quote, "")), "</div>\n", _lines(dice)),
        1,
        5,
    )


def _talk(dice: Dice) -> Region:
    start, end = _wrapped(dice, "talk", 1 + dice.below(2))
    return Region(
        written(start, _heading(dice)),
        (post(dice), post(dice)),
        written(end, "\n", _lines(dice)),
        2,
        9,
    )


def _links(dice: Dice) -> Region:
    start, end = _wrapped(dice, "rail", 1 + dice.below(3))
    return Region(
        written(start, _heading(dice), '<ul class="‹list›"‹@list›>\n'),
        (link(dice), link(dice)),
        written("</ul>", end, "\n"),
        4,
        14,
    )


def _cloud(dice: Dice) -> Region:
    item = dice.of(
        (
            '<a class="‹tag›" href="/tag/«noun»" rel="tag">«noun»</a>\n',
            '<a href="«path»" class="‹tag› tag-link-«num4»" style="font-size:«num2»px">«noun»</a>\n',
            '<span class="‹tag›" data-tag="«noun»">#«noun»</span>\n',
        )
    )
    return Region(written('<div class="‹cloud›">', _heading(dice)), (written(item),), written("</div>\n"), 5, 16)


def _table(dice: Dice) -> Region:
    columns = 3 + dice.below(4)
    start = dice.of(
        (
            '<div class="‹table-box›"><table class="‹table›"‹@table›>\n',
            '<div><table class="‹table›" border="0" cellpadding="«num1»" width="100%">\n',
            '<div class="‹table-box›" style="overflow-x:auto"><table id="«slug»-«num3»">\n',
        )
    )
    cells = "<td>«num2»</td>" * (columns - 1)
    wide = dice.of(
        (
            f'<tr><th colspan="{columns}">«Adj» «noun»</th></tr>\n',
            f'<tr><td rowspan="2">«Noun»</td>{cells}</tr>\n<tr>{cells}</tr>\n',
            f'<tr><td>«Noun»</td><td colspan="{columns - 1}">«adj»</td></tr>\n',
        )
    )
    heads = '<th class="‹th›" scope="col">«Noun»</th>' * columns
    return Region(
        written(
            start, dice.of(("<caption>«Adj» «noun», «year»</caption>\n", "")), f"<thead><tr>{heads}</tr></thead>\n"
        ),
        (row(dice, columns), row(dice, columns)),
        written(wide, "</table></div>\n"),
        3,
        9,
    )


def _facts(dice: Dice) -> Region:
    item = dice.of(
        (
            '<dt class="‹term›">«Noun»</dt><dd>«num3» «adj»</dd>\n',
            "<dt>«Noun»</dt>\n<dd><span>«Adj» «noun»</span></dd>\n",
        )
    )
    return Region(written('<dl class="‹facts›"‹@facts›>\n'), (written(item),), written("</dl>\n"), 3, 8)


def _form(dice: Dice) -> Region:
    item = dice.of(
        (
            '<label for="f-«hex6»">«Noun»</label> <input type="text" name="«noun»" id="f-«hex6»" '
            'placeholder="«Adj» «noun»…">\n',
            '<div class="‹form-row›"><input class="‹input›" type="checkbox" name="«noun»[]" '
            'value="«num3»"> «Noun»</div>\n',
            '<input type="hidden" name="«noun»_«noun»" value="«hex12»">\n',
        )
    )
    choice = (
        '<select class="‹select›" name="«noun»"><option value="«num2»">«Noun»</option>'
        '<option value="«num2»" selected>«Noun»</option></select>\n'
    )
    return Region(
        written('<form class="‹form›" action="«path»" method="post" novalidate>\n', dice.of((choice, ""))),
        (written(item),),
        written('<button type="submit" class="‹send›">«Verb»</button>\n</form>\n'),
        2,
        4,
    )


def _trail(dice: Dice) -> Region:
    marked = (
        '<li class="‹crumb›" itemprop="itemListElement" itemscope '
        'itemtype="https://schema.org/ListItem"><a itemprop="item" '
        'href="«path»"><span itemprop="name">«Noun»</span></a><meta itemprop="position" content="«num1»"></li>\n'
    )
    plain = '<li class="‹crumb›"><a href="«path»">«Noun»</a></li>\n'
    start = '<nav aria-label="«noun»" class="‹trail›"><ol itemscope itemtype="https://schema.org/BreadcrumbList">\n'
    if dice.below(2):
        return Region(written(start), (written(marked),), written("</ol></nav>\n"), 2, 4)
    return Region(written('<div class="‹trail›"><ol>\n'), (written(plain),), written("</ol></div>\n"), 2, 4)


def _tabs(dice: Dice) -> Region:
    tab = (
        '<button role="tab" type="button" class="‹tab›" aria-selected="false" aria-controls="p-«hex6»" id="t-«hex6»" '
        'tabindex="-1">«Noun»</button>\n'
    )
    return Region(
        written('<div class="‹tabs›" role="tablist" aria-label="«noun»">\n'), (written(tab),), written("</div>\n"), 2, 5
    )


def _fold(dice: Dice) -> Region:
    item = dice.of(
        (
            f"<details><summary>{dice.of(TITLES)}</summary><p>{dice.of(SENTENCES)}</p></details>\n",
            '<div class="‹fold›"><button type="button" aria-expanded="false" '
            'aria-controls="x-«hex6»">«Adj» «noun»?</button>'
            f'<div id="x-«hex6»" class="‹fold-in›" hidden><p>{dice.of(SENTENCES)}</p></div></div>\n',
        )
    )
    return Region(written('<div class="‹folds›"‹@folds›>', _heading(dice)), (written(item),), written("</div>\n"), 2, 6)


def _slot(dice: Dice) -> Region:
    """A place that something is fetched into: a script beside an empty box."""
    item = dice.of(
        (
            '<!-- «noun»_«noun»_«num3»x«num3» -->\n<div id="«slug»-«hex6»" class="‹slot›" data-size="«num3»,«num3»">'
            "<script>(window.q«hex6»=window.q«hex6»||[]).push(['«slug»',[«num3»,«num3»],'«blob»',{t:'«hex32»',"
            "k:['«noun»','«noun»','«adj»'],u:'https://«noun».example/«hex12»'}]);</script></div>\n",
            '<div class="‹slot›" id="«slug»-«num4»"><script async src="https://s.«noun».example/'
            'js/«hex8».js?id=«num6»&amp;k=«hex32»"></script></div>\n<!-- /«slug» -->\n',
            '<script type="text/javascript">\nvar _«noun» = _«noun» || {};\n_«noun».«noun» = {k: '
            '"«blob»", n: «num4», on: !0};\n'
            '_«noun».«noun»["«hex6»"] = function () { return document.getElementById("«slug»") || "«blob»"; };\n'
            "</script><!-- end «noun» -->\n",
            '<div class="‹slot›"><script>window._«hex6»=«num5»;</script><noscript><a href="«far»"><img '
            'src="https://p.«noun».example/«hex8».gif?n=«num6»&amp;k=«hex32»" alt="" '
            'style="display:none"></a></noscript></div>\n',
        )
    )
    other = dice.of(
        (
            '<script src="/assets/«noun».«hex8».js" defer></script>\n',
            '<script>window.«noun»_«hex6» = {"a": «num5», "b": "«blob»", "c": "«blob»"};</script>\n',
            '<!-- «noun»: «hex32» -->\n<script src="//«noun».example/«num4»/«hex8».js"></script>\n',
        )
    )
    return Region(EMPTY, (written(item), written(other)), EMPTY, 1, 2)


def _embed(dice: Dice) -> Region:
    item = dice.of(
        (
            '<div class="‹embed›"><iframe src="https://player.«noun».example/«hex12»?rel=0&amp;t=«num2»" '
            'width="«num3»" '
            'height="«num3»" frameborder="0" allowfullscreen title="«Adj» «noun»"></iframe></div>\n',
            '<iframe class="‹embed›" data-src="//maps.«noun».example/embed?q=«num2».«num4»,«num2».«num4»" '
            'loading="lazy"></iframe>\n',
        )
    )
    return Region(EMPTY, (written(item),), EMPTY, 1, 1)


def _share(dice: Dice) -> Region:
    link_to = '<a class="‹share›" href="https://«noun».example/to?u=«hex12»&amp;t=«noun»" aria-label="«Noun»">'
    item = f"<li>{link_to}{dice.of(ICONS)}</a></li>\n"
    return Region(written('<ul class="‹shares›">\n'), (written(item),), written("</ul>\n"), 3, 5)


def _pager(dice: Dice) -> Region:
    item = dice.of(
        ('<a class="‹page›" href="?page=«num2»">«num2»</a>\n', '<a href="«path»?p=«num2»&amp;s=«noun»">«num2»</a>\n')
    )
    return Region(
        written('<div class="‹pager›" role="navigation">\n'),
        (written(item),),
        written('<a rel="next" href="«path»">&rsaquo;</a></div>\n'),
        3,
        7,
    )


def _gallery(dice: Dice) -> Region:
    item = f'<div class="‹slide›"‹@slide› data-index="«num1»">{dice.of(IMAGES)}</div>\n'
    return Region(
        written(
            '<div class="‹gallery›" role="region" aria-roledescription="carousel" data-opts="{&quot;n&quot;:«num1»}">\n'
        ),
        (written(item),),
        written("</div>\n"),
        3,
        8,
    )


def _dated(dice: Dice) -> Region:
    item = f'<li class="‹when›">{dice.of(DATES)} <span>{dice.of(TITLES)}</span></li>\n'
    return Region(
        written('<div class="‹dates›">', _heading(dice), "<ul>\n"), (written(item),), written("</ul></div>\n"), 3, 8
    )


REGIONS: dict[str, tuple[Callable[[Dice], Region], float]] = {
    "grid": (_grid, 0.4),
    "teasers": (_teasers, 1.7),
    "story": (_story, 1.0),
    "talk": (_talk, 0.4),
    "links": (_links, 1.2),
    "cloud": (_cloud, 0.3),
    "table": (_table, 0.15),
    "facts": (_facts, 0.3),
    "form": (_form, 0.35),
    "trail": (_trail, 0.15),
    "tabs": (_tabs, 0.08),
    "fold": (_fold, 0.1),
    "slot": (_slot, 4.2),
    "embed": (_embed, 0.3),
    "share": (_share, 0.1),
    "pager": (_pager, 0.2),
    "gallery": (_gallery, 0.1),
    "dates": (_dated, 0.5),
}
"""The regions by name, with how often each is drawn."""
