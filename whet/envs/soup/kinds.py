"""Kinds of answers: what shape each has, and when two answers are the same.

There is one kind for money and one for numbers, wherever they stand: an amount is compared in cents, so `1689.2`,
`"$1,689.20"` and `1689.2000000000003` are one amount everywhere. A text is compared as a text even where it looks
like a number. Every kind takes `null` where its author says that a page may leave the value out.
"""

from __future__ import annotations

import contextlib
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Protocol

import orjson

_LARGEST = 10.0**13
"""Amounts below this are told apart to the cent by a float."""
_WIDEST = sys.float_info.max
_CURRENCY = re.compile(r"[$€£¥]|\b(?:USD|EUR|GBP|JPY|CHF)\b", re.IGNORECASE)
_PLAIN = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][+-]?\d{1,2})?")
_TRUTHS: Mapping[str, bool] = {"true": True, "false": False}


class AnswerForm(Protocol):
    """One kind of answer. `reading` of two answers is equal exactly when both are sound and they are the same."""

    def problem(self, said: Any) -> str:
        """Why `said` does not have this shape, or ''."""
        ...

    def reading(self, value: Any) -> Any: ...

    def credit(self, said: Any, truth: Any) -> float:
        """How much of a sound, wrong answer is right, from 0 to 1."""
        ...

    def schema(self) -> dict[str, Any]: ...

    def example(self) -> Any: ...


def tidy(text: str) -> str:
    """A text as it is compared: composed characters, single spaces, none at the ends."""
    plain = " ".join(text.split())
    return plain if plain.isascii() else unicodedata.normalize("NFC", plain)


@dataclass(frozen=True, slots=True)
class ValueForm:
    """A single value: what the kinds below share."""

    missing: bool = False
    """Whether a page may leave it out, which is told by null."""

    def problem(self, said: Any) -> str:
        if said is None:
            return "" if self.missing else f"{self.noun()}, not null"
        return "" if self.read(said) is not None else f"{self.noun()}, not {_shown(said)}"

    def reading(self, value: Any) -> Any:
        if value is None:
            return None if self.missing else object()
        found = self.read(value)
        return object() if found is None else found

    def credit(self, said: Any, truth: Any) -> float:
        return 0.0

    def schema(self) -> dict[str, Any]:
        return {"type": [self.type(), "null"] if self.missing else self.type(), **self.more()}

    def noun(self) -> str:
        raise NotImplementedError

    def type(self) -> str:
        return "string"

    def more(self) -> dict[str, Any]:
        return {}

    def read(self, said: Any) -> Any:
        """The value as it is compared, or None where it is not of this kind."""
        raise NotImplementedError

    def example(self) -> Any:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class TextForm(ValueForm):
    """A text; a number stands for the text that Python prints for it."""

    def noun(self) -> str:
        return "a string"

    def read(self, said: Any) -> Any:
        if isinstance(said, str):
            return tidy(said)
        return repr(said) if _is_number(said) else None

    def example(self) -> Any:
        return "text"


@dataclass(frozen=True, slots=True)
class MoneyForm(ValueForm):
    """An amount of money, in cents: a number, or a text with or without currency and thousands separators."""

    def noun(self) -> str:
        return "an amount of money as a number"

    def type(self) -> str:
        return "number"

    def read(self, said: Any) -> Any:
        amount = _amount(_CURRENCY.sub(" ", said) if isinstance(said, str) else said)
        return None if amount is None else round(amount * 100)

    def example(self) -> Any:
        return 12.5


@dataclass(frozen=True, slots=True)
class NumberForm(ValueForm):
    """A number, whole or not; a text of its digits will do."""

    def noun(self) -> str:
        return "a number"

    def type(self) -> str:
        return "number"

    def read(self, said: Any) -> Any:
        amount = _amount(said)
        return None if amount is None else round(amount, 6)

    def example(self) -> Any:
        return 3


@dataclass(frozen=True, slots=True)
class DayForm(ValueForm):
    """A day, as YYYY-MM-DD; a time behind it is let go."""

    def noun(self) -> str:
        return "a date as YYYY-MM-DD"

    def more(self) -> dict[str, Any]:
        return {"format": "date"}

    def read(self, said: Any) -> Any:
        found = re.fullmatch(r"(\d{4}-\d\d-\d\d)(?:[T ][\d:.+Z-]+)?", said.strip()) if isinstance(said, str) else None
        try:
            return date.fromisoformat(found[1]) if found else None
        except ValueError:
            return None

    def example(self) -> Any:
        return "2024-05-31"


