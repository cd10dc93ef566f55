"""The grammar of filler: what stands on pages beside the matter of a task.

Each function writes one kind of item or region for one site: which tags, wrappers and optional bits it has is drawn
with the dice of the site, and what stands in the slots is drawn for every place on every page. A region is closed in
itself: it begins and ends at the same depth under every parser, whatever surrounds it.
"""

from __future__ import annotations

from collections.abc import Sequence

from whet.envs.soup.site.look import Dice
from whet.envs.soup.site.piece import Piece, written

Pair = tuple[str, str]

# --------------------------------------------------------------------------------------------- texts

SENTENCES = (
    "The «adj» «noun» «verb» the «adj» «noun». ",
    "Every «noun» «verb» one «adj» «noun» before «noun» and «noun» do. ",
    "When the «noun» is «adj», it «verb» the «noun»«dash»and «verb» again. ",
    "Our «adj» «noun» «verb» a «adj» «noun» each week, says «first» «last». ",
    "No «noun» «verb» the “«adj» «noun»” without a «adj» reason. ",
    "In «noun» terms, «num2» of «num3» «verb» as «adj» as before. ",
    'A <a href="«path»">«adj» «noun»</a> that «verb» its «noun» stays «adj». ',
    "Most of the «noun»«quote»s «adj» «noun» «verb» what the «noun» leaves. ",
    "Between «noun» and «noun», nothing «verb» a <em>«adj»</em> line. ",
    "It «verb», as «adj» as any «noun», beside the «adj» «noun» of «city». ",
    "<strong>«Adj» «noun».</strong> The «noun» «verb» and the «noun» «verb». ",
    'By «year» the <a href="«far»" target="_blank" rel="noopener">«noun»</a> «verb» the «adj» «noun»; ',
    "«Noun»&nbsp;«num2» «verb» a «noun», and «num1»&nbsp;more «verb» the «adj» «noun». ",
    "“Who «verb» the «noun»?” A «adj» «noun» in «city», or so «last» «verb». ",
    "«Adj» and «adj», the «noun» «verb» at «num2»°, «noun» by «noun». ",
)
TITLES = (
    "«Adj» «Noun»",
    "«Noun» and «Noun»",
    "«Adj» «noun» «verb» the «noun»",
    "The «noun» that «verb»",
    "«Noun»: «adj», «adj» and «adj»",
    "How a «noun» «verb» «num2» «noun» lines",
    "«num2» «adj» ways of «Noun»",
    "«Adj» «Noun» of «city»",
)
DATES = (
    '<time datetime="«year»-«month»-«day2»T«day2»:«num2»:00Z">«day» «Month» «year»</time>',
    '<time datetime="«year»-«month»-«day2»">«Month» «day», «year»</time>',
    "«num2» «ago» ago",
    '<span data-ts="«year»«num6»">«day».«month».«year»</span>',
    '<abbr title="«year»-«month»-«day2»T«day2»:00">«day»&nbsp;«Month»</abbr>',
)
SUMS = (
    '<span class="‹tile-sum›"‹@tile-sum›>$«num2».«cents»</span>',
    '<div class="‹tile-sum›"‹@tile-sum›><span aria-hidden="true">€</span>«num3»,«cents»</div>',
    '<span class="‹tile-sum›"><s>$«num3».«cents»</s> <b>$«num2».«cents»</b></span>',
    '<p class="‹tile-sum›"‹@tile-sum›><bdi>£«num2».«cents»</bdi><sup>*</sup></p>',
    '<span class="‹tile-sum›" content="«num2».«cents»">«num2»&nbsp;USD</span>',
    '<span class="‹tile-sum›"><span>$</span><span>«num2»</span><sup>«cents»</sup></span>',
)

# --------------------------------------------------------------------------------------------- images, icons

