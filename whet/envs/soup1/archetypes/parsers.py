"""Markup that parsers read in different ways, and what each of them makes of it.

Texts that end up in one element have whitespace between them: however they are joined, they read the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from whet.envs.soup1.words import klass, lookalikes, phrase, pick, token

PARSERS = ("html.parser", "lxml", "html5lib")

Readings = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class BrokenFragment:
    """A broken fragment, what is asked about it, the program that reads it, and the answer by parser."""

    markup: str
    question: str
    read: str
    answers: Readings


def _split(strict: str, other: str) -> Readings:
    """html.parser keeps everything inside; the other two end the element."""
    return {"html.parser": strict, "lxml": other, "html5lib": other}


def _text(name: str) -> tuple[str, str]:
    return (
        f'the text of the element with class "{name}" (all of it, single spaces)',
        f"' '.join(soup.find(class_={name!r}).get_text(' ').split())",
    )


def _unclosed(rng: random.Random) -> BrokenFragment:
    """Paragraphs or items whose ends are left out: siblings for some, nested for html.parser."""
    before, tag, after = pick(rng, (("<div>", "p", "</div>"), ("<ul>", "li", "</ul>"), ("<ol>", "li", "</ol>")))
    name, texts = klass(rng), [phrase(rng) for _ in range(3)]
    items = f"<{tag}>{texts[0]}\n<{tag} class={name}>{texts[1]}\n<{tag}>{texts[2]}\n"
    return BrokenFragment(f"{before}{items}{after}", *_text(name), _split(f"{texts[1]} {texts[2]}", texts[1]))


def _block_in_paragraph(rng: random.Random) -> BrokenFragment:
    """A block inside a paragraph: it ends the paragraph, except for html.parser."""
    name, inner, tag = klass(rng), phrase(rng), pick(rng, ("div", "h2", "h4", "ul", "blockquote"))
    first, last = phrase(rng), phrase(rng)
    block = f"<ul><li>{inner}</li></ul>" if tag == "ul" else f"<{tag}>{inner}</{tag}>"
    markup = f'<div><p class="{name}">{first} {block} {last}</p></div>'
    return BrokenFragment(markup, *_text(name), _split(f"{first} {inner} {last}", first))


def _nested_links(rng: random.Random) -> BrokenFragment:
    """A link inside a link: the second ends the first, except for html.parser."""
    name, texts = klass(rng), (phrase(rng), phrase(rng))
    markup = f'<div><a class="{name}" href="/{token(rng)}">{texts[0]} <a href="/{token(rng)}">{texts[1]}</a></a></div>'
    return BrokenFragment(markup, *_text(name), _split(" ".join(texts), texts[0]))


def _nested_buttons(rng: random.Random) -> BrokenFragment:
    """A button inside a button: only html5lib ends the first."""
    name, texts = klass(rng), (phrase(rng), phrase(rng))
    markup = f'<div><button class="{name}">{texts[0]} <button>{texts[1]}</button></div>'
    both = " ".join(texts)
    return BrokenFragment(markup, *_text(name), {"html.parser": both, "lxml": both, "html5lib": texts[0]})


def _foster(rng: random.Random) -> BrokenFragment:
    """A block between the rows of a table: html5lib moves it out."""
    name, inside, lost = klass(rng), phrase(rng), phrase(rng)
    markup = f'<div><table class="{name}"><tr><td>{inside}</td></tr>\n<div>{lost}</div>\n</table></div>'
    both = f"{inside} {lost}"
    return BrokenFragment(markup, *_text(name), {"html.parser": both, "lxml": both, "html5lib": inside})


def _stray_cell(rng: random.Random) -> BrokenFragment:
    """A cell outside a table: html5lib drops the tag and keeps the text."""
    outer, inner, mark = klass(rng), klass(rng), f"{phrase(rng)} {token(rng)}"
    question = f'the class of the element that directly contains the text "{mark}"'
    read = f"soup.find(string={mark!r}).parent['class'][0]"
    answers = {"html.parser": inner, "lxml": inner, "html5lib": outer}
    return BrokenFragment(f'<div class="{outer}"><td class="{inner}">{mark}</td></div>', question, read, answers)


def _twice(rng: random.Random) -> BrokenFragment:
    """An attribute given twice: html.parser keeps the last, the others the first."""
    name, first, last = klass(rng), token(rng, 8), token(rng, 8)
    question = f'the data-code attribute of the element with class "{name}"'
    markup = f'<div><span data-code="{first}" class="{name}" data-code="{last}">{phrase(rng)}</span></div>'
    return BrokenFragment(markup, question, f"soup.find(class_={name!r})['data-code']", _split(last, first))


def _wrong_heading(rng: random.Random) -> BrokenFragment:
    """A heading that another heading's end tag closes: only html5lib takes it."""
    name, texts = klass(rng), (phrase(rng), phrase(rng))
    markup = f'<div><h2 class="{name}">{texts[0]}</h3> {texts[1]}</div>'
    both = " ".join(texts)
    return BrokenFragment(markup, *_text(name), {"html.parser": both, "lxml": both, "html5lib": texts[0]})


def _crossed(rng: random.Random) -> BrokenFragment:
    """Inline elements that cross: the text after the first end belongs to the second only for html5lib."""
    outer, inner, texts = klass(rng), klass(rng), [phrase(rng) for _ in range(3)]
    markup = f'<div class="{outer}"><b>{texts[0]} <i class="{inner}">{texts[1]}</b> {texts[2]}</i></div>'
    question = f'the texts of all elements with class "{inner}", joined by single spaces, in document order'
    read = f"' '.join(' '.join(one.get_text(' ').split()) for one in soup.find_all(class_={inner!r}))"
    both = f"{texts[1]} {texts[2]}"
    return BrokenFragment(markup, question, read, {"html.parser": texts[1], "lxml": texts[1], "html5lib": both})


_FORMS: tuple[Callable[[random.Random], BrokenFragment], ...] = (
    _unclosed,
    _block_in_paragraph,
    _nested_links,
    _nested_buttons,
    _foster,
    _stray_cell,
    _twice,
    _wrong_heading,
    _crossed,
)


def broken(rng: random.Random) -> BrokenFragment:
    return pick(rng, _FORMS)(rng)


def intact(rng: random.Random) -> str:
    """A sound fragment of the same kind, to stand beside the broken one."""
    near = lookalikes(rng, klass(rng), 1)[0]
    return f'<div><p class="{near}">{phrase(rng)}</p><span data-code="{token(rng, 8)}">{phrase(rng)}</span></div>'
