"""One question about a real page, with its answer from another source than the page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Kind = Literal["text", "texts", "set"]
"""One text, a list of texts in order, a list of texts in any order."""


@dataclass(frozen=True, slots=True)
class RealItem:
    """A question about a page that somebody wrote for people. `oracle` is a program that reads the answer off it."""

    source: str
    page: str
    """The name of the page within its source."""
    ask: str
    """Which kind of question it is, such as `added`."""
    query: str
    kind: Kind
    answer: str | tuple[str, ...]
    oracle: str
    """A program over `soup` that leaves its answer in `answer`."""
    text: Callable[[], str]
    """The page, read or written when it is asked for."""
    file: Path | None = None
    """Where the page lies; None where the package writes it on demand."""

    @property
    def label(self) -> tuple[str, str]:
        return f"real.{self.source}.{self.ask}", "hard" if self.kind != "text" else "medium"
