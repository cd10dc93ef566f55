"""Replies that no honest model gives, and some that only look wrong: what a grader must survive with a score."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from whet.types import MalformedCall, Reply, ToolCall

_TEXTS = (
    "",
    " \n\t ",
    "nan",
    "NaN",
    "-inf",
    "[NaN, Infinity, -Infinity]",
    "1e999999999",
    "9" * 5000,
    "-" * 300 + "1",
    "٣ ½ ² Ⅷ",
    "\u202e‮‏ right to left \u200b",
    "a\ud800b\udfff",
    "\x00\x07\x1b[31m\x7f",
    "e\u0301\u0301" * 50,
    "null",
    "None",
    "true",
    "{}",
    "[]",
    '{"a": [1, 2, {"b": null}]}',
    '{"a": ',
    "[" * 3000,
    "(" * 3000 + ")" * 3000,
    "<answer>",
    "</answer><answer></answer>",
    "<answer><answer>x</answer></answer>",
    "Answer:",
    "Answer: Answer: Answer:",
    "```python\nprint(1)\n```",
    "__import__('os').getcwd()",
    "().__class__.__bases__[0].__subclasses__()",
    "9**9**9**9",
    "1/0",
    "'; DROP TABLE tasks; --",
    "%s%n{0}{}",
    "\\",
    "A" * 200_000,
    "0 " * 50_000,
)


def nasty_replies(rng: random.Random, right: str = "") -> Iterator[Reply]:
    """Replies that may break a grader; `right` is a correct one, of which damaged copies are made."""
    for text in _TEXTS:
        yield Reply(text)
    for text in damaged(rng, right) if right else ():
        yield Reply(text)
    junk = "".join(chr(rng.choice((rng.randrange(32, 127), rng.randrange(0x110000)))) for _ in range(200))
    yield Reply(junk)
    yield Reply(right[: len(right) // 2], finish="length")
    yield Reply("", finish="filter")
    yield Reply(right, calls=(ToolCall("c1", "no_such_tool", {"x": [None]}, '{"x": [null]}'),), finish="tool_calls")
    yield Reply("", calls=(ToolCall("", "", {}),), finish="tool_calls")
    bad = MalformedCall("c2", "run", '{"x": ', "bad_json", "the arguments are not JSON")
    yield Reply("", malformed=(bad,), finish="tool_calls")
    yield Reply(right, malformed=(MalformedCall("", "", right, "prose", "no call was made"),))


def damaged(rng: random.Random, right: str) -> Iterator[str]:
    """Copies of a correct reply: cut, doubled, reordered, with numbers blown up, in other scripts, with noise in it."""
    cut = rng.randrange(len(right) + 1)
    yield right[:cut]
    yield right + "\n" + right
    yield right[::-1]
    yield " ".join(rng.sample(right.split(), len(right.split())))
    yield re.sub(r"\d+", "999999999", right)
    yield re.sub(r"\d+", lambda found: "-" + found[0], right)
    yield right.translate({ord("0") + digit: chr(0x0660 + digit) for digit in range(10)})
    yield right.upper()
    yield right[:cut] + chr(rng.randrange(0x20, 0x2FF)) + right[cut:]
    yield right.replace("\n", "\r\n")
    yield re.sub(r"(?<=\D)\d+(?=\D)", "nan", right)
