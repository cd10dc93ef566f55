"""Multi-page: what is asked stands on other pages, which `navigate` leads to."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from whet.envs.soup1.answers import Money, RecordOf, Text
from whet.envs.soup1.archetype import Sheet, TaskDraft, archetype
from whet.envs.soup1.archetypes.cards import Ware, goods
from whet.envs.soup1.archetypes.markup import BLOCKS, answered, asked, element, mixed
from whet.envs.soup1.words import chance, company, ident, klass, path, phrase, pick, price, product, whole

_FOLLOW = """\
soup = make_soup()
link = soup.find(id=%r).find("a", string=%r)
print(json.dumps({"go": link["href"]}))"""

_WARRANTY = ("months", "weeks", "days")


@dataclass(frozen=True, slots=True)
class Shop:
    """The ids and habits that the pages of one site share."""

    index: str
    sheet: str
    row: str
    """How a detail is written: label, then value."""

    def listing(self, rng: random.Random, entries: Mapping[str, str]) -> str:
        """Names that lead somewhere."""
        links = [element(rng, "a", name, ("href", href), ("class", klass(rng))) for name, href in entries.items()]
        return element(rng, "ul", "\n".join(f"<li>{link}</li>" for link in links), ("id", self.index))

    def details(self, rng: random.Random, name: str, facts: Mapping[str, str]) -> Sheet:
        """A page about one thing, with another thing below it."""
        rows = [self.row.format(label, value) for label, value in facts.items()]
        table = self.row.startswith("<tr>")
        box = "table" if table else "dl" if self.row.startswith("<dt>") else pick(rng, BLOCKS)
        own = element(rng, box, "\n".join(mixed(rng, rows)), ("id", self.sheet))
        related = f"<section><h3>{product(rng)}</h3><p>{price(rng)}</p></section>"
        return Sheet((f"<h1>{name}</h1>", own, related), title=name)


_ROWS = (
    "<tr><th>{}</th><td>{}</td></tr>",
    "<dt>{}</dt><dd>{}</dd>",
    "<div><span>{}</span> <span>{}</span></div>",
    "<p><b>{}</b> <i>{}</i></p>",
)


def _shop(rng: random.Random) -> Shop:
    return Shop(ident(rng), ident(rng), pick(rng, _ROWS))


def _fact(shop: Shop, label: str) -> str:
    """The expression that reads a detail."""
    return f"soup.find(id={shop.sheet!r}).find(string={label!r}).parent.find_next_sibling().get_text(' ', strip=True)"


_SEARCH = (
    'Find "{name}" in the list with id "{index}", open its page and return its {label}, which stands in the element '
    '"{sheet}" there.',
    'The list "#{index}" links to product pages. What is the {label} of "{name}" (on its page, element "{sheet}")?',
    'Return the {label} of the product "{name}". Its page is linked from the list "{index}"; the details on it are in '
    '"#{sheet}".',
)


@archetype("hard", 2, Text())
def search_then_detail(rng: random.Random) -> TaskDraft:
    """A detail of a product, on the page that the list of products leads to."""
    shop = _shop(rng)
    some = goods(rng, whole(rng, 5, 8))
    names = [good.name for good in some]
    names[0] = f"{names[1]} {pick(rng, ('II', 'Pro', 'Mini', 'Plus'))}"

    def facts(good: Ware) -> dict[str, str]:
        warranty = f"{whole(rng, 3, 999)} {pick(rng, _WARRANTY)}"
        return {"Manufacturer": company(rng), "Warranty": warranty, "SKU": good.sku, "Origin": phrase(rng)}

    known = [facts(good) for good in some]
    at = whole(rng, 0, len(some) - 1)
    label = pick(rng, ("Manufacturer", "Warranty", "SKU", "Origin"))
    entries = dict(rng.sample(list(zip(names, (good.url for good in some), strict=True)), len(some)))
    return TaskDraft(
        query=asked(rng, _SEARCH, name=names[at], label=label, index=shop.index, sheet=shop.sheet),
        answer=known[at][label],
        sheet=Sheet((f"<h1>{phrase(rng)}</h1>", shop.listing(rng, entries))),
        code=(_FOLLOW % (shop.index, names[at]), answered(_fact(shop, label))),
        pages={good.url: shop.details(rng, name, facts) for good, name, facts in zip(some, names, known, strict=True)},
        visits=2,
    )


_PAGES = (
    'The list with id "{name}" goes on over several pages, linked below it. What is the {which} price (class '
    '"{cost}") on all of them together? Return it as shown.',
    'Return the {which} of all prices (class "{cost}") in "#{name}", on this page and on every page that follows it.',
    'Results stand in "{name}" on this and the following pages (see the link of class "next"). Over all pages, which '
    'is the {which} price (class "{cost}")?',
)

_COLLECT = """\
soup = make_soup()
prices = [one.get_text(strip=True) for one in soup.find(id=%r).find_all(class_=%r)]
"""

_CHOOSE = """\
every = [text for some in [*KEPT, prices] for text in some]
best = %s(every, key=lambda text: float(text.replace("$", "").replace(",", "")))
print(json.dumps({"answer": best}))"""


@archetype("hard", 2, Money())
def pagination_aggregate(rng: random.Random) -> TaskDraft:
    """The lowest or highest price over all pages of a list."""
    name, base = ident(rng), path(rng)
    count = whole(rng, 2, 4)
    each = [whole(rng, 3, 5) for _ in range(count)]
    some = goods(rng, sum(each))
    which = pick(rng, ("lowest", "highest", "smallest", "largest"))
    low = which in ("lowest", "smallest")
    hrefs = [f"{base}?page={number + 1}" for number in range(count)]
    tag, cost = pick(rng, BLOCKS), pick(rng, ("price", "cost", "price-now", "amount"))
    sheets: list[Sheet] = []
    for number, size in enumerate(each):
        start = sum(each[:number])
        cards = [
            f'<{tag}><h3>{good.name}</h3><span class="{cost}">{good.price}</span></{tag}>'
            for good in some[start : start + size]
        ]
        box = element(rng, "div", "\n".join(cards), ("id", name))
        sheets.append(Sheet((f"<h1>{phrase(rng)}</h1>", box, _pager(hrefs, number))))
    best = (min if low else max)(some, key=lambda good: good.cents)
    collect = _COLLECT % (name, cost)
    onward = collect + 'print(json.dumps({"go": soup.find("a", class_="next")["href"], "keep": prices}))'
    last = collect + _CHOOSE % ("min" if low else "max")
    return TaskDraft(
        query=asked(rng, _PAGES, name=name, which=which, cost=cost),
        answer=best.price,
        sheet=sheets[0],
        code=(*(onward for _ in range(count - 1)), last),
        pages=dict(zip(hrefs, sheets, strict=True)),
        visits=count,
    )


def _pager(hrefs: Sequence[str], at: int) -> str:
    """Links to all pages but this one, and to the one before and after."""
    numbers = [
        f"<b>{number + 1}</b>" if number == at else f'<a href="{href}">{number + 1}</a>'
        for number, href in enumerate(hrefs)
    ]
    before = f'<a class="previous" href="{hrefs[at - 1]}">Previous</a>' if at else ""
    after = f'<a class="next" href="{hrefs[at + 1]}">Next</a>' if at + 1 < len(hrefs) else ""
    return f"<div>{before} {' '.join(numbers)} {after}</div>"


_CHAIN = (
    'From the list "{index}" go to the category "{category}", there to "{below}", and there to the product "{name}". '
    'What is its {label}, as shown in the element "{sheet}"?',
    'Follow the links in "#{index}": category "{category}", then "{below}", then "{name}". Return the {label} as the '
    'product page shows it in "#{sheet}".',
    'Return the {label} of "{name}" as shown. It is found under "{category}" and then "{below}"; each page has its '
    'list in "{index}", and the product page its details in "{sheet}".',
)


@archetype("hard", 2, Text())
def link_chain(rng: random.Random) -> TaskDraft:
    """A detail of a product that is three links away."""
    shop = _shop(rng)
    names = [phrase(rng) for _ in range(6)]
    hrefs = [path(rng) for _ in names]
    categories, below = (dict(zip(names[at : at + 3], hrefs[at : at + 3], strict=True)) for at in (0, 3))
    some = goods(rng, 3)
    known = {ware: _facts(rng, ware) for ware in some}
    category, under, good = pick(rng, names[:3]), pick(rng, names[3:]), pick(rng, some)
    label = pick(rng, ("price", "SKU", "rating", "weight"))
    facts = {"index": shop.index, "sheet": shop.sheet, "label": label}
    return TaskDraft(
        query=asked(rng, _CHAIN, category=category, below=under, name=good.name, **facts),
        answer=known[good][label],
        sheet=_listed(rng, shop, categories),
        code=(
            *(_FOLLOW % (shop.index, name) for name in (category, under, good.name)),
            answered(_fact(shop, label)),
        ),
        pages={
            **_branches(rng, shop, categories, category, below),
            **_branches(rng, shop, below, under, {ware.name: ware.url for ware in some}),
            **{ware.url: shop.details(rng, ware.name, facts) for ware, facts in known.items()},
        },
        visits=4,
    )


def _facts(rng: random.Random, good: Ware) -> dict[str, str]:
    rating, weight = f"{good.rating}{whole(rng, 0, 9)}", f"{whole(rng, 40, 9800)} g"
    return {"price": good.price, "SKU": good.sku, "rating": rating, "weight": weight}


def _listed(rng: random.Random, shop: Shop, entries: Mapping[str, str]) -> Sheet:
    return Sheet((f"<h1>{phrase(rng)}</h1>", shop.listing(rng, entries)))


def _branches(
    rng: random.Random, shop: Shop, entries: Mapping[str, str], right: str, onward: Mapping[str, str]
) -> dict[str, Sheet]:
    """The pages of `entries`: the right one leads onward, the others list the same names with links to nowhere."""
    return {
        href: _listed(rng, shop, onward if name == right else {other: path(rng) for other in onward})
        for name, href in entries.items()
    }


_COMPARE = (
    'The list "{index}" links to product pages, which give the price in the element "{sheet}". Which of "{first}" and '
    '"{second}" is cheaper, and by how much? Return cheaper (the name) and price_difference.',
    'Compare the prices of "{first}" and "{second}": open both from "#{index}" and read "Price" in "#{sheet}". Return '
    "cheaper, the name of the cheaper one, and price_difference, the amount between them.",
    'Which costs less, "{first}" or "{second}"? Their pages are linked in "{index}"; the price is in "{sheet}" there. '
    "Return the name as cheaper and the difference as price_difference.",
)

_READ_PRICE = """\
soup = make_soup()
text = %s
cents = round(float(text.replace("$", "").replace(",", "")) * 100)
"""


@archetype(
    "hard",
    2,
    RecordOf(
        {"cheaper": Text(), "price_difference": Money()},
        {
            "cheaper_product": "cheaper",
            "cheapest": "cheaper",
            "difference": "price_difference",
            "price_diff": "price_difference",
        },
    ),
)
def compare_products(rng: random.Random) -> TaskDraft:
    """Which of two products is cheaper, and by how much."""
    shop = _shop(rng)
    some = goods(rng, whole(rng, 3, 5))
    first, second = rng.sample(some, 2)
    cheaper = min(first, second, key=lambda good: good.cents)
    gap = abs(first.cents - second.cents)
    pages = {}
    for good in some:
        facts = {"Price": good.price, "SKU": good.sku, "Maker": company(rng)}
        if chance(rng, 0.5):
            facts["Old price"] = price(rng)
        pages[good.url] = shop.details(rng, good.name, facts)
    read = _READ_PRICE % _fact(shop, "Price")
    return TaskDraft(
        query=asked(rng, _COMPARE, index=shop.index, sheet=shop.sheet, first=first.name, second=second.name),
        answer={"cheaper": cheaper.name, "price_difference": f"${gap // 100}.{gap % 100:02d}"},
        sheet=Sheet((f"<h1>{phrase(rng)}</h1>", shop.listing(rng, {good.name: good.url for good in some}))),
        code=(
            f"soup = make_soup()\nbox = soup.find(id={shop.index!r})\n"
            f"one, other = (box.find('a', string=name)['href'] for name in {(first.name, second.name)!r})\n"
            'print(json.dumps({"go": one, "keep": other}))',
            f'{read}print(json.dumps({{"go": KEPT[0], "keep": cents}}))',
            f"{read}names = {(first.name, second.name)!r}\ngap = abs(cents - KEPT[1])\n"
            'answer = {"cheaper": names[cents < KEPT[1]], "price_difference": f"${gap // 100}.{gap % 100:02d}"}\n'
            'print(json.dumps({"answer": answer}))',
        ),
        pages=pages,
        visits=3,
    )


ARCHETYPES = (search_then_detail, pagination_aggregate, link_chain, compare_products)