IMAGES = (
    '<img src="/media/«hex8»/«noun»-«num3».«ext»" alt="«Adj» «noun»" width="«num3»" height="«num3»" loading="lazy">',
    '<img class="‹img›" data-src="//img.«noun».example/«hex12».«ext»?w=«num3»&amp;h=«num3»&amp;q=«num2»" '
    'src="data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==" alt="«noun»">',
    '<img class="‹img›"‹@img› src="https://cdn.«noun».example/«hex8».«ext»?fit=crop&amp;w=«num3»" '
    'srcset="https://cdn.«noun».example/«hex8».«ext»?fit=crop&amp;w=640 640w, '
    'https://cdn.«noun».example/«hex8».«ext»?fit=crop&amp;w=1280 1280w" sizes="(max-width: 640px) 100vw, 33vw" '
    'alt="«Adj» «noun» in «city»">',
    '<picture><source type="image/webp" srcset="../img/«hex12»-480.webp 480w, ../img/«hex12»-960.webp 960w">'
    '<img class="‹img›" src="../img/«hex12»-480.jpg" alt=""></picture>',
    '<div class="‹img-box›" style="padding-top:«num2».«num2»%"><img class="‹img›" src="img/«noun»_«num4».«ext»" '
    'alt="«Noun»" title="«adj» «noun»"></div>',
    '<img class="‹img›" src="/i/«hex12».«ext»" alt="«Noun»">',
    '<img src="img/«noun»-«noun»-«num3»x«num3».«ext»" alt="" border="0">',
    '<img class="‹img›" src="data:image/jpeg;base64,«blob»«blob»«blob»" data-src="/m/«hex32».«ext»" '
    'alt="«Adj» «noun»">',
)
ICONS = (
    '<i class="‹icon›"></i>',
    '<i class="‹icon›"></i>',
    '<i class="‹icon›">•</i>',
    '<em class="‹icon›"></em>',
    '<span class="‹icon›">&#9679;</span>',
    '<span class="‹icon›">+</span>',
    '<b class="‹icon›">·</b>',
    '<i class="‹icon›">›</i>',
    '<span class="‹icon›">&rsaquo;</span>',
    '<svg class="‹icon›" viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d="M«num2» «num1»h«num1»v«num2»'
    "c0 1.1-.«num1» 2-2 2H«num1»c-1.1 0-2-.9-2-2V«num1»zm«num1».«num2»-«num1».«num3» «num2» «num1»L«num2».«num3» «num1»"
    'l-«num1».«num2» «num1».«num2»c-.«num2»-«num1».«num2» 0-«num1»-«num1».«num3»-«num1»-«num1»z"/></svg>',
    '<svg class="‹icon›" viewBox="0 0 «num2» «num2»"><defs><clipPath id="«dup»"><rect width="«num2»" height="«num2»"/>'
    '</clipPath></defs><g clip-path="url(#«dup»)"><path d="M«num1».«num2» «num2»L«num2» «num1».«num3»Z" '
    'fill="#«hex6»"/>'
    "</g></svg>",
)

BOXES: tuple[Pair, ...] = (
    ('<div class="‹item›"‹@item›>', "</div>\n"),
    ('<article class="‹item›"‹@item› id="«slug»-«hex6»">', "</article>\n"),
    ('<div class="‹item› post-«num5»" data-id="«num6»">', "</div>\n"),
    ('<li class="‹item›"‹@item›>', "</li>\n"),
    ('<section class="‹item›">\n', "\n</section>\n"),
    ('<div class="‹item›"‹@item›><div class="‹item-in›">\n', "</div>\n</div>\n"),
)
PROPS = (
    "",
    "",
    "",
    ' data-props="{&quot;id&quot;:«num6»,&quot;kind&quot;:&quot;«noun»&quot;,&quot;sig&quot;:&quot;«blob»&quot;,'
    '&quot;flag&quot;:&quot;«hex6»&quot;,&quot;at&quot;:[«num2»,«num3»],&quot;k&quot;:&quot;«hex32»&quot;}"',
    ' data-track="{&quot;ev&quot;:&quot;«noun»_«verb»&quot;,&quot;lst&quot;:&quot;«slug»&quot;,&quot;n&quot;:«num2»,'
    '&quot;t&quot;:&quot;«blob»«blob»&quot;}"',
    ' title="«Adj» «noun»"',
    ' onclick="_t(&#39;«noun»&#39;,&#39;«blob»&#39;,«num3»)"',
)


def _box(dice: Dice, role: str, boxes: Sequence[Pair] = BOXES) -> Pair:
    start, end = boxes[dice.below(len(boxes))]
    return start.replace("‹item", f"‹{role}").replace("‹@item", f"‹@{role}"), end


def paragraph(dice: Dice) -> Piece:
    """One paragraph of four to eight sentences."""
    start = dice.of(('<p class="‹text›">', "<p>", "<p>", '<p class="‹text›"‹@text›>', '<div class="‹text›">'))
    end = "</div>\n" if start.startswith("<div") else "</p>\n"
    return written(start, *(dice.of(SENTENCES) for _ in range(4 + dice.below(5))), end)


def tile(dice: Dice) -> Piece:
    """A card with an image, a name and an amount that nothing names."""
    start, end = _box(dice, "tile")
    name = dice.of(
        (
            '<h3 class="‹tile-name›"><a href="«path»">«Adj» «Noun» «product»</a></h3>',
            '<a class="‹tile-link›" href="«path»?ref=«hex6»&amp;pos=«num2»"><span '
            'class="‹tile-name›">«Noun» «product»</span></a>',
            '<div class="‹tile-name›"‹@tile-name›>«firm-name» «Adj» «product»</div>',
            '<a class="‹tile-link›" href="«far»" title="«Adj» «Noun» «product»">«Adj» «Noun» «product»</a>',
        )
    )
    stars = dice.of(
        (
            "",
            "",
            '<span class="‹stars›" aria-label="«num1» of 5"><i class="‹star›"></i><i class="‹star›"></i></span>',
            '<span class="‹stars›"></span> <small>(«num3»)</small>',
        )
    )
    more = dice.of(
        (
            "",
            '<button type="button" class="‹tile-act›" data-id="«num6»">«Verb»</button>',
            '<a class="‹tile-act›" href="#" data-act="«noun»">«Verb» &rsaquo;</a>',
            '<span class="‹badge›">«Adj»</span>',
        )
    )
    start = start.replace(">", dice.of(PROPS) + ">", 1)
    return written(start, f'<a href="«path»">{dice.of(IMAGES)}</a>\n', name, "\n", dice.of(SUMS), stars, more, end)


