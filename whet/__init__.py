"""Whet: make a language-model agent measurably better at a task that a program can check.

    import whet
    result = whet.evaluate("reasoning-gym/leg_counting", "embedded:smollm2", n=40)
    print(result)

What a command does is one function here, and each that takes its time has a twin to await: `await whet.aevaluate(...)`.
Names are loaded on first use, so `import whet` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whet.envs.base import Environment, ask, call, work
    from whet.envs.registry import load_environment
    from whet.errors import WhetError
    from whet.gate.simulate import simulate
    from whet.models.base import Model
    from whet.models.load import load_model
    from whet.models.scripted import Scripted
    from whet.rollout.drive import drive
    from whet.run.api import compare, decide, evaluate, resume, train
    from whet.run.awaitable import acheck as acheck
    from whet.run.awaitable import acompare as acompare
    from whet.run.awaitable import adecide as adecide
    from whet.run.awaitable import aevaluate as aevaluate
    from whet.run.awaitable import arebuild as arebuild
    from whet.run.awaitable import aresume as aresume
    from whet.run.awaitable import asimulate as asimulate
    from whet.run.awaitable import atrain as atrain
    from whet.run.contract.check import check
    from whet.run.workspace import Run, open_run
    from whet.types import (
        Example,
        Label,
        Playbook,
        Reply,
        Sampling,
        Score,
        Task,
        failed,
        solved,
        user,
    )

_HOME = {
    "whet.envs.base": ("Environment", "ask", "call", "work"),
    "whet.run.contract.check": ("check",),
    "whet.envs.registry": ("load_environment",),
    "whet.errors": ("WhetError",),
    "whet.models.base": ("Model",),
    "whet.models.load": ("load_model",),
    "whet.models.scripted": ("Scripted",),
    "whet.gate.simulate": ("simulate",),
    "whet.rollout.drive": ("drive",),
    "whet.run.api": ("compare", "decide", "evaluate", "resume", "train"),
    "whet.run.awaitable": (
        *("acheck", "acompare", "adecide", "aevaluate"),
        *("arebuild", "aresume", "asimulate", "atrain"),
    ),
    "whet.run.workspace": ("Run", "open_run"),
    "whet.types": (
        *("Example", "Label", "Playbook", "Reply", "Sampling", "Score", "Task"),
        *("failed", "solved", "user"),
    ),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "Environment",
    "Example",
    "Label",
    "Model",
    "Playbook",
    "Reply",
    "Run",
    "Sampling",
    "Score",
    "Scripted",
    "Task",
    "WhetError",
    "ask",
    "call",
    "check",
    "compare",
    "decide",
    "drive",
    "evaluate",
    "failed",
    "load_environment",
    "load_model",
    "open_run",
    "resume",
    "simulate",
    "solved",
    "train",
    "user",
    "work",
]


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF})


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'whet' has no attribute {name!r}")
    value = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value
