"""Certified instances on disk, by content: an object is named by its digest, a request by what was asked for.

The environment asks here for the instance of a cell, split and index; what is not there yet is made and kept. An object
says which request it answers, so one that lies in the place of another is not taken for it. The cache only saves time:
it may be deleted, and an object that was tampered with is made again.
"""

from __future__ import annotations

import functools
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import orjson

from whet.envs import fingerprint
from whet.envs.ordebug import maker
from whet.envs.ordebug.instance import Instance
from whet.envs.ordebug.ladder import Cell
from whet.envs.ordebug.model import ModelError
from whet.keys import bytes_digest, digest
from whet.types import Split

GENERATOR = maker.__name__
"""The module that makes instances; what it imports is what they depend on."""


@functools.cache
def generator_digest() -> str:
    """The code that makes instances, with the solver's version: with another one, instances may be others."""
    return fingerprint.code(GENERATOR)


def default_folder() -> Path:
    """Where caches of a user lie: `$XDG_CACHE_HOME/whet/ordebug`, by default under `~/.cache`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "whet" / "ordebug"


@dataclass(frozen=True, slots=True)
class Cache:
    """A folder of instances. `objects/DIGEST.json` holds one, `names/DIGEST` says which object answers a request."""

    folder: Path

    def get(self, request: str) -> Instance | None:
        """The instance that answers a request; None when there is none, or it is not what was stored."""
        try:
            name = (self.folder / "names" / request).read_text()
            data = (self.folder / "objects" / f"{name}.json").read_bytes()
        except OSError:
            return None
        if bytes_digest(data) != name:
            return None
        try:
            held = orjson.loads(data)
            return Instance.from_data(held["instance"]) if held["request"] == request else None
        except (ModelError, KeyError, TypeError, orjson.JSONDecodeError):
            return None

    def put(self, request: str, made: Instance) -> None:
        """Keep an instance; a folder that cannot be written to is left alone."""
        data = orjson.dumps({"request": request, "instance": made.to_data()}, option=orjson.OPT_SORT_KEYS)
        name = bytes_digest(data)
        try:
            _write(self.folder / "objects" / f"{name}.json", data)
            _write(self.folder / "names" / request, name.encode())
        except OSError:
            return


def certified(
    cell: Cell, split: Split, index: int, *, families: tuple[str, ...], seed: int = 0, folder: Path | None = None
) -> Instance:
    """The instance of a cell at an index of a split: the same for everybody who asks with the same generator."""
    return _certified(cell, split, index, families, seed, folder or default_folder())


@functools.lru_cache(maxsize=512)
def _certified(cell: Cell, split: Split, index: int, families: tuple[str, ...], seed: int, folder: Path) -> Instance:
    cache = Cache(folder)
    request = digest(generator_digest(), cell.name, split, index, list(families), seed)
    found = cache.get(request)
    if found is None:
        found = maker.make(cell, split, index, seed, families)
        cache.put(request, found)
    return found


def _write(path: Path, data: bytes) -> None:
    """Whole or not at all: another process may be writing the same."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    Path(temporary).replace(path)
