"""What all pages of a site share, and the code that pages carry: head, header, footer, scripts and state."""

from __future__ import annotations

from whet.envs.soup.site.grammar import ICONS, IMAGES, TITLES, link
from whet.envs.soup.site.look import Dice
from whet.envs.soup.site.piece import Piece, joined, written

_METAS = (
    '<meta name="description" content="«Adj» «noun» «verb» the «noun» of «city»">\n',
    '<meta property="og:title" content="«Adj» «Noun»">\n<meta property="og:type" content="website">\n',
    '<meta property="og:image" content="https://cdn.«noun».example/«hex12».jpg">\n<meta '
    'property="og:image:width" content="«num4»">\n',
    '<meta name="twitter:card" content="summary_large_image">\n<meta name="twitter:site" content="@«noun»«num2»">\n',
    '<meta name="theme-color" content="#«hex6»">\n<meta name="robots" content="index,follow">\n',
    '<meta name="generator" content="«Noun» «num1».«num1».«num2»">\n<meta name="csrf-param" content="«hex12»">\n',
    '<meta http-equiv="X-UA-Compatible" content="IE=edge">\n<meta name="format-detection" content="telephone=no">\n',
    '<meta name="msapplication-TileColor" content="#«hex6»">\n<meta name="apple-mobile-web-app-capable" '
    'content="yes">\n',
    '<meta name="«noun»-site-verification" content="«hex32»">\n<meta property="og:locale" content="en_US">\n',
    '<meta property="fb:app_id" content="«num6»«num6»">\n<meta name="keywords" content="«noun», «noun», '
    '«adj» «noun»">\n',
)
_LINKS = (
    '<link rel="stylesheet" href="/assets/«noun».«hex8».css">\n',
    '<link rel="preload" as="font" href="/fonts/«noun»-«hex6».woff2" type="font/woff2" crossorigin>\n',
    '<link rel="icon" href="/favicon-«num2»x«num2».png" sizes="32x32">\n<link rel="manifest" '
    'href="/site.webmanifest">\n',
    '<link rel="canonical" href="«far»">\n<link rel="alternate" hreflang="de" href="«far»">\n',
    '<link rel="dns-prefetch" href="//«noun».example">\n<link rel="preconnect" '
    'href="https://«noun».example" crossorigin>\n',
    '<link rel="alternate" type="application/rss+xml" title="«Noun»" href="/feed/«noun»">\n',
    '<link rel="stylesheet" id="«slug»-css" href="/wp/«noun»/style.min.css?ver=«num1».«num1».«num2»" media="all">\n',
    '<!--[if lt IE 9]><script src="/js/«hex6».js"></script><![endif]-->\n',
)
_SCRIPTS = (
    '<script async src="https://tag.«noun».example/t.js?id=«hex8»"></script>\n',
    "<script>window.dataLayer=window.dataLaye"
    "r||[];dataLayer.push({'«noun»':'«adj»','n':«num4»,'k':'«hex12»'});</script>\n",
    '<script src="/static/js/«num2».«hex8».chunk.js" defer></script>\n',
    "<script>!function(e,t,n){var r=t.createElement(n);r.async=1;r.src='//«noun».example/«hex8».js';"
    "t.head.appendChild(r)}(window,document,'script');</script>\n",
    '<script type="text/javascript" src="../js/«noun»-«num1».«num1».min.js?v=«num4»"></script>\n',
    '<script>try{localStorage.setItem("«noun»","«hex8»")}catch(e){}</script>\n',
    '<script nonce="«hex12»">performance.mark("«noun»-«num3»")</script>\n',
)
_RULES = (
    ".«noun»-«hex6»{display:flex;align-items:center;justify-content:space-between;margin:0 «num1»px;color:#«hex6»}",
    ".«noun»-«hex6»:hover,.«slug»>a:focus{padding:«num2»px 0;border:1px solid rgba(0,0,0,.12);text-decoration:none}",
    "@media screen and (min-width:«num3»px){.«noun»-«hex6»{width:«num2».«num3»%;float:left;overflow:hidden}}",
    "#«slug»-«num3»{background:url(/img/«hex8».png) no-repeat 0 0;font:«num2»px/1.«num1» Arial,Helvetica,sans-serif}",
)
_RECORDS = (
    '{"id":«num6»,"uid":"«hex32»","sig":"«blob»","slug":"«slug»","label":"«Adj» «Noun»","on":true,"parent":null},',
    '{"k":"«blob»","href":"\\/«noun»\\/«slug»'
    '-«num4»","img":{"src":"«hex32».webp","w":«num3»,"h":«num3»},"tags":["«noun»"]},',
    '{"type":"«noun»","children":[{"type":"te'
    'xt","ref":"«hex32»","n":«num2»},{"type":"«noun»","ref":"«hex32»"}],"v":null},',
    '{"ts":1«num5»«num4»,"event":"«noun».«verb»","ctx":{"a":"«blob»","b":[«num2»,«num3»,0,0,1]},"flags":{"x":false}},',
)
_CODES = (
    'function «noun»_«hex6»(a,b){return a&&a.hasOwnProperty("«noun»")?b.call(this,a.«noun»,"«hex8»"):void 0}',
    'n(«num4»),t.exports=e.extend({«noun»:!0,enabled:!1,selector:"#«slug»",onReady:function(){return i("«hex6»")}});',
    "var «noun»_«hex6»=Array.prototype.slice.call(arguments,«num1»).map(function(x){return x^«num4»}).filter(Boolean);",
    'if(o.«noun»>«num3»&&r.test(i.className)){s.dispatchEvent(new CustomEvent("«noun»",{detail:u.«noun»(«num2»)}))}',
)


