"""Pictures that are not of the site: documents, screenshots, drawings and forms that get among the photos."""

from __future__ import annotations

import random
from collections.abc import Sequence

from PIL import Image, ImageDraw

from whet.envs.groupqc.records import UnrelatedKind
from whet.envs.groupqc.render.tile import font

INK = (40, 40, 46)
PageSize = tuple[int, int]
PageWords = Sequence[str]


def draw_page(rng: random.Random, kind: UnrelatedKind, size: PageSize, words: PageWords) -> Image.Image:
    """A picture of that kind. `words` are what it speaks of: a document about equipment is still a document."""
    draw = {"document": _document, "screenshot": _screenshot, "drawing": _drawing, "form": _form}[kind]
    return draw(rng, size, words)


def _say(rng: random.Random, pen: ImageDraw.ImageDraw, words: PageWords, left: float, top: float, room: float) -> None:
    """A line of words, as many as there is room for."""
    x = left
    while True:
        word = f"{rng.choice(words)} {rng.randrange(1, 999)}"
        face = font(20, word)
        x_after = x + face.getlength(word) + 16
        if x_after > left + room:
            return
        pen.text((x, top), word, INK, face)
        x = x_after


def _document(rng: random.Random, size: PageSize, words: PageWords) -> Image.Image:
    """A page of text."""
    page = Image.new("RGB", size, (244, 243, 238))
    pen = ImageDraw.Draw(page)
    for y in range(60, size[1] - 60, 34):
        _say(rng, pen, words, 80, y, size[0] - 160 - rng.randint(0, 340))
    return page


def _screenshot(rng: random.Random, size: PageSize, words: PageWords) -> Image.Image:
    """A chat: bubbles to the left and right."""
    page = Image.new("RGB", size, (228, 230, 234))
    pen = ImageDraw.Draw(page)
    pen.rectangle((0, 0, size[0], 70), (40, 120, 200))
    y = 100
    while y < size[1] - 130:
        wide, high = rng.randint(200, 520), rng.randint(50, 110)
        left = 60 if rng.random() < 0.5 else size[0] - 60 - wide
        pen.rounded_rectangle((left, y, left + wide, y + high), 18, (255, 255, 255) if left == 60 else (150, 225, 130))
        for line in range(y + 10, y + high - 28, 28):
            _say(rng, pen, words, left + 18, line, wide - rng.randint(30, 90))
        y += high + 26
    return page


def _drawing(rng: random.Random, size: PageSize, words: PageWords) -> Image.Image:
    """A plan: rooms, dimensions, circles."""
    page = Image.new("RGB", size, (236, 241, 246))
    pen = ImageDraw.Draw(page)
    blue = (50, 70, 140)
    for _ in range(rng.randint(6, 12)):
        x, y = rng.randrange(40, size[0] - 340), rng.randrange(40, size[1] - 240)
        pen.rectangle((x, y, x + rng.randint(90, 300), y + rng.randint(60, 200)), None, blue, 3)
    for _ in range(rng.randint(4, 9)):
        x, y, r = rng.randrange(60, size[0] - 60), rng.randrange(60, size[1] - 60), rng.randint(10, 50)
        pen.ellipse((x - r, y - r, x + r, y + r), None, blue, 2)
        pen.line((x - r - 30, y, x + r + 30, y), blue, 2)
    return page


def _form(rng: random.Random, size: PageSize, words: PageWords) -> Image.Image:
    """A table with cells of the size of a plate, so that size alone does not tell them apart."""
    page = Image.new("RGB", size, (247, 247, 247))
    pen = ImageDraw.Draw(page)
    wide, high = rng.randint(220, 280), rng.randint(140, 180)
    for left in range(40, size[0] - wide, wide):
        for top in range(40, size[1] - high, high):
            pen.rectangle((left, top, left + wide, top + high), None, INK, 5)
            for line in range(rng.randint(0, 4)):
                _say(rng, pen, words, left + 20, top + 18 + 28 * line, wide - 30)
    return page
