"""JSON-LD: structured data in script elements, by type and path."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from typing import Any

from whet.envs.soup1.answers import Text
from whet.envs.soup1.archetype import Sheet, TaskDraft, archetype
from whet.envs.soup1.archetypes.markup import answered, asked
from whet.envs.soup1.words import (
    LAST_NAMES,
    NOUNS,
    chance,
    company,
    path,
    person,
    phrase,
    pick,
    product,
    sentence,
    sku,
    token,
    whole,
)

Data = dict[str, Any]


def _amount(rng: random.Random) -> str:
    return f"{whole(rng, 4, 1900)}.{whole(rng, 0, 99):02d}"


def _day(rng: random.Random) -> str:
    return f"{whole(rng, 1999, 2031)}-{whole(rng, 1, 12):02d}-{whole(rng, 1, 28):02d}"


def _product(rng: random.Random) -> Data:
    offers = {"@type": "Offer", "price": _amount(rng), "priceCurrency": "EUR", "url": path(rng)}
    brand = {"@type": "Brand", "name": company(rng)}
    return {"name": product(rng), "sku": sku(rng), "brand": brand, "offers": offers}


def _article(rng: random.Random) -> Data:
    author = {"@type": "Person", "name": person(rng), "jobTitle": f"{pick(rng, NOUNS).capitalize()} editor"}
    return {"headline": sentence(rng), "author": author, "datePublished": _day(rng), "url": path(rng)}


def _event(rng: random.Random) -> Data:
    address = {"@type": "PostalAddress", "streetAddress": f"{whole(rng, 1, 300)} {pick(rng, LAST_NAMES)} Street"}
    place = {"@type": "Place", "name": f"{phrase(rng)} Hall", "address": address}
    return {"name": phrase(rng), "startDate": _day(rng), "location": place, "identifier": token(rng, 8)}


def _organization(rng: random.Random) -> Data:
    phone = f"+{whole(rng, 1, 98)} {whole(rng, 100, 999)} {whole(rng, 1000, 9999)}"
    contact = {"@type": "ContactPoint", "telephone": phone, "contactType": "sales"}
    return {"name": company(rng), "url": path(rng), "contactPoint": contact, "founder": {"name": person(rng)}}


def _recipe(rng: random.Random) -> Data:
    author = {"@type": "Person", "name": person(rng)}
    nutrition = {"@type": "NutritionInformation", "calories": f"{whole(rng, 90, 990)}.{whole(rng, 0, 9)} kcal"}
    return {"name": phrase(rng), "author": author, "nutrition": nutrition, "recipeCategory": phrase(rng)}


def _book(rng: random.Random) -> Data:
    isbn = f"978-{whole(rng, 0, 9)}-{whole(rng, 1000, 9999)}-{whole(rng, 1000, 9999)}-{whole(rng, 0, 9)}"
    return {"name": phrase(rng), "isbn": isbn, "author": {"name": person(rng)}, "publisher": {"name": company(rng)}}


def _job(rng: random.Random) -> Data:
    salary = {"@type": "MonetaryAmount", "currency": "USD", "value": {"minValue": _amount(rng), "unitText": "DAY"}}
    return {"title": phrase(rng), "hiringOrganization": {"name": company(rng)}, "baseSalary": salary}


_TYPES: Mapping[str, tuple[Callable[[random.Random], Data], tuple[str, ...]]] = {
    "Product": (_product, ("name", "sku", "brand.name", "offers.price", "offers.url")),
    "Article": (_article, ("headline", "author.name", "author.jobTitle", "datePublished", "url")),
    "Event": (_event, ("name", "startDate", "location.name", "location.address.streetAddress", "identifier")),
    "Organization": (_organization, ("name", "url", "contactPoint.telephone", "founder.name")),
    "Recipe": (_recipe, ("name", "author.name", "nutrition.calories", "recipeCategory")),
    "Book": (_book, ("name", "isbn", "author.name", "publisher.name")),
    "JobPosting": (_job, ("title", "hiringOrganization.name", "baseSalary.value.minValue")),
}

_NAMES = tuple(_TYPES)


def _drawn(rng: random.Random, kind: str) -> Data:
    """Data of a type, its keys in an order that is drawn."""
    data = _TYPES[kind][0](rng)
    keys = ["@type", *data]
    turn = whole(rng, 0, len(keys) - 1)
    return {"@context": "https://schema.org", **{key: data.get(key, kind) for key in (*keys[turn:], *keys[:turn])}}


def _at(data: Data, dotted: str) -> str:
    value: Any = data
    for key in dotted.split("."):
        value = value[key]
    return str(value)


def _script(rng: random.Random, data: Any) -> str:
    text = json.dumps(data, indent=2 if chance(rng, 0.4) else None)
    mark = pick(rng, ("", ' class="yoast-schema"', " data-n='1'", ' id="ld-' + token(rng) + '"'))
    return f'<script type="application/ld+json"{mark}>{text}</script>\n'


def _sheet(rng: random.Random, blocks: list[str]) -> Sheet:
    """Scripts in the head, at the end of the body, or in both places."""
    state = f'<script type="application/json">{{"page": "{phrase(rng)}", "build": "{token(rng)}"}}</script>\n'
    cut = whole(rng, 0, len(blocks)) if chance(rng, 0.3) else len(blocks)
    body = f"<section><h1>{phrase(rng)}</h1><p>{sentence(rng)}</p></section>"
    return Sheet((body,), head="".join([state, *blocks[:cut]]), tail="".join(blocks[cut:]))


_WALK = """\
found = []
for script in soup.find_all("script", type="application/ld+json"):
    data = json.loads(script.string)
    for one in data if isinstance(data, list) else data.get("@graph", [data]):
        if one.get("@type") == %r:
            found.append(one)
