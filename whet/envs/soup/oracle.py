"""What the oracle's programs begin with: reading the spellings of a value, and the labels of a region.

An oracle knows the classes of its site and nothing of a page. It is a BeautifulSoup program like any policy's, runs in
the same sandbox, and comes to the same under every parser; `PARSER` is the one it uses.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence

from whet.envs.soup.site import Half
from whet.envs.soup.traits import Trait

PRELUDE = r"""
PARSER = "html.parser"
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
def text(shown):
    return " ".join(shown.split())
def money(shown):
    return float(re.sub(r"[^\d.]", "", shown))
def number(shown):
    found = float(re.search(r"\d[\d,]*(?:\.\d+)?", shown).group().replace(",", ""))
    return int(found) if found.is_integer() else found
def day(shown):
    iso = re.search(r"\d{4}-\d\d-\d\d", shown)
    if iso:
        return iso.group()
    month = MONTHS.index(re.search(r"[A-Za-z]{3}", shown).group().lower()) + 1
    year = re.search(r"\d{4}", shown).group()
    date = re.search(r"\b\d{1,2}\b", shown.replace(year, "")).group()
    return "%s-%02d-%02d" % (year, month, int(date))
def read(trait, shown):
    key, sort, labels, yes = trait
    shown = text(shown)
    if not shown:
        return None
    return shown == yes if sort == "flag" else READ[sort](shown)
def soup_of(html):
    return BeautifulSoup(html, PARSER)
def same(label, labels):
    return text(label).rstrip(": ").casefold() in [known.casefold() for known in labels]
def pairs(box):
    values = box.find_all(class_=VALUE)
    labels = [label.get_text() for label in box.find_all(class_=LABEL)]
    return zip(labels or [value[MARK] for value in values], values)
def by_label(box, trait):
    for label, value in pairs(box):
        if same(label, trait[2]):
            return read(trait, value.get_text(" "))
    return None
def by_class(box, trait):
    found = box.find(class_=CLASSES[trait[0]])
    if found is None:
        return None
    for cue in found.find_all(class_=CUE):
        cue.extract()
    return read(trait, found.get_text(" "))
def record(box):
    return {trait[0]: FIND(box, trait) for trait in TRAITS}
def rows(box):
    if CLASSES:
        return [record(card) for card in box.find_all(class_=ROW)]
    if box.find("thead"):
        heads = [head.get_text() for head in box.find("thead").find_all("th")]
    else:
        heads = [cell[MARK] for cell in box.find(class_=ROW).find_all("td")]
    order = [next(trait for trait in TRAITS if same(head, trait[2])) for head in heads]
    made = []
    for line in box.find_all(class_=ROW):
        cells = line.find_all("td")
        made.append({trait[0]: read(trait, cell.get_text(" ")) for trait, cell in zip(order, cells)})
    return made
"""


def names_of(traits: Sequence[Trait], half: Half, classes: Mapping[str, str], **keys: str) -> str:
    """The names that the prelude wants: traits, what reads them, their classes where a region has no labels."""
    sorts = dict.fromkeys([trait.sort for trait in traits if trait.sort != "flag"])
    lines = [f"TRAITS = [{', '.join([trait.told(half) for trait in traits])}]"]
    lines.append(f"READ = {{{', '.join([f'{sort!r}: {sort}' for sort in sorts])}}}")
    lines += [f"CLASSES = {dict(classes)!r}", f"FIND = {'by_class' if classes else 'by_label'}"]
    return "\n".join(lines + [f"{name} = {value!r}" for name, value in keys.items()])


_NAME = re.compile(r"[A-Za-z_]+")
_PARTS: Mapping[str, str] = {
    match[1]: match[0] for match in re.finditer(r"^(?:def )?(\w+)\b.*\n(?:[ ].*\n)*", PRELUDE, re.MULTILINE)
}
"""The prelude by what is defined, in its order."""


@functools.lru_cache(maxsize=256)
def _needed(named: frozenset[str]) -> str:
    """The parts of the prelude that these names need, and those that they need."""
    found: set[str] = set()
    left = set(named)
    while left:
        found |= left
        left = {name for known in left for name in _NAME.findall(_PARTS[known]) if name in _PARTS} - found
    return "".join([code for name, code in _PARTS.items() if name in found])


def program(names: str, body: str) -> str:
    """A program whose `extract` has this body; it is given `soup`. Of the prelude it has what it needs."""
    inner = "\n".join([f"    {line}" for line in body.strip().splitlines()])
    named = frozenset([name for name in _NAME.findall(f"{names} {body}") if name in _PARTS])
    return f"{_needed(named | {'soup_of'})}{names}\ndef extract(html):\n    soup = soup_of(html)\n{inner}\n".lstrip()
