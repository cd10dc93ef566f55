"""Core: one element or one container among look-alikes; its text, an attribute, its links, its images."""

from __future__ import annotations

import random

from whet.envs.soup1.answers import ListOf, RecordOf, Text
from whet.envs.soup1.archetype import Sheet, TaskDraft, archetype
from whet.envs.soup1.words import (
    NOUNS,
    chance,
    ident,
    klass,
    lookalikes,
    path,
    phrase,
    pick,
    sentence,
    sentences,
    token,
    whole,
)

_TAGS = ("div", "p", "span", "section", "article", "h2", "blockquote")

_ABROAD = (
    *(
        "这是今天的消息。",
        "我们明天早上见面。",
        "本日の天気は晴れです。",
        "駅まで歩いて行きます。",
        "오늘은 날씨가 좋아요.",
    ),
    *("Добро пожаловать в наш магазин.", "Das Geschäft schließt um acht.", "¿Dónde está la biblioteca?"),
    *("Le café ouvre à midi.", "مرحبا بكم في المدينة.", "ברוכים הבאים הביתה.", "आज मौसम अच्छा है।"),
    *("All set 🚀 for the launch 🎉", "Fresh bread 🥖 every day ☀️", "Ship it 📦 before noon ⏰"),
)

_BY_ID = (
    'Return the text of the element with id "{name}".',
    'What text does the element whose id is "{name}" contain?',
    'Find the element that has the id "{name}" and return its text content.',
)

_BY_CLASS = (
    'Return the text of the element with class "{name}".',
    'One element has the class "{name}". What is its text?',
    'Find the element of class "{name}" and return its text content.',
)


