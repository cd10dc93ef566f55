"""Numbers as people write them down: as digits, in words, or as something to work out.

Every expression has exactly the value it stands for; a reader has to do the sum.
"""

from __future__ import annotations

import random
import re

from whet.envs.ordebug.algebra import number
from whet.envs.ordebug.families.story import tidy
from whet.envs.ordebug.prose.grammar import Voice

_ONES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")

COUNTED = {"ones": 1.0, "pairs": 2.0, "dozens": 12.0, "scores": 20.0}
"""What the amounts of an annex are counted in."""

_HEAPS = {"dozen": 12.0, "score": 20.0}
_DIGITS = re.compile(r"\d+(?:\.\d+)?")


def words(value: int) -> str:
    """An integer from 0 to 999 in words."""
    if value >= 100:
        hundreds, rest = divmod(value, 100)
        return f"{_ONES[hundreds]} hundred" + (f" and {words(rest)}" if rest else "")
    if value < 20:
        return _ONES[value]
    tens, ones = divmod(value, 10)
    return _TENS[tens] + (f"-{_ONES[ones]}" if ones else "")


_VALUES = {words(value): float(value) for value in range(1000)}


def number_of(text: str) -> float | None:
    """The value of a number in digits or in words; None where it is none."""
    if text.startswith("minus "):
        rest = number_of(text[6:])
        return None if rest is None else -rest
    count, _, heap = text.rpartition(" ")
    if heap in _HEAPS:
        rest = number_of(count)
        return None if rest is None else rest * _HEAPS[heap]
    return float(text) if _DIGITS.fullmatch(text) else _VALUES.get(text)


def plain(rng: random.Random, voice: Voice, value: float) -> str:
    """Digits, or words where the number is a small integer."""
    if value < 0:
        return f"minus {number(tidy(-value))}"
    if value == int(value) and (value == 0 or (2 <= value < 100 and rng.random() < 0.5)):
        heaps = [size for size in (12, 20) if f"count {size}" in voice.phrases and value > size and value % size == 0]
        if heaps:
            size = rng.choice(heaps)
            return voice.say(rng, f"count {size}", n=words(int(value) // size))
        return words(int(value))
    return number(tidy(value))


def expression(rng: random.Random, voice: Voice, value: float) -> str:
    """The value as something to work out, in digits or in words."""
    ways = [_sum, _difference, _difference, _sum, _multiple, _lots, _percent]
    for way in rng.sample(ways, len(ways)):
        found = way(rng, value)
        if found:
            key, parts = found
            return voice.say(rng, key, **{name: _said(rng, voice, part) for name, part in parts.items()})
    return plain(rng, voice, value)


def _said(rng: random.Random, voice: Voice, part: float | str) -> str:
    return voice.say(rng, part) if isinstance(part, str) else plain(rng, voice, part)


def either(rng: random.Random, voice: Voice, value: float, derived: float = 0.8) -> str:
    return expression(rng, voice, value) if rng.random() < derived else plain(rng, voice, value)


Expressed = tuple[str, dict[str, float | str]] | None
"""A phrase and its parts: numbers, or the key of a factor's name."""


def _part(rng: random.Random, value: float) -> float:
    """A round amount that is smaller than the value."""
    size = max(2.0, abs(value))
    return float(rng.choice([step for step in (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 40) if step < size] or [1]))


def _sum(rng: random.Random, value: float) -> Expressed:
    part = _part(rng, value)
    return ("figure sum", {"n": value - part, "m": part}) if value > part else None


def _difference(rng: random.Random, value: float) -> Expressed:
    part = _part(rng, max(value, 10.0))
    return ("figure difference", {"n": value + part, "m": part}) if value > 0 else None


def _multiple(rng: random.Random, value: float) -> Expressed:
    known = (("2", 2.0), ("3", 3.0), ("4", 4.0), ("12", 12.0), ("0.5", 0.5), ("0.25", 0.25), ("0.2", 0.2), ("0.1", 0.1))
    options = [(word, factor) for word, factor in known if value > 0 and tidy(value / factor * 4).is_integer()]
    if not options:
        return None
    word, factor = rng.choice(options)
    return "figure multiple", {"x": f"times {word}", "n": tidy(value / factor)}


def _lots(rng: random.Random, value: float) -> Expressed:
    if value != int(value) or value < 4:
        return None
    sizes = [size for size in (3, 4, 5, 6, 7, 8, 9) if value % size == 0 and value / size > 1]
    if not sizes:
        return None
    size = rng.choice(sizes)
    return "figure lots", {"n": value / size, "m": float(size)}


def _percent(rng: random.Random, value: float) -> Expressed:
    share = rng.choice((20, 25, 40, 50, 75, 80, 120, 150))
    base = value * 100 / share
    exact = base > 0 and tidy(base * 2) == round(base * 2)
    return ("figure percent", {"n": float(share), "m": tidy(base)}) if exact else None


def times(rng: random.Random, voice: Voice, factor: float) -> str:
    """`1.5 times`, `half of`: what a multiple of something is called."""
    key = f"times {number(factor)}"
    return voice.say(rng, key) if key in voice.phrases else voice.say(rng, "times any", n=number(factor))
