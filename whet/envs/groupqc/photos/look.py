"""Photos by what they look like: copies are found whatever their size and compression.

A look has 256 bits, the signs of the lowest spatial frequencies against their median, and a small grey picture. Few
bits differ between copies; 16 bands of 16 bits find every such pair without comparing all. Photos of one kind of object
can agree in nearly all bits, so a pair counts only when no spot of the grey pictures differs much.
"""

from __future__ import annotations

import functools
import io
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from whet.errors import WhetError
from whet.extras import install

SIDE = 64
"""The grey picture is brought to this size."""
KEPT = 16
"""Frequencies kept in each direction."""
BANDS = 16
NEAR = 15
"""At most this many of the 256 bits differ between copies of one photo; below the number of bands."""
SPOT = 48
"""At most this much do copies differ anywhere in the grey picture, of 255: measured on drawn photos, copies at a third
of the size differ by up to 34, photos of different objects by 64 and more."""

PLAIN_SHADE = 6
"""Shades of 255 by which a picture that shows nothing may vary: the grain of a camera under its lid."""


@dataclass(frozen=True, slots=True)
class PhotoLook:
    """What a photo looks like. `bits` is 0 for one without any structure."""

    bits: int
    grey: bytes

    def distance(self, other: PhotoLook) -> int:
        """How many bits differ."""
        return (self.bits ^ other.bits).bit_count()

    @property
    def blank(self) -> bool:
        """Whether the picture is one and the same shade everywhere."""
        grey = np.frombuffer(self.grey, dtype=np.uint8)
        return int(grey.max()) - int(grey.min()) <= PLAIN_SHADE

    def figures(self) -> dict[str, float]:
        """Brightness, contrast and sharpness, each from 0 to 1."""
        grey = np.frombuffer(self.grey, dtype=np.uint8).reshape(SIDE, SIDE).astype(np.float64) / 255
        steps = np.abs(np.diff(grey, axis=0)).mean() + np.abs(np.diff(grey, axis=1)).mean()
        told = {"brightness": grey.mean(), "contrast": 2 * grey.std(), "sharpness": min(1.0, 4 * steps)}
        return {name: round(float(value), 4) for name, value in told.items()}

    def spot(self, other: PhotoLook) -> int:
        """The largest difference anywhere in the grey pictures."""
        mine, theirs = (np.frombuffer(look.grey, dtype=np.uint8).astype(np.int16) for look in (self, other))
        return int(np.abs(mine - theirs).max())


@dataclass(frozen=True, slots=True, order=True)
class PhotoCopy:
    """Two photos of different groups that look alike. `distance` is how many bits of their hashes differ."""

    first: str
    second: str
    distance: int


def look_of(image: Any) -> PhotoLook:
    """The look of an opened image."""
    images = pillow()
    grey = image.convert("L")
    small = np.asarray(grey.resize((SIDE, SIDE), images.Resampling.LANCZOS), dtype=np.float64)
    table = _cosines()
    low = (table @ small @ table.T).ravel()[1:]
    plain = np.abs(low).max() < 1e-6 * SIDE * SIDE
    bits = 0 if plain else int.from_bytes(np.packbits(np.append(low > np.median(low), False)).tobytes(), "big")
    return PhotoLook(bits, grey.resize((SIDE, SIDE), images.Resampling.BOX).tobytes())


def perceptual_look(data: bytes) -> PhotoLook:
    """The look of the bytes of an image; `OSError` where they are none."""
    with pillow().open(io.BytesIO(data)) as opened:
        return look_of(opened)


def copies(looks: Mapping[str, PhotoLook], owner: Mapping[str, str]) -> list[PhotoCopy]:
    """Pairs of photos that are copies and whose owners differ, by name."""
    found = set()
    for name, other in _candidates(looks):
        if owner[name] == owner[other]:
            continue
        first, second = looks[name], looks[other]
        if first.distance(second) <= NEAR and first.spot(second) <= SPOT:
            found.add(PhotoCopy(min(name, other), max(name, other), first.distance(second)))
    return sorted(found)


def _candidates(looks: Mapping[str, PhotoLook]) -> Iterator[tuple[str, str]]:
    """Pairs that agree in at least one band. A picture without structure says nothing, and is in no pair."""
    width = 256 // BANDS
    for band in range(BANDS):
        alike: dict[int, list[str]] = {}
        for name, look in looks.items():
            if look.bits:
                alike.setdefault(look.bits >> (band * width) & ((1 << width) - 1), []).append(name)
        for names in alike.values():
            yield from _pairs(names)


def _pairs(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    seen: list[str] = []
    for name in names:
        for other in seen:
            yield other, name
        seen.append(name)


@functools.cache
def _cosines() -> npt.NDArray[np.float64]:
    """The lowest rows of a discrete cosine transform."""
    at = np.arange(SIDE)
    return np.cos(np.pi * np.outer(np.arange(KEPT), 2 * at + 1) / (2 * SIDE))


def pillow() -> Any:
    """Pillow's image module, or in one line what to install."""
    try:
        from PIL import Image
    except ImportError:
        raise WhetError(f"photos need Pillow; run: {install('groupqc')}") from None
    # Sizes are checked where files are opened, with a reason; a warning would name no file.
    warnings.simplefilter("ignore", Image.DecompressionBombWarning)
    return Image
