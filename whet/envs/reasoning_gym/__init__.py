"""The datasets of the package reasoning-gym as environments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whet.envs.reasoning_gym.environment import FAMILY, ReasoningGym

__all__ = ["FAMILY", "ReasoningGym"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from whet.envs.reasoning_gym import environment

    return getattr(environment, name)
