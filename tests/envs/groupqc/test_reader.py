"""The embedded reader: what was drawn is read back from pixels, in process and over HTTP."""

from __future__ import annotations

import asyncio
import hashlib
import io
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from PIL import Image as Picture
from reader_server import ReaderServer, serving_reader

from whet.envs.groupqc.pack.file import find_mission, load_pack, load_packs
from whet.envs.groupqc.pack.schema import ObjectCategory, Pack
from whet.envs.groupqc.photos.tree import ArchiveDamage, write_tree
from whet.envs.groupqc.reader.reader import NotAnImage, PhotoReader
from whet.envs.groupqc.records import Photo, PhotoObject, UnrelatedKind
from whet.envs.groupqc.render.photo import photo_jpeg, render_photo
from whet.envs.groupqc.summaries.text import clean_summary, render_summary
from whet.envs.groupqc.world.world import SiteWorld
from whet.errors import FaultError, WhetError
from whet.extras import install
from whet.models import ModelOptions, Request, load_model
from whet.types import Image, Reply, user

PACK, MISSION = find_mission("BBU接地线检查")
PHOTO = Photo(
    "x.jpg",
    (
        PhotoObject("机柜处接地螺丝", (("可见性", "完整"), ("符合性", "不符合"), ("问题", "生锈"))),
        PhotoObject("标签", (("文本", "A区-BBU7-地线"),)),
        PhotoObject("标签", (("可读性", "不可读"),)),
    ),
    ("仅拍到局部",),
    seed=5,
)


@pytest.fixture(scope="module")
def server() -> Iterator[ReaderServer]:
    with serving_reader(load_packs()) as running:
        yield running


def states(items: tuple[PhotoObject, ...]) -> Counter[tuple[str, str, str]]:
    return Counter((item.category, name, value) for item in items for name, value in item.states)


def test_states_texts_and_notes_are_read_back() -> None:
    assert PhotoReader(PACK).read(photo_jpeg(PACK, PHOTO)) == (
        "<DOMAIN=BBU>, <TASK=SUMMARY>\n" + render_summary(PACK, PHOTO.items, PHOTO.notes)
    )


@pytest.mark.parametrize("name", ["bbu", "rru", "firesafety"])
def test_at_least_95_percent_of_states_and_texts_are_recovered_under_strain(name: str) -> None:
    pack = load_pack(name)
    reader, drawn, lost, invented = PhotoReader(pack), 0, 0, 0
    for mission in pack.missions:
        for index in range(3):
            for photo in SiteWorld(pack, mission).group("test", index).photos:
                truth = states(photo.items)
                read = states(reader.look(photo_jpeg(pack, photo, strain=1.3)).items)
                drawn += truth.total()
                lost += (truth - read).total()
                invented += (read - truth).total()
    assert drawn > 60
    assert lost <= 0.05 * drawn
    assert invented <= 0.05 * drawn


DRAWN = [(pack, category) for pack in load_packs() for category in pack.categories if category.look != "text"]


@pytest.mark.parametrize(("pack", "category"), DRAWN, ids=[category.name for _, category in DRAWN])
def test_every_value_that_a_category_can_show_is_told_apart(pack: Pack, category: ObjectCategory) -> None:
    reader = PhotoReader(pack)
    variants = [
        PhotoObject(category.name, ((attribute.name, value),))
        for attribute in category.attributes
        for value in attribute.marks
    ]
    for number, item in enumerate(variants or [PhotoObject(category.name, ((pack.labels.text, "C3-BBU3-D"),))]):
        seen = reader.look(photo_jpeg(pack, Photo("x.jpg", (item,), seed=number)))
        assert states(seen.items) == states((item,))


@pytest.mark.parametrize("kind", ["document", "screenshot", "drawing", "form"])
def test_a_picture_that_is_not_of_the_site_is_irrelevant(kind: UnrelatedKind) -> None:
    for seed in range(6):
        photo = replace(PHOTO, items=(), notes=(), unrelated=kind, seed=seed)
        assert PhotoReader(PACK).read(photo_jpeg(PACK, photo)) == "无关图片"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "the file is empty"),
        (b"<html>", "no known format"),
        (photo_jpeg(PACK, PHOTO)[:20_000], "truncated"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 64, "not an image"),
    ],
)
def test_what_is_not_an_image_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(NotAnImage, match=why):
        PhotoReader(PACK).look(data)


