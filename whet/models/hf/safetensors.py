"""Weights in safetensors files: saved; or read by their headers alone: which tensors, how many, is all there."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SINGLE = "model.safetensors"
INDEX = "model.safetensors.index.json"
_HEADER_MOST = 100 * 1024 * 1024


class DamagedWeights(Exception):
    """The files do not hold what they should; the message says what is wrong."""


@dataclass(frozen=True, slots=True)
class Tensors:
    """The tensors of a model: shapes by name, and the types they are stored in."""

    shapes: Mapping[str, tuple[int, ...]]
    types: tuple[str, ...]
    files: int

    @property
    def parameters(self) -> int:
        return sum(math.prod(shape) for shape in self.shapes.values())


def read_tensors(folder: Path) -> Tensors | None:
    """The tensors of a model folder, None where it has no safetensors. `DamagedWeights` where some are missing."""
    if (folder / INDEX).is_file():
        return _sharded(folder)
    if (folder / SINGLE).is_file():
        header = _header(folder / SINGLE)
        return _tensors([header])
    return None


def save_model(model: Any, folder: Path) -> None:
    """Have a model write itself. A disk that is full has an error of its own there: it is an `OSError` here."""
    from safetensors import SafetensorError

    try:
        model.save_pretrained(str(folder))
    except SafetensorError as problem:
        raise OSError(str(problem)) from problem


def _sharded(folder: Path) -> Tensors:
    try:
        where = json.loads((folder / INDEX).read_bytes())["weight_map"]
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedWeights(f"{INDEX} cannot be read: it must hold a weight_map") from error
    files = sorted(set(where.values()))
    absent = [name for name in files if not (folder / name).is_file()]
    if absent:
        raise DamagedWeights(f"{len(absent)} of {len(files)} files of the index are not there, such as {absent[0]}")
    headers = {name: _header(folder / name) for name in files}
    lost = [name for name, file in where.items() if name not in headers[file]]
    if lost:
        raise DamagedWeights(
            f"{len(lost)} tensors of the index are not in their files, such as {lost[0]} in {where[lost[0]]}"
        )
    return _tensors([*headers.values()])


def _tensors(headers: list[dict[str, Any]]) -> Tensors:
    entries = {name: entry for header in headers for name, entry in header.items()}
    shapes = {name: tuple(entry["shape"]) for name, entry in entries.items()}
    return Tensors(shapes, tuple(sorted({entry["dtype"] for entry in entries.values()})), len(headers))


def _header(path: Path) -> dict[str, Any]:
    """The tensors that a file says it has; refused where the file is shorter than they are."""
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if not 2 <= length <= min(_HEADER_MOST, size - 8):
            raise DamagedWeights(f"{path.name} is no safetensors file, or a part of one: download it again")
        try:
            header = json.loads(file.read(length))
            entries = {name: entry for name, entry in header.items() if name != "__metadata__"}
            end = max((entry["data_offsets"][1] for entry in entries.values()), default=0)
        except (ValueError, AttributeError, KeyError, TypeError, IndexError) as error:
            raise DamagedWeights(f"{path.name}: its header cannot be read: download it again") from error
    if size != 8 + length + end:
        raise DamagedWeights(f"{path.name} has {size} bytes and should have {8 + length + end}: download it again")
    return entries
