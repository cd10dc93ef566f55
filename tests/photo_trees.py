"""Folders of small pictures in the layout of Stage-A, and a model that answers about them."""

from __future__ import annotations

import hashlib
import io
import random
from collections.abc import Callable, Sequence
from pathlib import Path

from builders import FromFunction
from PIL import Image as Picture
from PIL import ImageDraw

from whet.envs.groupqc.photos.layout import LayoutRules
from whet.models.base import Request
from whet.types import Image

MISSION = "BBU接地线检查"
PASS, FAIL = "审核通过", "审核不通过"
RULES = LayoutRules({FAIL: "fail", PASS: "pass"})
HEADER = "<DOMAIN=BBU>, <TASK=SUMMARY>"


def picture(seed: int, *, size: tuple[int, int] = (120, 90), form: str = "PNG", quality: int = 90) -> bytes:
    """A picture of coloured boxes that `seed` alone decides; its size is only how large it is drawn."""
    chance = random.Random(seed)
    drawn = Picture.new("RGB", (480, 360), "white")
    pen = ImageDraw.Draw(drawn)
    for _ in range(24):
        x, y = chance.randrange(440), chance.randrange(320)
        wide, high = chance.randrange(20, 200), chance.randrange(20, 200)
        pen.rectangle((x, y, x + wide, y + high), fill=tuple(chance.randrange(256) for _ in range(3)))
    file = io.BytesIO()
    drawn.resize(size).save(file, form, **({"quality": quality} if form == "JPEG" else {}))
    return file.getvalue()


def group(root: Path, name: str, photos: Sequence[bytes] | int, *, label: str = PASS, mission: str = MISSION) -> Path:
    """A group's folder with photos NAME_1.png and so on; a number of photos draws them by the folder's name."""
    folder = root / mission / label / name
    folder.mkdir(parents=True)
    first = int(hashlib.sha256(f"{name}{label}".encode()).hexdigest()[:8], 16)
    drawn = [picture(first + at) for at in range(photos)] if isinstance(photos, int) else photos
    for number, data in enumerate(drawn, start=1):
        (folder / f"{name}_{number}.png").write_bytes(data)
    return folder


def shown(request: Request) -> bytes:
    """The photo that a request shows."""
    assert request.blob is not None
    (image,) = (part for part in request.messages[-1].content if isinstance(part, Image))
    return request.blob(image.sha256)


def summary_of(data: bytes) -> str:
    """What the model below says of a photo: a summary whose label text is the photo's own hash."""
    name = hashlib.sha256(data).hexdigest()[:8]
    return f'{{"统计": [{{"类别": "标签", "文本": {{"{name}": 1}}}}]}}'


def describing(request: Request) -> str:
    return f"{HEADER}\n{summary_of(shown(request))}"


def describer(answer: Callable[[Request], str] = describing) -> FromFunction:
    return FromFunction(answer)