def head(dice: Dice) -> Piece:
    """Meta, links, early scripts and styles; without title and charset."""
    metas = [dice.of(_METAS) for _ in range(7 + dice.below(10))]
    links = [dice.of(_LINKS) for _ in range(4 + dice.below(6))]
    scripts = [dice.of(_SCRIPTS) for _ in range(3 + dice.below(6))]
    organisation = (
        '<script type="application/ld+json">{"@context":"https://schema.org","@type":"WebSite","name":"«Noun» «Noun»",'
        '"url":"https://«noun».example/","potentialAction":{"@type":"SearchAction","target":"/find?q={q}"}}</script>\n'
    )
    told = written(*metas, *links, *scripts, organisation if dice.below(2) else "")
    return joined((told, rules(dice, max(0, dice.below(480) - 120)), code(dice, 20 + dice.below(260))))


def header(dice: Dice) -> Piece:
    """The bar with the menu and the field to search."""
    logo = dice.of((dice.of(IMAGES), dice.of(ICONS), '<span class="‹logo›">«Noun»«num2»</span>'))
    entry = link(dice)
    groups = [
        joined(
            (
                written(
                    '<li class="‹menu-group›" aria-haspopup="true"><a href="«path»">«Noun»</a><ul class="‹menu-sub›">\n'
                ),
                entry.times(2 + dice.below(6)),
                written("</ul></li>\n"),
            )
        )
        for _ in range(2 + dice.below(5))
    ]
    search = dice.of(
        (
            '<form class="‹find›" role="search" action="/find"><input type="search" name="q" aria-label="«Noun»">'
            f'<button type="submit" aria-label="«Verb»">{dice.of(ICONS)}</button></form>\n',
            "",
        )
    )
    skip = dice.of(('<a class="‹skip›" href="#«slug»">«Verb»</a>\n', ""))
    return joined(
        (
            written(
                skip, '<header class="‹top›"‹@top› role="banner"><div class="‹top-in›">\n', f'<a href="/">{logo}</a>\n'
            ),
            written('<nav class="‹menu›"‹@menu› aria-label="«noun»"><ul>\n'),
            *groups,
            entry.times(2 + dice.below(5)),
            written("</ul></nav>\n", search, "</div></header>\n"),
        )
    )


def footer(dice: Dice) -> Piece:
    entry = link(dice)
    columns = [
        joined(
            (
                written('<div class="‹foot-col›"><h4>«Noun»</h4><ul>\n'),
                entry.times(3 + dice.below(5)),
                written("</ul></div>\n"),
            )
        )
        for _ in range(2 + dice.below(3))
    ]
    note = written(f'<p class="‹foot-note›">&copy;&nbsp;«year» {dice.of(TITLES[:2])} &middot; «city»</p>\n')
    return joined((written('<footer class="‹foot›"‹@foot›>\n'), *columns, note, written("</footer>\n")))


def rules(dice: Dice, count: int) -> Piece:
    """A style element with so many rules."""
    return joined(
        (
            written("<style>"),
            joined(written(dice.of(_RULES), "\n") for _ in range(4)).times(count // 4 + 1),
            written("</style>\n"),
        )
    )


def records(dice: Dice, count: int) -> Piece:
    """State that the page carries for its own code: so many records of nobody's interest."""
    start, end = dice.of(
        (
            ('<script>window.__«NOUN»__={"list":[', "null]};</script>\n"),
            ('<script type="application/json" data-for="«noun»">{"v":«num2»,"list":[', "null]}</script>\n"),
            ('<script>self.__f=self.__f||[];self.__f.push([«num1»,"«hex8»",[', "0]]);</script>\n"),
        )
    )
    some = joined(written(dice.of(_RECORDS), "\n" if dice.below(3) == 0 else "") for _ in range(3))
    return joined((written(start), some.times(count // 3 + 1), written(end)))


def code(dice: Dice, count: int) -> Piece:
    """A script of so many statements, as a bundler leaves it."""
    some = joined(written(dice.of(_CODES), dice.of(("", "\n"))) for _ in range(4))
    return joined(
        (written("<script>(function(e,t,n,r,o,i,s,u){"), some.times(count // 4 + 1), written("})();</script>\n"))
    )


def scripts(dice: Dice, count: int) -> Piece:
    return written(*(dice.of(_SCRIPTS) for _ in range(count)))


def small_head(dice: Dice) -> Piece:
    return written(dice.of(_METAS), dice.of(_LINKS), dice.of(_SCRIPTS[:3]))


def small_header(dice: Dice) -> Piece:
    menu = joined(
        (written('<nav class="‹menu›"‹@menu›><ul>\n'), link(dice).times(2 + dice.below(4)), written("</ul></nav>\n"))
    )
    return joined((written('<header class="‹top›">\n'), menu, written("</header>\n")))


def small_footer(dice: Dice) -> Piece:
    return written(f'<footer class="‹foot›">&copy; «year» {dice.of(TITLES[:2])}</footer>\n', dice.of(_SCRIPTS))


LARGE = (head, header, footer)
SMALL = (small_head, small_header, small_footer)
"""Writers of what pages share: the head, the top and the foot."""
