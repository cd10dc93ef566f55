"""Programs that run in the sandbox, each by its text: what they are given comes on standard input, as JSON."""

from __future__ import annotations

import functools
from importlib.resources import files


@functools.lru_cache(maxsize=8)
def program(name: str) -> str:
    """The text of a program."""
    return (files(__name__) / f"{name}.py").read_text(encoding="utf-8")
