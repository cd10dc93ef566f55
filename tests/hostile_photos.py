"""Two hundred photos and lines as the world brings them: broken, huge, blank, oddly named, or none at all."""

from __future__ import annotations

import io
import json
import os
import random
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

from photo_trees import MISSION, picture
from PIL import Image as Picture

GOOD = "a_good.png"


def _saved(image: Picture.Image, form: str, **more: object) -> bytes:
    file = io.BytesIO()
    image.save(file, form, **more)
    return file.getvalue()


def _opened(seed: int) -> Picture.Image:
    return Picture.open(io.BytesIO(picture(seed)))


def bomb(wide: int, high: int) -> bytes:
    """A PNG of a few bytes that claims to be huge."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", wide, high, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 99)) + chunk(b"IEND", b"")


def huge() -> bytes:
    """13,000 x 9,000 pixels that show something."""
    return _saved(_opened(5).convert("L").resize((13_000, 9_000), Picture.Resampling.NEAREST), "JPEG", quality=30)


def unusable() -> Iterator[tuple[str, bytes]]:
    """Files called like photos that must be refused, each by its name."""
    whole_png, whole_jpeg = picture(1), picture(2, form="JPEG")
    yield "empty.jpg", b""
    yield "line\nbreak.jpg", b""
    yield "\u202egpj.exe.jpg", b"MZ\x90"
    yield "page.jpg", b"<html><body>403 Forbidden</body></html>"
    yield "bomb.png", bomb(60_000, 60_000)
    yield "wide.png", bomb(4_000_000_000, 1)
    for at, size in enumerate(((13_000, 14_000), (1, 1), (20_000, 8_000))):
        yield f"claim{at}.png", bomb(*size)
    for shade in (0, 128, 255):
        yield f"blank{shade}.png", _saved(Picture.new("RGB", (300, 200), (shade,) * 3), "PNG")
    for form in ("GIF", "BMP", "TIFF", "WEBP"):
        yield f"other_{form}.jpg", _saved(_opened(3), form)
    for at in range(30):
        yield f"cut{at}.png", whole_png[: 8 + at * (len(whole_png) - 60) // 30]
    for at in range(15):
        yield f"cut{at}.jpg", whole_jpeg[: 2 + at * (len(whole_jpeg) // 3) // 15]
    for at in range(60):
        noise = random.Random(at).randbytes(20 + 40 * at)
        yield f"noise{at}.jpg", (b"", b"\xff\xd8\xff\xe0", b"\x89PNG\r\n\x1a\n")[at % 3] + noise


def usable() -> Iterator[tuple[str, bytes]]:
    """Odd photos that can be shown after all."""
    yield "huge.jpg", huge()
    yield "cmyk.jpg", _saved(_opened(11).convert("CMYK"), "JPEG")
    yield "sixteen.png", _saved(Picture.linear_gradient("L").convert("I;16").point(lambda level: level * 250), "PNG")
    yield "clear.png", _saved(_opened(12).convert("RGBA"), "PNG")
    yield "palette.png", _saved(_opened(13).convert("P"), "PNG")
    frames = [_opened(14), _opened(15)]
    yield "animated.png", _saved(frames[0], "PNG", save_all=True, append_images=frames[1:])
    exif = Picture.Exif()
    exif[0x0112] = 6
    yield "turned.jpg", _saved(_opened(16), "JPEG", exif=exif.tobytes())
    yield "UPPER.JPG", picture(17, form="JPEG")
    yield "png_called.jpg", picture(18)
    yield "x" * 200 + ".png", picture(19)


def plant(mission_folder: Path) -> tuple[set[str], int, int]:
    """A group for each hostile file, with a good photo beside it, no labels.

    Returns the files that must be refused, how many groups there are, and how many hostile files.
    """
    refused: set[str] = set()
    files = [*((name, data, True) for name, data in unusable()), *((name, data, False) for name, data in usable())]
    for at, (name, data, bad) in enumerate(files):
        folder = mission_folder / f"g{at:03}"
        folder.mkdir(parents=True)
        (folder / GOOD).write_bytes(picture(1000 + at))
        (folder / name).write_bytes(data)
        refused |= {str(folder / name)} if bad else set()
    odd = mission_folder / "odd"
    odd.mkdir()
    (odd / GOOD).write_bytes(picture(5000))
    (odd / "folder.jpg").mkdir()
    (odd / "loop.jpg").symlink_to(odd / "loop2.jpg")
    (odd / "loop2.jpg").symlink_to(odd / "loop.jpg")
    (odd / "gone.jpg").symlink_to(odd / "nowhere.jpg")
    os.mkfifo(odd / "pipe.jpg")
    refused |= {str(odd / name) for name in ("folder.jpg", "loop.jpg", "loop2.jpg", "gone.jpg", "pipe.jpg")}
    return refused, len(files) + 1, len(files) + 5


def lines() -> Iterator[bytes]:
    """Lines that are no tickets."""
    good = {"group_id": "g", "mission": MISSION, "images": ["a.jpg"], "per_image": {"image_1": "无关图片"}}
    whole = json.dumps(good, ensure_ascii=False).encode()
    for at in range(1, 50):
        yield whole[: at * (len(whole) - 1) // 50]
    yield from (b"\xff\xfe\x00", b"[]", b"null", b"12", b'"text"', b"{}", b"[" * 5000, b'{"a": NaN}')
    for change in (
        {"mission": "nowhere"},
        {"mission": None},
        {"group_id": ""},
        {"group_id": 7},
        {"images": []},
        {"images": "a.jpg"},
        {"images": ["a", "b"]},
        {"per_image": {}},
        {"per_image": {"image_1": ""}},
        {"per_image": {"image_2": "无关图片"}},
        {"per_image": {"image_1": 5}},
        {"schema_version": 99},
        {"refused_photos": "none"},
    ):
        yield json.dumps({**good, **change}, ensure_ascii=False).encode()
    yield whole.replace(b'"group_id"', b'"mission": "x", "group_id"', 1)