def teaser(dice: Dice) -> Piece:
    """The summary of an article elsewhere."""
    start, end = _box(dice, "teaser")
    head = dice.of(
        (
            f'<h3 class="‹teaser-head›"><a href="«path»">{dice.of(TITLES)}</a></h3>',
            f'<a class="‹teaser-link›"‹@teaser-link› href="«path»"><span '
            f'class="‹teaser-head›">{dice.of(TITLES)}</span></a>',
            f'<h2 class="‹teaser-head›"‹@teaser-head›><a href="«far»">{dice.of(TITLES)}</a></h2>',
            f'<strong class="‹teaser-head›"><a href="«'
            f'path»?utm_source=«noun»&amp;utm_medium=«noun»">{dice.of(TITLES)}</a></strong>',
        )
    )
    by = dice.of(
        (
            f'<div class="‹by›">{dice.of(ICONS)}<span>«first» «last»</span> {dice.of(DATES)}</div>',
            f'<small class="‹by›">{dice.of(DATES)} &middot; «num1» min</small>',
            f'<ul class="‹by›"><li>«first» «last»</li><li>{dice.of(DATES)}</li></ul>',
            "",
        )
    )
    image = dice.of(IMAGES) + "\n" if dice.below(4) == 0 else ""
    box = dice.of(("p", "div", "span"))
    text = f'<{box} class="‹teaser-text›">{dice.of(SENTENCES)}</{box}>' if dice.below(3) else ""
    start = start.replace(">", dice.of(PROPS) + ">", 1)
    return written(start, image, head, "\n", text, by, end)


def post(dice: Dice) -> Piece:
    """A comment with one answer beneath it."""
    start, end = _box(dice, "post", BOXES[:3])
    who = dice.of(
        (
            '<a class="‹who›" href="/u/«num5»">«first» «last»</a>',
            '<b class="‹who›">«noun»_«num3»</b>',
            '<img class="‹face›" src="/avatar/«hex8».png?s=«num2»&amp;d=mm" alt="" width="32" height="32"> '
            '<cite class="‹who›">«first»</cite>',
        )
    )
    said = f'<div class="‹said›">{dice.of(SENTENCES)}{dice.of(SENTENCES)}</div>'
    act = dice.of(
        (
            '<a rel="nofollow" href="#c-«num6»">«Verb»</a>',
            '<a href="#«hex6»" class="‹act›" aria-label="«noun»">&#9650; «num2»</a>',
            '<span class="‹act›">&uarr;&nbsp;«num3»</span>',
        )
    )
    answer = (
        f'<div class="‹answers›"><div class="‹post›" id="c-«hex6»">{who}{said}</div></div>' if dice.below(2) else ""
    )
    return written(start, who, " ", dice.of(DATES), "\n", said, act, answer, end)


def link(dice: Dice) -> Piece:
    """An entry of a list of links."""
    return written(
        dice.of(
            (
                '<li class="‹entry›"‹@entry›><a class="‹link›" href="«path»">«Adj» «noun»</a></li>\n',
                '<li><a href="«path»" title="«Adj» «Noun»">«Noun»</a></li>\n',
                '<li class="‹entry› cat-item"><a href="«far»">«Noun» «Noun»</a> («num3»)</li>\n',
                f'<li class="‹entry›">{dice.of(ICONS[:10])}<a class="‹link›"‹@link› href="«path»"><span>«Adj» '
                "«noun»</span></a></li>\n",
                '<li class="‹entry›"><a class="‹link›" href="«path»" onclick="_t(&#39;«slug»&#39;)">«Noun»</a></li>\n',
            )
        )
    )


def row(dice: Dice, columns: int) -> Piece:
    """A row of a table whose headings are nouns."""
    first = dice.of(('<td class="‹cell›">«Noun»</td>', '<th scope="row">«Adj» «noun»</th>', "<td><b>«Noun»</b></td>"))
    cells = "".join(
        dice.of(("<td>«num3»</td>", "<td>«num2».«num1»&nbsp;%</td>", '<td class="‹cell›"‹@cell›>«adj»</td>'))
        for _ in range(columns - 1)
    )
    return written(f"<tr>{first}{cells}</tr>\n")
