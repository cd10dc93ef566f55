"""The marks that show the value of an attribute: small drawings in a box of one size, told apart by their shapes."""

from __future__ import annotations

from collections.abc import Callable

from whet.envs.groupqc.render.looks import INK, Pen

WIDE, HIGH = 140, 34
"""The box that a mark is drawn in; every function draws inside it."""

STEEL = (120, 126, 134)


def _head(pen: Pen, x: int, y: int) -> None:
    pen.polygon([(x - 16, y - 7), (x - 8, y - 13), (x + 8, y - 13), (x + 16, y - 7), (x + 16, y), (x - 16, y)], STEEL)


def flush(pen: Pen) -> None:
    """A bolt down on its plate, with an unbroken paint line."""
    pen.rectangle((8, 24, 132, 30), INK)
    _head(pen, 70, 24)
    pen.line((30, 12, 30, 28), (20, 140, 60), 5)
    pen.line((110, 12, 110, 28), (20, 140, 60), 5)


def gap(pen: Pen) -> None:
    """A bolt that stands off its plate, thread showing."""
    pen.rectangle((8, 27, 132, 31), INK)
    _head(pen, 70, 14)
    for x in range(60, 82, 5):
        pen.line((x, 15, x - 3, 26), INK, 2)


def loose(pen: Pen) -> None:
    """A head askew."""
    pen.polygon([(44, 10), (74, 2), (98, 16), (66, 28)], STEEL, INK)
    pen.line((16, 30, 60, 30), INK, 3)
    pen.arc((96, 4, 126, 30), 250, 90, INK, 3)


def copper(pen: Pen) -> None:
    for y in (7, 13, 19, 25):
        pen.line((50, y, 128, y + (y - 16) // 3), (205, 110, 40), 4)
    pen.rectangle((10, 4, 50, 29), (60, 140, 60))


def double(pen: Pen) -> None:
    for x in (46, 94):
        pen.ellipse((x - 20, 2, x + 20, 32), STEEL, INK, 2)
        pen.ellipse((x - 8, 11, x + 8, 23), (250, 250, 248), INK, 2)
    pen.line((66, 17, 74, 17), INK, 6)


def rust(pen: Pen) -> None:
    for x, y, r in ((28, 14, 9), (52, 20, 12), (80, 12, 10), (104, 21, 11), (122, 10, 7)):
        pen.ellipse((x - r, y - r, x + r, y + r), (130, 66, 30))


def whole(pen: Pen) -> None:
    """The four corners of a frame around something that is all there."""
    for x, dx in ((10, 22), (130, -22)):
        for y, dy in ((4, 9), (30, -9)):
            pen.line((x, y, x + dx, y), INK, 4)
            pen.line((x, y, x, y + dy), INK, 4)
    pen.rectangle((50, 10, 90, 24), STEEL)


def cut(pen: Pen) -> None:
    pen.rectangle((10, 6, 70, 28), STEEL)
    pen.rectangle((70, 2, 132, 32), INK)
    for x in range(76, 132, 12):
        pen.line((x, 32, x + 12, 2), (235, 235, 230), 3)


def full(pen: Pen) -> None:
    pen.rectangle((8, 3, 132, 31), None, INK, 3)
    for x in range(18, 126, 14):
        pen.rectangle((x, 8, x + 8, 26), INK)


def space(pen: Pen) -> None:
    pen.rectangle((8, 3, 132, 31), None, INK, 3)
    pen.line((24, 17, 116, 17), (200, 40, 40), 4)
    pen.polygon([(16, 17), (32, 9), (32, 25)], (200, 40, 40))
    pen.polygon([(124, 17), (108, 9), (108, 25)], (200, 40, 40))


def up(pen: Pen) -> None:
    for x in (30, 70, 110):
        pen.polygon([(x, 2), (x - 16, 20), (x + 16, 20)], INK)
        pen.rectangle((x - 4, 20, x + 4, 32), INK)


def down(pen: Pen) -> None:
    for x in (30, 70, 110):
        pen.polygon([(x, 32), (x - 16, 14), (x + 16, 14)], INK)
        pen.rectangle((x - 4, 2, x + 4, 14), INK)


def tube(pen: Pen) -> None:
    pen.rectangle((6, 7, 134, 27), (70, 74, 80))
    for x in range(14, 134, 12):
        pen.line((x, 7, x, 27), (225, 225, 222), 4)


def bare(pen: Pen) -> None:
    pen.line((6, 17, 134, 17), (215, 165, 20), 4)


def snake(pen: Pen) -> None:
    for number, x in enumerate(range(8, 130, 31)):
        pen.arc((x, 4, x + 31, 30), 180 * (number % 2), 180 * (number % 2) + 180, INK, 6)


def armour(pen: Pen) -> None:
    pen.rectangle((6, 6, 134, 28), None, INK, 3)
    for x in range(8, 122, 12):
        pen.line((x, 27, x + 14, 7), INK, 2)
        pen.line((x, 7, x + 14, 27), INK, 2)


def arc(pen: Pen) -> None:
    pen.arc((10, 6, 130, 66), 180, 360, (30, 90, 200), 6)


def loop(pen: Pen) -> None:
    pen.line((6, 28, 134, 28), (30, 90, 200), 5)
    pen.ellipse((54, 3, 84, 29), None, (30, 90, 200), 5)


def tidy(pen: Pen) -> None:
    for y in (6, 13, 20, 27):
        pen.line((6, y, 134, y), (40, 110, 50), 4)
    for x in (36, 100):
        pen.rectangle((x, 2, x + 7, 31), INK)


def tangle(pen: Pen) -> None:
    for path in (
        (6, 4, 50, 30, 80, 6, 134, 28),
        (6, 30, 30, 4, 70, 28, 134, 4),
        (20, 2, 60, 18, 40, 32, 110, 14, 128, 32),
    ):
        pen.line(path, (40, 110, 50), 4, joint="curve")


def tag(pen: Pen) -> None:
    pen.line((6, 26, 134, 26), INK, 4)
    pen.rectangle((48, 3, 104, 22), (255, 210, 60), INK, 2)
    pen.line((76, 22, 76, 27), INK, 3)


def one(pen: Pen) -> None:
    pen.ellipse((57, 4, 83, 30), STEEL, INK, 3)


def two(pen: Pen) -> None:
    for x in (35, 105):
        pen.ellipse((x - 13, 4, x + 13, 30), STEEL, INK, 3)


def shut(pen: Pen) -> None:
    pen.rectangle((46, 2, 94, 32), (150, 110, 70), INK, 3)
    pen.ellipse((82, 14, 88, 20), INK)


def open_(pen: Pen) -> None:
    pen.rectangle((46, 2, 94, 32), None, INK, 3)
    pen.polygon([(46, 2), (16, 10), (16, 32), (46, 32)], (150, 110, 70), INK)


def blocked(pen: Pen) -> None:
    for x, y in ((22, 16), (56, 16), (90, 16), (40, 2), (74, 2)):
        pen.rectangle((x, y, x + 30, y + 14), (170, 120, 60), INK, 2)


MARKS: dict[str, Callable[[Pen], None]] = {
    function.__name__.rstrip("_"): function
    for function in (
        *(flush, gap, loose, copper, double, rust, whole, cut, full, space, up, down),
        *(tube, bare, snake, armour, arc, loop, tidy, tangle, tag, one, two, shut, open_, blocked),
    )
}
