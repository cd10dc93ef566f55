"""Computed values: what stands nowhere in the page and follows from what does, in cents and not in floats."""

from __future__ import annotations

import random
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from whet.envs.soup.archetype import kind
from whet.envs.soup.archetypes.record import SHEETS, names
from whet.envs.soup.archetypes.rows import plan_of
from whet.envs.soup.desk import Address, Desk, PageDraft, PagePlan, TaskPlan, TopicRegion
from whet.envs.soup.kinds import MoneyForm, NumberForm, RecordForm
from whet.envs.soup.oracle import program
from whet.envs.soup.site.lexicon import whole
from whet.envs.soup.topics import INVOICE, ORDER, PRODUCT, SESSION
from whet.envs.soup.traits import Matter, halves

_SUM = halves(
    "What do {where} come to in all, tax included?",
    "Add up {where}, each with its tax. What is the result?",
)
_SEATS = halves(
    "Of {where}, return `sessions` (how many there are) and `seats` (how many seats are left in all of them together).",
    "Count {where} as `sessions`, and as `seats` the places that are still free in all of them taken together.",
)
_SAVING = halves(
    "Of {where}: by how much is the price reduced at most (before less now)?",
    "A buyer wants to save. What is the greatest difference between old price and new among {where}?",
)
_GOODS = halves(
    "What do the goods alone cost, without shipping and tax, in {where}?",
    "Take {where} and leave out what bringing it costs and what the state gets. How much remains for the goods?",
)
_VOUCHER = halves(
    "A voucher takes {percent} % off {what}, of {where}. What is left to pay, rounded half up to cents?",
    "Meant is {where}. Somebody has a coupon for {percent} per cent of {what}. How much remains to be paid, rounded "
    "half up to the cent?",
)


@kind("hard")
def sum_of_invoices(desk: Desk) -> TaskPlan:
    """What is to be paid in all: net and tax of every invoice that is not paid."""
    region = TopicRegion.drawn(desk, INVOICE, ("number", "customer", "net", "tax"), ("grid", "cards"), many=True)
    way = desk.way(_SUM)

    def question(address: Address) -> str:
        return way.format(where=region.where(address))

    return plan_of(
        region,
        MoneyForm(),
        question,
        'return round(sum(row["net"] + row["tax"] for row in found), 2)',
        lambda own: sum(row["net"] + row["tax"] for row in own) / 100,
    )


@kind("medium")
def seats_left(desk: Desk) -> TaskPlan:
    """How many seats are left, and in how many sessions."""
    region = TopicRegion.drawn(desk, SESSION, ("title", "room", "seats", "fee"), ("grid", "cards"), many=True)
    way = desk.way(_SEATS)

    def question(address: Address) -> str:
        return way.format(where=region.where(address))

    return plan_of(
        region,
        RecordForm({"sessions": NumberForm(), "seats": NumberForm()}),
        question,
        'return {"sessions": len(found), "seats": sum(row["seats"] for row in found)}',
        lambda own: {"sessions": len(own), "seats": sum(row["seats"] for row in own)},
    )


@kind("medium")
def saving(desk: Desk) -> TaskPlan:
    """The largest reduction of a product in the list, as an amount."""
    region = TopicRegion.drawn(desk, PRODUCT, ("name", "price", "before", "sku"), ("cards", "grid"), many=True)
    way = desk.way(_SAVING)

    def question(address: Address) -> str:
        return way.format(where=region.where(address))

    def answer(own: Sequence[Matter]) -> float:
        return float(max(row["before"] - row["price"] for row in own)) / 100

    return plan_of(
        region, MoneyForm(), question, 'return round(max(row["before"] - row["price"] for row in found), 2)', answer
    )


@kind("hard")
def goods_only(desk: Desk) -> TaskPlan:
    """What the goods of an order cost: the total without shipping and tax."""
    region = TopicRegion.drawn(desk, ORDER, ("number", "shipping", "tax", "total", "items"), SHEETS)
    way = desk.way(_GOODS)

    def question(address: Address) -> str:
        return way.format(where=region.where(address))

    def draw(rng: random.Random, plan: PagePlan) -> tuple[Any, Any]:
        own = region.draw(rng)
        return own, (own["total"] - own["shipping"] - own["tax"]) / 100

    def write(rng: random.Random, matter: Any, plan: PagePlan) -> PageDraft:
        return region.record_page(rng, matter, plan.hide, "total", matter["number"] if region.titled else "")

    body = "found = record(soup.find(class_=OWN))\n"
    body += 'return round(found["total"] - found["shipping"] - found["tax"], 2)'
    return TaskPlan(MoneyForm(), question, program(names(region), body), draw, write)


@kind("hard")
def reduced_price(desk: Desk) -> TaskPlan:
    """What a product costs with a voucher that the question names."""
    region = TopicRegion.drawn(desk, PRODUCT, ("name", "price", "before", "sku", "reviews"), ("card", "dl", "ul"))
    percent, way = whole(desk.rng, 2, 19) * 5, desk.way(_VOUCHER)

    def question(address: Address) -> str:
        return way.format(percent=percent, what=region.what("price", address), where=region.where(address))

    def draw(rng: random.Random, plan: PagePlan) -> tuple[Any, Any]:
        own = region.draw(rng)
        left = (Decimal(own["price"]) * (100 - percent) / 100).quantize(Decimal(1), ROUND_HALF_UP)
        return own, int(left) / 100

    def write(rng: random.Random, matter: Any, plan: PagePlan) -> PageDraft:
        return region.record_page(rng, matter, plan.hide, "price", matter["name"] if region.titled else "")

    body = 'cents = round(record(soup.find(class_=OWN))["price"] * 100)\n'
    body += f"return (cents * {100 - percent} + 50) // 100 / 100"
    return TaskPlan(MoneyForm(), question, program(names(region), body), draw, write)


KINDS = (sum_of_invoices, seats_left, saving, goods_only, reduced_price)
