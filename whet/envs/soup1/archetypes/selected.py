"""Elements that an attribute selects: a field by name, a product by number, a button by type, a link by address."""

from __future__ import annotations

import random

from whet.envs.soup1.archetypes.markup import BLOCKS, asked, element, mixed, void
from whet.envs.soup1.words import NOUNS, ident, klass, path, phrase, pick, token

Selected = tuple[str, str, str, tuple[str, ...]]
"""A question, its answer, the expression that reads it, and the parts of the page."""


def _by_name(rng: random.Random) -> Selected:
    own, value = f"{pick(rng, NOUNS)}_{token(rng)}", f"{phrase(rng)} {token(rng)}"
    near = [void(rng, "input", ("name", other), ("value", phrase(rng))) for other in (f"{own}_old", f"my_{own}")]
    field = void(rng, "input", ("name", own), ("type", "text"), ("value", value))
    forms = ('Return the value of the input whose name is "{own}".', 'What is preset in the field named "{own}"?')
    part = element(rng, "form", "\n".join(mixed(rng, (field, *near))), ("id", ident(rng)))
    return asked(rng, forms, own=own), value, f"soup.find('input', attrs={{'name': {own!r}}})['value']", (part,)


def _by_data(rng: random.Random) -> Selected:
    number, text = token(rng, 8), phrase(rng)
    tag = pick(rng, (*BLOCKS, "span", "p"))
    marks = (("data-product-id", number), ("data-product-id", token(rng, 8)), ("data-parent-id", number))
    texts = (text, phrase(rng), phrase(rng))
    parts = [element(rng, tag, shown, mark) for shown, mark in zip(texts, marks, strict=True)]
    forms = (
        'What text stands in the element whose data-product-id is "{number}"?',
        'Return the text of the element with the attribute data-product-id="{number}".',
    )
    read = f"soup.find(attrs={{'data-product-id': {number!r}}}).get_text(' ', strip=True)"
    return asked(rng, forms, number=number), text, read, mixed(rng, parts)


def _submit(rng: random.Random) -> Selected:
    box, caption = ident(rng), phrase(rng)
    inputs = [
        void(rng, "input", ("type", "submit"), ("value", caption)),
        void(rng, "input", ("type", "reset"), ("value", phrase(rng))),
        void(rng, "input", ("type", "text"), ("value", phrase(rng)), ("name", token(rng))),
    ]
    forms = (
        'Return the caption (the value) of the submit button of the form with id "{box}".',
        'What does the value of the input of type submit in "#{box}" say?',
    )
    part = element(rng, "form", "\n".join(mixed(rng, inputs)), ("id", box), ("action", path(rng)))
    return asked(rng, forms, box=box), caption, f"soup.find(id={box!r}).find('input', type='submit')['value']", (part,)


def _by_href(rng: random.Random) -> Selected:
    href, text = path(rng), phrase(rng)
    links = [element(rng, "a", text, ("href", href), ("class", klass(rng)))]
    links += [element(rng, "a", phrase(rng), ("href", near)) for near in (f"{href}-2", f"/x{href}", f"{href}/more")]
    forms = ('Return the text of the link that leads to exactly "{href}".', 'Which link text has the href "{href}"?')
    part = f"<p>{' '.join(mixed(rng, links))}</p>"
    return asked(rng, forms, href=href), text, f"soup.find('a', href={href!r}).get_text(' ', strip=True)", (part,)


def selected(rng: random.Random) -> Selected:
    """One of the four."""
    return pick(rng, (_by_name, _by_data, _submit, _by_href))(rng)
