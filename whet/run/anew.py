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
    for name, digests in _written(folder).items():
        if (folder / name).is_file() and _digest(folder / name) not in digests:
            raise WhetError(
                f"{folder}: {name} was changed since it was made and would be written over; give another name, "
                "or move the folder away"
            )


def put_in_place(beside: Path, folder: Path) -> None:
    """Move what was made to its place: the whole folder, or file by file where it is there already.

    While files are moved the note holds what was written before and what comes now, so that a folder in which this was
    stopped half-way can be made anew. A file that lies there and was not made here is not written over.
    """
    if not folder.exists():
        beside.rename(folder)
        return
    before, now = _written(folder), _written(beside)
    for name, digests in now.items():
        if name not in before and (folder / name).exists() and _digest(folder / name) not in digests:
            raise WhetError(f"{folder}: {name} is there, is not from here and would be written over; move it away")
    both = {name: sorted({*before.get(name, ()), *now.get(name, ())}) for name in {*before, *now}}
    write_atomically(folder / NOTE, orjson.dumps(both))
    for name in sorted(now):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (beside / name).replace(folder / name)
    for name in before.keys() - now.keys():
        (folder / name).unlink(missing_ok=True)
    (beside / NOTE).replace(folder / NOTE)


def _written(folder: Path) -> Mapping[str, Sequence[str]]:
    """The files that were written, each with the digests that it may have."""
    try:
        found: dict[str, str | list[str]] = orjson.loads((folder / NOTE).read_bytes())
        return {name: [digest] if isinstance(digest, str) else digest for name, digest in found.items()}
    except (OSError, ValueError, AttributeError):
        raise WhetError(f"{folder}: is there already; give another name or move it away") from None


def _digest(file: Path) -> str:
    return hashlib.blake2b(file.read_bytes(), digest_size=16).hexdigest()