value = found[0]
for key in %r.split("."):
    value = value[key]"""

_ONE = (
    'Return the value at "{path}" in the JSON-LD of @type {kind}, as it is written there.',
    "The page describes itself in JSON-LD. What is {path} of the {kind}?",
    'Read the application/ld+json data of the page: which value does the item of @type "{kind}" have under {path}?',
)


@archetype("medium", 1, Text())
def json_ld_extraction(rng: random.Random) -> TaskDraft:
    """A value by its path in the JSON-LD block of a type."""
    kind, *others = rng.sample(_NAMES, whole(rng, 1, 4))
    data = _drawn(rng, kind)
    dotted = pick(rng, _TYPES[kind][1])
    blocks = [_script(rng, _drawn(rng, other)) for other in others]
    blocks.insert(whole(rng, 0, len(blocks)), _script(rng, data))
    return TaskDraft(
        query=asked(rng, _ONE, path=dotted, kind=kind),
        answer=_at(data, dotted),
        sheet=_sheet(rng, blocks),
        code=(answered("value", _WALK % (kind, dotted)),),
    )


_MANY = (
    "The page holds several items of JSON-LD, in one script or many. Return {path} of the one whose @type is {kind}.",
    'Among all application/ld+json items of the page (some may stand in an array or a "@graph"), find the {kind} and '
    "return its {path} as written.",
    'What does the structured data say about the item of @type "{kind}": which value is at {path}?',
)


@archetype("hard", 2, Text())
def json_ld_array(rng: random.Random) -> TaskDraft:
    """A value of the one item of a type among many, in scripts, arrays and graphs."""
    kinds = rng.sample(_NAMES, whole(rng, 3, 5))
    kind = pick(rng, kinds)
    items = {name: _drawn(rng, name) for name in kinds}
    dotted = pick(rng, _TYPES[kind][1])
    form = rng.random()
    some = list(items.values())
    cut = whole(rng, 1, len(some) - 1)
    if form < 0.4:
        blocks = [_script(rng, item) for item in some]
    elif form < 0.6:
        blocks = [_script(rng, some)]
    elif form < 0.8:
        blocks = [_script(rng, {"@context": "https://schema.org", "@graph": some})]
    else:
        blocks = [_script(rng, some[:cut]), *(_script(rng, item) for item in some[cut:])]
    return TaskDraft(
        query=asked(rng, _MANY, path=dotted, kind=kind),
        answer=_at(items[kind], dotted),
        sheet=_sheet(rng, blocks),
        code=(answered("value", _WALK % (kind, dotted)),),
    )


ARCHETYPES = (json_ld_extraction, json_ld_array)
