"""Images that a row names by their path, relative to the file that names them."""

from __future__ import annotations

import hashlib
import mimetypes
from pathlib import Path
from typing import Any

from whet.envs.data.source import DataSource, Row
from whet.errors import WhetError
from whet.types import Image

KINDS = ("image/png", "image/jpeg", "image/webp", "image/gif")


def image_paths(source: DataSource, row: Row, column: str, place: str) -> list[Path]:
    """The files of a row's images, all of them there and of a kind that models take."""
    value: Any = row.get(column)
    named = value if isinstance(value, list) else [value] if value else []
    base = source.path if source.path.is_dir() else source.path.parent
    paths = [base / str(file) for file in named]
    for path in paths:
        if not path.is_file():
            raise WhetError(f"{place}, column {column!r}: there is no image {path}")
        if mimetypes.guess_type(path.name)[0] not in KINDS:
            raise WhetError(f"{place}, column {column!r}: {path.name} is not a PNG, JPEG, WebP or GIF image")
    return paths


def load_image(path: Path) -> tuple[Image, Path]:
    """The image by its content."""
    return Image(hashlib.sha256(path.read_bytes()).hexdigest(), mimetypes.guess_type(path.name)[0] or KINDS[0]), path
