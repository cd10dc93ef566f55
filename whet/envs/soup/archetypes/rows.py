"""Rows: the list that is meant and not the one beside it, whole, filtered, or the best of it."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from whet.envs.soup.archetype import kind
from whet.envs.soup.archetypes.record import listed, names
from whet.envs.soup.desk import Address, Desk, PageDraft, PagePlan, TaskPlan, TopicRegion
from whet.envs.soup.kinds import AnswerForm, ListForm, RecordForm, TextForm
from whet.envs.soup.oracle import program
from whet.envs.soup.site.lexicon import pick
from whet.envs.soup.topics import ARTICLE, FLAT, INVOICE, JOB, ORDER, PERSON, PRODUCT, SESSION
from whet.envs.soup.traits import Halved, Matter, Topic, halves

Answer = Callable[[Sequence[Matter]], Any]


def plan_of(
    region: TopicRegion,
    form: AnswerForm,
    question: Callable[[Address], str],
    body: str,
    answer: Answer,
    *,
    sizes: tuple[int, int] = (3, 9),
    gaps: Sequence[str] = (),
    tied: Callable[[Sequence[Matter]], bool] = lambda own: False,
) -> TaskPlan:
    """A task on the list that is meant. `gaps` are traits that a row may leave out; what is `tied` is drawn again."""

    def draw(rng: random.Random, plan: PagePlan) -> tuple[Any, Any]:
        own = region.several(rng, *sizes)
        while tied(own):
            own = region.several(rng, *sizes)
        if plan.missing and gaps:
            pick(rng, own)[pick(rng, tuple(gaps))] = None
        return own, answer(own)

    def write(rng: random.Random, matter: Any, plan: PagePlan) -> PageDraft:
        return region.rows_page(rng, matter, sizes, plan.hide)

    return TaskPlan(form, question, program(names(region), f"found = rows(soup.find(class_=OWN))\n{body}"), draw, write)


_ALL = halves(
    "List {where}: an array of objects with {what}, in the order of the page.|Return an array of {where}, each an "
    "object with {what}, in order.",
    "Go through {where} from top to bottom and note for each {what}.|What is wanted are {where}, as objects of {what}, "
    "as they follow each other.",
)
_UNDER = halves(
    "Of {where}, return the addresses of those that allow pets and whose monthly rent is at most {most}, in the order "
    "of the page.",
    "Somebody with a dog can spend {most} a month. Which of {where} come into question? Name their addresses from top "
    "to bottom.",
)
_BEST = halves(
    "Of {where}, take the {thing} {word} and return {what}.",
    "Compare {where}, look for the {thing} {word}, and say {what}.",
)
_LONG = halves(
    "Of {where}, return the titles of those that take more than 20 minutes to read, in the order of their day of "
    "publication, the oldest first.",
    "Take {where}, leave out whatever can be read within 20 minutes, sort the rest by the day it was first printed, "
    "older before newer, and name the titles.",
)


def all_rows(
    desk: Desk, topic: Topic, keys: Sequence[str], forms: Sequence[str], count: int, sizes: tuple[int, int] = (3, 9)
) -> TaskPlan:
    """Every row with `count` of its traits, the first among them."""
    region = TopicRegion.drawn(desk, topic, keys, forms, many=True)
    wanted = (keys[0], *desk.rng.sample(list(keys[1:]), count - 1))
    rest, asked = wanted[1:], [topic[key] for key in wanted]
    form = ListForm(RecordForm({key: topic[key].form(missing=key in rest) for key in wanted}))

    told, way = listed([f"`{key}` ({region.asks[key]})" for key in wanted]), desk.way(_ALL)

    def question(address: Address) -> str:
        return way.format(what=told, where=region.where(address))

    return plan_of(
        region,
        form,
        question,
        f"return [{{key: row[key] for key in {wanted!r}}} for row in found]",
        lambda own: [{trait.key: trait.truth(row[trait.key]) for trait in asked} for row in own],
        sizes=sizes,
        gaps=rest,
    )


@kind("medium")
def products(desk: Desk) -> TaskPlan:
    """The products of a shop, without the advertisements."""
    return all_rows(desk, PRODUCT, ("name", "price", "before", "rating", "sku"), ("cards",), 2)


@kind("medium")
def staff(desk: Desk) -> TaskPlan:
    """Who works somewhere now."""
    return all_rows(desk, PERSON, ("name", "role", "phone", "email"), ("grid", "cards"), 3)


@kind("medium")
def programme(desk: Desk) -> TaskPlan:
    """The sessions that take place."""
    return all_rows(desk, SESSION, ("title", "speaker", "room", "date", "seats"), ("grid", "cards"), 3)


@kind("hard")
def invoices(desk: Desk) -> TaskPlan:
    """The invoices that are not paid, with their sums and days."""
    return all_rows(desk, INVOICE, ("number", "customer", "net", "tax", "due"), ("grid",), 4)


@kind("hard")
def under_price(desk: Desk) -> TaskPlan:
    """The flats that cost at most so much and let pets in."""
    keys = ("address", "rent", "rooms", "area", "pets")
    region = TopicRegion.drawn(desk, FLAT, keys, ("grid", "cards"), many=True)
    most, way = desk.words.cents(desk.rng, 90_000, 260_000), desk.way(_UNDER)

    def question(address: Address) -> str:
        return way.format(where=region.where(address), most=f"{most / 100:.2f}")

    return plan_of(
        region,
        ListForm(TextForm()),
        question,
        f'return [row["address"] for row in found if row["pets"] and row["rent"] <= {most / 100}]',
        lambda own: [row["address"] for row in own if row["pets"] and row["rent"] <= most],
        sizes=(6, 14),
    )


def _best(desk: Desk, topic: Topic, keys: Sequence[str], key: str, words: Halved, most: bool) -> TaskPlan:
    """The first trait of the row in which `key` is the largest or the smallest."""
    region = TopicRegion.drawn(desk, topic, keys, ("grid", "cards"), many=True)
    name, chosen, extreme = topic.traits[0], "max" if most else "min", max if most else min
    way, named = desk.way(_BEST), {"what": region.asks[name.key], "thing": topic.thing, "word": desk.way(words)}

    def tied(own: Sequence[Matter]) -> bool:
        values = [row[key] for row in own]
        return values.count(extreme(values)) > 1

    def question(address: Address) -> str:
        return way.format(where=region.where(address), **named)

    return plan_of(
        region,
        name.form(),
        question,
        f"return {chosen}(found, key=lambda row: row[{key!r}])[{name.key!r}]",
        lambda own: extreme(own, key=lambda row: row[key])[name.key],
        sizes=(4, 12),
        tied=tied,
    )


@kind("medium")
def cheapest(desk: Desk) -> TaskPlan:
    """The cheapest product that is no advertisement."""
    words = halves("that costs least now", "with the lowest price to pay today")
    return _best(desk, PRODUCT, ("name", "price", "before", "rating"), "price", words, most=False)


@kind("medium")
def best_paid(desk: Desk) -> TaskPlan:
    """The open job that pays most."""
    words = halves("that pays most", "at which one earns more than at any other")
    return _best(desk, JOB, ("title", "company", "salary", "city", "hours"), "salary", words, most=True)


@kind("medium")
def earliest(desk: Desk) -> TaskPlan:
    """The order that was placed first."""
    words = halves("that was placed first", "with the oldest date")
    return _best(desk, ORDER, ("number", "placed", "total", "items"), "placed", words, most=False)


@kind("hard")
def long_reads(desk: Desk) -> TaskPlan:
    """The titles of the issue that take longest to read, in order of length."""
    keys = ("title", "author", "minutes", "published")
    region, way = TopicRegion.drawn(desk, ARTICLE, keys, ("grid", "cards"), many=True), desk.way(_LONG)

    def question(address: Address) -> str:
        return way.format(where=region.where(address))

    def answer(own: Sequence[Matter]) -> list[str]:
        return [row["title"] for row in sorted(own, key=lambda row: row["published"]) if row["minutes"] > 20]

    return plan_of(
        region,
        ListForm(TextForm()),
        question,
        'found.sort(key=lambda row: row["published"])\nreturn [row["title"] for row in found if row["minutes"] > 20]',
        answer,
        sizes=(4, 11),
        tied=lambda own: len({row["published"] for row in own}) < len(own),
    )


KINDS = (products, staff, programme, invoices, under_price, cheapest, best_paid, earliest, long_reads)
