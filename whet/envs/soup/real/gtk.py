"""The reference of libxslt (MIT), as its development package installs it: pages, and an index which holds the truth."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

from whet.envs.soup.real.item import RealItem

SOURCE = "gtk"
BOOKS = ("share/doc/libxslt1-dev/gtk-doc/html", "share/gtk-doc/html")
LICENSED = ("libxslt", "libexslt")
"""Books whose licence is known to be permissive."""

_KEYWORD = "{http://www.devhelp.net/book}keyword"
_ORACLE = """
texts = [" ".join(heading.get_text().split()) for heading in soup.find_all("h3")]
told = [text for text in texts if text.endswith("()") or text.startswith("Function type")]
answer = [text.removesuffix("()").split()[-1] for text in told]
"""


def items(prefix: Path) -> Iterator[RealItem]:
    for folder in BOOKS:
        for name in LICENSED:
            index = prefix / folder / name / f"{name}.devhelp2"
            if index.exists():
                yield from _of_book(index)


def _of_book(index: Path) -> Iterator[RealItem]:
    found: dict[str, set[str]] = {}
    for keyword in ElementTree.parse(index).iter(_KEYWORD):
        page, _, name = keyword.get("link", "").partition("#")
        if keyword.get("type") == "function":
            found.setdefault(page, set()).add(name)
    query = "Which functions and function types does the page describe? Names alone, without brackets, in any order."
    for page, names in sorted(found.items()):
        file = index.parent / page
        if len(names) > 1 and file.exists():
            text = partial(file.read_text, encoding="utf-8", errors="replace")
            yield RealItem(SOURCE, file.stem, "functions", query, "set", tuple(sorted(names)), _ORACLE, text, file)
