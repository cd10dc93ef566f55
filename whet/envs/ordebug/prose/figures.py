"""Numbers as people write them down: as digits, in words, or as something to work out.

Every expression has exactly the value it stands for; a reader has to do the sum.
"""

from __future__ import annotations

import random

from whet.envs.ordebug.algebra import number
from whet.envs.ordebug.families.story import tidy

_ONES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


def words(value: int) -> str:
    """An integer from 0 to 999 in words."""
    if value >= 100:
        hundreds, rest = divmod(value, 100)
        return f"{_ONES[hundreds]} hundred" + (f" and {words(rest)}" if rest else "")
    if value < 20:
        return _ONES[value]
    tens, ones = divmod(value, 10)
    return _TENS[tens] + (f"-{_ONES[ones]}" if ones else "")


def plain(rng: random.Random, value: float) -> str:
    """Digits, or words where the number is a small integer."""
    if value == int(value) and 2 <= value < 100 and rng.random() < 0.5:
        return words(int(value))
    return number(tidy(value))


def expression(rng: random.Random, value: float) -> str:
    """The value as something to work out, in digits or in words."""
    ways = [_sum, _difference, _difference, _sum, _multiple, _share, _lots, _percent]
    for way in rng.sample(ways, len(ways)):
        found = way(rng, value)
        if found:
            return found
    return number(tidy(value))


def either(rng: random.Random, value: float, derived: float = 0.8) -> str:
    return expression(rng, value) if rng.random() < derived else plain(rng, value)


def _part(rng: random.Random, value: float) -> float:
    """A round amount that is smaller than the value."""
    size = max(2.0, abs(value))
    return float(rng.choice([step for step in (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 40) if step < size] or [1]))


def _sum(rng: random.Random, value: float) -> str:
    part = _part(rng, value)
    if value - part <= 0:
        return ""
    first, second = plain(rng, value - part), plain(rng, part)
    return rng.choice((f"{first} plus {second}", f"{first} and another {second}", f"{second} on top of {first}"))


def _difference(rng: random.Random, value: float) -> str:
    part = _part(rng, max(value, 10.0))
    if value + part <= 0:
        return ""
    whole, taken = plain(rng, value + part), plain(rng, part)
    said = (
        "{taken} short of {whole}",
        "{whole} less {taken}",
        "{whole} once {taken} are taken off",
        "{taken} under {whole}",
    )
    return rng.choice(said).format(taken=taken, whole=whole)


def _multiple(rng: random.Random, value: float) -> str:
    known = (("twice", 2), ("three times", 3), ("four times", 4), ("a dozen times", 12))
    options = [(word, count) for word, count in known if value > 0 and (value / count * 4).is_integer()]
    if not options:
        return ""
    word, count = rng.choice(options)
    return f"{word} {plain(rng, value / count)}"


def _share(rng: random.Random, value: float) -> str:
    word, factor = rng.choice(
        (("half of", 2), ("a third of", 3), ("a quarter of", 4), ("a fifth of", 5), ("a tenth of", 10))
    )
    return f"{word} {plain(rng, value * factor)}" if value > 0 else ""


def _lots(rng: random.Random, value: float) -> str:
    if value != int(value) or value < 4:
        return ""
    sizes = [size for size in (3, 4, 5, 6, 7, 8, 9) if value % size == 0 and value / size > 1]
    if not sizes:
        return ""
    size = rng.choice(sizes)
    return f"{plain(rng, value / size)} {rng.choice(('loads', 'lots', 'rounds', 'batches'))} of {plain(rng, size)}"


def _percent(rng: random.Random, value: float) -> str:
    share = rng.choice((20, 25, 40, 50, 75, 80, 120, 150))
    base = value * 100 / share
    return f"{share} percent of {number(tidy(base))}" if base > 0 and tidy(base * 2) == round(base * 2) else ""


def times(rng: random.Random, factor: float) -> str:
    """`1.5 times`, `half of`: what a multiple of something is called."""
    known = {
        0.25: ("a quarter of", "one part in four of"),
        0.5: ("half of", "one half of"),
        0.4: ("two fifths of", "40 percent of"),
        0.8: ("four fifths of", "80 percent of"),
        1.25: ("five quarters of", "a quarter more than"),
        1.5: ("one and a half times", "half as much again as"),
        2.0: ("twice", "double"),
        2.5: ("two and a half times", "five halves of"),
        3.0: ("three times", "the threefold of"),
        4.0: ("four times", "the fourfold of"),
    }
    return rng.choice(known.get(factor, (f"{number(factor)} times",)))
