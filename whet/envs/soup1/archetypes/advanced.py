"""Advanced: deep nesting, meaning over names, combinators, missing data and broken markup."""

from __future__ import annotations

import random

from whet.envs.soup1.answers import ListOf, Money, Nullable, RecordOf, Text
from whet.envs.soup1.archetype import Sheet, TaskDraft, archetype
from whet.envs.soup1.archetypes.markup import BLOCKS, answered, asked, element, mixed, void
from whet.envs.soup1.archetypes.parsers import PARSERS, broken, intact
from whet.envs.soup1.archetypes.selected import selected
from whet.envs.soup1.words import (
    FIRST_NAMES,
    NOUNS,
    chance,
    ident,
    klass,
    lookalikes,
    path,
    person,
    phrase,
    pick,
    price,
    product,
    products,
    sentence,
    sku,
    token,
    whole,
)

_DEEP = (
    'Return the text of the <span> with id "{name}".',
    'Deep in the page there is a span whose id is "{name}". What does it say?',
    "Find span#{name} and return its text.",
)


@archetype("medium", 2, Text(), malformed=0.3)
def deep_nesting_extraction(rng: random.Random) -> TaskDraft:
    """The text of a span that lies many elements deep, with decoys at every level."""
    name, text = ident(rng), phrase(rng)
    inner = element(rng, "span", text, ("id", name), ("class", klass(rng)))
    for near in lookalikes(rng, name, whole(rng, 5, 6)):
        decoy = element(rng, "span", phrase(rng), ("id", near) if chance(rng, 0.5) else ("class", name))
        pair = (inner, decoy) if chance(rng, 0.5) else (decoy, inner)
        inner = element(rng, pick(rng, BLOCKS), "\n".join(pair), ("class", klass(rng)))
        if chance(rng, 0.4):
            inner = f"<div>{inner}</div>"
    return TaskDraft(
        query=asked(rng, _DEEP, name=name),
        answer=text,
        sheet=Sheet((inner,)),
        code=(answered(f"soup.find('span', id={name!r}).get_text(' ', strip=True)"),),
    )


_MEANINGS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("Original price", "List price", "Was", "Before"), ("its price before the reduction", "the original price")),
    (("Sale price", "Now", "Reduced to", "Today"), ("the reduced price it sells for now", "the current sale price")),
    (("Shipping", "Delivery", "Postage"), ("what delivery costs", "the cost of shipping")),
    (("Tax", "VAT", "Sales tax"), ("the amount of tax", "how much tax is added")),
    (("Deposit", "Refundable deposit"), ("the deposit that is paid back", "the refundable deposit")),
)

_AMBIGUOUS = (
    'For "{product}" (the element with id "{name}"), return {meaning}, as shown.',
    'In "#{name}" several amounts stand beside "{product}". Which one is {meaning}?',
    'Return {meaning} of the product "{product}" in the element "{name}".',
)


@archetype("hard", 2, Money(), malformed=0.3)
def semantic_ambiguity(rng: random.Random) -> TaskDraft:
    """One of several amounts of a product, by what it means."""
    name, title = ident(rng), product(rng)
    amounts = rng.sample(range(500, 99_999), len(_MEANINGS))
    amounts[:2] = sorted(amounts[:2], reverse=True)
    shown = [f"${cents // 100}.{cents % 100:02d}" for cents in amounts]
    wanted = whole(rng, 0, len(_MEANINGS) - 1)
    labels = [pick(rng, names) for names, _ in _MEANINGS]
    tag = pick(rng, ("div", "p", "li"))
    lines = [
        element(rng, tag, f"<span>{label}</span> <b>{amount}</b>", ("class", klass(rng)))
        for label, amount in zip(labels, shown, strict=True)
    ]
    body = "\n".join(mixed(rng, lines))
    if tag == "li":
        body = f"<ul>{body}</ul>"
    target = element(rng, pick(rng, BLOCKS), f"<h2>{title}</h2>{body}", ("id", name))
    other = f"<h2>{product(rng)}</h2><p><span>{pick(rng, _MEANINGS[wanted][0])}</span> <b>{price(rng)}</b></p>"
    decoy = element(rng, "div", other, ("id", lookalikes(rng, name, 1)[0]))
    meaning = pick(rng, _MEANINGS[wanted][1])
    return TaskDraft(
        query=asked(rng, _AMBIGUOUS, name=name, product=title, meaning=meaning),
        answer=shown[wanted],
        sheet=Sheet(mixed(rng, (target, decoy))),
        code=(
            answered(
                "label.find_next('b').get_text(strip=True)",
                f"label = soup.find(id={name!r}).find('span', string={labels[wanted]!r})",
            ),
        ),
    )


