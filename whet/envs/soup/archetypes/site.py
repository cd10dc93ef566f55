"""Several pages: what is asked stands behind a link, or goes on from page to page."""

from __future__ import annotations

import random
from typing import Any

from whet.envs.soup.archetype import kind
from whet.envs.soup.archetypes.record import names
from whet.envs.soup.desk import Address, Desk, PageDraft, PagePlan, TaskPlan, TopicRegion, page_of
from whet.envs.soup.kinds import ListForm, MoneyForm, TextForm
from whet.envs.soup.oracle import program
from whet.envs.soup.site.lexicon import whole
from whet.envs.soup.topics import JOB, PRODUCT
from whet.envs.soup.traits import halves
from whet.envs.soup.withhold import withheld

_BEHIND = halves(
    "Of {where}, take the first: what is its yearly salary, which stands on its own page?",
    "Follow the topmost of {where} to the page that tells of it alone. What would one earn there in a year?",
)
_FOLLOWING = halves(
    "Return the names of {where}, on this page and on the pages that follow it, in order.",
    "Collect what {where} are called. The list goes on over further pages; take them all, one after the other.",
)


@kind("hard")
def behind_the_link(desk: Desk) -> TaskPlan:
    """The salary of the first open job, which stands on the job's own page."""
    region = TopicRegion.drawn(desk, JOB, ("title", "company", "salary", "city"), ("cards",), many=True)
    salary = region.labels["salary"]
    link, way = desk.key("link"), desk.way(_BEHIND)

    def draw(rng: random.Random, plan: PagePlan) -> tuple[Any, Any]:
        own = region.several(rng, 2, 5)
        return own, own[0]["salary"] / 100

    def write(rng: random.Random, matter: Any, plan: PagePlan) -> PageDraft:
        spelled, made, parts, links = desk.spelling(rng), None, [], {}
        for side, jobs in (("own", matter), ("other", region.several(rng, 2, 5))):
            lines = []
            for job in jobs:
                href = desk.words.path(rng)
                lines.append(desk.box("li", "row", desk.box("a", "link", job["title"], f' href="{href}"')))
                shown = JOB["salary"].show(job["salary"], spelled)
                pay = f"<h2>{job['title']}</h2><p>{job['city']}</p>{desk.box('p', 'salary', f'{salary}: {shown}')}"
                links[href] = (pay, f"<p>{desk.words.sentence(rng)}</p>")
            inner = desk.box("ul", "list", "\n".join(lines))
            if plan.hide == side:
                made = withheld(rng, desk.site, (inner, ""))
                inner = made.markup
            parts.append(region.write(rng, side, inner))  # type: ignore[arg-type]
        page = page_of(rng, parts, made, plan.hide)
        return PageDraft(page.parts, links=links, stubs=page.stubs, limit=page.limit)

    def question(address: Address) -> str:
        return way.format(where=region.where(address))

    body = f"""
href = soup.find(class_=OWN).find("a", class_={link!r})["href"]
return money(text(soup_of(load(href)).find(class_={desk.key("salary")!r}).get_text()))"""
    return TaskPlan(MoneyForm(), question, program(names(region), body), draw, write)


@kind("hard")
def on_the_next_pages(desk: Desk) -> TaskPlan:
    """The names of a list that goes on over several pages."""
    region = TopicRegion.drawn(desk, PRODUCT, ("name", "price", "sku"), ("cards",), many=True)
    way = desk.way(_FOLLOWING)

    def draw(rng: random.Random, plan: PagePlan) -> tuple[Any, Any]:
        own = region.several(rng, 5, 12)
        return own, [row["name"] for row in own]

    def write(rng: random.Random, matter: Any, plan: PagePlan) -> PageDraft:
        spelled = desk.spelling(rng)
        step = whole(rng, 2, 4)
        pages = [matter[at : at + step] for at in range(0, len(matter), step)]
        hrefs = [desk.words.path(rng) for _ in pages[1:]]
        written = []
        for number, rows in enumerate(pages):
            inner = region.rows(rng, spelled, rows)
            if number < len(hrefs):
                inner += desk.box("a", "next", f"{number + 2}", f' href="{hrefs[number]}" rel="next"')
            written.append(inner)
        other, made = region.rows(rng, spelled, region.several(rng, 2, 4)), None
        if plan.hide is not None:
            made = withheld(rng, desk.site, (written[0] if plan.hide == "own" else other, ""))
        first = made.markup if made is not None and plan.hide == "own" else written[0]
        other = made.markup if made is not None and plan.hide == "other" else other
        page = page_of(rng, [region.write(rng, "own", first), region.write(rng, "other", other)], made, plan.hide)
        links = {href: (region.write(rng, "own", inner),) for href, inner in zip(hrefs, written[1:], strict=True)}
        return PageDraft(page.parts, links=links, stubs=page.stubs, limit=page.limit)

    def question(address: Address) -> str:
        return way.format(where=region.where(address))

    body = f"""
made = []
while True:
    box = soup.find(class_=OWN)
    made += [row["name"] for row in rows(box)]
    follow = box.find("a", class_={desk.key("next")!r})
    if follow is None:
        return made
    soup = soup_of(load(follow["href"]))"""
    return TaskPlan(ListForm(TextForm()), question, program(names(region), body), draw, write)


KINDS = (behind_the_link, on_the_next_pages)
