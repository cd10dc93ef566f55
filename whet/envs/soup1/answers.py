"""Kinds of answers: what shape an answer must have, when two are the same, and how much of one is right.

An answer is decoded once, from the JSON that the policy wrote, and compared by kind: a text is compared as a text even
where it looks like a number.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Protocol

MOST_DIGITS = 18
_PRICE = re.compile(r"(?P<sign>-?)\s*(?P<symbol>[$£€]?)\s*(?P<minus>-?)(?P<amount>\d{1,12}(?:,\d{3})*(?:\.\d{1,4})?)")
_SIGNED = re.compile(rf"[+-]?\d{{1,{MOST_DIGITS}}}")


class AnswerKind(Protocol):
    """One kind of answer."""

    def problem(self, said: Any) -> str:
        """Why `said` does not have this shape, or ''."""
        ...

    def reading(self, value: Any) -> Any:
        """A sound value as it is compared: hashable, equal exactly when two answers are the same."""
        ...

    def credit(self, said: Any, truth: Any) -> float:
        """How much of a sound, wrong answer is right, from 0 to 1: parts of lists and records."""
        ...

    def schema(self) -> dict[str, Any]:
        """The shape as a JSON schema, for the policy."""
        ...

    def example(self) -> Any:
        """An answer of this shape, for the policy."""
        ...


def tidy(text: str) -> str:
    """A text as it is compared: composed characters, single spaces, none at the ends."""
    return unicodedata.normalize("NFC", " ".join(text.split()))


@dataclass(frozen=True, slots=True)
class Text:
    """A text. A number is read as the text that Python prints for it."""

    def problem(self, said: Any) -> str:
        return "" if isinstance(said, str) or _is_number(said) else f"a string, not {_type(said)}"

    def reading(self, value: Any) -> Any:
        return tidy(value if isinstance(value, str) else repr(value))

    def credit(self, said: Any, truth: Any) -> float:
        return 0.0

    def schema(self) -> dict[str, Any]:
        return {"type": "string"}

    def example(self) -> Any:
        return "text"


@dataclass(frozen=True, slots=True)
class Money:
    """An amount of money as the page shows it, such as "$12.50"; a number, or a text without the sign, will do."""

    def problem(self, said: Any) -> str:
        return "" if isinstance(said, str) or _is_number(said) else f"a price as a string, not {_type(said)}"

    def reading(self, value: Any) -> Any:
        text = tidy(value) if isinstance(value, str) else repr(value)
        found = _PRICE.fullmatch(text)
        if found is None:
            return text
        amount = Decimal(found["amount"].replace(",", ""))
        return -amount if found["sign"] or found["minus"] else amount

    def credit(self, said: Any, truth: Any) -> float:
        return 0.0

    def schema(self) -> dict[str, Any]:
        return {"type": "string"}

    def example(self) -> Any:
        return "$12.50"


@dataclass(frozen=True, slots=True)
class Integer:
    """A whole number; digits in a string will do."""

    def problem(self, said: Any) -> str:
        whole = _is_number(said) and abs(said) < 10**MOST_DIGITS and float(said).is_integer()
        digits = isinstance(said, str) and _SIGNED.fullmatch(said.strip()) and said.strip().isascii()
        return "" if whole or digits else f"an integer, not {_type(said)}"

    def reading(self, value: Any) -> Any:
        return int(value)

    def credit(self, said: Any, truth: Any) -> float:
        return 0.0

    def schema(self) -> dict[str, Any]:
        return {"type": "integer"}

    def example(self) -> Any:
        return 3


@dataclass(frozen=True, slots=True)
class Boolean:
    """true or false, and nothing that only counts as one."""

    def problem(self, said: Any) -> str:
        return "" if isinstance(said, bool) else f"a boolean, not {_type(said)}"

    def reading(self, value: Any) -> Any:
        return ("boolean", value)

    def credit(self, said: Any, truth: Any) -> float:
        return 0.0

    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}

    def example(self) -> Any:
        return True


@dataclass(frozen=True, slots=True)
class Nullable:
    """A value that may be missing."""

    inner: AnswerKind

    def problem(self, said: Any) -> str:
        return "" if said is None else self.inner.problem(said)

    def reading(self, value: Any) -> Any:
        return None if value is None else self.inner.reading(value)

    def credit(self, said: Any, truth: Any) -> float:
        return 0.0

    def schema(self) -> dict[str, Any]:
        inner = self.inner.schema()
        return {**inner, "type": [inner["type"], "null"]}

    def example(self) -> Any:
        return self.inner.example()


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list; with `ordered` its order counts."""

    item: AnswerKind
    ordered: bool = True

    def problem(self, said: Any) -> str:
        if not isinstance(said, list):
            return f"an array, not {_type(said)}"
        for number, item in enumerate(said):
            if problem := self.item.problem(item):
                return f"{problem} (item {number})"
        return ""

    def reading(self, value: Any) -> Any:
        items = [self.item.reading(item) for item in value]
        return tuple(items) if self.ordered else frozenset(Counter(items).items())

    def credit(self, said: Any, truth: Any) -> float:
        """F1 of the items, repeated ones counted."""
        ours, true = (Counter(self.item.reading(item) for item in side) for side in (said, truth))
        total = ours.total() + true.total()
        return 2.0 * (ours & true).total() / total if total else 0.0

    def schema(self) -> dict[str, Any]:
        return {"type": "array", "items": self.item.schema()}

    def example(self) -> Any:
        return [self.item.example()]


@dataclass(frozen=True, slots=True)
class RecordOf:
    """An object with these keys, all required. `aliases` are other names of a key that will do."""

    fields: Mapping[str, AnswerKind]
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Other name to key."""

    def problem(self, said: Any) -> str:
        if not isinstance(said, dict):
            return f"an object, not {_type(said)}"
        named = self._named(said)
        for key, kind in self.fields.items():
            if key not in named:
                return f"an object with the key {key!r}"
            if problem := kind.problem(named[key]):
                return f"{problem} (key {key!r})"
        unknown = [key for key in named if key not in self.fields]
        return f"an object without the key {unknown[0][:40]!r}" if unknown else ""

    def reading(self, value: Any) -> Any:
        named = self._named(value)
        return tuple(kind.reading(named[key]) for key, kind in self.fields.items())

    def credit(self, said: Any, truth: Any) -> float:
        """The share of keys that are right."""
        pairs = zip(self.reading(said), self.reading(truth), strict=True)
        return sum(1 for ours, true in pairs if ours == true) / len(self.fields)

    def schema(self) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": {key: kind.schema() for key, kind in self.fields.items()},
            "required": list(self.fields),
        }

    def example(self) -> Any:
        return {key: kind.example() for key, kind in self.fields.items()}

    def _named(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """The object under our own names; a key that is there already is not overwritten by an alias."""
        named = {key: value for key, value in said.items() if key not in self.aliases}
        for key, value in said.items():
            named.setdefault(self.aliases.get(key, key), value)
        return named


def same(kind: AnswerKind, said: Any, truth: Any) -> bool:
    """Whether a sound answer is the true one."""
    return bool(kind.reading(said) == kind.reading(truth))


def _is_number(value: Any) -> bool:
    if isinstance(value, int):
        return not isinstance(value, bool)
    return isinstance(value, float) and math.isfinite(value)


def _type(value: Any) -> str:
    names = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
