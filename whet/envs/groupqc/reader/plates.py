"""Finds the plates of a photo and lays each one straight: contours and rectification, on pixels alone."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from whet.envs.groupqc.render.photo import BAND, SIZE
from whet.envs.groupqc.render.tile import BORDER, HIGH, WIDE
from whet.errors import WhetError

Pixels = np.ndarray[Any, np.dtype[np.uint8]]

MOST_PIXELS = 60_000_000
SHARP = 2
"""Plates are laid out at this many times the size of a drawing, so that small writing keeps its detail."""

LEVELS = (0.5, 0.3, 0.7)
"""How bright a plate is between the ground and white: light falls unevenly, so one level does not find them all."""


class NotAnImage(WhetError):
    """The bytes are not an image that can be opened."""


@dataclass(frozen=True, slots=True)
class Plate:
    """A plate laid straight, at `SHARP` times its drawn size, and where its middle was."""

    pixels: Pixels
    at: tuple[float, float]


def open_pixels(data: bytes) -> Pixels:
    """The image the right way up, brought to the width of a drawing."""
    try:
        with Image.open(io.BytesIO(data)) as image:
            if image.width * image.height > MOST_PIXELS:
                raise NotAnImage(f"an image of {image.width} x {image.height} pixels is too large")
            upright = ImageOps.exif_transpose(image).convert("RGB")
    except UnidentifiedImageError:
        raise NotAnImage(
            "not an image: its first bytes are of no known format" if data else "not an image: the file is empty"
        ) from None
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as problem:
        raise NotAnImage(f"not an image: {str(problem) or type(problem).__name__}") from None
    if upright.width != SIZE[0]:
        high = max(1, round(upright.height * SIZE[0] / upright.width))
        upright = upright.resize((SIZE[0], min(high, 4 * SIZE[0])), Image.Resampling.BICUBIC)
    return np.asarray(upright)


def find_plates(pixels: Pixels) -> list[Plate]:
    """Every bright rectangle of about the size of a plate with a dark rim, in reading order."""
    bright = cv2.max(cv2.max(pixels[..., 0], pixels[..., 1]), pixels[..., 2])
    middle = bright[BAND:-BAND] if len(bright) > 4 * BAND else bright
    ground, white = float(np.median(middle[::2, ::2])), float(np.percentile(middle[::2, ::2], 99.7))
    if white - ground < 30:
        return []
    plates: list[Plate] = []
    for share in LEVELS:
        mask = (bright > ground + share * (white - ground)).astype(np.uint8)
        outlines, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
        for outline in outlines:
            corners = _corners(outline)
            if corners is None or not all(_apart(corners, plate) for plate in plates):
                continue
            straight = _straight(pixels, corners)
            if _rimmed(straight):
                x, y = corners.mean(axis=0)
                plates.append(Plate(straight, (float(x), float(y))))
    return sorted(plates, key=lambda plate: (plate.at[1] // 150, plate.at[0]))


def _apart(corners: Any, other: Plate) -> bool:
    x, y = corners.mean(axis=0)
    return abs(float(x) - other.at[0]) > HIGH / 2 or abs(float(y) - other.at[1]) > HIGH / 2


def _corners(outline: Any) -> Any:
    """The corners of an outline that is a plate: top left first, then clockwise. None for anything else."""
    (_, _), (side, other), _ = box = cv2.minAreaRect(outline)
    wide, high = max(side, other), min(side, other)
    inner_wide, inner_high = WIDE - 2 * BORDER, HIGH - 2 * BORDER
    if not 0.75 * inner_wide < wide < 1.15 * inner_wide or not 0.75 * inner_high < high < 1.15 * inner_high:
        return None
    if cv2.contourArea(outline) < 0.88 * wide * high:
        return None
    points = cv2.boxPoints(box)
    by_height = points[np.argsort(points[:, 1])]
    top, bottom = by_height[:2], by_height[2:]
    top, bottom = top[np.argsort(top[:, 0])], bottom[np.argsort(bottom[:, 0])]
    corners = np.array([top[0], top[1], bottom[1], bottom[0]], dtype=np.float32)
    return corners if np.linalg.norm(corners[1] - corners[0]) > np.linalg.norm(corners[3] - corners[0]) else None


def _straight(pixels: Pixels, corners: Any) -> Pixels:
    left, top, right, bottom = BORDER, BORDER, WIDE - BORDER - 1, HIGH - BORDER - 1
    wanted = np.array([[left, top], [right, top], [right, bottom], [left, bottom]], dtype=np.float32) * SHARP
    turned = cv2.getPerspectiveTransform(corners, wanted)
    flags = cv2.INTER_CUBIC
    return np.asarray(cv2.warpPerspective(pixels, turned, (WIDE * SHARP, HIGH * SHARP), flags=flags), dtype=np.uint8)


def _rimmed(plate: Pixels) -> bool:
    """Whether a dark line runs all around: cells of a form and bubbles of a chat share or lack one."""
    grey = cv2.cvtColor(plate, cv2.COLOR_RGB2GRAY)
    width = BORDER * SHARP
    inner = float(np.percentile(grey[width:-width:4, width:-width:4], 80))
    half = width // 2
    sides = (
        grey[half - 2 : half + 2],
        grey[-half - 2 : -half + 2],
        grey[:, half - 2 : half + 2],
        grey[:, -half - 2 : -half + 2],
    )
    return all(float(np.median(side)) < 0.6 * inner for side in sides)
