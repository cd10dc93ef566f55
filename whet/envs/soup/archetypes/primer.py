"""Primer: a handful of characters, for a model that has yet to learn what an extractor is."""

from __future__ import annotations

import random
from typing import Any

from whet.envs.soup.archetype import kind
from whet.envs.soup.desk import Desk, PageDraft, PagePlan, TaskPlan
from whet.envs.soup.kinds import AnswerForm, ListForm, NumberForm, TextForm
from whet.envs.soup.oracle import program
from whet.envs.soup.site.lexicon import whole
from whet.envs.soup.withhold import withheld


def _plan(desk: Desk, form: AnswerForm, query: str, body: str, draw: Any, write: Any) -> TaskPlan:
    """A page of one element, or one that withholds what it would hold."""

    def written(rng: random.Random, matter: Any, plan: PagePlan) -> PageDraft:
        shown = write(matter)
        if plan.hide != "own":
            return PageDraft((shown,))
        made = withheld(rng, desk.site, (shown, ""))
        return PageDraft((made.markup,), stubs=made.links, limit=made)

    def drawn(rng: random.Random, plan: PagePlan) -> tuple[Any, Any]:
        matter = draw(rng)
        return matter, len(matter) if isinstance(form, NumberForm) else matter

    return TaskPlan(form, lambda address: query, program("", body), drawn, written)


def _phrase(desk: Desk, rng: random.Random) -> str:
    return f"{desk.words.phrase(rng)} {rng.getrandbits(20):x}"


@kind("primer")
def text_by_id(desk: Desk) -> TaskPlan:
    """The text of the one element with an id."""
    name = desk.look.ident("own")
    return _plan(
        desk,
        TextForm(),
        f'Return the text of the element with id "{name}".',
        f"return text(soup.find(id={name!r}).get_text())",
        lambda rng: _phrase(desk, rng),
        lambda matter: f'<span id="{name}">{matter}</span>',
    )


@kind("primer")
def text_by_class(desk: Desk) -> TaskPlan:
    """The text of the one element with a class."""
    name = desk.key("own")
    return _plan(
        desk,
        TextForm(),
        f'Return the text of the element with class "{name}".',
        f"return text(soup.find(class_={name!r}).get_text())",
        lambda rng: _phrase(desk, rng),
        lambda matter: f"<p>{desk.words.noun(desk.rng)}</p>{desk.box('div', 'own', matter)}",
    )


@kind("primer")
def link(desk: Desk) -> TaskPlan:
    """Where the link of a class leads."""
    name = desk.key("own")
    return _plan(
        desk,
        TextForm(),
        f'Return the href of the link with class "{name}".',
        f'return soup.find("a", class_={name!r})["href"]',
        lambda rng: desk.words.path(rng),
        lambda matter: desk.box("a", "own", "open", f' href="{matter}"'),
    )


@kind("primer")
def item_texts(desk: Desk) -> TaskPlan:
    """The items of the one list."""
    return _plan(
        desk,
        ListForm(TextForm()),
        "Return the texts of the li elements, in order.",
        'return [text(item.get_text()) for item in soup.find_all("li")]',
        lambda rng: [_phrase(desk, rng) for _ in range(whole(rng, 2, 6))],
        lambda matter: f"<ul>{''.join(f'<li>{item}</li>' for item in matter)}</ul>",
    )


@kind("primer")
def item_count(desk: Desk) -> TaskPlan:
    """How many items the one list has."""
    return _plan(
        desk,
        NumberForm(),
        "How many li elements are there?",
        'return len(soup.find_all("li"))',
        lambda rng: [_phrase(desk, rng) for _ in range(whole(rng, 2, 40))],
        lambda matter: f"<ul>{''.join(f'<li>{item}</li>' for item in matter)}</ul>",
    )


KINDS = (text_by_id, text_by_class, link, item_texts, item_count)
