"""Photos on disk: whether a file is one, how it is shown to a model, and what it looks like."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whet.envs.groupqc.photos.look import PhotoLook, look_of, pillow
from whet.types import Image

MEDIA = {"JPEG": "image/jpeg", "PNG": "image/png"}
_ORIENTATION = 0x0112
_UPRIGHT = (None, 1)


class NotAPhoto(Exception):
    """Why a file is no photo."""


@dataclass(frozen=True, slots=True)
class PhotoFile:
    """A photo on disk. `image` names the bytes that a model is shown, `look` serves to find copies."""

    path: Path
    image: Image
    look: PhotoLook
    as_is: bool
    """Whether the file itself is shown; else it is turned or made smaller first."""


def open_photo(path: Path, max_pixels: int | None = None) -> PhotoFile:
    """Look at a file. Its content decides what it is, not its name; `NotAPhoto` says why it cannot be used."""
    data = _bytes(path)
    images = pillow()
    try:
        with images.open(io.BytesIO(data)) as opened:
            if opened.format not in MEDIA:
                raise NotAPhoto(f"it is {opened.format}, and a photo is JPEG or PNG")
            too_big = max_pixels is not None and opened.width * opened.height > max_pixels
            as_is = not too_big and opened.getexif().get(_ORIENTATION) in _UPRIGHT
            media = MEDIA[opened.format]
            if as_is:
                # A JPEG is decoded small, which reads all of it: a file that is cut off shows here.
                opened.draft("L", (256, 256))
                look = look_of(opened)
    except images.UnidentifiedImageError:
        raise NotAPhoto("its content is no image") from None
    except (OSError, ValueError, SyntaxError, images.DecompressionBombError) as problem:
        raise NotAPhoto(f"it cannot be read as an image: {problem}") from None
    if not as_is:
        data = shown_bytes(path, max_pixels)
        with images.open(io.BytesIO(data)) as turned:
            look = look_of(turned)
    return PhotoFile(path, Image(hashlib.sha256(data).hexdigest(), media), look, as_is)


def shown_bytes(path: Path, max_pixels: int | None = None) -> bytes:
    """The photo the right way up, as a camera's own note says, and no larger than `max_pixels`."""
    from PIL import ImageOps

    images = pillow()
    with images.open(io.BytesIO(_bytes(path))) as opened:
        kind = opened.format
        upright: Any = ImageOps.exif_transpose(opened)
    pixels = upright.width * upright.height
    if max_pixels is not None and pixels > max_pixels:
        scale = (max_pixels / pixels) ** 0.5
        size = (max(1, int(upright.width * scale)), max(1, int(upright.height * scale)))
        upright = upright.resize(size, images.Resampling.LANCZOS)
    out = io.BytesIO()
    if kind == "JPEG":
        upright.convert("RGB").save(out, "JPEG", quality=92)
    else:
        upright.save(out, "PNG")
    return out.getvalue()


def open_photos(
    paths: Iterable[Path], max_pixels: int | None = None, threads: int = 2
) -> dict[Path, PhotoFile | NotAPhoto]:
    """Look at many files; decoding does not hold the interpreter up, so a few threads help."""

    def looked_at(path: Path) -> PhotoFile | NotAPhoto:
        try:
            return open_photo(path, max_pixels)
        except NotAPhoto as problem:
            return problem

    listed = list(paths)
    with ThreadPoolExecutor(threads) as pool:
        return dict(zip(listed, pool.map(looked_at, listed), strict=True))


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise NotAPhoto(f"it cannot be read: {problem.strerror}") from None
