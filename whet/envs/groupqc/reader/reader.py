"""The embedded reader, `baseline:reader`: what a photo shows, from its pixels alone, with no language model.

Plates are found by contour and compared with the pack's drawings; label texts, station numbers and notes are read by
RapidOCR. The answer has the form that a vision model is asked for. The reader knows drawn photos alone, and says so: a
picture with no plate that it knows, and that is no page either, is not called irrelevant but unknown.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from whet.envs.groupqc.pack.schema import Pack
from whet.envs.groupqc.photos.answer import UNKNOWN
from whet.envs.groupqc.records import PhotoObject
from whet.envs.groupqc.summaries.text import render_summary, with_header
from whet.errors import WhetError
from whet.extras import install

try:
    import numpy as np

    from whet.envs.groupqc.reader.paper import is_page
    from whet.envs.groupqc.reader.patterns import Patterns, text_crop
    from whet.envs.groupqc.reader.plates import NotAnImage, Pixels, find_plates, open_pixels
    from whet.envs.groupqc.render.photo import BAND
except ImportError as problem:
    raise WhetError(f"the reader needs {problem.name}: {install('groupqc')}") from None

__all__ = ["NAME", "NotAnImage", "PhotoContent", "PhotoReader"]

NAME = "baseline:reader"

_SAME = str.maketrans({"—": "-", "–": "-", "－": "-", "：": ":", "／": "/", "（": "(", "）": ")", " ": ""})


@dataclass(frozen=True, slots=True)
class PhotoContent:
    """What the reader finds in a photo. Without items, the photo is not of the site, or `unknown` to the reader."""

    items: tuple[PhotoObject, ...]
    notes: tuple[str, ...] = ()
    unknown: bool = False


class PhotoReader:
    """Reads photos of one pack."""

    def __init__(self, pack: Pack) -> None:
        self.pack = pack
        self._patterns = Patterns(pack)

    def read(self, data: bytes) -> str:
        """The answer for the image in these bytes: header and summary, the irrelevant token, or that it is unknown."""
        seen = self.look(data)
        if seen.unknown:
            return f"{UNKNOWN} nothing in it is drawn as the pack {self.pack.name!r} draws it"
        return with_header(self.pack, render_summary(self.pack, seen.items, seen.notes))

    def summary(self, data: bytes) -> str:
        """The canonical summary alone."""
        seen = self.look(data)
        return render_summary(self.pack, seen.items, seen.notes)

    def look(self, data: bytes) -> PhotoContent:
        """The objects in the image with their states. Raises `NotAnImage` where it cannot be opened."""
        pixels = open_pixels(data)
        items: list[PhotoObject] = []
        crops: list[Pixels] = []
        waiting: list[int] = []
        for plate in find_plates(pixels):
            known = self._patterns.category(plate.pixels)
            if known is None:
                continue
            category, plain = known
            states = self._patterns.states(category, plain)
            if category.name == self.pack.labels.category:
                crop = text_crop(plate.pixels)
                if crop is None:
                    states.insert(0, (self.pack.labels.legibility, self.pack.labels.illegible))
                else:
                    crops.append(crop)
                    waiting.append(len(items))
            items.append(PhotoObject(category.name, tuple(states)))
        if not items:
            return PhotoContent((), unknown=not is_page(pixels))
        station, notes = _band(pixels, bottom=True), _band(pixels, bottom=False)
        read = _recognise([*crops, *(band for band in (station, notes) if band is not None)])
        for place, text in zip(waiting, read, strict=False):
            items[place] = self._label(items[place], text)
        rest = read[len(crops) :]
        if station is not None:
            items = [*self._station(rest.pop(0)), *items]
        return PhotoContent(tuple(items), self._notes(rest.pop(0)) if notes is not None else ())

    def _label(self, item: PhotoObject, text: str) -> PhotoObject:
        labels = self.pack.labels
        state = (labels.text, text) if text else (labels.legibility, labels.illegible)
        return PhotoObject(item.category, (state, *item.states))

    def _station(self, text: str) -> list[PhotoObject]:
        """The number in the watermark, where there is one."""
        stations, digits = self.pack.stations, re.search(r"\d+", text)
        if stations is None or digits is None:
            return []
        return [PhotoObject(stations.category, ((stations.attribute, str(int(digits[0]))),))]

    def _notes(self, text: str) -> tuple[str, ...]:
        """Each note as the pack words it, where one is close, else as it was read."""
        word, _, rest = text.partition(":")
        spoken = {note.translate(_SAME): note for note in self.pack.notes}
        found = []
        for part in filter(None, (rest or word).split("/")):
            near = difflib.get_close_matches(part, spoken, n=1, cutoff=0.6)
            found.append(spoken[near[0]] if near else part)
        return tuple(found)


def _band(pixels: Pixels, bottom: bool) -> Pixels | None:
    """The writing in the dark band at the edge; None where there is no band."""
    band = pixels[-BAND + 2 : -2] if bottom else pixels[2 : BAND - 2]
    grey = band.mean(axis=2)
    if float(np.median(grey)) > 45:
        return None
    columns = np.flatnonzero((grey > 130).any(axis=0))
    if len(columns) < 4:
        return None
    return 255 - band[:, max(0, columns[0] - 14) : columns[-1] + 14]


@functools.cache
def _engine() -> Any:
    """The recogniser, loaded once; one thread, so that its work can be counted."""
    try:
        from rapidocr_onnxruntime import RapidOCR
    except ImportError:
        raise WhetError(f"the reader needs rapidocr-onnxruntime: {install('groupqc')}") from None
    return RapidOCR(intra_op_num_threads=1, inter_op_num_threads=1)


def _recognise(crops: Sequence[Pixels]) -> list[str]:
    """The text in each crop, without spaces; '' where nothing was read."""
    if not crops:
        return []
    read, _ = _engine().text_rec([np.ascontiguousarray(crop) for crop in crops])
    return [str(text).translate(_SAME) for text, _ in read]
