"""A user's examples as rows: one file, or a folder with a file or folder for each split. Parsed once, never guessed at.

Whatever is wrong with a file is one line that names the row and the column.
"""

from __future__ import annotations

import bisect
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from whet.envs.data.derived import derived
from whet.envs.data.formats import READERS
from whet.envs.data.row_table import RowTable
from whet.errors import WhetError
from whet.types import SPLITS, Split

Row = Mapping[str, Any]

SIDES: Mapping[str, Split] = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("val", "valid", "validation", "dev", "eval", "select"), "select"),
    **dict.fromkeys(("test", "bench", "holdout"), "test"),
}
"""What a split is called in other people's folders and columns."""


@dataclass(frozen=True, slots=True)
class DataSource:
    """Rows in the order of the file. `sides` holds the split of each row where a folder gives it."""

    path: Path
    columns: tuple[str, ...]
    rows: Sequence[Row]
    digest: str
    sides: Sequence[Split] | None = None
    files: tuple[tuple[str, int], ...] = ()
    """Each file's name and the index of its first row."""
    numbers: tuple[int, ...] = ()
    """Where rows were left out: the index that each of the others had."""

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def is_parquet(self) -> bool:
        """Whether some of it was read by pyarrow."""
        return any(name.lower().endswith(".parquet") for name, _ in self.files)

    def place(self, index: int) -> str:
        """Where a row stands, for a person: the file and the number of the row in it, from 1."""
        index = self.numbers[index] if self.numbers else index
        starts = [start for _, start in self.files]
        file = bisect.bisect_right(starts, index) - 1
        name, start = self.files[file]
        return f"{name}, row {index - start + 1}"

    def only(self, kept: Sequence[int]) -> DataSource:
        """The same without the other rows; those that stay are still called by their place in the file."""
        return replace(
            self,
            rows=[self.rows[index] for index in kept],
            sides=None if self.sides is None else [self.sides[index] for index in kept],
            numbers=tuple(self.numbers[index] if self.numbers else index for index in kept),
        )


def read_source(path: Path, encoding: str = "utf-8") -> DataSource:
    """Every row at `path`."""
    if path.is_dir():
        return _read_folder(path, encoding)
    if not path.exists():
        raise WhetError(f"{path}: no such file; give a {_endings()} file or a folder with train, val and test")
    content, read = _read_file(path, path.name, encoding)
    return DataSource(path, read.columns, read.rows, _digest([(path.suffix, content)]), files=((path.name, 0),))


def _read_folder(folder: Path, encoding: str) -> DataSource:
    found = [(SIDES[entry.stem.lower()], entry) for entry in sorted(folder.iterdir()) if entry.stem.lower() in SIDES]
    pieces = [(side, file) for side, entry in found for file in _files(entry)]
    if not pieces:
        raise WhetError(f"{folder}: holds no train, val or test with {_endings()} files")
    columns: dict[str, None] = {}
    rows: list[Row] = []
    sides: list[Split] = []
    contents: list[tuple[str, bytes]] = []
    files: list[tuple[str, int]] = []
    for side, file in sorted(pieces, key=lambda piece: SPLITS.index(piece[0])):
        name = str(file.relative_to(folder))
        content, read = _read_file(file, name, encoding)
        files.append((name, len(rows)))
        contents.append((name, content))
        columns.update(dict.fromkeys(read.columns))
        rows.extend(read.rows)
        sides.extend([side] * len(read.rows))
    return DataSource(folder, tuple(columns), rows, _digest(contents), sides, tuple(files))


def _files(place: Path) -> list[Path]:
    """The data files of one split: the file itself, or what a folder of its name holds."""
    within = sorted(place.rglob("*")) if place.is_dir() else [place]
    return [file for file in within if file.is_file() and file.suffix.lower() in READERS]


def _read_file(path: Path, name: str, encoding: str) -> tuple[bytes, RowTable]:
    reader: Callable[[str, bytes, str], RowTable] | None = READERS.get(path.suffix.lower())
    if reader is None:
        raise WhetError(f"{path}: cannot read {path.suffix or 'a file without an ending'}; it must be {_endings()}")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise WhetError(f"{path}: cannot be read ({error.strerror})") from None
    read = reader(name, content, encoding)
    if not read.rows:
        raise WhetError(f"{name}: holds no rows")
    return content, RowTable(derived(read.columns, read.rows), read.rows)


def _digest(contents: Sequence[tuple[str, bytes]]) -> str:
    total = hashlib.blake2b(digest_size=16)
    for name, content in contents:
        total.update(f"{name}\x1f{len(content)}\x1f".encode())
        total.update(content)
    return total.hexdigest()


def _endings() -> str:
    return ", ".join(READERS)
