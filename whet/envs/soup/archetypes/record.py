"""Records: one value, or several, of the thing that a page is about, beside a thing like it that is not meant."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from whet.envs.soup.archetype import kind
from whet.envs.soup.desk import Address, Desk, PageDraft, PagePlan, TaskPlan, TopicRegion
from whet.envs.soup.kinds import AnswerForm, RecordForm
from whet.envs.soup.oracle import names_of, program
from whet.envs.soup.site.lexicon import pick
from whet.envs.soup.topics import ARTICLE, DEVICE, FLAT, INVOICE, JOB, ORDER, PERSON, PRODUCT, SESSION
from whet.envs.soup.traits import Topic, halves

SHEETS = ("dl", "table", "div", "ul", "across", "tiles", "marked")


_SINGLE = halves("Return {what}, of {where}.|Look at {where} and return {what}.", "Meant is {where}. Find out {what}.")
_SEVERAL = halves(
    "Of {where}, return an object with {what}.|Return, as one object, {what}, of {where}.",
    "Meant is {where}. Fill an object: {what}.|Make an object of {what}; the source is {where}.",
)


def names(region: TopicRegion, wanted: Sequence[str] = ()) -> str:
    """What the oracle knows of a region, of all its traits or of those that are wanted."""
    desk = region.desk
    traits = [trait for trait in region.traits if not wanted or trait.key in wanted]
    classes = {trait.key: desk.key(trait.key) for trait in traits} if region.bare else {}
    keys = {
        "OWN": "own",
        **({"ROW": "row"} if region.many else {}),
        **({"CUE": "cue"} if region.bare else {"LABEL": "label", "VALUE": "value"}),
    }
    told = {name: desk.key(role) for name, role in keys.items()} | ({} if region.bare else {"MARK": desk.mark})
    return names_of(traits, desk.half, classes, **told)


def listed(parts: Sequence[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]


def one_value(desk: Desk, topic: Topic, asked: Sequence[str], keys: Sequence[str], forms: Sequence[str]) -> TaskPlan:
    """A single value, which of `asked` the site decides."""
    key = pick(desk.rng, tuple(asked))
    return _plan(TopicRegion.drawn(desk, topic, keys, forms), (key,), single=True)


def some_values(desk: Desk, topic: Topic, keys: Sequence[str], forms: Sequence[str], count: int) -> TaskPlan:
    """An object of several values."""
    wanted = tuple(desk.rng.sample(list(keys), count))
    return _plan(TopicRegion.drawn(desk, topic, keys, forms), wanted, single=False)


def _plan(region: TopicRegion, wanted: tuple[str, ...], single: bool) -> TaskPlan:
    topic = region.topic
    forms = {key: topic[key].form(missing=True) for key in wanted}
    form: AnswerForm = forms[wanted[0]] if single else RecordForm(forms)

    def draw(rng: random.Random, plan: PagePlan) -> tuple[Any, Any]:
        own = region.draw(rng)
        if plan.missing:
            own[wanted[int(rng.random() * len(wanted))]] = None
        truths = {key: topic[key].truth(own[key]) for key in wanted}
        return own, truths[wanted[0]] if single else truths

    def write(rng: random.Random, matter: Any, plan: PagePlan) -> PageDraft:
        # A page whose name may be withheld does not have it as its title, whether it withholds it or not.
        name = topic.traits[0].key
        title = "" if name == wanted[0] or not region.titled else str(matter.get(name) or "")
        return region.record_page(rng, matter, plan.hide, wanted[0], title)

    way = region.desk.way(_SINGLE if single else _SEVERAL)

    def question(address: Address) -> str:
        told = [region.what(key, address) if single else f"`{key}` ({region.what(key, address)})" for key in wanted]
        return way.format(what=listed(told), where=region.where(address))

    body = "found = record(soup.find(class_=OWN))\n"
    body += f"return found[{wanted[0]!r}]" if single else f"return {{key: found[key] for key in {wanted!r}}}"
    return TaskPlan(form, question, program(names(region, wanted), body), draw, write)


@kind("easy")
def order_amount(desk: Desk) -> TaskPlan:
    """One amount of an order, beside the amounts of another."""
    return one_value(desk, ORDER, ("shipping", "tax", "total"), ("number", "shipping", "tax", "total", "items"), SHEETS)


@kind("easy")
def product_price(desk: Desk) -> TaskPlan:
    """The price to pay, beside the one before and those of other products."""
    return one_value(desk, PRODUCT, ("price",), ("name", "price", "before", "reviews", "sku"), ("card",))


@kind("easy")
def device_figure(desk: Desk) -> TaskPlan:
    """One figure of a data sheet, without its unit."""
    keys = ("model", "weight", "power", "height", "noise", "released")
    return one_value(desk, DEVICE, ("weight", "power", "height", "noise"), keys, SHEETS)


@kind("easy")
def job_closing(desk: Desk) -> TaskPlan:
    """Until when one can apply, as an ISO date."""
    return one_value(desk, JOB, ("closes",), ("title", "company", "salary", "closes", "hours"), SHEETS)


@kind("medium")
def order_record(desk: Desk) -> TaskPlan:
    """Three things about an order."""
    return some_values(desk, ORDER, ("number", "shipping", "tax", "total", "placed", "items", "carrier"), SHEETS, 3)


@kind("medium")
def product_record(desk: Desk) -> TaskPlan:
    """Four things about a product, from a card without labels."""
    return some_values(desk, PRODUCT, ("name", "price", "before", "rating", "stock", "sku", "brand"), ("card",), 4)


@kind("medium")
def article_head(desk: Desk) -> TaskPlan:
    """Who wrote an article, and when it appeared and was changed."""
    keys = ("title", "author", "published", "updated", "minutes", "section")
    return some_values(desk, ARTICLE, keys, ("card", "div", "ul", "tiles", "marked"), 3)


@kind("medium")
def flat_record(desk: Desk) -> TaskPlan:
    """What a flat costs and offers."""
    return some_values(desk, FLAT, ("address", "rent", "deposit", "rooms", "area", "free", "pets"), SHEETS, 4)


@kind("medium")
def contact(desk: Desk) -> TaskPlan:
    """How to reach a person."""
    return some_values(desk, PERSON, ("name", "role", "phone", "email", "office", "since"), (*SHEETS, "card"), 3)


@kind("hard")
def invoice_record(desk: Desk) -> TaskPlan:
    """Five things about an invoice, beside one of the same customer."""
    return some_values(desk, INVOICE, ("number", "customer", "net", "tax", "due", "issued"), SHEETS, 5)


@kind("medium")
def session_record(desk: Desk) -> TaskPlan:
    """Where and when a session is."""
    return some_values(desk, SESSION, ("title", "speaker", "room", "date", "seats", "fee"), (*SHEETS, "card"), 4)


KINDS = (
    *(order_amount, product_price, device_figure, job_closing, order_record, product_record),
    *(article_head, flat_record, contact, invoice_record, session_record),
)
