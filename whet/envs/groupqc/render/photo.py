"""Synthetic photos: the plates of a photo's objects in a scene, seen by a camera that is not held still.

Everything is drawn from the photo's seed: where plates stand and how they are turned, light, colour cast, blur, grain,
and how strongly the JPEG is compressed. Station number and notes stand in bands that the camera adds afterwards.
"""

from __future__ import annotations

import io
import math
import random
from dataclasses import dataclass

import numpy as np

from whet.envs.groupqc.pack.schema import Pack
from whet.envs.groupqc.records import Photo, PhotoObject
from whet.errors import WhetError
from whet.extras import install

try:
    from PIL import Image, ImageDraw, ImageFilter

    from whet.envs.groupqc.render.pages import draw_page
    from whet.envs.groupqc.render.tile import HIGH, WIDE, draw_tile, font
except ImportError:
    raise WhetError(f"drawing photos needs Pillow: {install('groupqc')}") from None

SIZE = (1240, 780)
BAND = 56
"""Height of the bands at the top (notes) and the bottom (station)."""

COLUMNS, ROWS = 4, 3
BAND_INK = (238, 238, 238)
BAND_PAPER = (16, 16, 16)
_ORIENTATION, _HALF_TURN = 0x0112, 3


@dataclass(frozen=True, slots=True)
class Camera:
    """How a photo was taken."""

    turn: float
    light: float
    slope: tuple[float, float]
    """How much brighter the right and the lower edge are than the middle."""
    cast: tuple[float, float, float]
    blur: float
    grain: float
    quality: int

    @classmethod
    def of(cls, rng: random.Random, strain: float = 1.0) -> Camera:
        """A camera in ordinary hands; `strain` stretches everything that goes wrong."""
        return cls(
            turn=strain * rng.uniform(-3.0, 3.0),
            light=1.0 + strain * rng.uniform(-0.28, 0.15),
            slope=(strain * rng.uniform(-0.12, 0.12), strain * rng.uniform(-0.12, 0.12)),
            cast=(1.0 + strain * rng.uniform(-0.05, 0.05), 1.0, 1.0 + strain * rng.uniform(-0.05, 0.05)),
            blur=strain * rng.uniform(0.0, 0.9),
            grain=strain * rng.uniform(0.0, 6.0),
            quality=max(20, rng.randint(68, 93) - round(25 * (strain - 1.0))),
        )


def photo_jpeg(pack: Pack, photo: Photo, strain: float = 1.0) -> bytes:
    """The photo as a JPEG file."""
    image, camera = _taken(pack, photo, strain)
    file = io.BytesIO()
    image.save(file, "JPEG", quality=camera.quality)
    return file.getvalue()


def render_photo(pack: Pack, photo: Photo, strain: float = 1.0) -> Image.Image:
    """The photo before it is compressed."""
    return _taken(pack, photo, strain)[0]


def upside_down(data: bytes) -> bytes:
    """The same photo stored upside down, with EXIF data that say so."""
    exif = Image.Exif()
    exif[_ORIENTATION] = _HALF_TURN
    file = io.BytesIO()
    with Image.open(io.BytesIO(data)) as image:
        image.rotate(180).save(file, "JPEG", quality=90, exif=exif.tobytes())
    return file.getvalue()


def _taken(pack: Pack, photo: Photo, strain: float) -> tuple[Image.Image, Camera]:
    rng = random.Random(photo.seed)
    camera = Camera.of(rng, strain)
    if photo.unrelated is not None:
        words = [*(category.name for category in pack.categories), *(mission.name for mission in pack.missions)]
        return _exposed(draw_page(rng, photo.unrelated, SIZE, words), camera, photo.seed), camera
    scene = _scene(rng)
    skip = pack.stations.category if pack.stations else ""
    _set_plates(rng, pack, scene, [item for item in photo.items if item.category != skip], camera)
    image = _exposed(scene, camera, photo.seed)
    if photo.notes:
        _band(image, f"{pack.words.notes}: {' / '.join(photo.notes)}", 0)
    for item in photo.items:
        if pack.stations and item.category == pack.stations.category:
            number = item.value(pack.stations.attribute)
            _band(image, pack.stations.watermark.replace("{n}", number), SIZE[1] - BAND)
    return image, camera


