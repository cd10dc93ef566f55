"""The manual of npm (Artistic-2.0), as Node.js installs it: web pages, and man pages which hold the truth."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from whet.envs.soup.real.item import RealItem

SOURCE = "npm"
FOLDER = "lib/node_modules/npm"

_ABOUT = 'answer = soup.find("header", class_="title").find(class_="description").get_text()'
_DEFAULT = """
heading = next(tag for tag in soup.find_all("h4") if tag.get_text() == {name!r})
items = [li.get_text() for li in heading.find_next_sibling("ul").find_all("li")]
answer = next(text for text in items if text.startswith("Default:")).split(":", 1)[1].strip()
"""
_SETTINGS = """
heading = next(tag for tag in soup.find_all("h3") if tag.get_text() == "Configuration")
answer = []
for tag in heading.find_next_siblings():
    if tag.name == "h3":
        break
    if tag.name == "h4":
        answer.append(tag.get_text())
"""


def items(prefix: Path) -> Iterator[RealItem]:
    for file in sorted((prefix / FOLDER / "docs/output/commands").glob("*.html")):
        manual = prefix / FOLDER / "man/man1" / f"{file.stem}.1"
        if manual.exists():
            yield from _of_page(file, manual.read_text(encoding="utf-8"))


def plain(text: str) -> str:
    """The text of a line of a man page."""
    text = re.sub(r"\\f[A-Z]", "", text).replace("\\[lB]", "[").replace("\\[rB]", "]")
    return text.replace("\\-", "-").replace("\\.", ".").replace("\\(aq", "'").replace("\\(dq", '"').replace("\\&", "")


def _of_page(file: Path, manual: str) -> Iterator[RealItem]:
    text = partial(file.read_text, encoding="utf-8")
    about = re.search(r'^\.SH "NAME"\n\\fB[^\n]*?\\fR - (.+)$', manual, re.MULTILINE)
    if about and "\\" not in plain(about[1]):
        query = f"What does the page say in one line that `{file.stem.replace('-', ' ', 1)}` does, under its title?"
        yield RealItem(SOURCE, file.stem, "about", query, "text", plain(about[1]), _ABOUT, text, file)
    settings = re.search(r'^\.SS "Configuration"$(.*?)(?=^\.S[HS] "[^\\]|\Z)', manual, re.MULTILINE | re.DOTALL)
    if settings is None:
        return
    found = re.findall(r'^\.SS "\\fB([\w-]+)\\fR"\n\.RS 0\n\.IP \\\(bu 4\nDefault: (.+)$', settings[1], re.MULTILINE)
    names = re.findall(r'^\.SS "\\fB([\w-]+)\\fR"$', settings[1], re.MULTILINE)
    for name, default in found:
        if names.count(name) == 1 and "\\" not in plain(default):
            query = f"What is the default of the setting `{name}`, as the page gives it?"
            oracle = _DEFAULT.format(name=name)
            yield RealItem(SOURCE, file.stem, "default", query, "text", plain(default), oracle, text, file)
    if len(names) > 3:
        query = "Which settings does the page describe under its heading for configuration? Give their names in order."
        yield RealItem(SOURCE, file.stem, "settings", query, "texts", tuple(names), _SETTINGS, text, file)
