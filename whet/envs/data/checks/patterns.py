"""Patterns in linear time: what RE2 can find means exactly what Python's `re` would find, or RE2 is not asked.

`re` backtracks, and there are patterns and replies over which it does so for longer than the universe lasts. A pattern
is therefore read by Python's own parser and written again in RE2's words, as long as every part of it means the same in
both. Where one does not (a look around, a reference back, `\\w` over letters outside ASCII) the answer is None, and
`re` has to be asked where it can be stopped.
"""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from re import _constants, _parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

_MOST_REPEATS = 1000
"""RE2 counts no further."""

_CLASSES = {
    "CATEGORY_DIGIT": [(48, 57)],
    "CATEGORY_WORD": [(48, 57), (65, 90), (95, 95), (97, 122)],
    "CATEGORY_SPACE": [(9, 13), (28, 32)],
}
"""Classes within ASCII, as `str` patterns have them."""

_LAST = 0x10FFFF


@dataclass(frozen=True, slots=True)
class LinearPattern:
    """A pattern for RE2. `ascii_only`: it means the same over ASCII text alone."""

    search: Any
    ascii_only: bool


def found(pattern: str, ignore_case: bool, text: str) -> bool | None:
    """Whether `re.search` would find the pattern; None where only `re` itself can tell."""
    linear = linear_pattern(pattern, ignore_case)
    if linear is None or (linear.ascii_only and not text.isascii()):
        return None
    try:
        return linear.search(text) is not None
    except UnicodeEncodeError:  # a lone surrogate, which RE2 cannot read
        return None


def loads() -> None:
    """Nothing: whoever has called it has this module loaded."""


def search(pattern: str, ignore_case: bool, text: str) -> bool:
    """By backtracking: run where it can be stopped."""
    return compiled(pattern, ignore_case).search(text) is not None


@functools.lru_cache(maxsize=4096)
def compiled(pattern: str, ignore_case: bool) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE if ignore_case else 0)


@functools.lru_cache(maxsize=4096)
def linear_pattern(pattern: str, ignore_case: bool) -> LinearPattern | None:
    """The pattern for RE2; None where it is not installed or cannot express it."""
    re2 = _engine()
    if re2 is None:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = _parser.parse(pattern, re.IGNORECASE if ignore_case else 0)
        writer = _Writer(tree.state.flags)
        text = writer.sequence(list(tree), last=True)
        options = re2.Options()
        options.log_errors = False
        return LinearPattern(re2.compile(text, options=options).search, writer.ascii_only)
    except (re.error, _Inexpressible, OverflowError, RecursionError, re2.error, UnicodeEncodeError):
        return None


@functools.lru_cache(maxsize=1)
def _engine() -> ModuleType | None:
    try:
        import re2
    except ImportError:
        return None
    found_module: ModuleType = re2
    return found_module


class _Inexpressible(Exception):
    """A part of a pattern that means something else in RE2, or nothing."""