@dataclass(frozen=True, slots=True)
class FlagForm(ValueForm):
    """true or false."""

    def noun(self) -> str:
        return "true or false"

    def type(self) -> str:
        return "boolean"

    def read(self, said: Any) -> Any:
        if isinstance(said, str):
            said = _TRUTHS.get(said.strip().lower())
        return ("flag", said) if isinstance(said, bool) else None

    def example(self) -> Any:
        return True


@dataclass(frozen=True, slots=True)
class ListForm:
    """A list; with `ordered` its order counts."""

    item: AnswerForm
    ordered: bool = True

    def problem(self, said: Any) -> str:
        if not isinstance(said, list):
            return f"an array, not {_shown(said)}"
        problems = ((number, self.item.problem(item)) for number, item in enumerate(said))
        return next((f"{problem} (item {number})" for number, problem in problems if problem), "")

    def reading(self, value: Any) -> Any:
        if not isinstance(value, list):
            return object()
        items = [self.item.reading(item) for item in value]
        return tuple(items) if self.ordered else frozenset(Counter(items).items())

    def credit(self, said: Any, truth: Any) -> float:
        """F1 of the items, repeated ones counted."""
        ours, true = (Counter(map(self.item.reading, side)) for side in (said, truth))
        both, all_items = (ours & true).total(), ours.total() + true.total()
        return 2.0 * both / all_items if all_items else 0.0

    def schema(self) -> dict[str, Any]:
        return {"type": "array", "items": self.item.schema()}

    def example(self) -> Any:
        return [self.item.example()]


@dataclass(frozen=True, slots=True)
class RecordForm:
    """An object with these keys, in any order. Keys beside them are refused: they are no part of the answer."""

    fields: Mapping[str, AnswerForm]

    def problem(self, said: Any) -> str:
        if not isinstance(said, dict):
            return f"an object, not {_shown(said)}"
        for key, form in self.fields.items():
            if key not in said:
                return f"an object with the key {key!r}"
            if problem := form.problem(said[key]):
                return f"{problem} (key {key!r})"
        unknown = next((key for key in said if key not in self.fields), None)
        return "" if unknown is None else f"an object without the key {str(unknown)[:40]!r}"

    def reading(self, value: Any) -> Any:
        if not isinstance(value, dict) or value.keys() != self.fields.keys():
            return object()
        return tuple([form.reading(value[key]) for key, form in self.fields.items()])

    def credit(self, said: Any, truth: Any) -> float:
        """The share of keys that are right."""
        pairs = zip(self.reading(said), self.reading(truth), strict=True)
        return sum(1 for ours, true in pairs if ours == true) / len(self.fields)

    def schema(self) -> dict[str, Any]:
        inner = {key: form.schema() for key, form in self.fields.items()}
        return {"type": "object", "properties": inner, "required": list(self.fields)}

    def example(self) -> Any:
        return {key: form.example() for key, form in self.fields.items()}


def agree(form: AnswerForm, said: Any, truth: Any) -> bool:
    """Whether a value that a policy brought is the true one. Total: what is not of the shape is not."""
    with contextlib.suppress(TypeError):  # what cannot be written down is not the truth, and may still say it
        if orjson.dumps(said, default=repr) == orjson.dumps(truth, default=repr):
            return True  # to the letter, which is cheap to see on long lists; 1 and true differ here
    return bool(form.reading(said) == form.reading(truth))


def _amount(said: Any) -> float | None:
    if isinstance(said, str):
        text = "".join(said.split())
        if not text.isascii() or not _PLAIN.fullmatch(text):
            return None
        said = float(text.replace(",", ""))
    elif not _is_number(said):
        return None
    return said if abs(said) < _LARGEST else None


def _is_number(value: Any) -> bool:
    """Whether this is a number that a float holds: an integer of 400 digits is none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -_WIDEST <= value <= _WIDEST


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return f"the string {value[:30]!r}"
    names = {dict: "an object", list: "an array", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
