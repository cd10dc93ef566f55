"""Drawn photos: the same bytes for the same photo, and a tree of them with what was planted written down."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import get_args

import pytest
from PIL import Image, UnidentifiedImageError

from whet.envs.groupqc.pack.file import find_mission
from whet.envs.groupqc.photos.tree import ArchiveDamage, GroupFolder, write_tree
from whet.envs.groupqc.records import Photo, PhotoObject, UnrelatedKind
from whet.envs.groupqc.render import tile
from whet.envs.groupqc.render.photo import SIZE, photo_jpeg, render_photo
from whet.envs.groupqc.world.noise import Noise
from whet.envs.groupqc.world.world import SiteWorld
from whet.errors import WhetError

PACK, MISSION = find_mission("BBU接地线检查")
SCREW = PhotoObject("机柜处接地螺丝", (("可见性", "完整"), ("符合性", "符合")))
LOOSE = PhotoObject("机柜处接地螺丝", (("可见性", "完整"), ("符合性", "不符合"), ("问题", "未拧紧")))


def tree(
    root: Path, count: int = 4, spoil: ArchiveDamage = ArchiveDamage(), noise: Noise = Noise()
) -> list[GroupFolder]:
    world = SiteWorld(PACK, MISSION, noise)
    return write_tree(root, PACK, [world.group("train", index) for index in range(count)], spoil)


def opened(path: Path) -> Image.Image:
    return Image.open(io.BytesIO(path.read_bytes()))


def test_the_same_photo_has_the_same_bytes() -> None:
    photo = SiteWorld(PACK, MISSION).group("train", 0).photos[0]
    assert photo_jpeg(PACK, photo) == photo_jpeg(PACK, photo)


def test_another_state_and_another_seed_look_different() -> None:
    drawn = [
        photo_jpeg(PACK, Photo("x.jpg", (item,), seed=seed)) for item, seed in ((SCREW, 1), (LOOSE, 1), (SCREW, 2))
    ]
    assert len(set(drawn)) == 3


@pytest.mark.parametrize("kind", get_args(UnrelatedKind))
def test_something_unrelated_is_drawn_too(kind: UnrelatedKind) -> None:
    assert render_photo(PACK, Photo("x.jpg", unrelated=kind, seed=3)).size == SIZE


def test_chinese_without_a_font_for_it_is_refused_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tile, "_font_file", lambda: "")
    assert tile.font(20, "BBU").getbbox("BBU")
    with pytest.raises(WhetError, match=r"pip install .*\[groupqc\]"):
        tile.font(20, "光纤")


def test_an_object_that_the_pack_does_not_have_is_refused() -> None:
    with pytest.raises(WhetError, match="no object '天线'"):
        render_photo(PACK, Photo("x.jpg", (PhotoObject("天线"),)))


def test_a_tree_has_the_layout_of_stage_a(tmp_path: Path) -> None:
    for written in tree(tmp_path):
        ticket = written.group.ticket
        folder = tmp_path / "BBU接地线检查" / {"pass": "审核通过", "fail": "审核不通过"}[ticket.label] / ticket.group_id
        assert sorted(path.name for path in folder.iterdir()) == sorted(ticket.images)
        assert all(opened(path).size == SIZE for path in folder.iterdir())
        assert written.summaries == ticket.summaries


def test_a_resubmitted_site_stands_under_both_labels(tmp_path: Path) -> None:
    first, second = tree(tmp_path, 2, noise=Noise(resubmission=1.0))
    assert first.path.name == second.path.name
    assert first.path.parent.name != second.path.parent.name


def test_what_is_planted_is_on_disk_and_in_the_sidecar(tmp_path: Path) -> None:
    written = tree(tmp_path, 14, ArchiveDamage(malformed=0.3, missing=0.3, empty=0.15, copied=0.3, turned=0.3))
    planted = {kind for folder in written for kind, _ in folder.planted}
    assert planted == {"malformed", "missing", "empty", "copied", "turned"}
    for folder in written:
        assert tuple(sorted(path.name for path in folder.path.iterdir())) == tuple(sorted(folder.images))
        assert len(folder.images) == len(folder.summaries)
        for kind, name in folder.planted:
            if kind == "missing":
                assert not (folder.path / name).exists()
            if kind == "malformed":
                with pytest.raises((UnidentifiedImageError, OSError)):
                    opened(folder.path / name).load()
            if kind == "turned":
                assert opened(folder.path / name).getexif()[0x0112] == 3
    lines = [json.loads(line) for line in (tmp_path / "BBU接地线检查.truth.jsonl").read_text("utf-8").splitlines()]
    assert {line["ticket_key"]: [(p["kind"], p["file"]) for p in line["planted"]] for line in lines} == {
        folder.group.ticket.key: list(folder.planted) for folder in written
    }


def test_a_group_is_never_written_over(tmp_path: Path) -> None:
    tree(tmp_path, 1)
    with pytest.raises(WhetError, match="is there already"):
        tree(tmp_path, 1)