@archetype("medium", 2, Text(), malformed=0.3)
def attribute_selector(rng: random.Random) -> TaskDraft:
    """An element by one of its attributes: a field, a product, a button or a link."""
    query, answer, read, parts = selected(rng)
    secrets: tuple[str, ...] = ()
    if chance(rng, 0.5):
        secrets = (f"{pick(rng, NOUNS)}-{token(rng, 8)}",)
        field = void(rng, "input", ("type", "password"), ("name", token(rng)), ("value", secrets[0]))
        parts = mixed(rng, (*parts, f"<form>{field}</form>"))
    return TaskDraft(query, answer, Sheet(parts), (answered(read),), secrets=secrets)


_MENU = (
    'Return the texts of the top-level links of the menu with id "{name}", in any order, without those of submenus.',
    'The list "#{name}" is a menu with submenus. Which links stand on its first level only? Order does not matter.',
    'List the captions of the first-level entries of menu "{name}" (direct items of the outermost list), without what '
    "is nested below them.",
)


@archetype("hard", 2, ListOf(Text(), ordered=False), malformed=0.3)
def css_combinator(rng: random.Random) -> TaskDraft:
    """The links of the first level of a menu with submenus."""
    name = ident(rng)
    texts = [phrase(rng) for _ in range(whole(rng, 3, 6))]
    opened = set(rng.sample(range(len(texts)), whole(rng, 1, 2)))

    def entry(text: str, below: str = "") -> str:
        return f"<li>{element(rng, 'a', text, ('href', path(rng)))}{below}</li>"

    def submenu(depth: int) -> str:
        some = [entry(phrase(rng)) for _ in range(whole(rng, 2, 4))]
        if depth:
            some.append(entry(phrase(rng), submenu(depth - 1)))
        return f"\n<ul>{''.join(some)}</ul>"

    items = "\n".join(entry(text, submenu(whole(rng, 0, 1)) if at in opened else "") for at, text in enumerate(texts))
    target = element(rng, "nav", element(rng, "ul", f"\n{items}\n", ("id", name)), ("class", klass(rng)))
    decoy = element(rng, "ul", entry(phrase(rng)) + entry(phrase(rng)), ("id", lookalikes(rng, name, 1)[0]))
    return TaskDraft(
        query=asked(rng, _MENU, name=name),
        answer=texts,
        sheet=Sheet(mixed(rng, (target, decoy))),
        code=(answered(f"[a.get_text(' ', strip=True) for a in soup.select('#{name} > li > a')]"),),
    )


_PARTIAL = (
    'For each card (class "{card}") in the element with id "{name}", in order, return name, price and description as '
    "shown; null where the card has none.",
    'The element "#{name}" holds cards of class "{card}". List their name, price and description, with null for what '
    "is missing.",
    'Return name (heading), price and description of every "{card}" card inside "{name}", in page order. What a card '
    "lacks is null.",
)


@archetype(
    "medium",
    2,
    ListOf(RecordOf({"name": Text(), "price": Nullable(Money()), "description": Nullable(Text())})),
    malformed=0.3,
)
def partial_data_extraction(rng: random.Random) -> TaskDraft:
    """Cards of which some lack a price or a description."""
    name, card = ident(rng), klass(rng)
    classes = {"price": pick(rng, ("price", "cost")), "description": pick(rng, ("description", "card-description"))}
    records: list[dict[str, str | None]] = []
    for title in products(rng, whole(rng, 3, 6)):
        cost = price(rng) if chance(rng, 0.7) else None
        records.append({"name": title, "price": cost, "description": sentence(rng) if chance(rng, 0.6) else None})

    def shown(record: dict[str, str | None]) -> str:
        cost = element(rng, "span", str(record["price"]), ("class", classes["price"])) if record["price"] else ""
        said = record["description"]
        text = element(rng, "p", said, ("class", classes["description"])) if said else ""
        rest = (cost, text) if chance(rng, 0.5) else (text, cost)
        return element(rng, "div", f"<h3>{record['name']}</h3>{rest[0]}{rest[1]}", ("class", card))

    target = element(rng, pick(rng, BLOCKS), "\n".join(map(shown, records)), ("id", name))
    other = {"name": product(rng), "price": price(rng), "description": sentence(rng)}
    decoy = element(rng, "div", shown(dict(other)), ("id", lookalikes(rng, name, 1)[0]))
    return TaskDraft(
        query=asked(rng, _PARTIAL, name=name, card=card),
        answer=records,
        sheet=Sheet(mixed(rng, (target, decoy))),
        code=(
            answered(
                "[{'name': text(one.h3), **{key: text(one.find(class_=own)) for key, own in classes.items()}}"
                " for one in cards]",
                f"cards, classes = soup.find(id={name!r}).find_all(class_={card!r}), {classes!r}",
                "def text(one):\n    return one.get_text(' ', strip=True) if one else None",
            ),
        ),
    )


