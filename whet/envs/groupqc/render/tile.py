"""One object as a close-up: a framed plate with its shape on the left and a mark for each visible state on the right.

`render.photo` sets these plates into a scene; `reader.patterns` compares what it sees with the same plates.
"""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path

from PIL import Image, ImageColor, ImageDraw, ImageFilter, ImageFont

from whet.envs.groupqc.pack.schema import Attribute, ObjectCategory, Pack
from whet.envs.groupqc.records import PhotoObject
from whet.envs.groupqc.render import looks, marks
from whet.errors import WhetError
from whet.extras import install

WIDE, HIGH = 264, 168
BORDER = 6
PAPER = (246, 246, 242)
INK = (30, 30, 34)
SHAPE_AT = (14, 12)
TEXT_BOX = (14, 22, 250, 102)
"""Where a label has its text."""

Box = tuple[int, int, int, int]


def slot_box(number: int) -> Box:
    """Where the mark of the attribute in this slot stands."""
    left, top = 112, 12 + 37 * number
    return left, top, left + marks.WIDE, top + marks.HIGH


def slots(category: ObjectCategory) -> list[tuple[Attribute, Box]]:
    """Each attribute that is drawn as a mark, and where. A label keeps the last slot for its pair."""
    drawn = [attribute for attribute in category.attributes if attribute.marks or attribute.kind == "pair"]
    if category.look == "label":
        return [(attribute, slot_box(3)) for attribute in drawn if attribute.kind == "pair"]
    return [(attribute, slot_box(number)) for number, attribute in enumerate(drawn)]


def draw_tile(pack: Pack, item: PhotoObject) -> Image.Image:
    """The plate that shows an object."""
    category = pack.category(item.category)
    if category is None or category.look == "text":
        raise WhetError(f"pack {pack.name!r} has no object {item.category!r} to draw")
    label = category.look == "label"
    tint = ImageColor.getrgb(category.tint)[:3]
    tile = Image.new("RGB", (WIDE, HIGH), tint if label else PAPER)
    if label:
        _write_label(pack, tile, item, tint)
    else:
        tile.paste(shape(category.look, category.tint), SHAPE_AT)
    for attribute, (left, top, _, _) in slots(category):
        value = item.value(attribute.name)
        if value:
            tile.paste(mark(attribute.marks.get(value, "badge"), value, tint if label else PAPER), (left, top))
    ImageDraw.Draw(tile).rectangle((0, 0, WIDE - 1, HIGH - 1), None, INK, BORDER)
    return tile


def _write_label(pack: Pack, tile: Image.Image, item: PhotoObject, paper: tuple[int, ...]) -> None:
    """The text of a label, as large as it fits; or a smear where nobody can read it."""
    text = item.value(pack.labels.text)
    left, top, right, bottom = TEXT_BOX
    if text:
        written = write(text, right - left, bottom - top, 40, paper)
        tile.paste(written, (left, top))
        return
    if item.value(pack.labels.legibility):
        smear = write("8H8M8B8", right - left, bottom - top, 40, paper, ink=(120, 112, 90))
        tile.paste(smear.filter(ImageFilter.GaussianBlur(9)), (left, top))


def write(
    text: str, wide: int, high: int, size: int, paper: tuple[int, ...], ink: tuple[int, int, int] = INK
) -> Image.Image:
    """Text in the middle of a box, smaller where it would not fit."""
    while size > 10 and font(size, text).getlength(text) > wide - 8:
        size -= 2
    box = Image.new("RGB", (wide, high), tuple(paper))
    ImageDraw.Draw(box).text((wide / 2, high / 2), text, ink, font(size, text), anchor="mm")
    return box


@functools.lru_cache(maxsize=128)
def shape(look: str, tint: str) -> Image.Image:
    """An object's shape in its colour."""
    image = Image.new("RGB", (looks.WIDE, looks.HIGH), PAPER)
    red, green, blue = ImageColor.getrgb(tint)[:3]
    looks.LOOKS[look](ImageDraw.Draw(image), (red, green, blue))
    return image


@functools.lru_cache(maxsize=512)
def mark(name: str, value: str, paper: tuple[int, ...] = PAPER) -> Image.Image:
    """The drawing of a value; a `badge` is the value itself in writing."""
    if name == "badge":
        return write(value, marks.WIDE, marks.HIGH, 28, paper)
    image = Image.new("RGB", (marks.WIDE, marks.HIGH), tuple(paper))
    marks.MARKS[name](ImageDraw.Draw(image))
    return image


@functools.lru_cache(maxsize=64)
def _sized(size: int, path: str) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.truetype(path, size, index=2) if path else ImageFont.load_default(size)


@functools.cache
def _font_file() -> str:
    """The Chinese and Latin font that the package noto-cjk-sans-otc carries; '' where it is not installed."""
    spec = importlib.util.find_spec("noto_cjk_sans_otc")
    folders = list(spec.submodule_search_locations or []) if spec else []
    found = [path for folder in folders for path in Path(folder).glob("*.ttc")]
    return str(found[0]) if found else ""


def font(size: int, text: str) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """A font for this text. Pillow's own serves for Latin; Chinese needs one that has it."""
    path = _font_file()
    if not path and not text.isascii():
        raise WhetError(f"drawing Chinese text needs a font that has it: {install('groupqc')}")
    return _sized(size, path)
