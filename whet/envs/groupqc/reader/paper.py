"""Whether a picture without any plate is a page: a document, a screenshot, a form. All else is unknown to the reader.

A page is mostly paper: more than half of it is one bright, pale shade once the light that falls across is taken away.
"""

from __future__ import annotations

import cv2
import numpy as np

from whet.envs.groupqc.reader.plates import Pixels

WIDE, HIGH = 155, 98
NEAR = 8.0
"""Shades of 255 by which paper may differ from the light on it."""
PAPER_SHARE, PAPER_BRIGHT, PAPER_COLOUR = 0.5, 130.0, 40.0
"""Drawn pages have 0.52, 143 and 31 at worst, photos of people, skies and coloured boxes 0.61, 255 and 46 at best, and
none of them all three."""


def is_page(pixels: Pixels) -> bool:
    """Whether most of the picture is paper."""
    small = cv2.resize(pixels, (WIDE, HIGH), interpolation=cv2.INTER_NEAREST).astype(np.float64).reshape(-1, 3)
    bright = small.max(axis=1)
    down, across = (axis.ravel() for axis in np.mgrid[-0.5 : 0.5 : HIGH * 1j, -0.5 : 0.5 : WIDE * 1j])
    light = np.stack([np.ones_like(down), across, down, across * down], axis=1)
    paper = bright >= np.median(bright)
    for _ in range(6):
        if paper.sum() < len(bright) // 20:
            return False
        fitted = light @ np.linalg.lstsq(light[paper], bright[paper], rcond=None)[0]
        paper = np.abs(bright - fitted) < NEAR
    if paper.mean() < PAPER_SHARE or float(np.median(bright[paper])) < PAPER_BRIGHT:
        return False
    return float((small[paper].max(axis=1) - small[paper].min(axis=1)).mean()) <= PAPER_COLOUR
