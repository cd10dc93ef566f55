"""Data for machines: JSON-LD, microdata and the state of an application, where the page shows less than they say."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from whet.envs.soup.archetype import kind
from whet.envs.soup.archetypes.record import names
from whet.envs.soup.desk import Address, Desk, PageDraft, PagePlan, Side, TaskPlan, TopicRegion, page_of
from whet.envs.soup.kinds import MoneyForm, RecordForm, TextForm
from whet.envs.soup.oracle import program
from whet.envs.soup.topics import PRODUCT
from whet.envs.soup.traits import Matter, halves
from whet.envs.soup.withhold import withheld

Writer = Callable[[Desk, Side, Matter, bool], str]
"""The data of a side as markup; the flag says whether the price is in it."""

FORM = RecordForm({"price": MoneyForm(), "sku": TextForm()})


_STATED = halves(
    "Return `price` and `sku` (the article number), of {where}, as {source} states them.",
    "Meant is {where}. What does {source} say? Give `price` and, as `sku`, the code it is listed under.",
)


def _plan(desk: Desk, source: str, write_data: Writer, body: str) -> TaskPlan:
    """Price and article number, which the visible page does not show and its data does."""
    region = TopicRegion.drawn(desk, PRODUCT, ("name", "price", "sku", "brand"), ("card",))
    way = desk.way(_STATED)

    def draw(rng: random.Random, plan: PagePlan) -> tuple[Any, Any]:
        own = region.draw(rng)
        return own, {"price": own["price"] / 100, "sku": own["sku"]}

    def write(rng: random.Random, matter: Any, plan: PagePlan) -> PageDraft:
        spelled, made, parts = desk.spelling(rng), None, []
        for side, record in (("own", matter), ("other", region.draw(rng))):
            shown = desk.box("h3", "name", record["name"])
            if plan.hide == side:
                price = PRODUCT["price"].show(record["price"], spelled)
                made = withheld(rng, desk.site, (price, PRODUCT["price"].show(record["price"] + 500, spelled)))
                shown += f" {desk.box('p', 'price', made.markup)}"
            shown += write_data(desk, side, record, plan.hide != side)  # type: ignore[arg-type]
            parts.append(region.write(rng, side, shown))  # type: ignore[arg-type]
        return page_of(rng, parts, made, plan.hide, matter["name"] if region.titled else "")

    def question(address: Address) -> str:
        return way.format(where=region.where(address), source=source)

    return TaskPlan(FORM, question, program(names(region), body), draw, write)


def _json_ld(desk: Desk, side: Side, record: Matter, whole: bool) -> str:
    offer = {"@type": "Offer", "priceCurrency": desk.currency[1]}
    if whole:
        offer["price"] = f"{record['price'] / 100:.2f}"
    brand = {"@type": "Brand", "name": record["brand"]}
    data = {"@context": "https://schema.org", "@type": "Product", "name": record["name"], "sku": record["sku"]}
    return f'<script type="application/ld+json">{json.dumps({**data, "brand": brand, "offers": offer})}</script>'


@kind("medium")
def json_ld(desk: Desk) -> TaskPlan:
    """What the structured data of the product says."""
    body = """
data = json.loads(soup.find(class_=OWN).find("script", type="application/ld+json").string)
return {"price": money(data["offers"]["price"]), "sku": data["sku"]}"""
    return _plan(desk, "its structured data (JSON-LD)", _json_ld, body)


def _microdata(desk: Desk, side: Side, record: Matter, whole: bool) -> str:
    price = f'<meta itemprop="price" content="{record["price"] / 100:.2f}">' if whole else ""
    offer = f'<div itemprop="offers" itemscope itemtype="https://schema.org/Offer">{price}</div>'
    sku = f'<meta itemprop="sku" content="{record["sku"]}">'
    return f'<div itemscope itemtype="https://schema.org/Product">{sku}{offer}</div>'


@kind("medium")
def microdata(desk: Desk) -> TaskPlan:
    """What the microdata of the product says."""
    body = """
box = soup.find(class_=OWN)
def said(name):
    return box.find(attrs={"itemprop": name})["content"]
return {"price": money(said("price")), "sku": said("sku")}"""
    return _plan(desk, "its microdata", _microdata, body)


def _state(desk: Desk, side: Side, record: Matter, whole: bool) -> str:
    amount = {"currency": desk.currency[1], "minor": record["price"] if whole else None}
    inner = {"id": record["sku"], "maker": {"name": record["brand"]}, "pricing": {"current": amount, "formatted": None}}
    data = json.dumps({"props": {"entity": inner, "flags": [1, 0, 1]}, "version": 3})
    return f'<script type="application/json" data-props>{data}</script>'


@kind("hard")
def app_state(desk: Desk) -> TaskPlan:
    """What the state of the application says, in cents."""
    body = """
data = json.loads(soup.find(class_=OWN).find("script", type="application/json").string)["props"]["entity"]
return {"price": data["pricing"]["current"]["minor"] / 100, "sku": data["id"]}"""
    return _plan(desk, "the JSON state beside it (amounts in cents there)", _state, body)


KINDS = (json_ld, microdata, app_state)
