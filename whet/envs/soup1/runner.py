"""The program around a policy's program: gives it the page, and sees what it does with BeautifulSoup.

This file is sent to the sandbox as text. What it saw goes to a file, not to the output: whether
a soup was made of the page, whether something was found in it, and whether something was read from it.
"""

from __future__ import annotations

import functools
import json
import linecache
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup
from bs4.css import CSS
from bs4.element import Comment, NavigableString, PageElement, Tag

GIVEN = "given.json"
SEEN = "seen.json"
MAIN = "program.py"


class PageWatch:
    """What was seen. Only what happens in a soup made of the page counts, and only after the soup is made."""

    def __init__(self, page: str) -> None:
        self.page = page
        self.soups: list[Any] = []
        self.seen = {"found": False, "read": False}
        self.inside = 0
        """How many watched calls are under way: what the library does within one of them is not the policy's doing."""

    def made(self, soup: Any, markup: Any) -> None:
        text = markup.decode("utf-8", "replace") if isinstance(markup, bytes) else markup
        if isinstance(text, str) and text.strip() and (text in self.page or 2 * len(text) >= len(self.page)):
            self.soups.append(soup)

    def note(self, what: str, node: Any) -> None:
        if self.inside or self.seen[what] or not self.soups:
            return
        while node.parent is not None:
            node = node.parent
        self.seen[what] = any(node is soup for soup in self.soups)

    def method(self, owner: Any, name: str, what: str, node: Callable[[Any], Any] = lambda self: self) -> None:
        """Notes each call of a method that comes to something."""
        original: Callable[..., Any] = getattr(owner, name)

        @functools.wraps(original)
        def watched(this: Any, *args: Any, **kwargs: Any) -> Any:
            self.inside += 1
            try:
                result = original(this, *args, **kwargs)
            finally:
                self.inside -= 1
            if result:
                self.note(what, node(this))
            return result

        setattr(owner, name, watched)

    def walk(self, owner: Any, name: str, what: str) -> None:
        """Notes what a method or property yields."""
        member = vars(owner)[name]
        original: Any = member.fget if isinstance(member, property) else member

        @functools.wraps(original)
        def watched(this: Any, *args: Any, **kwargs: Any) -> Any:
            for element in original(this, *args, **kwargs):
                self.note(what, this)
                yield element

        setattr(owner, name, property(watched) if isinstance(member, property) else watched)


def instrument(watch: PageWatch) -> None:
    """Watches the places through which everything goes that BeautifulSoup finds and gives out."""
    create = BeautifulSoup.__init__

    @functools.wraps(create)
    def made(self: Any, markup: Any = "", *args: Any, **kwargs: Any) -> None:
        text = markup.read() if hasattr(markup, "read") else markup
        create(self, text, *args, **kwargs)
        watch.made(self, text)

    BeautifulSoup.__init__ = made  # type: ignore[method-assign]
    watch.method(PageElement, "_find_all", "found")
    for name in ("select", "select_one"):
        watch.method(CSS, name, "found", lambda css: css.tag)
    for name in ("children", "descendants", "__iter__"):
        watch.walk(Tag, name, "found")
    watch.walk(Tag, "_all_strings", "read")
    for name in ("get", "__getitem__", "decode", "encode", "prettify"):
        watch.method(Tag, name, "read")
    single = vars(Tag)["string"]

    def string(self: Any) -> Any:
        value = single.fget(self)
        if value:
            watch.note("read", self)
        return value

    Tag.string = property(string, single.fset)  # type: ignore[assignment,method-assign]


def run(code: str, names: dict[str, Any]) -> None:
    """Runs the program as `python program.py` would; its traceback begins at its own lines."""
    linecache.cache[MAIN] = (len(code), None, code.splitlines(keepends=True), MAIN)
    try:
        exec(compile(code, MAIN, "exec", dont_inherit=True), names)
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 - it is the policy's program; it is told what went wrong
        trace = error.__traceback__
        traceback.print_exception(type(error), error, trace.tb_next if trace else None)
        sys.exit(1)


def main() -> None:
    given = json.loads(Path(GIVEN).read_text("utf-8"))
    Path(GIVEN).unlink()
    html: str = given["html"]
    watch = PageWatch(html)
    instrument(watch)

    def make_soup(parser: str = "html.parser") -> BeautifulSoup:
        return BeautifulSoup(html, parser)

    names: dict[str, Any] = {"__name__": "__main__", "make_soup": make_soup, "re": re, "json": json}
    names |= {"HTML": html, "QUERY": given["query"], "CONSTRAINTS": given["constraints"]}
    names |= {kind.__name__: kind for kind in (BeautifulSoup, NavigableString, Tag, Comment)}
    try:
        run(given["code"], names)
    finally:
        seen = {"seal": given["seal"], "made": bool(watch.soups), **watch.seen}
        Path(SEEN).write_text(json.dumps(seen), "utf-8")


if __name__ == "__main__":
    main()
