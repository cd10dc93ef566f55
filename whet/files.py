"""Files that a person reads: written whole or not at all, so that nobody ever sees half of one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import orjson

_PRETTY = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS | orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE


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
    """JSON with sorted keys, laid out for a person."""
    write_atomically(path, orjson.dumps(value, option=_PRETTY))
