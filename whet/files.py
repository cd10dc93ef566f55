"""Files that a person reads: written whole or not at all, by their owner alone, and without keys.

A run holds what a model was asked and said, which may be anything; so its folder and files are its owner's.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO

import orjson

from whet.outside import KEYS

_PRETTY = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS | orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE

OWN_FOLDER, OWN_FILE = 0o700, 0o600


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write to that stands at `path` when the block has ended well, and nowhere otherwise.

    It is written beside and renamed over: after a kill the old file or the new one stands there, never a part. Nothing
    is forced to the disk, which takes milliseconds a file: what a power cut takes is rebuilt from the ledger. A link
    stays one, and what is no file (a pipe, a device) is written to as it is: renaming over it would take it away.
    """
    place = Path(os.path.realpath(path))
    try:
        mode = place.stat().st_mode if place.exists() else stat.S_IFREG | OWN_FILE
        if not stat.S_ISREG(mode):
            with place.open("wb", buffering=0) as device:
                yield device
            return
        beside = beside_of(place)
        try:
            with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, OWN_FILE), "wb") as file:  # noqa: PTH123
                os.fchmod(file.fileno(), stat.S_IMODE(mode))
                yield file
            beside.replace(place)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as problem:
        if problem.errno is None or problem.filename not in (None, str(beside_of(place)), str(place)):
            raise
        raise OSError(problem.errno, problem.strerror, str(path)) from None


def beside_of(place: Path) -> Path:
    """Where a file is written before it stands at `place`."""
    return place.with_name(f".{place.name}.{os.getpid()}.part")


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    with atomic_file(path) as file:
        file.write(KEYS.hide_bytes(data))


def own_folder(folder: Path) -> None:
    """Make a folder that its owner alone can look into; one that is there stays as it is."""
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=OWN_FOLDER, exist_ok=True)


@dataclass(slots=True)
class _Mask:
    """The mask of new files is the process's: the first who narrows it keeps what it was, the last puts that back."""

    lock: Lock = field(default_factory=Lock)
    within: int = 0
    before: int = 0


_MASK = _Mask()


@contextmanager
def owner_only() -> Iterator[None]:
    """What is made in here is its owner's alone, whoever makes it; several runs may begin at once in one process."""
    with _MASK.lock:
        if not _MASK.within:
            _MASK.before = os.umask(0o077)
        _MASK.within += 1
    try:
        yield
    finally:
        with _MASK.lock:
            _MASK.within -= 1
            if not _MASK.within:
                os.umask(_MASK.before)


def sweep(folder: Path) -> None:
    """Remove what a killed writer left beside. For whoever holds the run's lock.

    A folder of such a name is none of ours: a run keeps copies of its sources, among them of a project that `init` is
    still making.
    """
    for part in folder.rglob(".*.[0-9]*.part"):
        if not part.is_dir():
            part.unlink(missing_ok=True)


def write_json(path: Path, value: Any) -> None:
    """JSON with sorted keys, laid out for a person."""
    write_atomically(path, orjson.dumps(value, option=_PRETTY))
