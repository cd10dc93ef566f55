"""Environments: tasks that a program can check. Names are imported when they are first used."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whet.envs.base import Baseline, Environment, Play, ask, call, work
    from whet.envs.registry import load_environment
    from whet.envs.trivial import trivial_baselines

__all__ = [
    "Baseline",
    "Environment",
    "Play",
    "ask",
    "call",
    "load_environment",
    "trivial_baselines",
    "work",
]

_HOME = {"load_environment": "whet.envs.registry", "trivial_baselines": "whet.envs.trivial"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME.get(name, "whet.envs.base")), name)
