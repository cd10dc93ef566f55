"""Gotchas: what trips code that is written in a hurry, from `.string` to whitespace between siblings."""

from __future__ import annotations

import random

from whet.envs.soup1.answers import Text
from whet.envs.soup1.archetype import Sheet, TaskDraft, archetype
from whet.envs.soup1.archetypes.markup import BLOCKS, answered, asked, element, mixed
from whet.envs.soup1.words import NOUNS, chance, ident, klass, lookalikes, phrase, pick, sentence, token, whole

INLINE = ("span", "em", "strong", "b", "i", "code", "mark", "small", "cite", "q", "kbd", "abbr")

_SPLIT = (
    'Return the full text of the element with id "{name}", its parts joined by single spaces.',
    'The text of "#{name}" is spread over inline elements. Give it whole, with single spaces between the parts.',
    'What is the complete text of the element whose id is "{name}"? One line, single spaces.',
)


@archetype("medium", 1, Text())
def string_returns_none(rng: random.Random) -> TaskDraft:
    """The text of an element that is split over inline children."""
    name = ident(rng)
    words = f"{phrase(rng)} {pick(rng, NOUNS)} {phrase(rng)} {pick(rng, NOUNS)} {token(rng)}".split()
    cuts = sorted(rng.sample(range(1, len(words)), whole(rng, 2, 4)))
    pieces = [" ".join(words[start:end]) for start, end in zip([0, *cuts], [*cuts, len(words)], strict=True)]
    bare = whole(rng, 0, len(pieces) - 1) if chance(rng, 0.5) else -1
    inner = " ".join(
        text if number == bare else element(rng, pick(rng, INLINE), text) for number, text in enumerate(pieces)
    )
    tag = pick(rng, ("p", "div", "h2", "section", "span", "h4"))
    decoys = [element(rng, tag, phrase(rng), ("id", other)) for other in lookalikes(rng, name, 2)]
    target = element(rng, tag, inner, ("id", name), ("class", klass(rng)))
    return TaskDraft(
        query=asked(rng, _SPLIT, name=name),
        answer=" ".join(words),
        sheet=Sheet(mixed(rng, (target, *decoys))),
        code=(answered("' '.join(one.get_text(' ').split())", f"one = soup.find(id={name!r})"),),
    )


_INSIDE = (
    'Return the text of the <p> inside the <div> with class "{name}".',
    'There is one <div> of class "{name}" that has a paragraph in it. What does that <p> say?',
    "Find the <p> within div.{name} and return its text. Not every element of that class has a paragraph.",
)


@archetype("easy", 1, Text())
def none_attribute_error(rng: random.Random) -> TaskDraft:
    """The paragraph inside a div of a class that other, emptier elements share."""
    name, text = klass(rng), sentence(rng)
    near = lookalikes(rng, name, 2)
    heading = f"<h3>{phrase(rng)}</h3>" if chance(rng, 0.6) else ""
    target = element(rng, "div", f"{heading}<p>{text}</p>", ("class", name), ("data-ref", token(rng)))
    empty = element(rng, pick(rng, ("section", "span", "aside")), phrase(rng), ("class", name))
    decoys = [element(rng, "div", f"<p>{sentence(rng)}</p>", ("class", other)) for other in near]
    return TaskDraft(
        query=asked(rng, _INSIDE, name=name),
        answer=text,
        sheet=Sheet(mixed(rng, (target, empty, *decoys))),
        code=(answered(f"soup.select_one('div.{name} p').get_text(' ', strip=True)"),),
    )


_RESERVED = (
    'Return the text of the <p> with class "{name}".',
    'What does the paragraph (<p>) whose class is "{name}" say?',
    'Find the one p element of class "{name}" and return its text; elements of other kinds may share the class.',
)


@archetype("easy", 1, Text())
def class_reserved_word(rng: random.Random) -> TaskDraft:
    """The paragraph with a class."""
    name, text = klass(rng), sentence(rng)
    classes = f"{klass(rng)} {name}" if chance(rng, 0.3) else name
    target = element(rng, "p", text, ("class", classes), ("data-n", token(rng)))
    decoys = [element(rng, "p", sentence(rng), ("class", other)) for other in lookalikes(rng, name, 2)]
    decoys.append(element(rng, pick(rng, ("div", "span", "h4")), sentence(rng), ("class", name)))
    return TaskDraft(
        query=asked(rng, _RESERVED, name=name),
        answer=text,
        sheet=Sheet(mixed(rng, (target, *decoys))),
        code=(answered(f"soup.find('p', class_={name!r}).get_text(' ', strip=True)"),),
    )


_MULTIVALUE = (
    'Return the text of the element that has "{name}" among its classes.',
    'One element carries several classes, one of them exactly "{name}". What is its text?',
    'Which text stands in the element whose class list includes "{name}"? Classes that merely contain that name do not '
    "count.",
)


@archetype("medium", 1, Text())
def multivalue_class(rng: random.Random) -> TaskDraft:
    """The element with a class among several."""
    name, text = klass(rng), sentence(rng)
    near = lookalikes(rng, name, 3)
    tag = pick(rng, ("div", "p", "section", "span", "article"))

    def classes(own: str) -> str:
        others = [klass(rng) for _ in range(whole(rng, 2, 3))]
        others.insert(whole(rng, 0, len(others)), own)
        return " ".join(others)

    target = element(rng, tag, text, ("class", classes(name)))
    decoys = [element(rng, tag, sentence(rng), ("class", classes(other))) for other in near]
    decoys.append(element(rng, tag, sentence(rng), ("data-class", name), ("class", klass(rng))))
    return TaskDraft(
        query=asked(rng, _MULTIVALUE, name=name),
        answer=text,
        sheet=Sheet(mixed(rng, (target, *decoys))),
        code=(answered(f"soup.find(class_={name!r}).get_text(' ', strip=True)"),),
    )


