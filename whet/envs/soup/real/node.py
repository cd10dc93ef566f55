"""The reference of Node.js (MIT), as its packages install it: pages beside a JSON file each, which holds the truth."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from whet.envs.soup.real.item import RealItem

SOURCE = "node"
FOLDERS = ("share/doc/nodejs/api", "share/doc/nodejs-doc/api", "share/doc/node/api")

_HEADING = """
headings = [tag for tag in soup.find_all(["h2", "h3", "h4", "h5", "h6"]) if tag.code]
heading = next(tag for tag in headings if tag.code.get_text() == {name!r})
section = []
for tag in heading.find_next_siblings():
    if tag.name in ("h2", "h3", "h4", "h5", "h6", "section"):
        if section:
            break
    else:
        section.append(tag)
"""
_ADDED = """
metadata = next(tag for tag in section if "api_metadata" in tag.get("class", []))
answer = next(span.get_text() for span in metadata.find_all("span") if "Added in:" in span.get_text())
answer = answer.split(":", 1)[1].strip()
"""
_RETURNS = """
fields = next(tag for tag in section if tag.name == "ul")
item = next(li for li in fields.find_all("li", recursive=False) if li.get_text().strip().startswith("Returns:"))
answer = item.find("a", class_="type").get_text().strip("<>")
"""
_PARAMETERS = """
fields = next(tag for tag in section if tag.name == "ul")
items = fields.find_all("li", recursive=False)
answer = [li.code.get_text() for li in items if li.code and not li.get_text().strip().startswith("Returns:")]
"""


def items(prefix: Path) -> Iterator[RealItem]:
    for folder in FOLDERS:
        for file in sorted((prefix / folder).glob("*.html")):
            data = next((path for ending in (".json", ".json.gz") if (path := file.with_suffix(ending)).exists()), None)
            if data is not None and file.stem != "all":
                yield from _of_page(file, _read(data))


def _read(file: Path) -> Any:
    return json.loads(gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes())


def _entries(node: Any) -> Iterator[dict[str, Any]]:
    """Everything of a page that has a heading, however deep."""
    if isinstance(node, dict):
        if "textRaw" in node:
            yield node
        for value in node.values():
            yield from _entries(value)
    elif isinstance(node, list):
        for value in node:
            yield from _entries(value)


def _of_page(file: Path, data: Any) -> Iterator[RealItem]:
    entries = list(_entries(data))
    headings = Counter(entry["textRaw"] for entry in entries)
    for entry in entries:
        raw = entry["textRaw"]
        named = raw.startswith("`") and raw.endswith(")`") and raw.count("`") == 2
        if entry.get("type") == "method" and headings[raw] == 1 and named:
            yield from _of_method(file, raw.strip("`"), entry)


def _of_method(file: Path, name: str, method: dict[str, Any]) -> Iterator[RealItem]:
    text = partial(file.read_text, encoding="utf-8")
    heading = _HEADING.format(name=name)
    added = method.get("meta", {}).get("added", [])
    if len(added) == 1:
        query = f"In which version of Node.js was `{name}` added? Give the version as the page writes it."
        yield RealItem(SOURCE, file.stem, "added", query, "text", added[0], heading + _ADDED, text, file)
    signature = (method.get("signatures") or [{}])[0]
    given = signature.get("return", {}).get("type", "")
    if given and given.isidentifier():
        query = f"Which type does `{name}` return? Give its name without angle brackets."
        yield RealItem(SOURCE, file.stem, "returns", query, "text", given, heading + _RETURNS, text, file)
    takes = signature.get("params", [])
    if len(takes) > 1 and all(
        part.get("textRaw", "").startswith(f"`{part['name']}`") and part["name"] in name.partition("(")[2]
        for part in takes
    ):
        query = f"Which parameters does `{name}` list? Give their names, in order, without what is nested in them."
        answer = tuple(str(part["name"]) for part in takes)
        yield RealItem(SOURCE, file.stem, "parameters", query, "texts", answer, heading + _PARAMETERS, text, file)
