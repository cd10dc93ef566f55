"""Environments of the library verifiers, of both its lines, each in a worker process of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whet.envs.verifiers.environment import V0_FAMILY, V1_FAMILY

__all__ = ["V0_FAMILY", "V1_FAMILY"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from whet.envs.verifiers import environment

    return getattr(environment, name)
