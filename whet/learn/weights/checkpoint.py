"""Checkpoints: written whole or not at all, the last few kept, and never the best one lost.

checkpoints/s0003/    adapter or model, optimizer, schedule, random state, and `state.json`
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whet.errors import WhetError
from whet.files import write_json
from whet.models.hf.adapter import name_base
from whet.models.hf.folder import Folder, read_json

FOLDER = "checkpoints"
STATE = "state.json"
MODEL = "model"
"""In a checkpoint of whole weights: the files that a model is made of, without the trainer's."""

_MODEL_FILES = (".safetensors", ".jinja", ".model", ".txt")
_MODEL_JSON = ("config.json", "generation_config.json", "model.safetensors.index.json", "processor_config.json")
_LITTER = ("README.md", "training_args.bin")


@dataclass(frozen=True, slots=True)
class Shelf:
    """The folder in which a run keeps its checkpoints."""

    folder: Path

    def place(self, number: int) -> Path:
        return self.folder / f"s{number:04d}"

    def work(self, number: int) -> Path:
        """Where a segment is worked on; gone when it is done."""
        return self.folder / f"s{number:04d}.unfinished"

    def clear(self, number: int) -> Path:
        """An empty place to work in: what a killed session left is removed."""
        work = self.work(number)
        shutil.rmtree(work, ignore_errors=True)
        with disk_errors(work):
            work.mkdir(parents=True)
        return work

    def keep(self, number: int, made: Path, base: Folder, state: dict[str, Any]) -> Path:
        """Put what the trainer wrote in its place, in one rename."""
        with disk_errors(self.place(number)):
            for name in _LITTER:
                (made / name).unlink(missing_ok=True)
            write_json(made / STATE, state)
            if (made / "adapter_config.json").is_file():
                name_base(made, base)
            else:
                _model_alone(made)
            place = self.place(number)
            shutil.rmtree(place, ignore_errors=True)  # a session was killed between this rename and its record
            made.replace(place)
        shutil.rmtree(self.work(number), ignore_errors=True)
        return place

    def prune(self, newest: int, keep: int, wanted: Collection[Path]) -> None:
        """Remove checkpoints older than the last `keep`, except those that are `wanted`."""
        for number in range(1, newest - keep + 1):
            place = self.place(number)
            if place.is_dir() and place not in wanted:
                shutil.rmtree(place, ignore_errors=True)


def read_state(checkpoint: Path) -> dict[str, Any]:
    return read_json(checkpoint / STATE)


def model_address(base: str, checkpoint: Path) -> str:
    """The address under which the weights of a checkpoint are opened."""
    if (checkpoint / "adapter_config.json").is_file():
        return f"hf:{base}+{checkpoint}"
    return f"hf:{checkpoint / MODEL}"


@contextmanager
def disk_errors(place: Path) -> Iterator[None]:
    """What a disk says when it is full, as one line. Checkpoints that stand are not touched by it."""
    try:
        yield
    except OSError as problem:
        raise disk_error(place, problem.strerror or str(problem)) from None


def disk_error(place: Path, why: str) -> WhetError:
    return WhetError(
        f"{place}: the checkpoint cannot be written ({why}); make room and continue with the same command: the "
        "checkpoints before it are whole"
    )


def _model_alone(made: Path) -> None:
    """The model's own files under names of their own, without copying: what a trainer adds is no part of a model."""
    model = made / MODEL
    model.mkdir()
    for file in sorted(made.iterdir()):
        named = file.name in _MODEL_JSON or file.name.startswith(("tokenizer", "special_tokens", "vocab", "added_"))
        if file.is_file() and (file.suffix in _MODEL_FILES or named):
            os.link(file, model / file.name)
