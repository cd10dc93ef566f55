"""Shapes of replies: what can be answered at all, for a decoder that can be held to it.

A choice comes in two forms, a grammar under which the reply is the label itself, and a schema under which it is
`{"answer": label}`. A model keeps to the one that it can (`whet.types.Shape`), and both are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import orjson

from whet.envs.data.reply import Form, write_answer
from whet.types import Shape

ANSWER = "answer"
"""The only field of an object that stands for an answer."""

_HERE = "\x00"


def one_of(options: Iterable[str]) -> Shape:
    """Exactly one of these texts."""
    options = list(options)
    return replace(answer_of({"type": "string", "enum": options}), grammar=f"answer ::= {_any(options)}")


def some_of(labels: Sequence[str], none: str) -> Shape:
    """Some of these labels, each at most once and in their order; `none` stands for none of them."""
    rules = [f"answer ::= {_literal(none)} | from0"]
    for place, label in enumerate(labels[:-1]):
        rules.append(f'from{place} ::= {_literal(label)} (", " from{place + 1})? | from{place + 1}')
    rules.append(f"from{len(labels) - 1} ::= {_literal(labels[-1])}")
    schema = {"type": "array", "items": {"type": "string", "enum": list(labels)}}
    return replace(answer_of(schema), grammar="\n".join(rules))


def number_alone() -> Shape:
    """A number in digits."""
    grammar = 'answer ::= "-"? [0-9] [0-9]{0,14} ("." [0-9] [0-9]{0,9})?'
    return replace(answer_of({"type": "number"}), grammar=grammar)


def answer_of(schema: Mapping[str, Any]) -> Shape:
    """An object with an answer in it, which is what servers take a schema of."""
    return Shape(schema=object_of({ANSWER: schema}))


def object_of(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an object with exactly these fields."""
    return {
        "type": "object",
        "properties": dict(fields),
        "required": list(fields),
        "additionalProperties": False,
    }


def in_form(shape: Shape, form: Form) -> Shape:
    """The shape of a reply that holds the answer where `form` says."""
    if shape.grammar is None:
        return shape
    before, _, behind = write_answer(_HERE, form).partition(_HERE)
    around = [_literal(part) if part else "" for part in (before, behind)]
    return replace(shape, grammar=f"root ::= {around[0]} answer {around[1]}\n{shape.grammar}\n")


def as_data(shape: Shape) -> dict[str, Any]:
    """A shape as plain data, for a task to carry."""
    return asdict(shape)


def unwrapped(said: str) -> str:
    """The answer in an object that holds nothing else; the text itself where it is none."""
    try:
        found = orjson.loads(said)
    except ValueError:
        return said
    if not isinstance(found, dict) or set(found) != {ANSWER}:
        return said
    answer = found[ANSWER]
    return answer if isinstance(answer, str) else orjson.dumps(answer).decode()


def _any(options: Iterable[str]) -> str:
    return " | ".join(map(_literal, options))


def _literal(text: str) -> str:
    """A text as a grammar writes it."""
    signs = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return f'"{"".join(signs.get(letter, letter) for letter in text)}"'
