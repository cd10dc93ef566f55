"""A folder that was made from a file can be made anew: what was written is known, and what was changed is not lost."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import orjson

from whet.errors import WhetError
from whet.files import write_atomically

NOTE = ".made.json"
"""In the folder: each file that was written, with a digest of what was in it."""


def note_written(folder: Path, files: Sequence[str]) -> None:
    """Keep what was written."""
    write_atomically(folder / NOTE, orjson.dumps({name: _digest(folder / name) for name in files}))


def refuse_changed(folder: Path) -> None:
    """Raise where a folder was not made here, or where what was made has been changed since."""
    if not folder.exists():
        return
    for name, digest in _written(folder).items():
        if (folder / name).is_file() and _digest(folder / name) != digest:
            raise WhetError(
                f"{folder}: {name} was changed since it was made and would be written over; give another name, "
                "or move the folder away"
            )


def put_in_place(beside: Path, folder: Path) -> None:
    """Move what was made to its place: the whole folder, or file by file where it is there already."""
    if not folder.exists():
        beside.rename(folder)
        return
    for name in _written(folder):
        (folder / name).unlink(missing_ok=True)
    for file in sorted(path for path in beside.rglob("*") if path.is_file()):
        place = folder / file.relative_to(beside)
        place.parent.mkdir(parents=True, exist_ok=True)
        file.replace(place)


def _written(folder: Path) -> Mapping[str, str]:
    try:
        found: dict[str, str] = orjson.loads((folder / NOTE).read_bytes())
    except (OSError, ValueError):
        raise WhetError(f"{folder}: is there already; give another name or move it away") from None
    return found


def _digest(file: Path) -> str:
    return hashlib.blake2b(file.read_bytes(), digest_size=16).hexdigest()
