"""`import whet` costs next to nothing, and what it offers is there."""

from __future__ import annotations

import subprocess
import sys

import whet

HEAVY = (
    "torch",
    "ray",
    "pydantic",
    "typer",
    "rich",
    "aiohttp",
    "numpy",
    "scipy",
    "openai",
    "anthropic",
    "reasoning_gym",
)


def loaded_by(code: str) -> set[str]:
    """The top-level packages that `code` loads in a fresh interpreter."""
    command = [sys.executable, "-c", f"{code}\nimport sys; print(*{{name.partition('.')[0] for name in sys.modules}})"]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


def test_importing_whet_pulls_in_nothing_heavy() -> None:
    assert not loaded_by("import whet") & set(HEAVY)


def test_writing_an_environment_pulls_in_nothing_heavy() -> None:
    assert not loaded_by("import whet; whet.Environment, whet.ask, whet.solved, whet.Task") & set(HEAVY)


def test_help_loads_no_room() -> None:
    assert not loaded_by("from whet.cli.app import app") & {*HEAVY} - {"typer", "rich"}


def test_every_public_name_is_there() -> None:
    assert len(whet.__all__) < 30
    assert all(getattr(whet, name) is not None for name in whet.__all__)
