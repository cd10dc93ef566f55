"""The shapes of objects: one drawing for each look, in the colour of its category."""

from __future__ import annotations

from collections.abc import Callable

from PIL import ImageDraw

WIDE, HIGH = 92, 144
"""The box that a shape is drawn in."""

INK = (30, 30, 34)
PALE = (246, 246, 242)

Pen = ImageDraw.ImageDraw
Colour = tuple[int, int, int]


def unit(pen: Pen, tint: Colour) -> None:
    """A rack unit with ports and lamps."""
    pen.rectangle((6, 14, 86, 130), tint, INK, 3)
    for y in range(26, 112, 22):
        for x in (14, 34, 54):
            pen.rectangle((x, y, x + 14, y + 12), PALE, INK)
        pen.ellipse((73, y + 2, 81, y + 10), (90, 220, 90))


def screw(pen: Pen, tint: Colour) -> None:
    """A hexagon head with a slot, seen from above."""
    pen.ellipse((4, 30, 88, 114), tint, INK, 3)
    pen.polygon([(46, 40), (74, 56), (74, 88), (46, 104), (18, 88), (18, 56)], (170, 174, 180), INK)
    pen.line((28, 72, 64, 72), INK, 8)


def plug(pen: Pen, tint: Colour) -> None:
    """A connector with its latch and a boot."""
    pen.rectangle((22, 10, 70, 64), tint, INK, 3)
    pen.rectangle((36, 2, 56, 12), (200, 200, 200), INK, 2)
    pen.polygon([(28, 64), (64, 64), (54, 112), (38, 112)], tint, INK)
    pen.line((46, 112, 46, 142), (215, 165, 20), 7)


def fibre(pen: Pen, tint: Colour) -> None:
    """A thin cable in curves."""
    for x, y, start in ((6, 8, 90), (46, 8, 270), (6, 68, 90), (46, 68, 270)):
        pen.arc((x, y, x + 40, y + 62), start, start + 180, tint, 9)


def wire(pen: Pen, tint: Colour) -> None:
    """A bundle."""
    for x in (14, 34, 54, 74):
        pen.line((x, 4, x, 140), tint, 11)
    pen.rectangle((4, 58, 88, 72), INK)


def plate(pen: Pen, tint: Colour) -> None:
    """A sheet with slits."""
    pen.rectangle((8, 10, 84, 134), tint, INK, 3)
    for y in range(24, 124, 16):
        pen.line((20, y, 72, y), PALE, 5)


def clamp(pen: Pen, tint: Colour) -> None:
    """A U bolt around a pole."""
    pen.rectangle((34, 2, 58, 142), (175, 178, 184), INK)
    pen.arc((8, 26, 84, 102), 180, 360, tint, 14)
    pen.rectangle((8, 62, 22, 120), tint, INK)
    pen.rectangle((70, 62, 84, 120), tint, INK)


def terminal(pen: Pen, tint: Colour) -> None:
    """An earthing bar with bolts."""
    pen.rectangle((24, 4, 68, 140), tint, INK, 3)
    for y in (22, 56, 90, 122):
        pen.ellipse((33, y - 12, 59, y + 12), (190, 192, 198), INK, 3)


def bottle(pen: Pen, tint: Colour) -> None:
    pen.rounded_rectangle((20, 38, 72, 140), 16, tint, INK, 3)
    pen.rectangle((38, 16, 54, 40), INK)
    pen.line((46, 20, 82, 10, 86, 60), INK, 6)
    pen.rectangle((28, 70, 64, 104), PALE)


def door(pen: Pen, tint: Colour) -> None:
    pen.rectangle((12, 4, 80, 140), tint, INK, 4)
    pen.rectangle((26, 18, 66, 58), PALE, INK, 2)
    pen.ellipse((62, 80, 72, 90), INK)


def sign(pen: Pen, tint: Colour) -> None:
    pen.rectangle((2, 36, 90, 108), tint, INK, 3)
    pen.ellipse((30, 44, 42, 56), PALE)
    pen.line((38, 58, 32, 80, 20, 100), PALE, 6)
    pen.line((34, 78, 50, 98), PALE, 6)
    pen.polygon([(58, 62), (82, 74), (58, 86)], PALE)


def lane(pen: Pen, tint: Colour) -> None:
    pen.polygon([(2, 142), (34, 20), (58, 20), (90, 142)], tint, INK)
    for y, w in ((38, 4), (66, 6), (100, 8)):
        pen.line((46, y, 46, y + 18), PALE, w)


LOOKS: dict[str, Callable[[Pen, Colour], None]] = {
    function.__name__: function
    for function in (unit, screw, plug, fibre, wire, plate, clamp, terminal, bottle, door, sign, lane)
}