class _Writer:
    """Writes a parsed pattern in RE2's words; notes whether they hold for ASCII text alone."""

    def __init__(self, flags: int) -> None:
        self.ascii_only = False
        if flags & (re.LOCALE | re.DEBUG):
            raise _Inexpressible
        self._flags = flags
        if flags & re.IGNORECASE:
            self.ascii_only = True

    def sequence(self, items: list[tuple[Any, Any]], *, last: bool) -> str:
        """`last`: nothing of the pattern comes behind these parts."""
        written = [
            self._part(str(kind), value, last and at == len(items) - 1) for at, (kind, value) in enumerate(items)
        ]
        return "".join(written)

    def _part(self, kind: str, value: Any, last: bool) -> str:
        match kind:
            case "LITERAL":
                return self._letter(value)
            case "NOT_LITERAL":
                return self._set([(value, value)], [value], negated=True)
            case "ANY":
                return r"(?s:.)" if self._flags & re.DOTALL else r"[^\n]"
            case "IN":
                return self._in(value)
            case "BRANCH":
                return f"(?:{'|'.join(self.sequence(list(branch), last=last) for branch in value[1])})"
            case "SUBPATTERN":
                _, added, removed, inner = value
                return self._group(added, removed, list(inner), last)
            case "MAX_REPEAT" | "MIN_REPEAT":
                fewest, most, inner = value
                return self._repeat(int(fewest), most, list(inner))
            case "AT":
                return self._place(str(value), last)
        raise _Inexpressible

    def _letter(self, code: int) -> str:
        if self._flags & re.IGNORECASE:
            if code > 127:
                raise _Inexpressible
            return f"(?i:{_escaped(code)})"
        return _escaped(code)

    def _in(self, members: list[tuple[Any, Any]]) -> str:
        ranges: list[tuple[int, int]] = []
        letters: list[int] = []
        negated = False
        for kind, value in members:
            match str(kind):
                case "NEGATE":
                    negated = True
                case "LITERAL":
                    ranges.append((value, value))
                    letters.append(value)
                case "RANGE":
                    ranges.append(value)
                    letters += value
                case "CATEGORY":
                    ranges += self._category(str(value))
                case _:
                    raise _Inexpressible
        return self._set(ranges, letters, negated)

    def _category(self, name: str) -> list[tuple[int, int]]:
        self.ascii_only = True
        if self._flags & re.ASCII and "SPACE" in name:
            members = [(9, 13), (32, 32)]
        else:
            members = _CLASSES[name.replace("_NOT_", "_")]
        return _others(members) if "_NOT_" in name else members

    def _set(self, ranges: list[tuple[int, int]], letters: Iterable[int], negated: bool) -> str:
        if self._flags & re.IGNORECASE:
            if any(letter > 127 for letter in letters):
                raise _Inexpressible
            ranges = ranges + list(_other_case(ranges))
        if negated:
            ranges = _others(ranges)
        if not ranges:
            raise _Inexpressible
        return f"[{''.join(f'{_escaped(low)}-{_escaped(high)}' for low, high in ranges)}]"

    def _group(self, added: int, removed: int, inner: list[tuple[Any, Any]], last: bool) -> str:
        before = self._flags
        self._flags = (before | added) & ~removed
        if self._flags & re.IGNORECASE:
            self.ascii_only = True
        try:
            return f"(?:{self.sequence(inner, last=last)})"
        finally:
            self._flags = before

    def _repeat(self, fewest: int, most: Any, inner: list[tuple[Any, Any]]) -> str:
        endless = most is _constants.MAXREPEAT
        if fewest > _MOST_REPEATS or (not endless and int(most) > _MOST_REPEATS):
            raise _Inexpressible
        return f"(?:{self.sequence(inner, last=False)}){{{fewest},{'' if endless else int(most)}}}"

    def _place(self, name: str, last: bool) -> str:
        many_lines = bool(self._flags & re.MULTILINE)
        match name:
            case "AT_BEGINNING":
                return "(?m:^)" if many_lines else r"\A"
            case "AT_BEGINNING_STRING":
                return r"\A"
            case "AT_END_STRING":
                return r"\z"
            case "AT_END" if many_lines:
                return "(?m:$)"
            case "AT_END" if last:  # a line end at the very end may follow; with nothing behind it, it may be taken
                return r"\n?\z"
            case "AT_BOUNDARY":
                self.ascii_only = True
                return r"\b"
        raise _Inexpressible


def _escaped(code: int) -> str:
    return rf"\x{{{code:X}}}"


def _other_case(ranges: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The letters of ASCII that are in `ranges`, in the other case."""
    for low, high in ranges:
        for letter in range(low, min(high, 127) + 1):
            if chr(letter).isalpha():
                yield (letter ^ 32, letter ^ 32)


def _others(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Every letter that is in none of `ranges`."""
    left, at = [], 0
    for low, high in sorted(ranges):
        if low > at:
            left.append((at, low - 1))
        at = max(at, high + 1)
    return [*left, (at, _LAST)] if at <= _LAST else left
