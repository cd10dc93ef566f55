"""Compares what a plate shows with how the pack's shapes and marks are drawn: the nearest drawing is the reading."""

from __future__ import annotations

import functools
from typing import Any

import cv2
import numpy as np
from PIL import Image, ImageColor

from whet.envs.groupqc.pack.schema import Attribute, ObjectCategory, Pack
from whet.envs.groupqc.reader.plates import SHARP, Pixels
from whet.envs.groupqc.render.tile import BORDER, HIGH, PAPER, SHAPE_AT, TEXT_BOX, WIDE, Box, mark, shape, slots

SLACK = 4
"""Pixels by which a drawing may be off its place."""

STRANGE = 2600.0
"""A shape further from every drawing than this (mean square of a channel) is nothing the pack knows."""

MOST_PAIRS = 9

FloatPixels = np.ndarray[Any, np.dtype[np.float32]]


class Patterns:
    """The drawings of a pack, ready to be compared."""

    def __init__(self, pack: Pack) -> None:
        self._pack = pack
        self._shapes = {
            category.name: _soft(shape(category.look, category.tint))
            for category in pack.categories
            if category.look not in ("label", "text")
        }
        self._labels = {
            category.name: _colour(category.tint) for category in pack.categories if category.look == "label"
        }

    def category(self, plate: Pixels) -> tuple[ObjectCategory, FloatPixels] | None:
        """What the plate shows, and the plate in plain light at its drawn size. None where it is nothing known."""
        small = cv2.resize(plate, (WIDE, HIGH), interpolation=cv2.INTER_AREA)
        inner = small[BORDER + 4 : -BORDER - 4 : 2, BORDER + 4 : -BORDER - 4 : 2].reshape(-1, 3)
        paper = np.median(inner, axis=0).astype(np.float32)
        name = self._label_name(paper)
        wanted = self._labels[name] if name else np.array(PAPER, dtype=np.float32)
        plain = np.clip(small.astype(np.float32) * (wanted / np.maximum(paper, 1.0)), 0, 255)
        soft = cv2.GaussianBlur(plain, (3, 3), 0)
        if not name:
            left, top = SHAPE_AT
            distances = {known: _distance(soft, pattern, left, top) for known, pattern in self._shapes.items()}
            name = min(distances, key=lambda known: distances[known])
            if distances[name] > STRANGE:
                return None
        category = self._pack.category(name)
        return (category, soft) if category is not None else None

    def _label_name(self, paper: FloatPixels) -> str:
        """The label whose paper this is; '' for white."""
        hue = paper / max(float(paper.max()), 1.0)
        choices = {"": np.array(PAPER, dtype=np.float32), **self._labels}
        return min(choices, key=lambda choice: float(np.abs(choices[choice] / choices[choice].max() - hue).sum()))

    def states(self, category: ObjectCategory, plate: FloatPixels) -> list[tuple[str, str]]:
        """The value of each attribute whose slot is not empty."""
        paper = category.tint if category.look == "label" else ""
        found = []
        for attribute, box in slots(category):
            value = _nearest(plate, box, _values(attribute), paper)
            if value:
                found.append((attribute.name, value))
        return found


def _values(attribute: Attribute) -> tuple[tuple[str, str], ...]:
    """Each value with the name of its drawing."""
    if attribute.kind == "pair":
        return tuple((str(number), "badge") for number in range(1, MOST_PAIRS + 1))
    return tuple(attribute.marks.items())


def _nearest(plate: FloatPixels, box: Box, values: tuple[tuple[str, str], ...], paper: str) -> str:
    left, top, _, _ = box
    blank = _drawn("", "", paper)
    best, least = "", _distance(plate, blank, left, top)
    for value, name in values:
        distance = _distance(plate, _drawn(name, value, paper), left, top)
        if distance < least:
            best, least = value, distance
    return best


@functools.lru_cache(maxsize=1024)
def _drawn(name: str, value: str, paper: str) -> FloatPixels:
    colour = tuple(int(channel) for channel in _colour(paper)) if paper else PAPER
    if not name:
        box = Image.new("RGB", mark("bare", "").size, colour)
        return np.asarray(box, dtype=np.float32)
    return _soft(mark(name, value, colour))


def _soft(image: Image.Image) -> FloatPixels:
    return np.asarray(cv2.GaussianBlur(np.asarray(image, dtype=np.float32), (5, 5), 0), dtype=np.float32)


def _colour(text: str) -> FloatPixels:
    return np.array(ImageColor.getrgb(text)[:3], dtype=np.float32)


def _distance(plate: FloatPixels, pattern: FloatPixels, left: int, top: int) -> float:
    """The mean square difference at the best place near (left, top)."""
    high, wide = pattern.shape[:2]
    above, before = max(0, top - SLACK), max(0, left - SLACK)
    window = plate[above : top + high + SLACK, before : left + wide + SLACK]
    squares = cv2.matchTemplate(window, pattern, cv2.TM_SQDIFF)
    return float(np.min(squares)) / float(high * wide * 3)


def text_crop(plate: Pixels) -> Pixels | None:
    """The writing of a label, cut out with a margin; None where it is too faint to be read."""
    left, top, right, bottom = (SHARP * edge for edge in TEXT_BOX)
    region = plate[top:bottom, left:right]
    grey = cv2.cvtColor(region, cv2.COLOR_RGB2GRAY)
    paper = float(np.percentile(grey, 90))
    dark = grey < 0.55 * paper
    if dark.sum() < 60:
        return None
    rows, columns = np.flatnonzero(dark.any(axis=1)), np.flatnonzero(dark.any(axis=0))
    margin = 10
    above, below = max(0, rows[0] - margin), rows[-1] + margin
    before, after = max(0, columns[0] - 2 * margin), columns[-1] + 2 * margin
    return region[above:below, before:after]
