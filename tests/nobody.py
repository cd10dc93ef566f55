"""Start programs as an ordinary user where the tests run as root, wherever this Python and this project lie.

A checkout or an interpreter below root's home is out of everybody else's reach. The new process therefore gets a mount
namespace of its own, in which the closed folders are covered and only what is needed shows through.
"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import whet
from whet.sandbox import kernel

NOBODY = 65534
PROJECT = Path(whet.__file__).parents[1]


def closed_folder(path: Path) -> Path | None:
    """The outermost folder on the way to `path` that others may not enter."""
    return next((folder for folder in reversed(path.parents) if not folder.stat().st_mode & stat.S_IXOTH), None)


def become_nobody(shown: Sequence[Path]) -> Callable[[], None]:
    """For `preexec_fn`: covers what is closed, shows `shown`, and changes the user for good."""

    def change() -> None:
        kernel.unshare(kernel.NEWNS)
        kernel.mount("none", "/", None, kernel.REC | kernel.PRIVATE)
        opened = {path: os.open(path, os.O_RDONLY) for path in shown if closed_folder(path)}
        covers = {closed_folder(path) for path in opened}
        for cover in covers:
            kernel.mount("cover", str(cover), "tmpfs", 0, "mode=755")
        for path, number in opened.items():
            path.mkdir(parents=True, exist_ok=True)
            kernel.mount(f"/proc/self/fd/{number}", str(path), None, kernel.BIND | kernel.REC)
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)

    return change


def start_as_nobody(words: Sequence[str], *further: Path, **options: Any) -> subprocess.Popen[Any]:
    """Like `Popen`, as an ordinary user."""
    shown = [Path(sys.base_prefix), Path(sys.prefix), PROJECT, *further]
    try:
        return _POPEN(words, preexec_fn=become_nobody([path.resolve() for path in shown]), **options)
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"no ordinary user can be tried here: {error}")


def folder_of_nobody(**options: Any) -> str:
    """Like `mkdtemp`, as that user's own."""
    folder = _MKDTEMP(**options)
    os.chown(folder, NOBODY, NOBODY)
    return folder


_POPEN, _MKDTEMP = subprocess.Popen, tempfile.mkdtemp
