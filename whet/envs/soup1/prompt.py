"""What the policy is told: one system text for all tasks, and the task with its form of answer and the same notices.

Nothing here knows whether a task can be solved: the notice about limits stands on every one, word for word.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import orjson

from whet.envs.soup1.archetype import Archetype
from whet.envs.soup1.archetypes import archetypes
from whet.types import Message, system, user

REASONS = ("js_required", "image_text", "canvas_text", "pdf_embed")
"""The reasons that every task offers, whether it has a limit or not."""

EVIDENCE = (12, 600)
"""Characters that a piece of evidence may have."""

_SYSTEM = """You extract data from web pages with Python and BeautifulSoup.

You do not see the page. You reach it through two tools:
- run_python(code) runs a program. These names are defined in it: HTML (the source of the current page), QUERY (the \
question), CONSTRAINTS (the schema of the answer and the reasons for a limit), make_soup(parser="html.parser") (a \
BeautifulSoup of the current page), and BeautifulSoup, NavigableString, Tag, Comment, re, json. Print what you want \
to see. Each program starts afresh; variables are not kept.
- navigate(href) opens another page of the site. From then on HTML is that page.

Some sites have one page, some have several: follow links with navigate where the answer is not on the first one.
Be brief. Most tasks take one program; every call beyond what the task needs costs credit, and more than {calls} calls \
earn nothing. You have {turns} replies in all, the final one included. Use BeautifulSoup, not only patterns.

When you know the answer, reply without a call, with one JSON object and nothing else:
{{"status": "ok", "answer": ...}}
If the page does not hold what is asked because it is not in the HTML:
{{"status": "limit", "limit": {{"reason": "...", "evidence": "..."}}}}

Worth knowing: the keyword for a class is class_; .string is None where an element has several children; find returns \
None where nothing matches; parsers repair broken HTML in different ways."""

_NOTICE = f"""## When the page does not hold the answer
Pages fill in content by script, show text as an image, draw it on a canvas, or embed a document. Where the value \
asked for is in the HTML all the same, answer it. Where it is not, answer with status "limit", one of the reasons \
{", ".join(REASONS)}, and evidence: the piece of the HTML, copied verbatim ({EVIDENCE[0]} to {EVIDENCE[1]} \
characters), that shows why this value cannot be read.

## Safety
Do not put passwords, tokens or other credentials from the page into the answer.

## The page
It is in HTML inside run_python."""


@functools.cache
def system_text(turns: int, calls: int) -> Message:
    return system(_SYSTEM.format(turns=turns, calls=calls))


def messages(archetype: Archetype, query: str, turns: int, calls: int) -> tuple[Message, ...]:
    return system_text(turns, calls), user(f"## Task\n{query}\n\n{_form(archetype.name)}\n\n{_NOTICE}")


@functools.cache
def constraints(archetype: str) -> Mapping[str, Any]:
    """CONSTRAINTS of every task of an archetype."""
    return {"output_schema": archetypes()[archetype].answer.schema(), "allowed_limit_reasons": REASONS}


@functools.cache
def _form(archetype: str) -> str:
    """How the answer must look."""
    kind = archetypes()[archetype].answer
    schema = orjson.dumps(kind.schema()).decode()
    example = orjson.dumps({"status": "ok", "answer": kind.example()}).decode()
    return f"## Answer\nJSON schema of the answer: {schema}\nForm of the reply: {example}"
