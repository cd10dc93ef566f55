"""Limits: pages that do not hold what is asked, each with a twin that does."""

from __future__ import annotations

import random

from whet.envs.soup.answers import Text
from whet.envs.soup.archetype import Draft, Sheet, archetype
from whet.envs.soup.archetypes.withheld import Case, case, paired

# Fragments that show a limit stand on lines of their own, attributes sorted, so that a policy that prints the element
# has them as they are in the page.

_FILLING = (
    """<script>
fetch("/api/{key}.json").then(reply => reply.json()).then(data => {{
document.getElementById("{slot}").textContent = data.{member};
}});
</script>""",
    """<script>
async function fill() {{
const reply = await fetch("/api/{key}.json");
document.getElementById("{slot}").innerHTML = (await reply.json()).{member};
}}
window.addEventListener("load", fill);
</script>""",
    """<script>
const source = "/api/{key}.json";
const root = ReactDOM.createRoot(document.getElementById("{slot}"));
root.render(React.createElement(Remote, {{source: source, show: "{member}"}}));
</script>""",
    """<script type="module">
import {{ createApp }} from "/vendor/vue.js";
const load = async () => (await fetch("/api/{key}.json")).json();
createApp({{ template: "{{{{ {member} }}}}", setup: load }}).mount(document.getElementById("{slot}"));
</script>""",
)


def _filled(one: Case, shown: str | None) -> Sheet:
    """A field that a script fills in from the network."""
    title = f' title="{one.told(shown, "title")}"' if one.place == "title" else ""
    row = one.row(shown, f' id="{one.slot}"{title}')
    script = _FILLING[one.variant % len(_FILLING)].format(key=one.key, slot=one.slot, member=one.member)
    return one.sheet(row, shown, script)


@archetype("medium", 1, Text(), size="small")
def limit_js_required(rng: random.Random) -> Draft:
    """A value that a script fetches when the page is shown, or that stands in the page all the same."""
    one = case(rng, ("row", "title", "data"))
    marks = (f"/api/{one.key}.json", f'getElementById("{one.slot}")', f'id="{one.slot}"', one.member)
    return paired(rng, one, _filled, marks, "js_required", "javascript_required", "dynamic_content")


_HINTS = (
    "<p>The {thing} below shows the {field}.</p>",
    "<p>For the {field} look at the {thing}.</p>",
    "<p>Details such as the {field} are in this {thing}.</p>",
    "<p>See the {thing} for more.</p>",
)

_PICTURES = (
    '<img alt="{alt}" src="/media/{key}.png"/>',
    '<img alt="{alt}" height="420" src="/media/{key}.png" width="640"/>',
    '<picture><img alt="{alt}" src="/media/{key}.png"/></picture>',
    '<a href="/media/full"><img alt="{alt}" class="content-image" src="/media/{key}.png"/></a>',
)


def _pictured(one: Case, shown: str | None) -> Sheet:
    """A picture that shows the value."""
    picture = _PICTURES[one.variant % len(_PICTURES)].format(alt=one.told(shown, "alt"), key=one.key)
    caption = f"\n<figcaption>{one.told(shown, 'caption')}</figcaption>"
    hint = _HINTS[one.variant % len(_HINTS)].format(thing="picture", field=one.field)
    body = f"{hint}\n<figure>\n{picture}{caption}\n</figure>"
    if one.place == "row" or one.variant % 3 == 0:
        body = f"{body}\n{one.row(shown)}"
    return one.sheet(body, shown)


@archetype("medium", 1, Text())
def limit_image_text(rng: random.Random) -> Draft:
    """A value that only a picture shows, or that its caption, its alternative text or the page gives too."""
    one = case(rng, ("row", "alt", "caption", "data"))
    return paired(rng, one, _pictured, (f"/media/{one.key}.png",), "image_text", "ocr_required", "text_in_image")


_DRAWING = (
    """<script>
const pen = document.getElementById("{slot}").getContext("2d");
fetch("/charts/{key}.json").then(reply => reply.json()).then(rows => rows.forEach(row => {{
pen.fillText(row.{member}, row.x, row.y);
}}));
pen.fillText("{told}", 20, 16);
</script>""",
    """<script>
(async () => {{
const rows = await (await fetch("/charts/{key}.json")).json();
const pen = document.getElementById("{slot}").getContext("2d");
pen.font = "16px sans-serif";
pen.fillText("{told}", 12, 20);
for (const row of rows) pen.fillText(row.{member}, 12, row.y);
}})();
</script>""",
)


def _drawn(one: Case, shown: str | None) -> Sheet:
    """A canvas onto which a script draws the value."""
    label = f'aria-label="{one.told(shown, "label")}" '
    size = ('height="320" ', 'height="240" ', 'height="480" ')[one.variant % 3]
    canvas = f'<canvas {label}{size}id="{one.slot}" width="640">{one.told(shown, "fallback")}</canvas>'
    script = _DRAWING[one.variant % len(_DRAWING)].format(
        slot=one.slot, key=one.key, told=one.told(shown, "script"), member=one.member
    )
    row = f"\n{one.row(None)}" if one.variant % 3 == 0 else ""
    hint = _HINTS[one.variant % len(_HINTS)].format(thing="chart", field=one.field)
    return one.sheet(f"{hint}\n{canvas}{row}\n{script}", shown)


@archetype("hard", 1, Text(), size="small")
def limit_canvas_text(rng: random.Random) -> Draft:
    """A value that a script draws on a canvas, or that the canvas or its script also gives as text."""
    one = case(rng, ("label", "fallback", "script", "data"))
    marks = (f'id="{one.slot}"', f'getElementById("{one.slot}")', f"/charts/{one.key}.json", one.member)
    return paired(rng, one, _drawn, marks, "canvas_text", "canvas_rendering", "graphics_only")


_EMBEDS = (
    '<embed height="600" src="/files/{key}.pdf" title="{title}" type="application/pdf"/>',
    '<object data="/files/{key}.pdf" title="{title}" type="application/pdf"><p>{fallback}</p></object>',
    '<iframe height="600" src="/files/{key}.pdf" title="{title}"></iframe>',
)


def _embedded(one: Case, shown: str | None) -> Sheet:
    """A document that holds the value."""
    form = _EMBEDS[1 if one.place == "fallback" else one.variant % len(_EMBEDS)]
    said = form.format(key=one.key, title=one.told(shown, "title"), fallback=one.told(shown, "fallback"))
    row = f"\n{one.row(shown)}" if one.place == "row" or one.variant % 4 == 0 else ""
    hint = _HINTS[one.variant % len(_HINTS)].format(thing="document", field=one.field)
    return one.sheet(f"{hint}\n{said}{row}", shown)


@archetype("hard", 1, Text(), size="small")
def limit_pdf_embed(rng: random.Random) -> Draft:
    """A value in an embedded document, or also in the page that embeds it."""
    one = case(rng, ("row", "title", "fallback", "data"))
    return paired(rng, one, _embedded, (f"/files/{one.key}.pdf",), "pdf_embed", "embedded_document", "pdf_required")


ARCHETYPES = (limit_js_required, limit_image_text, limit_canvas_text, limit_pdf_embed)
