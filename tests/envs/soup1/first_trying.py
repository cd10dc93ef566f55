"""An archetype's oracle run in this process, under any parser: for tests that look at many tasks."""

from __future__ import annotations

import contextlib
import io
import json
import random
import re
from typing import Any

import bs4

from whet.envs.soup1.archetype import Archetype, TaskDraft

PARSERS = ("html.parser", "lxml", "html5lib")


def drawn(archetype: Archetype, seed: int) -> TaskDraft:
    return archetype.draw(random.Random(seed))


def run(code: str, html: str, query: str = "", parser: str = "html.parser") -> Any:
    """What a program of the oracle prints, decoded."""

    def make_soup(features: str = parser) -> bs4.BeautifulSoup:
        return bs4.BeautifulSoup(html, features)

    names = {
        "HTML": html,
        "QUERY": query,
        "CONSTRAINTS": {},
        "make_soup": make_soup,
        "json": json,
        "re": re,
        **{name: getattr(bs4, name) for name in ("BeautifulSoup", "NavigableString", "Tag", "Comment")},
    }
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "oracle", "exec"), names)
    return json.loads(out.getvalue())


def solved(draft: TaskDraft, built: dict[str, str], parser: str = "html.parser") -> Any:
    """The oracle's last words, after it went from page to page: {"answer": ...} or {"limit": {...}}."""
    here, kept, said = "", [], {}
    for code in draft.code:
        said = run(f"KEPT = {kept!r}\n{code}", built[here], draft.query, parser)
        kept.append(said.get("keep"))
        here = said.get("go", here)
    return said
