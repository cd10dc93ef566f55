"""Where a task is written: the site, its spelling habits, and the regions of which its pages are made.

A region is a part of a page that shows one record or many. Every page has at least two that are alike: the one that the
question means and one that it does not. Their order, their spellings and what is withheld change from page to page; the
classes, headings and forms belong to the site.
"""

from __future__ import annotations

import html
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from whet.envs.soup.kinds import AnswerForm
from whet.envs.soup.site import Look, SoupSite, SoupWords
from whet.envs.soup.site.lexicon import pick, whole
from whet.envs.soup.traits import CURRENCIES, Halved, Matter, SpellingHabit, Topic, Trait, halves, spelling
from whet.envs.soup.withhold import Withheld, withheld

Address = Literal["given", "described", "meaning"]
"""How a question says where to look: by class, by the words that stand there, or by what is meant."""

Side = Literal["own", "other"]
"""The region that the question means, and the one like it."""


PLACES: Mapping[Address, Halved] = {
    "given": halves(
        'the {thing} in the element with class "{key}"|the {thing} within class "{key}"',
        'the {thing} that the element of class "{key}" shows',
    ),
    "described": halves(
        'the {thing} under the heading "{heading}"|the {thing} that "{heading}" stands over',
        'the {thing} headed "{heading}"|the {thing} below "{heading}"',
    ),
}
"""How questions say which region is meant, where they do not say it by meaning."""

LABELLED = halves('what is labelled "{label}"', 'the entry named "{label}"')
TITLED = 0.5
"""Sites whose pages have the name of what they are about as their title."""
CROWDED = 0.5
"""Sites whose pages have three like regions instead of two."""


@dataclass(frozen=True, slots=True)
class PageDraft:
    """A page before it is built."""

    parts: tuple[str, ...]
    title: str = ""
    head: str = ""
    tail: str = ""
    state: Mapping[str, Any] | None = None
    links: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Parts of the pages that `load` finds, by href."""
    stubs: Mapping[str, str] = field(default_factory=dict)
    """What `load` finds as it is: documents, images, a form to sign in."""
    limit: Withheld | None = None
    """What is withheld of what is asked; None on a page that answers."""
    secrets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PagePlan:
    """What is drawn for one page before its matter: which values it leaves out and what it withholds."""

    missing: bool = False
    hide: Side | None = None


@dataclass(frozen=True, slots=True)
class TaskPlan:
    """What an archetype says about one site: the question, the oracle, and how a page comes about."""

    form: AnswerForm
    ask: Callable[[Address], str]
    """The question, in each way of saying where to look."""
    program: str
    draw: Callable[[random.Random, PagePlan], tuple[Any, Any]]
    """The matter of a page and its true answer."""
    write: Callable[[random.Random, Any, PagePlan], PageDraft]
    unseen: int = 5
    """Pages beside the explored one, at most: fewer where a page is long."""


class Desk:
    """One site at work. `rng` draws what belongs to the task; what belongs to a page is drawn by the page's own."""

    def __init__(self, site: SoupSite, rng: random.Random) -> None:
        self.site = site
        self.rng = rng
        self.half = site.half
        self.look: Look = site.look
        self.words: SoupWords = site.words
        self.currency = pick(rng, CURRENCIES)
        self.explored = False
        """Whether the page that is written is the explored one: a label that the question quotes stands there."""
        self._tags: dict[str, str] = {}
        self._open: dict[tuple[str, str], str] = {}

    def key(self, role: str) -> str:
        """The class that this role alone has."""
        return self.look.key(role)

    def open(self, tag: str, role: str, more: str = "") -> str:
        """An opening tag of the role, in the look of the site."""
        return f"{self._open.get((tag, role)) or self._opened(tag, role)}{more}>"

    def _opened(self, tag: str, role: str) -> str:
        self._open[tag, role] = opened = f'<{tag} class="{self.look.cls(role)}"{self.look.attrs(role)}'
        return opened

    def tag(self, role: str, *choices: str) -> str:
        """Which of these tags the site uses for the role."""
        known = self._tags.get(role)
        if known is None:
            known = self._tags[role] = self.look.tag(role, *choices)
        return known

    @property
    def mark(self) -> str:
        """The attribute in which the site keeps labels that it does not show as text."""
        return self.tag("mark", "data-label", "data-title", "data-th", "aria-label")

    def box(self, tag: str, role: str, inner: str, more: str = "") -> str:
        return f"{self._open.get((tag, role)) or self._opened(tag, role)}{more}>{inner}</{tag}>"

    def spelling(self, rng: random.Random) -> SpellingHabit:
        return spelling(rng, self.currency)

    def way(self, ways: Halved) -> str:
        """One of the ways in which things may be said in this half."""
        return pick(self.rng, ways[self.half])


