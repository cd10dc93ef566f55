"""Real pages with answers from elsewhere: whether what was learnt on generated pages carries over. Never trained on.

Pages are the documentation that packages installed on this machine, under permissive licences, read when they are asked
for and never copied. Answers come from another source than the page: an index, a JSON file, a man page, `inspect`.

| source | pages | answers | from |
|---|---|---|---|
| `python` | what `pydoc` writes of the standard library | `inspect` | every Python |
| `node` | the reference of Node.js | a JSON file beside each page | the package `nodejs` of NodeSource |
| `npm` | the manual of npm | its man pages | any Node.js |
| `gtk` | the reference of libxslt | its index | Debian's `libxslt1-dev` |

So every machine has at least `python`, and another machine or version has other tasks: figures name their sources and
`digest()`.
"""

from __future__ import annotations

import hashlib
import random
import shutil
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from whet.envs.soup.real import gtk, library, node, npm
from whet.envs.soup.real.item import RealItem

__all__ = ["HOW", "RealItem", "RealSplit", "files", "real_items"]

HOW = (
    "only Python's own pages are installed here; for more real pages: apt install nodejs libxslt1-dev "
    "(nodejs of NodeSource carries its reference)"
)
"""What to tell a user where the other sources are missing."""

A_PAGE = 3
"""Questions of one kind about one page, at most: else the settings of one manual would be half of the split."""


def prefixes() -> tuple[Path, ...]:
    """Where packages put documentation: the system, and where the Node.js is that is run here."""
    found = [Path("/usr"), Path("/usr/local"), Path("/opt/homebrew"), Path(sys.prefix)]
    program = shutil.which("node")
    if program:
        found.append(Path(program).resolve().parent.parent)
    return tuple(dict.fromkeys(found))


@cache
def real_items() -> tuple[RealItem, ...]:
    """All questions, at most `A_PAGE` of a kind and page, in an order in which any prefix is a sample."""
    every = [*library.items()]
    for prefix in prefixes():
        for source in (node, npm, gtk):
            every += source.items(prefix)
    kept: dict[tuple[str, str, str], dict[str, RealItem]] = {}
    for item in sorted(every, key=lambda item: hashlib.sha256(item.query.encode()).digest()):
        group = kept.setdefault((item.source, item.page, item.ask), {})
        if len(group) < A_PAGE:
            group.setdefault(item.query, item)
    chosen = [item for key in sorted(kept) for item in kept[key].values()]
    random.Random("real").shuffle(chosen)
    return tuple(_balanced(chosen))


def _balanced(items: Sequence[RealItem]) -> list[RealItem]:
    """In turn of each kind of question, as long as there are such."""
    queues: dict[tuple[str, str], list[RealItem]] = {}
    for item in items:
        queues.setdefault((item.source, item.ask), []).append(item)
    order = [(place / len(queue), *key) for key, queue in sorted(queues.items()) for place in range(len(queue))]
    return [queues[source, ask].pop() for _, source, ask in sorted(order)]


def files() -> tuple[Path, ...]:
    """The pages that lie on this machine."""
    return tuple(sorted({item.file for item in real_items() if item.file is not None}))


class RealSplit:
    """The real questions as a split: sized, labelled, and with a digest that says which ones they are."""

    def size(self) -> int:
        return len(real_items())

    def item(self, index: int) -> RealItem:
        return real_items()[index]

    def label(self, index: int) -> tuple[str, str]:
        """Kind and difficulty."""
        return real_items()[index].label

    def sources(self) -> tuple[str, ...]:
        return tuple(sorted({item.source for item in real_items()}))

    def digest(self) -> str:
        said = "\0".join(f"{item.query}\0{item.answer}" for item in real_items())
        return hashlib.sha256(said.encode()).hexdigest()