def _decoys(rng: random.Random, text: str) -> tuple[str, str, str]:
    """A text that overlaps, one of about the same length, and one that is nearly the same."""
    words = text.split()
    half = " ".join(words[: max(1, len(words) // 2)])
    return f"{half} {sentence(rng)}", sentences(rng, text.count(".") or 1), f"{text} {pick(rng, NOUNS).capitalize()}."


def _elements(rng: random.Random, attribute: str, names: tuple[str, ...], texts: tuple[str, ...]) -> tuple[str, ...]:
    """An element for each text, in any order; those without a name have none."""
    made = []
    for position, text in enumerate(texts):
        tag = pick(rng, _TAGS)
        named = f' {attribute}="{names[position]}"' if position < len(names) else ""
        made.append(f"<{tag}{named}>{text}</{tag}>")
    rng.shuffle(made)
    return tuple(made)


@archetype("easy", 1, Text(), malformed=0.3)
def extract_text_by_id(rng: random.Random) -> TaskDraft:
    """The text of an element by its id, among elements with similar ids and similar texts."""
    name = ident(rng)
    text = sentences(rng, whole(rng, 1, 5))
    if chance(rng, 0.2):
        text = f"{text} {pick(rng, _ABROAD)}"
    names = (name, *lookalikes(rng, name, 2), ident(rng))
    return TaskDraft(
        query=pick(rng, _BY_ID).format(name=name),
        answer=text,
        sheet=Sheet(_elements(rng, "id", names, (text, *_decoys(rng, text), f"{text} {sentence(rng)}"))),
        code=(f'print(json.dumps({{"answer": make_soup().find(id={name!r}).get_text()}}))',),
    )


@archetype("easy", 1, Text(), malformed=0.3)
def extract_text_by_class(rng: random.Random) -> TaskDraft:
    """The text of an element by its class, among elements with similar classes and similar texts."""
    name = klass(rng)
    text = sentences(rng, whole(rng, 1, 5))
    names = (name, *lookalikes(rng, name, 2), klass(rng))
    return TaskDraft(
        query=pick(rng, _BY_CLASS).format(name=name),
        answer=text,
        sheet=Sheet(_elements(rng, "class", names, (text, *_decoys(rng, text), f"{text} {sentence(rng)}"))),
        code=(f'print(json.dumps({{"answer": make_soup().find(class_={name!r}).get_text()}}))',),
    )


def _tagged(rng: random.Random, attribute: str, name: str, value: str) -> str:
    """An element that carries the attribute as pages do."""
    if attribute == "href":
        return f'<a id="{name}" href="{value}">{phrase(rng)}</a>'
    if attribute in ("src", "alt"):
        src, alt = (value, phrase(rng)) if attribute == "src" else (f"{path(rng)}.jpg", value)
        return f'<img id="{name}" src="{src}" alt="{alt}">'
    return f'<div id="{name}" {attribute}="{value}">{phrase(rng)}</div>'


def _value(rng: random.Random, attribute: str) -> str:
    if attribute == "href":
        return path(rng)
    if attribute == "src":
        return f"{path(rng)}.{pick(rng, ('png', 'jpg', 'webp'))}"
    if attribute == "data-id":
        return str(whole(rng, 10_000, 9_999_999))
    if attribute == "data-value":
        return f"{pick(rng, NOUNS)}_{token(rng)}"
    return phrase(rng)


_ATTRIBUTE = (
    'Return the value of the attribute {attribute} of the element with id "{name}", as a string.',
    'What is the {attribute} of the element whose id is "{name}"? Give it as a string.',
)


@archetype("easy", 1, Text(), size="small")
def extract_attribute(rng: random.Random) -> TaskDraft:
    """One attribute of an element by its id, among siblings of the same kind."""
    attribute = pick(rng, ("href", "src", "data-id", "data-value", "title", "alt"))
    name, value = ident(rng), _value(rng, attribute)
    made = [_tagged(rng, attribute, other, _value(rng, attribute)) for other in lookalikes(rng, name, 3)]
    made.insert(whole(rng, 0, 3), _tagged(rng, attribute, name, value))
    return TaskDraft(
        query=pick(rng, _ATTRIBUTE).format(attribute=attribute, name=name),
        answer=value,
        sheet=Sheet((f"<div>{''.join(made)}</div>",)),
        code=(f'print(json.dumps({{"answer": make_soup().find(id={name!r})[{attribute!r}]}}))',),
    )


_LINKS = (
    'Return all links inside the element with id "{name}", in document order, each with its text and its href.',
    'List the links that the container "{name}" (an id) holds, in the order of the page: text and href of each.',
)
_LINKS_CODE = """\
box = make_soup().find(id={name!r})
print(json.dumps({{"answer": [{{"text": a.get_text(), "href": a["href"]}} for a in box.find_all("a")]}}))
"""


@archetype("medium", 1, ListOf(RecordOf({"text": Text(), "href": Text()}, {"url": "href"})), size="small")
def extract_links(rng: random.Random) -> TaskDraft:
    """The links of one container, and none of those outside it."""
    name, other = ident(rng), ident(rng)
    links = [{"text": phrase(rng), "href": path(rng)} for _ in range(whole(rng, 3, 5))]
    items = "".join(f'<li><a href="{link["href"]}">{link["text"]}</a></li>' for link in links)
    outside = "".join(f'<a href="{path(rng)}">{phrase(rng)}</a> ' for _ in range(3))
    parts = [f'<nav id="{name}"><ul>{items}</ul></nav>', f'<div id="{other}">{outside}</div>']
    if chance(rng, 0.5):
        parts.reverse()
    return TaskDraft(
        query=pick(rng, _LINKS).format(name=name),
        answer=links,
        sheet=Sheet(tuple(parts)),
        code=(_LINKS_CODE.format(name=name),),
    )


_IMAGES = (
    'Return the images inside the element with id "{name}", in document order: src and alt of each; no alt is "".',
    'For every image in the container with id "{name}", in order, give src and alt (an empty string if missing).',
)
_IMAGES_CODE = """\
box = make_soup().find(id={name!r})
print(json.dumps({{"answer": [{{"src": i["src"], "alt": i.get("alt", "")}} for i in box.find_all("img")]}}))
"""


@archetype("medium", 1, ListOf(RecordOf({"src": Text(), "alt": Text()})), size="small")
def extract_images(rng: random.Random) -> TaskDraft:
    """The images of one container, some of them without an alternative text."""
    name = ident(rng)
    images = [
        {"src": f"{path(rng)}.{pick(rng, ('png', 'jpg'))}", "alt": "" if chance(rng, 0.35) else phrase(rng)}
        for _ in range(whole(rng, 2, 4))
    ]
    shown = "".join(
        f'<img src="{image["src"]}" alt="{image["alt"]}">' if image["alt"] else f'<img src="{image["src"]}">'
        for image in images
    )
    outside = f'<div><img src="{path(rng)}.png" alt="{phrase(rng)}"></div>'
    parts = [f'<div id="{name}">{shown}</div>', outside]
    if chance(rng, 0.5):
        parts.reverse()
    return TaskDraft(
        query=pick(rng, _IMAGES).format(name=name),
        answer=images,
        sheet=Sheet(tuple(parts)),
        code=(_IMAGES_CODE.format(name=name),),
    )


ARCHETYPES = (extract_text_by_id, extract_text_by_class, extract_attribute, extract_links, extract_images)
