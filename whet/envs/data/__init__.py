"""Environments made from a user's own examples: rows of a file, a prompt template, and a check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whet.envs.data.environment import FAMILY, DataEnvironment

__all__ = ["FAMILY", "DataEnvironment"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from whet.envs.data import environment

    return getattr(environment, name)