@dataclass(frozen=True, slots=True)
class TopicRegion:
    """How a site shows records of a topic, and how its two like regions are told apart."""

    desk: Desk
    topic: Topic
    traits: tuple[Trait, ...]
    many: bool
    form: str
    """For one record by labels: `dl`, `table`, `div`, `ul`, with the label before its value; `across` has all labels
    before all values, `tiles` each value before its label, `marked` the label in an attribute. `card` has a class for
    each value; `grid` or `cards` are for many records."""
    labels: Mapping[str, str]
    asks: Mapping[str, str]
    """How questions about this site speak of its traits."""
    headings: Mapping[Side, str]
    places: Mapping[Address, str]
    """Which region is meant, in each way of saying it."""
    titled: bool
    spare: str = ""
    """The heading of a third region, which is not meant either; none where the site has two."""
    shuffled: bool = True
    """Whether the order of what is in it changes from page to page."""

    @classmethod
    def drawn(
        cls, desk: Desk, topic: Topic, keys: Sequence[str], forms: Sequence[str], *, many: bool = False
    ) -> TopicRegion:
        own, other = (topic.many_own, topic.many_other) if many else (topic.own, topic.other)
        headings: dict[Side, str] = {"own": desk.way(own), "other": desk.way(other)}
        traits = tuple([topic[key] for key in keys])
        labels = {trait.key: desk.way(trait.labels) for trait in traits}
        asks = {trait.key: desk.way(trait.asks) for trait in traits}
        named = {
            "thing": f"{topic.thing}s" if many else topic.thing,
            "key": desk.key("own"),
            "heading": headings["own"],
        }
        places = {address: desk.way(ways).format(**named) for address, ways in PLACES.items()}
        places["meaning"] = desk.way(topic.many if many else topic.single)
        form, titled = pick(desk.rng, tuple(forms)), desk.rng.random() < TITLED
        left = [heading for heading in other[desk.half] if heading != headings["other"]]
        spare = pick(desk.rng, left) if left and desk.rng.random() < CROWDED else ""
        return cls(desk, topic, traits, many, form, labels, asks, headings, places, titled, spare)

    # ---------------------------------------------------------------------------------------- the question

    def where(self, address: Address) -> str:
        """How a question says which region is meant."""
        return self.places[address]

    def what(self, key: str, address: Address) -> str:
        """How a question speaks of a trait."""
        named = address == "described" and key != self.topic.traits[0].key
        return LABELLED[self.desk.half][0].format(label=self.labels[key]) if named else self.asks[key]

    # ---------------------------------------------------------------------------------------- matter

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """A record with the traits that this region shows."""
        words = self.desk.words
        record = {trait.key: trait.draw(words, rng) for trait in self.traits}
        self.topic.settle(record)
        return record

    def several(self, rng: random.Random, low: int, high: int) -> list[dict[str, Any]]:
        """Records of which the first trait differs."""
        found: dict[Any, dict[str, Any]] = {}
        wanted, first = whole(rng, low, high), self.traits[0].key
        while len(found) < wanted:
            record = self.draw(rng)
            found.setdefault(record[first], record)
        return list(found.values())

    # ---------------------------------------------------------------------------------------- markup

    def write(self, rng: random.Random, side: Side, inner: str, heading: str = "") -> str:
        """The region with its heading, the one of its side unless another is given."""
        desk = self.desk
        heading = heading or self.headings[side]
        level = desk.tag("heading", "h2", "h3", "h4", "div")
        head = desk.box(level, "heading", heading.upper() if rng.random() < 0.15 else heading)
        return desk.box(desk.tag("region", "section", "div", "article"), side, f"\n{head}\n{inner}\n")

    def record(self, rng: random.Random, spelled: SpellingHabit, matter: Matter, cover: Mapping[str, str] = {}) -> str:
        """One record; `cover` is what stands in the place of a value."""
        rows = []
        for trait in rng.sample(self.traits, len(self.traits)) if self.shuffled else self.traits:
            value = matter[trait.key]
            if value is None and trait.key not in cover:
                continue
            shown = cover.get(trait.key) or trait.show(value, spelled)
            label = spelled.labelled(self._label(rng, trait))
            rows.append((label, shown) if not self.bare else self._classed(trait, label, shown))
        return "\n".join(rows) if self.bare else self.sheet(rows)  # type: ignore[arg-type]

    def sheet(self, pairs: Sequence[tuple[str, str]]) -> str:
        """Values with their labels, in the form of the region."""
        desk, form = self.desk, self.form
        label, value = {"dl": ("dt", "dd"), "table": ("th", "td"), "across": ("th", "td")}.get(form, ("span", "span"))
        if form == "marked":
            lines = [desk.box("div", "value", shown, f' {desk.mark}="{html.escape(said)}"') for said, shown in pairs]
            return "\n".join(lines)
        labels = [desk.box(label, "label", said) for said, _ in pairs]
        values = [desk.box(value, "value", shown) for _, shown in pairs]
        if form == "across":
            return desk.box("table", "sheet", f"\n<tr>{''.join(labels)}</tr>\n<tr>{''.join(values)}</tr>\n")
        both = zip(labels, values, strict=True)
        if form == "dl":
            return desk.box("dl", "sheet", "\n".join([said + shown for said, shown in both]))
        if form == "table":
            return desk.box("table", "sheet", "\n".join([f"<tr>{said}{shown}</tr>" for said, shown in both]))
        if form == "tiles":
            return "\n".join([f"<div>{shown}\n{said}</div>" for said, shown in both])
        tag = "li" if form == "ul" else "div"
        inner = "\n".join([f"<{tag}>{said} {shown}</{tag}>" for said, shown in both])
        return desk.box("ul", "sheet", inner) if form == "ul" else inner

    @property
    def bare(self) -> bool:
        """Whether a value has a class of its own; where a name stands alone, no word beside it."""
        return self.form in ("card", "cards")

    def _classed(self, trait: Trait, label: str, shown: str) -> str:
        desk = self.desk
        tag = desk.tag(trait.key, "span", "div", "p")
        if trait is self.topic.traits[0]:
            return desk.box(desk.tag("name", "h3", "h4", "strong", "div"), trait.key, shown)
        cue = desk.box(desk.tag("cue", "small", "i", "span"), "cue", label)
        before = desk.tag("side", "before", "after") == "before"
        return desk.box(tag, trait.key, f"{cue} {shown}" if before else f"{shown} {cue}")

    def _label(self, rng: random.Random, trait: Trait) -> str:
        """The site's label, or, on a page that was not explored, now and then another word for the same."""
        other = rng.random() < 0.2 and not self.desk.explored
        return pick(rng, trait.labels[self.desk.half]) if other else self.labels[trait.key]

    def rows(self, rng: random.Random, spelled: SpellingHabit, matters: Sequence[Matter]) -> str:
        """Many records: cards, or a table whose columns change their order and are named at the top or in each cell."""
        desk = self.desk
        if self.form == "cards":
            tag = desk.tag("card", "li", "div", "article")
            cards = "\n".join([desk.box(tag, "row", self.record(rng, spelled, matter)) for matter in matters])
            return desk.box("ul", "list", f"\n{cards}\n") if tag == "li" else cards
        columns = rng.sample(self.traits, len(self.traits)) if self.shuffled else list(self.traits)
        labels = [spelled.labelled(self._label(rng, trait)) for trait in columns]
        if desk.tag("heads", "thead", "cells") == "thead":
            head = f"<thead><tr>{''.join([f'<th>{label}</th>' for label in labels])}</tr></thead>\n"
            opened = ["<td>"] * len(columns)
        else:
            head, opened = "", [f'<td {desk.mark}="{html.escape(label)}">' for label in labels]
        opening, body = desk.open("tr", "row"), []
        for matter in matters:
            cells = [f"{cell}{_cell(trait, matter, spelled)}</td>" for cell, trait in zip(opened, columns, strict=True)]
            body.append(f"{opening}{''.join(cells)}</tr>")
        inner = "\n".join(body)
        return desk.box("table", "list", f"\n{head}<tbody>\n{inner}\n</tbody>\n")

    # ---------------------------------------------------------------------------------------- pages

    def record_page(self, rng: random.Random, own: Matter, hide: Side | None, key: str, title: str = "") -> PageDraft:
        """A page with the record that is meant and one that is not; one of the two may withhold a value."""
        spelled, other = self.desk.spelling(rng), self.draw(rng)
        crowd = [self.write(rng, "other", self.record(rng, spelled, self.draw(rng)), self.spare)] if self.spare else []
        made = self.hidden(rng, spelled, own if hide == "own" else other, key) if hide else None
        parts = []
        for side, matter in (("own", own), ("other", other)):
            cover = {key: made.markup} if made is not None and hide == side else {}
            parts.append(self.write(rng, side, self.record(rng, spelled, matter, cover)))  # type: ignore[arg-type]
        return page_of(rng, parts + crowd, made, hide, title)

    def rows_page(
        self, rng: random.Random, own: Sequence[Matter], sizes: tuple[int, int], hide: Side | None, title: str = ""
    ) -> PageDraft:
        """A page with the list that is meant and one that is not; one of the two may be withheld."""
        spelled, other = self.desk.spelling(rng), self.several(rng, *sizes)
        parts, made = [], None
        for side, matters in (("own", own), ("other", other)):
            inner = self.rows(rng, spelled, matters)
            if hide == side:
                made = withheld(rng, self.desk.site, (inner, ""))
                inner = made.markup
            parts.append(self.write(rng, side, inner))  # type: ignore[arg-type]
        return page_of(rng, parts, made, hide, title)

    def hidden(self, rng: random.Random, spelled: SpellingHabit, matter: Matter, key: str) -> Withheld:
        """What stands in the place of a value of this record."""
        trait = self.topic[key]
        second = trait.draw(self.desk.words, rng)
        value = matter[key] if matter[key] is not None else second
        return withheld(rng, self.desk.site, (trait.show(value, spelled), trait.show(second, spelled)))


def page_of(
    rng: random.Random, parts: Sequence[str], made: Withheld | None, hide: Side | None, title: str = ""
) -> PageDraft:
    """The parts, in an order that is drawn, with what is withheld among them."""
    mixed = rng.sample(list(parts), len(parts))
    stubs = made.links if made is not None else {}
    return PageDraft(tuple(mixed), title, stubs=stubs, limit=made if hide == "own" else None)


def _cell(trait: Trait, matter: Matter, spelled: SpellingHabit) -> str:
    value = matter[trait.key]
    return "" if value is None else trait.show(value, spelled)
