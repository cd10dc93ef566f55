"""Limits: pages that do not hold what is asked, each with a twin that does."""

from __future__ import annotations

import random

from whet.envs.soup1.answers import Text
from whet.envs.soup1.archetype import Sheet, TaskDraft, archetype
from whet.envs.soup1.archetypes.withheld import WithheldCase, case, paired

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


def _filled(drawn: WithheldCase, shown: str | None) -> Sheet:
    """A field that a script fills in from the network."""
    title = f' title="{drawn.told(shown, "title")}"' if drawn.place == "title" else ""
    row = drawn.row(shown, f' id="{drawn.slot}"{title}')
    script = _FILLING[drawn.variant % len(_FILLING)].format(key=drawn.key, slot=drawn.slot, member=drawn.member)
    return drawn.sheet(row, shown, script)


@archetype("medium", 1, Text(), size="small")
def limit_js_required(rng: random.Random) -> TaskDraft:
    """A value that a script fetches when the page is shown, or that stands in the page all the same."""
    drawn = case(rng, ("row", "title", "data"))
    marks = (f"/api/{drawn.key}.json", f'getElementById("{drawn.slot}")', f'id="{drawn.slot}"', drawn.member)
    return paired(rng, drawn, _filled, marks, "js_required", "javascript_required", "dynamic_content")


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


def _pictured(drawn: WithheldCase, shown: str | None) -> Sheet:
    """A picture that shows the value."""
    picture = _PICTURES[drawn.variant % len(_PICTURES)].format(alt=drawn.told(shown, "alt"), key=drawn.key)
    caption = f"\n<figcaption>{drawn.told(shown, 'caption')}</figcaption>"
    hint = _HINTS[drawn.variant % len(_HINTS)].format(thing="picture", field=drawn.field)
    body = f"{hint}\n<figure>\n{picture}{caption}\n</figure>"
    if drawn.place == "row" or drawn.variant % 3 == 0:
        body = f"{body}\n{drawn.row(shown)}"
    return drawn.sheet(body, shown)


@archetype("medium", 1, Text())
def limit_image_text(rng: random.Random) -> TaskDraft:
    """A value that only a picture shows, or that its caption, its alternative text or the page gives too."""
    drawn = case(rng, ("row", "alt", "caption", "data"))
    return paired(rng, drawn, _pictured, (f"/media/{drawn.key}.png",), "image_text", "ocr_required", "text_in_image")


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


def _drawn(drawn: WithheldCase, shown: str | None) -> Sheet:
    """A canvas onto which a script draws the value."""
    label = f'aria-label="{drawn.told(shown, "label")}" '
    size = ('height="320" ', 'height="240" ', 'height="480" ')[drawn.variant % 3]
    canvas = f'<canvas {label}{size}id="{drawn.slot}" width="640">{drawn.told(shown, "fallback")}</canvas>'
    script = _DRAWING[drawn.variant % len(_DRAWING)].format(
        slot=drawn.slot, key=drawn.key, told=drawn.told(shown, "script"), member=drawn.member
    )
    row = f"\n{drawn.row(None)}" if drawn.variant % 3 == 0 else ""
    hint = _HINTS[drawn.variant % len(_HINTS)].format(thing="chart", field=drawn.field)
    return drawn.sheet(f"{hint}\n{canvas}{row}\n{script}", shown)


@archetype("hard", 1, Text(), size="small")
def limit_canvas_text(rng: random.Random) -> TaskDraft:
    """A value that a script draws on a canvas, or that the canvas or its script also gives as text."""
    drawn = case(rng, ("label", "fallback", "script", "data"))
    marks = (f'id="{drawn.slot}"', f'getElementById("{drawn.slot}")', f"/charts/{drawn.key}.json", drawn.member)
    return paired(rng, drawn, _drawn, marks, "canvas_text", "canvas_rendering", "graphics_only")


_EMBEDS = (
    '<embed height="600" src="/files/{key}.pdf" title="{title}" type="application/pdf"/>',
    '<object data="/files/{key}.pdf" title="{title}" type="application/pdf"><p>{fallback}</p></object>',
    '<iframe height="600" src="/files/{key}.pdf" title="{title}"></iframe>',
)


def _embedded(drawn: WithheldCase, shown: str | None) -> Sheet:
    """A document that holds the value."""
    form = _EMBEDS[1 if drawn.place == "fallback" else drawn.variant % len(_EMBEDS)]
    said = form.format(key=drawn.key, title=drawn.told(shown, "title"), fallback=drawn.told(shown, "fallback"))
    row = f"\n{drawn.row(shown)}" if drawn.place == "row" or drawn.variant % 4 == 0 else ""
    hint = _HINTS[drawn.variant % len(_HINTS)].format(thing="document", field=drawn.field)
    return drawn.sheet(f"{hint}\n{said}{row}", shown)


@archetype("hard", 1, Text(), size="small")
def limit_pdf_embed(rng: random.Random) -> TaskDraft:
    """A value in an embedded document, or also in the page that embeds it."""
    drawn = case(rng, ("row", "title", "fallback", "data"))
    return paired(rng, drawn, _embedded, (f"/files/{drawn.key}.pdf",), "pdf_embed", "embedded_document", "pdf_required")


ARCHETYPES = (limit_js_required, limit_image_text, limit_canvas_text, limit_pdf_embed)
