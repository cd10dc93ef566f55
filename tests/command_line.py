"""The command line as a user sees it: what was typed, what came out, the exit code."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Said(NamedTuple):
    code: int
    out: str
    err: str


Whet = Callable[..., Said]
"""Runs `whet` with these words; the fixture `whet` gives one that starts in an empty folder."""
