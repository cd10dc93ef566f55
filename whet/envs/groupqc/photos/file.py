"""Photos on disk: whether a file is one, how it is shown to a model, and what it looks like."""

from __future__ import annotations

import hashlib
import io
import math
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whet.envs.groupqc.photos.look import PhotoLook, look_of, pillow
from whet.types import Image

MEDIA = {"JPEG": "image/jpeg", "PNG": "image/png", "MPO": "image/jpeg"}
"""What a photo may be; MPO is the JPEG of phones that keep a second picture in it."""

PLAIN = ("RGB", "L")
"""Kinds of pixels that every model takes as they are."""

MAX_PIXELS = 16_000_000
"""Larger photos are shown smaller, where nothing else is said."""

MOST_PIXELS = {"JPEG": 178_000_000, "MPO": 178_000_000, "PNG": 64_000_000}
MOST_BYTES = 256 * 1024 * 1024
"""Beyond these a file is not opened at all: a few kilobytes can unpack to more than a machine holds. A JPEG may be
larger, because it can be unpacked at a fraction of its size."""

_ORIENTATION = 0x0112
_UPRIGHT = (None, 1)


class NotAPhoto(Exception):
    """Why a file is no photo; `reason` is a short stable code."""

    def __init__(self, detail: str, reason: str = "not_a_photo") -> None:
        super().__init__(detail)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class PhotoFile:
    """A photo on disk. `image` names the bytes that a model is shown, `look` serves to find copies."""

    path: Path
    image: Image
    look: PhotoLook
    as_is: bool
    """Whether the file itself is shown; else it is turned, converted or made smaller first."""
    size: tuple[int, int] = (0, 0)

    def figures(self) -> dict[str, float]:
        """What the picture is like, each from 0 to 1: a camera or an app that changes shows here."""
        wide, high = self.size
        return {**self.look.figures(), "pixels": min(1.0, math.log2(max(1, wide * high)) / 32)}


def open_photo(path: Path, max_pixels: int | None = MAX_PIXELS) -> PhotoFile:
    """Look at a file. Its content decides what it is, not its name; `NotAPhoto` says why it cannot be used."""
    data = _bytes(path)
    images = pillow()
    try:
        with images.open(io.BytesIO(data)) as opened:
            media = _accepted(opened)
            size = (opened.width, opened.height)
            as_is = (
                opened.format in ("JPEG", "PNG")
                and opened.mode in PLAIN
                and (max_pixels is None or opened.width * opened.height <= max_pixels)
                and opened.getexif().get(_ORIENTATION) in _UPRIGHT
                and getattr(opened, "n_frames", 1) == 1
            )
            if as_is:
                # A JPEG is decoded small, which reads all of it: a file that is cut off shows here.
                opened.draft("L", (256, 256))
                look = look_of(opened)
        if not as_is:
            data = _shown(data, max_pixels)
            with images.open(io.BytesIO(data)) as turned:
                look = look_of(turned)
    except images.UnidentifiedImageError:
        raise NotAPhoto("its content is no image" if data else "the file is empty") from None
    except images.DecompressionBombError:
        raise NotAPhoto("it has more pixels than can be unpacked safely", "too_large") from None
    except (OSError, ValueError, SyntaxError, MemoryError, EOFError, OverflowError, ZeroDivisionError) as problem:
        raise NotAPhoto(f"it cannot be read as an image: {problem}") from None
    if look.blank:
        raise NotAPhoto("it shows nothing: one and the same shade everywhere", "blank_photo")
    return PhotoFile(path, Image(hashlib.sha256(data).hexdigest(), media), look, as_is, size)


def _accepted(opened: Any) -> str:
    """The media type of an image whose header alone was read."""
    if opened.format not in MEDIA:
        raise NotAPhoto(f"it is {opened.format}, and a photo is JPEG or PNG")
    most = MOST_PIXELS[opened.format]
    if opened.width * opened.height > most:
        size = f"{opened.width:,} x {opened.height:,}"
        raise NotAPhoto(f"{size} pixels are too many: a {opened.format} has at most {most:,}", "too_large")
    return MEDIA[opened.format]


def shown_bytes(path: Path, max_pixels: int | None = MAX_PIXELS) -> bytes:
    """The photo the right way up, as a camera's own note says, in plain colours, and no larger than `max_pixels`."""
    return _shown(_bytes(path), max_pixels)


def _shown(data: bytes, max_pixels: int | None) -> bytes:
    from PIL import ImageOps

    images = pillow()
    with images.open(io.BytesIO(data)) as opened:
        kind = opened.format
        wide, high = opened.size
        scale = 1.0 if max_pixels is None else min(1.0, (max_pixels / (wide * high)) ** 0.5)
        if scale < 1.0:
            opened.draft("RGB", (max(1, int(wide * scale)), max(1, int(high * scale))))
        upright: Any = _plain(ImageOps.exif_transpose(opened))
    pixels = upright.width * upright.height
    if max_pixels is not None and pixels > max_pixels:
        scale = (max_pixels / pixels) ** 0.5
        size = (max(1, int(upright.width * scale)), max(1, int(upright.height * scale)))
        upright = upright.resize(size, images.Resampling.LANCZOS)
    out = io.BytesIO()
    if kind == "PNG":
        upright.save(out, "PNG")
    else:
        upright.convert("RGB").save(out, "JPEG", quality=92)
    return out.getvalue()


def _plain(image: Any) -> Any:
    """Pixels of 8 bits in colour or grey: what has 16 bits keeps its brightness, what is see-through lies on white."""
    if image.mode in PLAIN:
        return image.copy()
    if image.mode.startswith("I") or image.mode == "F":
        high = image.getextrema()[1]
        top = 65535.0 if image.mode.startswith("I") and high > 255 else max(1.0, float(high))
        return image.convert("F").point(lambda level: level * (255.0 / top)).convert("L")
    if image.mode in ("RGBA", "LA", "PA", "P"):
        clear = image.convert("RGBA")
        ground = pillow().new("RGBA", clear.size, "white")
        ground.alpha_composite(clear)
        return ground.convert("RGB")
    return image.convert("RGB")


def open_photos(
    paths: Iterable[Path], max_pixels: int | None = MAX_PIXELS, threads: int = 2
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
        if not path.is_file():
            raise NotAPhoto("it is no file: a folder, a broken or circular link, or a device", "not_a_file")
        if path.stat().st_size > MOST_BYTES:
            raise NotAPhoto(f"the file has more than {MOST_BYTES:,} bytes", "too_large")
        return path.read_bytes()
    except OSError as problem:
        raise NotAPhoto(f"it cannot be read: {problem.strerror}", "unreadable") from None
