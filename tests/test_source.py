"""A file that a user names is run as it stands, also where Python keeps compiled files."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from whet.envs.data.checks.python import code_digest, load_function
from whet.envs.registry import load_environment
from whet.models.base import Request
from whet.models.scripted import open_scripted
from whet.types import Sampling, user


def from_environment(file: Path) -> str:
    return load_environment(f"{file}:Mine").fingerprint


def from_check(file: Path) -> str:
    address = f"{file}:grade"
    return str(load_function(address, code_digest(address))("", {}))


def from_model(file: Path) -> str:
    model = open_scripted(f"scripted:{file}:grade")
    return asyncio.run(model.complete(Request((user("say"),), Sampling()))).text


SOURCE = """
from whet import Environment

class Mine(Environment):
    name, fingerprint = "mine", "MARK"
    def size(self, split): return 1
    def label(self, split, index): ...
    def task(self, split, index): ...
    def play(self, task): ...

def grade(*given): return "MARK"
"""


@pytest.mark.parametrize("loaded", [from_environment, from_check, from_model])
def test_an_edit_of_the_same_size_in_the_same_second_counts(
    loaded: Callable[[Path], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    file = tmp_path / "mine.py"
    for mark in ("one", "two"):
        file.write_text(SOURCE.replace("MARK", mark))
        os.utime(file, (1_000_000_000, 1_000_000_000))
        assert loaded(file) == mark
