"""Elements written as sites write them: attributes in any order, either quote, and words around the question."""

from __future__ import annotations

import random
from collections.abc import Sequence

from whet.envs.soup1.words import pick

SINGLE_QUOTED = 0.12
"""Share of elements whose attributes stand in single quotes."""

BLOCKS = ("div", "section", "article")


def element(rng: random.Random, tag: str, inner: str, *attributes: tuple[str, str]) -> str:
    """An element; its attributes, which hold no quotes, in an order that is drawn."""
    return f"<{tag}{spelled(rng, attributes)}>{inner}</{tag}>"


def void(rng: random.Random, tag: str, *attributes: tuple[str, str], flag: str = "") -> str:
    """An element without content, such as an input; `flag` is an attribute without value, such as `required`."""
    return f"<{tag}{spelled(rng, attributes)}{' ' + flag if flag else ''}>"


def spelled(rng: random.Random, attributes: Sequence[tuple[str, str]]) -> str:
    """Attributes as they stand in a tag, each after a space."""
    turn = int(rng.random() * len(attributes)) if attributes else 0
    quote = "'" if rng.random() < SINGLE_QUOTED else '"'
    ordered = (*attributes[turn:], *attributes[:turn])
    return "".join([f" {name}={quote}{value}{quote}" for name, value in ordered])


def asked(rng: random.Random, forms: Sequence[str], **facts: object) -> str:
    """One of the wordings of a question, with its facts put in."""
    return pick(rng, forms).format(**facts)


def answered(expression: str, *steps: str) -> str:
    """A program of the oracle: `steps` on a soup, then the answer printed."""
    lines = ("soup = make_soup()", *steps, f'print(json.dumps({{"answer": {expression}}}))')
    return "\n".join(lines)


def mixed(rng: random.Random, parts: Sequence[str]) -> tuple[str, ...]:
    """The parts in an order that is drawn."""
    return tuple(rng.sample(parts, len(parts)))
