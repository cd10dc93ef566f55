"""The check for numbers: the number in a reply, right within a tolerance."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from whet.envs.data.checks.base import RELATIVE, TOLERANCE, AnswerCheck, graded
from whet.envs.data.forms import number_alone
from whet.envs.data.template import cell
from whet.errors import WhetError
from whet.types import Score, Shape, failed

LONGEST = 20_000
"""A number is looked for in this many last letters of a reply."""

NUMBER = re.compile(r"(?<![\w.])[-+]?(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d{1,3})?(?!\d)")
COMMA = re.compile(r"(?<![\w.,])[-+]?(?:\d{1,3}(?:\.\d{3})+,\d+|\d+,(?:\d{1,2}|\d{4,}))(?!\d|[.,]\d)")
"""Decimals with a comma: 678,05 and 1.172,01. What may be thousands (1,172) or a list (1,2,3) is not among them."""
MINUS = str.maketrans("−–", "--")


class NumberCheck(AnswerCheck):
    """The last number of the reply. With a tolerance, one that is off gets as much credit as tolerance over error."""

    takes = (TOLERANCE, RELATIVE)

    def instruction(self) -> str:
        return "Reply with the number only."

    def truth(self, row: Mapping[str, Any], place: str) -> Any:
        assert self.answer is not None
        value = row.get(self.answer)
        number = None if isinstance(value, bool) else last_number(cell(value), whole=True)
        if number is None:
            raise WhetError(f"{place}, column {self.answer!r}: {cell(value)[:40]!r} is not a number")
        return cell(value).strip()

    def shape(self, row: Mapping[str, Any], place: str) -> Shape | None:
        return number_alone()

    def oracle(self, truth: Any) -> str | None:
        return str(truth)

    def expected(self, truth: Any) -> str:
        """The number, and how far one may be off."""
        near = [
            f"{self.own[name]:g}{word}" for name, word in (("tolerance", ""), ("relative", " of it")) if self.own[name]
        ]
        return f"{truth} (may be off by {' or '.join(near)})" if near else str(truth)

    def score(self, truth: Any, said: str) -> Score:
        number, right = last_number(said), last_number(truth)
        if number is None or right is None:
            return failed("no_number", f"no number in {said[:80]!r}")
        return graded(closeness(number, right, self.own["tolerance"], self.own["relative"]), str(number))


def _without_sign(text: str) -> str:
    """Without the currency before it, and the currency or per cent after it. No pattern: every cell comes here."""
    text = text[1:].lstrip() if text.startswith(("$", "€", "£", "¥")) else text
    return text[:-1].rstrip() if text.endswith(("%", "$", "€", "£", "¥")) else text


def _with_a_point(found: re.Match[str]) -> str:
    return found.group().replace(".", "").replace(",", ".")


def last_number(text: str, whole: bool = False) -> Decimal | None:
    """The last number in a text, or with `whole` the text as a number; currency and per cent are passed over."""
    text = COMMA.sub(_with_a_point, text[-LONGEST:].translate(MINUS).strip())
    found = NUMBER.findall(text)
    if not found or (whole and _without_sign(text) != found[-1]):
        return None
    try:
        number = Decimal(found[-1].replace(",", ""))
    except InvalidOperation:
        return None
    return number if math.isfinite(number) else None


def closeness(number: Decimal, right: Decimal, tolerance: float, relative: float) -> float:
    """1 within the tolerance, beyond it the tolerance over the error; without one, equal or nothing."""
    if number == right:
        return 1.0
    allowed = max(tolerance, relative * abs(float(right)))
    error = abs(float(number) - float(right))
    if allowed <= 0.0 or not math.isfinite(error):
        return 0.0
    return 1.0 if error <= allowed * (1 + 1e-12) else allowed / error
