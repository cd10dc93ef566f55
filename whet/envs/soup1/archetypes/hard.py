"""Hard: relations, filters over several steps, extremes, counts, and geometry."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from whet.envs.soup1.answers import Integer, ListOf, Money, RecordOf, Text
from whet.envs.soup1.archetype import Sheet, TaskDraft, archetype
from whet.envs.soup1.archetypes.cards import Ware, goods, layout
from whet.envs.soup1.archetypes.drawings import bars, points
from whet.envs.soup1.archetypes.markup import BLOCKS, answered, asked, element, mixed
from whet.envs.soup1.words import (
    ADJECTIVES,
    chance,
    ident,
    klass,
    lookalikes,
    phrase,
    pick,
    price,
    product,
    token,
    whole,
)

_SUMMARY = ("Subtotal", "Shipping", "Tax", "Discount", "Total", "Gift wrap", "Deposit")

_RELATION = (
    'What amount does the order summary with id "{name}" give for "{label}"? Return it as shown.',
    'In "#{name}", return the value that belongs to the label "{label}".',
    'Return the amount beside "{label}" in the summary "{name}", with its sign.',
)


@archetype("hard", 2, Money(), malformed=0.3)
def relational_query(rng: random.Random) -> TaskDraft:
    """The amount beside a label in an order summary: a table, a list of definitions or plain rows."""
    name = ident(rng)
    labels = rng.sample(_SUMMARY, whole(rng, 5, 7))
    amounts = [f"${cents // 100}.{cents % 100:02d}" for cents in rng.sample(range(100, 99_999), len(labels) + 2)]
    shown = {
        label: f"-{amount}" if label == "Discount" else amount for label, amount in zip(labels, amounts, strict=False)
    }
    label = pick(rng, labels)
    row, box = pick(
        rng,
        (
            ("<tr><td>{}</td><td>{}</td></tr>", "table"),
            ("<tr><th>{}</th><td>{}</td></tr>", "table"),
            ("<dt>{}</dt><dd>{}</dd>", "dl"),
            ("<div><span>{}</span> <span>{}</span></div>", "div"),
            ("<p><b>{}</b> <i>{}</i></p>", "section"),
        ),
    )
    lines = [row.format(label, amount) for label, amount in shown.items()]
    target = element(rng, box, "\n".join(lines), ("id", name), ("class", klass(rng)))
    decoy = element(rng, box, row.format(label, amounts[-1]), ("id", lookalikes(rng, name, 1)[0]))
    return TaskDraft(
        query=asked(rng, _RELATION, name=name, label=label),
        answer=shown[label],
        sheet=Sheet(mixed(rng, (target, decoy))),
        code=(
            answered(
                "label.parent.find_next_sibling().get_text(strip=True)",
                f"label = soup.find(id={name!r}).find(string={label!r})",
            ),
        ),
    )


Test = Callable[[Ware], bool]

_TESTS: tuple[tuple[str, str, Test], ...] = (
    ("rated above 4.0", "one['rating'] > 4.0", lambda good: good.tenths > 40),
    ("rated 4.5 or better", "one['rating'] >= 4.5", lambda good: good.tenths >= 45),
    ("in stock", "one['stock'] == 'In stock'", lambda good: good.stocked),
    (
        "rated 4.0 or better and in stock",
        "one['rating'] >= 4.0 and one['stock'] == 'In stock'",
        lambda good: good.tenths >= 40 and good.stocked,
    ),
    (
        "out of stock and rated below 3.5",
        "one['stock'] == 'Out of stock' and one['rating'] < 3.5",
        lambda good: not good.stocked and good.tenths < 35,
    ),
)


def _apart(test: Test) -> tuple[tuple[int, bool], tuple[int, bool]]:
    """A rating and a stock that meet a condition, and a pair that does not."""
    high, low = (47, True), (29, False)
    return (high, low) if test(Ware("", 0, "", *high, "")) else (low, high)


_HOPS = (
    'Among the products in the element with id "{name}", take the first listed that is {test}. Return its {field} as '
    "shown.",
    'Go through the cards of "#{name}" from the top. Which {field}, as shown, has the first product that is {test}?',
    'Return the {field}, as shown, of the first product in "{name}" that is {test}.',
)

_READ = """\
found = []
for card in soup.find(id=%r).find_all(class_=%r):
    one = {role: card.find(class_=name).get_text(" ", strip=True) for role, name in %r.items()}
    one["rating"] = float(one["rating"])
    found.append(one)"""


@archetype("hard", 2, Text(), malformed=0.3)
def multi_hop_filter(rng: random.Random) -> TaskDraft:
    """A field of the first product that meets a condition."""
    name, card = ident(rng), klass(rng)
    words, code, test = pick(rng, _TESTS)
    some = goods(rng, whole(rng, 5, 9))
    yes, no = _apart(test)
    at = whole(rng, 1, len(some) - 1)
    some[at] = replace(some[at], tenths=yes[0], stocked=yes[1])
    if chance(rng, 0.9):
        some[0] = replace(some[0], tenths=no[0], stocked=no[1])
    first = next(good for good in some if test(good))
    field = pick(rng, ("name", "price", "sku"))
    form = layout(rng, card)
    target = form.shelf(rng, name, [form.write(rng, good) for good in some])
    decoy = form.shelf(rng, lookalikes(rng, name, 1)[0], [form.write(rng, good) for good in goods(rng, 2)])
    return TaskDraft(
        query=asked(rng, _HOPS, name=name, test=words, field=field),
        answer=str(getattr(first, field)),
        sheet=Sheet(mixed(rng, (target, decoy))),
        code=(answered(f"[one for one in found if {code}][0][{field!r}]", _READ % (name, card, form.classes)),),
    )


_EXTREME = (
    'What is the {which} price in the element with id "{name}"? Only elements of class "{price}" count. Return it as '
    "shown.",
    'Return the {which} of the prices (class "{price}") inside "#{name}".',
    'Among the products listed in "{name}", what is the {which} price (class "{price}")? Old prices do not count.',
)


@archetype("hard", 2, Money(), malformed=0.3)
def aggregation_min_max(rng: random.Random) -> TaskDraft:
    """The lowest or highest price of a list, beside old prices that do not count."""
    name, card = ident(rng), klass(rng)
    some = goods(rng, whole(rng, 5, 12))
    form = layout(rng, card)
    which = pick(rng, ("lowest", "highest", "cheapest", "greatest"))
    low = which in ("lowest", "cheapest")
    best = (min if low else max)(some, key=lambda good: good.cents)
    old = [f'<s class="was">${"1.99" if low else "9,990.00"}</s>', "", f'<s class="was">{price(rng)}</s>']
    cards = [form.write(rng, good, inside=pick(rng, old)) for good in some]
    decoy = form.shelf(rng, lookalikes(rng, name, 1)[0], [form.write(rng, goods(rng, 1, 100, 400)[0])])
    return TaskDraft(
        query=asked(rng, _EXTREME, name=name, which=which, price=form.classes["price"]),
        answer=best.price,
        sheet=Sheet(mixed(rng, (form.shelf(rng, name, cards), decoy))),
        code=(
            answered(
                f"{'min' if low else 'max'}(prices, key=lambda text: float(text.replace('$', '').replace(',', '')))",
                f"found = soup.find(id={name!r}).find_all(class_={form.classes['price']!r})",
                "prices = [one.get_text(strip=True) for one in found]",
            ),
        ),
    )


_FEATURED = (
    'One product in the element with id "{name}" is marked with the class "{mark}". Return its name, price, sku and '
    "url (the href of its link).",
    'Return name, price, sku and url (where the name links to) of the "{mark}" product in "#{name}".',
    'Which product of "{name}" carries the class "{mark}"? Give an object with name, price, sku and the url of '
    "its link.",
)


@archetype(
    "hard",
    2,
    RecordOf(
        {"name": Text(), "price": Money(), "sku": Text(), "url": Text()},
        {"title": "name", "cost": "price", "link": "url", "href": "url", "product_name": "name"},
    ),
    malformed=0.3,
)
def structured_output(rng: random.Random) -> TaskDraft:
    """Name, price, number and link of the one marked product."""
    name, card, mark = ident(rng), klass(rng), pick(rng, ("featured", "recommended", "editors-choice", "spotlight"))
    some = goods(rng, whole(rng, 3, 6))
    chosen = pick(rng, some)
    form = layout(rng, card)
    cards = [form.write(rng, good, mark if good is chosen else pick(rng, ("", f"not-{mark}"))) for good in some]
    decoy = form.shelf(rng, lookalikes(rng, name, 1)[0], [form.write(rng, goods(rng, 1)[0], mark)])
    return TaskDraft(
        query=asked(rng, _FEATURED, name=name, mark=mark),
        answer={"name": chosen.name, "price": chosen.price, "sku": chosen.sku, "url": chosen.url},
        sheet=Sheet(mixed(rng, (form.shelf(rng, name, cards), decoy))),
        code=(
            answered(
                "{**{key: said[key].get_text(' ', strip=True) for key in ('name', 'price', 'sku')},"
                " 'url': said['name']['href']}",
                f"card = soup.find(id={name!r}).find(class_={mark!r})",
                f"said = {{role: card.find(class_=name) for role, name in {form.classes!r}.items()}}",
            ),
        ),
    )


_COUNT = (
    'How many products in the element with id "{name}" are {test}?',
    'Count the cards of "#{name}" whose product is {test}.',
    'Return the number of products listed in "{name}" that are {test}.',
)


@archetype("hard", 2, Integer(), malformed=0.3)
def count_elements(rng: random.Random) -> TaskDraft:
    """How many products meet a condition."""
    name, card = ident(rng), klass(rng)
    words, code, test = pick(rng, _TESTS)
    wanted = whole(rng, 2, 26)
    good = goods(rng, wanted + whole(rng, 2, 12))
    yes, no = _apart(test)
    some = [_rated(rng, ware, *(yes if at < wanted else no)) for at, ware in enumerate(good)]
    form = layout(rng, card)
    cards = [form.write(rng, ware) for ware in rng.sample(some, len(some))]
    decoy = form.shelf(rng, lookalikes(rng, name, 1)[0], [form.write(rng, ware) for ware in some[:2]])
    return TaskDraft(
        query=asked(rng, _COUNT, name=name, test=words),
        answer=sum(map(test, some)),
        sheet=Sheet(mixed(rng, (form.shelf(rng, name, cards), decoy))),
        code=(answered(f"sum(1 for one in found if {code})", _READ % (name, card, form.classes)),),
    )


def _rated(rng: random.Random, good: Ware, tenths: int, stocked: bool) -> Ware:
    """The product with a rating mostly near `tenths`, sometimes any, and mostly as stocked as told."""
    near = tenths + whole(rng, -2, 3) if chance(rng, 0.8) else whole(rng, 21, 50)
    return replace(good, tenths=near, stocked=stocked if chance(rng, 0.9) else not stocked)


_COLOURS = ("red", "blue", "green", "black", "white", "grey", "orange", "violet", "brown", "teal")
_SIZES = ("XS", "S", "M", "L", "XL", "XXL")

_VARIANT = (
    'What does the variant of "{title}" in colour {colour} and size {size} cost, according to the element "{name}"?',
    'In "#{name}", return the price of "{title}" in {colour}, size {size}.',
    'Return the price of the {colour} "{title}" of size {size} (element with id "{name}").',
)


@archetype("hard", 2, Money(), malformed=0.3)
def semantic_decoy_extreme(rng: random.Random) -> TaskDraft:
    """The price of one variant among many that differ in colour or size only."""
    name, title = ident(rng), product(rng)
    colours, sizes = rng.sample(_COLOURS, 3), rng.sample(_SIZES, 3)
    pairs = rng.sample([(colour, size) for colour in colours for size in sizes], whole(rng, 5, 8))
    amounts = rng.sample(range(500, 99_999), len(pairs))
    shown = [f"${cents // 100}.{cents % 100:02d}" for cents in amounts]
    at = whole(rng, 0, len(pairs) - 1)
    tag, adjective = pick(rng, BLOCKS), pick(rng, ADJECTIVES)
    form = pick(
        rng,
        (
            '<h4>{title}</h4><span class="colour">{colour}</span> <span class="size">{size}</span> <b>{price}</b>',
            '<b>{price}</b><h4>{title}</h4><i class="size">{size}</i> <i class="colour">{colour}</i>',
            '<h4>{title}</h4><div><em class="colour">{colour}</em> / <em class="size">{size}</em></div><b>{price}</b>',
        ),
    )
    cards = [
        element(rng, tag, form.format(title=title, colour=colour, size=size, price=cost), ("data-v", token(rng)))
        for (colour, size), cost in zip(pairs, shown, strict=True)
    ]
    other = form.format(
        title=f"{adjective.capitalize()} {title}", colour=pairs[at][0], size=pairs[at][1], price=price(rng)
    )
    cards.insert(whole(rng, 0, len(cards)), element(rng, tag, other, ("data-v", token(rng))))
    target = element(rng, "div", "\n".join(cards), ("id", name))
    return TaskDraft(
        query=asked(rng, _VARIANT, name=name, title=title, colour=pairs[at][0], size=pairs[at][1]),
        answer=shown[at],
        sheet=Sheet((f"<h2>{phrase(rng)}</h2>", target)),
        code=(
            answered(
                "found[0].b.get_text(strip=True)",
                f"wanted = {(title, pairs[at][0], pairs[at][1])!r}",
                f"cards = soup.find(id={name!r}).find_all({tag!r}, attrs={{'data-v': True}})",
                "found = [c for c in cards if (c.h4.get_text(strip=True), c.find(class_='colour').get_text(strip=True),"
                " c.find(class_='size').get_text(strip=True)) == wanted]",
            ),
        ),
    )


@archetype("hard", 2, ListOf(Integer()), size="small")
def extract_svg_geometry(rng: random.Random) -> TaskDraft:
    """The numbers that a drawing shows as heights of bars or places of points, by a formula that is given."""
    return bars(rng) if chance(rng, 0.5) else points(rng)


ARCHETYPES = (
    relational_query,
    multi_hop_filter,
    aggregation_min_max,
    structured_output,
    count_elements,
    semantic_decoy_extreme,
    extract_svg_geometry,
)
