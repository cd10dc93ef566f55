"""What a server says it used, as far as it can be believed."""

from __future__ import annotations

from typing import Any

from whet.models.base import FREE, Price
from whet.types import Usage

ABSURD = 1 << 40
"""Tokens that no call has."""


def tokens(value: Any) -> int | None:
    """A count of tokens; None where it is none: missing, negative, a fraction, a text, or past all measure."""
    return value if type(value) is int and 0 <= value < ABSURD else None


def untold(price: Price | None) -> Usage:
    """The usage of a call whose server does not say, or not believably: whoever pays goes by what was reserved."""
    return Usage(calls=1, usd=0.0 if price == FREE else None)
