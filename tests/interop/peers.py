"""Virtual environments of other people's packages, built with uv from the index by name, for tests that need them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NO_NETWORK = ("failed to fetch", "dns error", "error sending request", "connect", "network", "timed out")


def interpreter(name: str, folder: Path, *packages: str, whet: bool = True) -> Path:
    """A Python with `packages` and this Whet; `WHET_PEERS` may name a folder that holds it already, under `name`."""
    ready = os.environ.get("WHET_PEERS")
    if ready and (there := Path(ready) / name / "bin" / "python").exists():
        return there
    beside = Path(sys.executable).with_name("uv")
    uv = str(beside) if beside.exists() else shutil.which("uv")
    if uv is None:
        pytest.skip(f"uv is not installed, so the virtual environment of {name} cannot be built")
    python = folder / name / "bin" / "python"
    own = ["-e", str(ROOT)] if whet else []
    for words in (
        ["venv", "-q", "--python", sys.executable, str(folder / name)],
        ["pip", "install", "-q", "--python", str(python), *packages, *own],
    ):
        done = subprocess.run([uv, *words], capture_output=True, text=True, check=False)
        if done.returncode:
            if any(sign in done.stderr.lower() for sign in NO_NETWORK):
                pytest.skip(f"{name} cannot be fetched: {done.stderr.strip().splitlines()[-1]}")
            pytest.fail(f"uv {words[0]} of {name}: {done.stderr[-2000:]}")
    return python


def run(python: Path, program: str, *words: object, cwd: Path | None = None) -> str:
    """What a program prints in that Python."""
    done = subprocess.run(
        [str(python), "-c", program, *map(str, words)], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout
