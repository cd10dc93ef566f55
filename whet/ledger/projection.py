"""Readable files made from the ledger: written whole or not at all, so a reader never sees half of one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from whet import wire


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write to that stands at `path` when the block has ended well, and nowhere otherwise.

    It is written beside and renamed over: after a kill the old file or the new one stands there, never a part. Nothing
    is forced to the disk, which takes milliseconds a file: what a power cut takes is rebuilt from the ledger.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as file:
            yield file
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    with atomic_file(path) as file:
        file.write(data)


def sweep(folder: Path) -> None:
    """Remove what a killed writer left beside. For whoever holds the run's lock."""
    for part in folder.rglob(".*.part"):
        part.unlink(missing_ok=True)


def write_json(path: Path, value: Any) -> None:
    write_atomically(path, wire.dumps(value, pretty=True))