_ITEMS = (
    'Return the texts of all items of the list with class "{name}", in any order.',
    'What are the entries of the element of class "{name}"? List their texts; order does not matter.',
    'List every item under ".{name}" by its text, in whatever order.',
)


@archetype("easy", 2, ListOf(Text(), ordered=False), malformed=0.3)
def list_extraction(rng: random.Random) -> TaskDraft:
    """All items of a list."""
    name, (outer, tag) = klass(rng), pick(rng, (("ul", "li"), ("ol", "li"), ("div", "div"), ("section", "p")))
    texts = [phrase(rng) for _ in range(whole(rng, 4, 8))]

    def written(some: list[str], named: str) -> str:
        return element(rng, outer, "\n".join(f"<{tag}>{text}</{tag}>" for text in some), ("class", named))

    decoys = [written([phrase(rng) for _ in range(3)], near) for near in lookalikes(rng, name, 2)]
    return TaskDraft(
        query=asked(rng, _ITEMS, name=name),
        answer=texts,
        sheet=Sheet(mixed(rng, (written(texts, name), *decoys))),
        code=(answered(f"[one.get_text(' ', strip=True) for one in soup.find(class_={name!r}).find_all({tag!r})]"),),
    )


_LABELS = ("Name", "Email", "Phone", "Location", "Department", "Office", "Employee no.")

_VALUE = (
    'Return the value that belongs to "{label}" in the list of details with id "{name}".',
    'In the definition list "#{name}", what does the entry "{label}" say?',
    'The <dl> with id "{name}" gives details of a person. What stands after "{label}"?',
)


@archetype("medium", 2, Text(), malformed=0.3)
def sibling_navigation(rng: random.Random) -> TaskDraft:
    """The value after a label in a list of definitions."""
    name = ident(rng)

    def details() -> dict[str, str]:
        first = pick(rng, FIRST_NAMES).lower()
        values = (
            *(
                person(rng),
                f"{first}.{token(rng, 4)}@{pick(rng, NOUNS)}.example",
                f"+{whole(rng, 1, 98)} {whole(rng, 10**6, 10**7)}",
            ),
            *(
                f"{whole(rng, 1, 300)} {phrase(rng)} Street",
                f"{phrase(rng)} Team",
                f"Room {whole(rng, 1, 999)}-{pick(rng, 'ABCDE')}",
                sku(rng),
            ),
        )
        return dict(zip(_LABELS, values, strict=True))

    def written(values: dict[str, str], named: str) -> str:
        rows = [f"<dt>{label}</dt>\n<dd>{value}</dd>" for label, value in values.items()]
        return element(rng, "dl", "\n".join(rng.sample(rows, len(rows))), ("id", named))

    values = details()
    label = pick(rng, _LABELS)
    return TaskDraft(
        query=asked(rng, _VALUE, name=name, label=label),
        answer=values[label],
        sheet=Sheet(mixed(rng, (written(values, name), written(details(), lookalikes(rng, name, 1)[0])))),
        code=(
            answered(
                "label.find_next_sibling('dd').get_text(' ', strip=True)",
                f"label = soup.find('dl', id={name!r}).find('dt', string={label!r})",
            ),
        ),
    )


_PARSED = (
    "The markup of the page is broken, and parsers disagree about it. Parse it with {parser} and return {question}.",
    'Using BeautifulSoup with the parser "{parser}", return {question}. Other parsers read this page differently.',
    "As {parser} reads this malformed page, what is {question}?",
)


@archetype("hard", 2, Text(), size="small")
def parser_differences(rng: random.Random) -> TaskDraft:
    """What a named parser makes of broken markup that others read differently."""
    fragment, parser = broken(rng), pick(rng, PARSERS)
    return TaskDraft(
        query=asked(rng, _PARSED, parser=parser, question=fragment.question),
        answer=fragment.answers[parser],
        sheet=Sheet(mixed(rng, (fragment.markup, intact(rng)))),
        code=(answered(fragment.read).replace("make_soup()", f"make_soup({parser!r})"),),
    )


ARCHETYPES = (
    deep_nesting_extraction,
    semantic_ambiguity,
    attribute_selector,
    css_combinator,
    partial_data_extraction,
    list_extraction,
    sibling_navigation,
    parser_differences,
)