def test_a_photo_in_another_size_and_format_is_read_the_same() -> None:
    file = io.BytesIO()
    render_photo(PACK, PHOTO).resize((1860, 1170), Picture.Resampling.BICUBIC).save(file, "PNG")
    assert states(PhotoReader(PACK).look(file.getvalue()).items) == states(PHOTO.items)


def test_a_photo_that_is_stored_upside_down_is_turned_by_its_exif_data(tmp_path: Path) -> None:
    groups = [SiteWorld(PACK, MISSION).group("train", index) for index in range(3)]
    for folder in write_tree(tmp_path, PACK, groups, ArchiveDamage(turned=1.0)):
        for name, expected in zip(folder.images, folder.summaries, strict=True):
            assert PhotoReader(PACK).summary((folder.path / name).read_bytes()) == expected


@pytest.mark.parametrize("pixel", [0, 128, 255])
def test_a_plain_picture_shows_nothing(pixel: int) -> None:
    file = io.BytesIO()
    Picture.new("RGB", (3, 5), (pixel, pixel, pixel)).save(file, "PNG")
    read = PhotoReader(PACK).read(file.getvalue())
    assert read == "无关图片" if pixel == 255 else read.startswith("<UNKNOWN>")


# --------------------------------------------------------------------------------------------- over HTTP


def ask(server: ReaderServer, data: bytes, text: str) -> Reply:
    """What Whet's own client gets for an image."""
    image = Image(hashlib.sha256(data).hexdigest(), "image/jpeg")
    request = Request((user((image, text)),), blob=lambda _: data)

    async def once() -> Reply:
        model = load_model("openai:baseline:reader", ModelOptions(base_url=server.base_url))
        try:
            return await model.complete(request)
        finally:
            await model.close()

    return asyncio.run(once())


@pytest.mark.parametrize("mission", ["RRU线缆", "Extinguisher check", "BBU线缆布放要求"])
def test_the_endpoint_answers_for_the_mission_that_is_named(server: ReaderServer, mission: str) -> None:
    pack, found = find_mission(mission)
    photo = next(photo for photo in SiteWorld(pack, found).group("train", 0).photos if photo.items)
    reply = ask(server, photo_jpeg(pack, photo), f"Describe: {mission}")
    assert clean_summary(pack, reply.text) == render_summary(pack, photo.items, photo.notes)
    assert reply.finish == "stop"
    assert reply.usage.completion_tokens > 0


def test_a_picture_that_is_none_is_refused_over_http(server: ReaderServer) -> None:
    with pytest.raises((FaultError, WhetError), match="not an image"):
        ask(server, b"nothing", "RRU线缆")


def asking(url: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}]}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"messages": [{"role": "user", "content": "no image"}]}, "one_image"),
        ({"nothing": 1}, "invalid_body"),
        (asking("http://x/y.png"), "invalid_image"),
        (asking("data:image/png;base64,%%"), "invalid_image"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused(server: ReaderServer, body: object, code: str) -> None:
    async def post() -> tuple[int, str]:
        url = f"{server.base_url}/chat/completions"
        async with aiohttp.ClientSession() as client, client.post(url, json=body) as said:
            return said.status, (await said.json())["error"]["code"]

    assert asyncio.run(post()) == (400, code)


@pytest.mark.parametrize(
    ("package", "module"), [("PIL", "photos.tree"), ("PIL", "reader.reader"), ("cv2", "reader.reader")]
)
def test_a_missing_package_is_one_line_that_names_the_remedy(package: str, module: str) -> None:
    code = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "from whet.errors import WhetError\n"
        f"try:\n    import whet.envs.groupqc.{module}\n"
        "except WhetError as problem:\n    print(problem)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith(install("groupqc"))


def test_a_reader_without_packs_is_refused() -> None:
    with pytest.raises(WhetError, match="at least one pack"):
        ReaderServer([])
