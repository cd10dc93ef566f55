"""Phrases with parts in them: a voice says them, a grammar of voices finds every way in which a text may be one.

A key such as `figure sum` names what is said; its first word is the sort of text (`say` is a whole remark), its
templates are the ways to say it. Sorts that are no phrases (numbers, names, lines of the register) are terminals.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

SORTS: Mapping[str, str] = {
    **dict.fromkeys("fe", "figure"),
    **dict.fromkeys("nm", "number"),
    **dict.fromkeys("wo", "name"),
    **dict.fromkeys("lk", "line"),
    **dict.fromkeys("gh", "group"),
    "q": "quantity",
    "x": "times",
    "y": "part",
    "r": "rates",
    "z": "marks",
    "ls": "lines",
    "i": "item",
    "p": "place",
    "t": "thing",
    "s": "subject",
    "d": "day",
    "v": "worth",
    "c": "column",
}
"""What sort of text stands in a part of a template, by the part's name."""

_PART = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Voice:
    """A bank of phrasings, by what is said."""

    name: str
    phrases: Mapping[str, tuple[str, ...]] = field(hash=False)

    def say(self, rng: random.Random, key: str, **parts: str) -> str:
        """One of the ways to say it."""
        said = rng.choice(self.phrases[key]).format(**parts)
        return raised(said) if key.startswith("say ") else said


def raised(text: str) -> str:
    return text[:1].upper() + text[1:]


def lowered(text: str) -> str:
    return text[:1].lower() + text[1:]


@dataclass(frozen=True, slots=True)
class Tree:
    """One way to understand a text: what is said, and its parts. A terminal has no parts and holds its text."""

    key: str
    parts: Mapping[str, Tree] = field(default_factory=dict)
    text: str = ""


Terminal = Callable[[str], bool]
"""Whether a text may stand for a terminal sort."""

Join = Callable[[str], Iterator[list[str]]]
"""Every way to cut a list into its members."""


@dataclass(slots=True)
class Grammar:
    """What voices can say. `terminals` by sort; `lists` are sorts whose texts are members of another sort."""

    voices: Sequence[Voice]
    terminals: Mapping[str, Terminal]
    lists: Mapping[str, tuple[str, Join]]
    _known: dict[tuple[str, str], list[Tree]] = field(default_factory=dict)
    _rules: dict[str, list[tuple[str, tuple[str, ...]]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for voice in self.voices:
            for key, templates in voice.phrases.items():
                for template in templates:
                    self._rules.setdefault(key.partition(" ")[0], []).append((key, tuple(_PART.split(template))))

    def remark(self, text: str) -> list[Tree]:
        """Every way to understand a whole remark, whose first letter may have been raised."""
        return [*self.parses("say", text), *(self.parses("say", lowered(text)) if text != lowered(text) else ())]

    def parses(self, sort: str, text: str) -> list[Tree]:
        """Every way to understand a text as one of a sort."""
        known = self._known.get((sort, text))
        if known is None:
            known = self._known[sort, text] = list(self._parsed(sort, text))
        return known

    def _parsed(self, sort: str, text: str) -> Iterator[Tree]:
        if not text:
            return
        if sort in self.terminals and self.terminals[sort](text):
            yield Tree(sort, text=text)
        if sort in self.lists:
            member, join = self.lists[sort]
            for cut in join(text):
                found = [self.parses(member, part) for part in cut]
                if all(found):
                    yield Tree(sort, {str(place): trees[0] for place, trees in enumerate(found)}, text)
        for key, template in self._rules.get(sort, ()):
            for parts in _matches(template, text):
                yield from self._trees(key, parts, text)

    def _trees(self, key: str, parts: Sequence[tuple[str, str]], text: str) -> Iterator[Tree]:
        """The readings of a template's parts, in all combinations."""
        readings: list[dict[str, Tree]] = [{}]
        for name, said in parts:
            found = self.parses(SORTS[name], said)
            if not found:
                return
            readings = [{**before, name: tree} for before in readings for tree in found]
        for reading in readings:
            yield Tree(key, reading, text)


def _matches(template: Sequence[str], text: str) -> Iterator[list[tuple[str, str]]]:
    """Every way to lay a template over a text: `template` has words and names of parts in turn."""
    if not text.startswith(template[0]):
        return
    if len(template) == 1:
        if text == template[0]:
            yield []
        return
    if len(template) > 3 and not all(words in text for words in template[2::2]):
        return
    rest, name, words = text[len(template[0]) :], template[1], template[2]
    if len(template) == 3:
        if len(rest) > len(words) and rest.endswith(words):
            yield [(name, rest[: len(rest) - len(words)])]
        return
    start = rest.find(words, 1)
    while start > 0:
        for others in _matches(("", *template[3:]), rest[start + len(words) :]):
            yield [(name, rest[:start]), *others]
        start = rest.find(words, start + 1)