_PARENT = {
    "tag": (
        'The text "{mark}" stands in one element. Return the tag name of the element that directly contains it.',
        'Which tag is the immediate parent of the visible text "{mark}"? Answer with its name in lower case.',
    ),
    "class": (
        'Return the class of the element that directly contains the text "{mark}".',
        'What is the class attribute of the immediate parent of the visible text "{mark}"?',
    ),
    "id": (
        'Return the id of the element that directly contains the text "{mark}".',
        'The visible text "{mark}" has one immediate parent element. What is the id of that element?',
    ),
}

_HOMES = (
    *("<{tag}{at}>{text}</{tag}>", "<p>{more} <{tag}{at}>{text}</{tag}></p>", "<div><{tag}{at}>{text}</{tag}></div>"),
    "<blockquote><p>{more}</p><div><{tag}{at}>{text}</{tag}></div></blockquote>",
)

_FITTED = {
    "td": "<table><tr><th>{more}</th><{tag}{at}>{text}</{tag}></tr></table>",
    "li": "<ol><li>{more}</li><{tag}{at}>{text}</{tag}></ol>",
    "dd": "<dl><dt>{more}</dt><{tag}{at}>{text}</{tag}></dl>",
    "figcaption": "<figure><{tag}{at}>{text}</{tag}></figure>",
    "th": "<table><tr><{tag}{at}>{text}</{tag}><td>{more}</td></tr></table>",
    "dt": "<dl><{tag}{at}>{text}</{tag}><dd>{more}</dd></dl>",
    "h3": "<section><{tag}{at}>{text}</{tag}><p>{more}</p></section>",
    "h5": "<section><{tag}{at}>{text}</{tag}><p>{more}</p></section>",
    "label": "<div><{tag}{at}>{text}</{tag}></div>",
}


@archetype("medium", 1, Text())
def navigablestring_parent(rng: random.Random) -> TaskDraft:
    """The tag, class or id of the element that directly holds a text, which a comment and an attribute hold too."""
    mark = f"{pick(rng, NOUNS).capitalize()} {token(rng).upper()}"
    wanted = pick(rng, ("tag", "class", "id", "class", "id"))
    tag = pick(rng, (*INLINE, *_FITTED))
    name, kind = ident(rng), klass(rng)
    home = _FITTED.get(tag) or pick(rng, _HOMES)
    holder = home.format(tag=tag, at=f' id="{name}" class="{kind}"', text=mark, more=phrase(rng))
    outer = element(rng, pick(rng, BLOCKS), holder, ("id", ident(rng)), ("class", klass(rng)))
    comment = f'<div class="{klass(rng)}"><!-- {mark} --><span>{phrase(rng)}</span></div>'
    attribute = element(rng, "div", f"<p>{sentence(rng)}</p>", ("title", mark), ("id", ident(rng)))
    shown = {"tag": ("tag", tag), "class": ("class", kind), "id": ("id", name)}[wanted]
    read = {"tag": "parent.name", "class": "parent['class'][0]", "id": "parent['id']"}[wanted]
    return TaskDraft(
        query=asked(rng, _PARENT[wanted], mark=mark),
        answer=shown[1],
        sheet=Sheet(mixed(rng, (outer, comment, attribute))),
        code=(
            answered(
                read,
                "texts = [t for t in soup.find_all(string=True) if not isinstance(t, Comment)]",
                f"parent = [t for t in texts if t.strip() == {mark!r}][0].parent",
            ),
        ),
    )


_NEXT = (
    'Return the text of the element that comes right after the element with id "{name}" among its siblings.',
    'Which text stands in the next sibling element of "#{name}"?',
    'The element with id "{name}" is followed by another element of the same list. What is the text of that next one?',
)


@archetype("medium", 1, Text())
def whitespace_sibling(rng: random.Random) -> TaskDraft:
    """The element after the one with an id, with whitespace between them."""
    outer, tag = pick(rng, (("ul", "li"), ("ol", "li"), ("div", "p"), ("div", "div"), ("section", "article")))
    texts = [sentence(rng) for _ in range(whole(rng, 4, 7))]
    names = [ident(rng) for _ in texts]
    at = whole(rng, 0, len(texts) - 2)
    gap = pick(rng, ("\n", "\n    ", " \n\t"))
    items: list[str] = []
    for number, (name, text) in enumerate(zip(names, texts, strict=True)):
        items.append(element(rng, tag, text, ("id", name)))
        if number == at and chance(rng, 0.4):
            items.append(f"<!-- {phrase(rng)} -->")
    target = element(rng, outer, gap + gap.join(items) + gap, ("class", klass(rng)))
    decoy = element(rng, outer, gap.join(element(rng, tag, sentence(rng)) for _ in range(3)), ("class", klass(rng)))
    return TaskDraft(
        query=asked(rng, _NEXT, name=names[at]),
        answer=texts[at + 1],
        sheet=Sheet(mixed(rng, (target, decoy))),
        code=(answered(f"soup.find(id={names[at]!r}).find_next_sibling().get_text(' ', strip=True)"),),
    )


ARCHETYPES = (
    string_returns_none,
    none_attribute_error,
    class_reserved_word,
    multivalue_class,
    navigablestring_parent,
    whitespace_sibling,
)
