"""The check for numbers with units: the same quantity in any unit of its kind is right, a bare number is not."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from whet.envs.data.checks.base import RELATIVE, TOLERANCE, AnswerCheck, graded
from whet.envs.data.checks.number import LONGEST, MINUS, NUMBER, closeness
from whet.envs.data.template import cell
from whet.errors import WhetError
from whet.types import Score, failed

_TABLE = {
    "length": "mm 0.001|cm 0.01|dm 0.1|m 1|km 1000|in 0.0254|ft 0.3048|yd 0.9144|mi 1609.344|nm 1852",
    "mass": "mg 0.000001|g 0.001|kg 1|t 1000|oz 0.028349523125|lb 0.45359237",
    "time": "ns 0.000000001|µs 0.000001|ms 0.001|s 1|min 60|h 3600|d 86400|week 604800",
    "volume": "ml 0.001|cl 0.01|dl 0.1|l 1|m³ 1000|gal 3.785411784",
    "area": "cm² 0.0001|m² 1|ha 10000|km² 1000000",
    "speed": "m/s 1|km/h 0.2777777777777777777777777778|mph 0.44704",
    "energy": "J 1|kJ 1000|MJ 1000000|Wh 3600|kWh 3600000|cal 4.184|kcal 4184",
    "power": "mW 0.001|W 1|kW 1000|MW 1000000",
    "data": "b 0.125|B 1|kB 1000|MB 1000000|GB 1000000000|TB 1000000000000|KiB 1024|MiB 1048576|GiB 1073741824",
    "angle": "° 1|rad 57.29577951308232087679815481",
    "dollars": "$ 1|¢ 0.01",
    "euros": "€ 1",
    "pounds": "£ 1",
    "yen": "¥ 1",
    "share": "% 0.01|‰ 0.001",
}
_WORDS = (
    "millimetre mm|millimeter mm|centimetre cm|centimeter cm|metre m|meter m|kilometre km|kilometer km|inch in|"
    "inche in|"
    "foot ft|feet ft|yard yd|mile mi|nmi nm|gram g|gramme g|kilogram kg|kilo kg|milligram mg|tonne t|ton t|ounce oz|"
    "pound lb|second s|sec s|minute min|hour h|hr h|day d|wk week|millisecond ms|us µs|μs µs|litre l|liter l|"
    "millilitre ml|milliliter ml|gallon gal|cm2 cm²|m2 m²|km2 km²|hectare ha|m3 m³|cubic metre m³|square metre m²|"
    "kph km/h|kmh km/h|joule J|kilojoule kJ|watt W|kilowatt kW|megawatt MW|byte B|bit b|kilobyte kB|megabyte MB|"
    "gigabyte GB|terabyte TB|degree °|deg °|radian rad|usd $|dollar $|us$ $|cent ¢|eur €|euro €|gbp £|jpy ¥|yen ¥|"
    "percent %|per cent %|pct %"
)
UNITS: Mapping[str, tuple[str, Decimal]] = {
    unit: (kind, Decimal(size))
    for kind, units in _TABLE.items()
    for unit, size in (entry.rsplit(" ", 1) for entry in units.split("|"))
}
"""Each unit with its kind and how much of the kind's own unit it is."""
_SPELLINGS = dict(entry.rsplit(" ", 1) for entry in _WORDS.split("|"))
_SIGNS = "$€£¥"
_UNIT = r"[^\W\d_][^\W\d_]*(?:/[^\W\d_]+)?[²³23]?|[%‰°¢$€£¥]"
_BEFORE = re.compile(rf"([{re.escape(_SIGNS)}])\s*({NUMBER.pattern})")
_AFTER = re.compile(rf"({NUMBER.pattern})\s*(?:(cubic metres?|square metres?|per cent|{_UNIT}))?")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit; '' where it has none."""

    number: Decimal
    unit: str

    def among(self, unit: str) -> Decimal | None:
        """The number in another unit of the same kind; None where there is no way from one to the other."""
        if self.unit == unit:
            return self.number
        if self.unit not in UNITS or unit not in UNITS or UNITS[self.unit][0] != UNITS[unit][0]:
            return None
        return self.number * UNITS[self.unit][1] / UNITS[unit][1]


class QuantityCheck(AnswerCheck):
    """The last quantity of the reply. Tolerances are in the unit of the right answer."""

    takes = (TOLERANCE, RELATIVE)

    def instruction(self) -> str:
        return "Reply with the number and its unit only."

    def truth(self, row: Mapping[str, Any], place: str) -> Any:
        assert self.answer is not None
        text = cell(row.get(self.answer)).strip()
        found = quantities(text)
        if len(found) != 1 or not found[0].unit:
            raise WhetError(f"{place}, column {self.answer!r}: {text[:40]!r} is not one number with a unit")
        return text

    def oracle(self, truth: Any) -> str | None:
        return str(truth)

    def score(self, truth: Any, said: str) -> Score:
        (right,), found = quantities(truth), quantities(said)
        if not found:
            return failed("no_number", f"no number in {said[:80]!r}")
        last = found[-1]
        if not last.unit:
            return failed("no_unit", f"{last.number} stands without a unit")
        number = last.among(right.unit)
        if number is None:
            return failed("wrong_unit", f"{last.unit!r} is no unit for what is measured in {right.unit!r}")
        return graded(closeness(number, right.number, self.own["tolerance"], self.own["relative"]), said)


def quantities(text: str) -> list[Quantity]:
    """The numbers of a text with the unit that stands behind each, or the sign of a currency before it."""
    text = text[-LONGEST:].translate(MINUS)
    signs = {found.start(2): found[1] for found in _BEFORE.finditer(text)}
    known: list[Quantity] = []
    for found in _AFTER.finditer(text):
        try:
            number = Decimal(found[1].replace(",", ""))
        except InvalidOperation:
            continue
        unit = signs.get(found.start(1)) or spelled(found[2] or "")
        known.append(Quantity(number, unit))
    return known


def is_quantity(text: str) -> bool:
    """Whether a text is one number with a unit that is known here, and nothing else."""
    found = _AFTER.fullmatch(text.strip().translate(MINUS))
    return found is not None and spelled(found[2] or "") in UNITS


def spelled(unit: str) -> str:
    """A unit as the table has it; one that the table has not is known by its letters, case and a plural apart."""
    if unit in UNITS:
        return unit
    folded = unit.casefold()
    single = folded.removesuffix("s")
    for word in (folded, single):
        if word in _SPELLINGS:
            return _SPELLINGS[word]
        if (same := [known for known in UNITS if known.casefold() == word]) and len(same) == 1:
            return same[0]
    return single