def _scene(rng: random.Random) -> Image.Image:
    """A cabinet: side rails with holes, vents, a few cables behind."""
    base = rng.randint(92, 122)
    scene = Image.new("RGB", SIZE, (base, base + rng.randint(-6, 6), base + rng.randint(-4, 10)))
    pen = ImageDraw.Draw(scene)
    dark = (base - 38, base - 36, base - 32)
    for left in (0, SIZE[0] - 26):
        pen.rectangle((left, 0, left + 26, SIZE[1]), (base - 22, base - 22, base - 18))
        for y in range(20, SIZE[1], 44):
            pen.rectangle((left + 8, y, left + 18, y + 16), dark)
    for row in range(rng.randint(3, 6)):
        y = rng.randrange(70, SIZE[1] - 70)
        for x in range(60 + 8 * row, SIZE[0] - 60, 26):
            pen.line((x, y, x + 14, y), dark, 5)
    for _ in range(rng.randint(2, 5)):
        x, sway, bend = rng.randrange(40, SIZE[0] - 40), rng.uniform(20, 70), rng.uniform(60, 140)
        path = [(x + sway * math.sin(y / bend), y) for y in range(0, SIZE[1], 12)]
        pen.line(path, tuple(rng.randint(30, 84) for _ in range(3)), rng.randint(4, 9))
    return scene


def _set_plates(rng: random.Random, pack: Pack, scene: Image.Image, items: list[PhotoObject], camera: Camera) -> None:
    """Each plate into a cell of its own, a little off its middle, turned with the camera and by itself."""
    cells = rng.sample(range(COLUMNS * ROWS), len(items))
    wide, high = (SIZE[0] - 40) / COLUMNS, (SIZE[1] - 2 * BAND) / ROWS
    for cell, item in zip(cells, items, strict=True):
        scale = rng.uniform(0.88, 1.0)
        tile = draw_tile(pack, item).resize((round(WIDE * scale), round(HIGH * scale)), Image.Resampling.BICUBIC)
        turn = camera.turn + rng.uniform(-2.0, 2.0)
        turned = tile.convert("RGBA").rotate(turn, Image.Resampling.BICUBIC, expand=True)
        x = 20 + wide * (cell % COLUMNS + 0.5) - turned.width / 2 + rng.uniform(-3, 3)
        y = BAND + high * (cell // COLUMNS + 0.5) - turned.height / 2 + rng.uniform(-3, 3)
        scene.paste(turned, (round(x), round(y)), turned)


def _exposed(image: Image.Image, camera: Camera, seed: int) -> Image.Image:
    """What the sensor makes of a scene."""
    if camera.blur > 0.2:
        image = image.filter(ImageFilter.BoxBlur(1.6 * camera.blur))
    across = 1.0 + camera.slope[0] * np.linspace(-1, 1, SIZE[0], dtype=np.float32)[None, :, None]
    along = camera.light + camera.slope[1] * np.linspace(-1, 1, SIZE[1], dtype=np.float32)[:, None, None]
    pixels = np.asarray(image, dtype=np.float32) * np.array(camera.cast, dtype=np.float32)
    pixels *= across
    pixels *= along
    noise = np.random.default_rng(seed).standard_normal((260, 310), dtype=np.float32) * camera.grain
    pixels += np.tile(noise, (SIZE[1] // 260, SIZE[0] // 310))[:, :, None]
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


def _band(image: Image.Image, text: str, top: int) -> None:
    pen = ImageDraw.Draw(image)
    pen.rectangle((0, top, SIZE[0], top + BAND), BAND_PAPER)
    pen.text((24, top + BAND / 2), text, BAND_INK, font(32, text), anchor="lm")
