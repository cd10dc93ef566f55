"""Mission packs: what comes with Whet, what a file of one's own may hold, and what is refused with its place."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from whet.envs.groupqc.pack.file import LOOKS, MARKS, bundled, find_mission, load_pack, load_packs, pack_names
from whet.envs.groupqc.pack.schema import Pack
from whet.envs.groupqc.summaries.counts import read_summary
from whet.envs.groupqc.verdict.rules import judge
from whet.envs.groupqc.world.world import SiteWorld
from whet.errors import WhetError

NEW_MISSION = """
[[mission]]
name = "光纤标签检查"
code = "FTAG"
about = "检查光纤的保护。"
focus = "光纤要有保护。"
remarks = ["请重拍"]
distractors = ["电线"]

[[mission.need]]
id = "protected"
text = "光纤有保护"
absent = "未拍到光纤"
broken = "光纤无保护"
category = "光纤"
good = { "保护措施" = "有保护" }

[prompts]
"""


@pytest.fixture
def edited(tmp_path: Path) -> Callable[[str, str], Pack]:
    """The BBU pack with one text in place of another, read from a file."""

    def edit(old: str, new: str) -> Pack:
        text = bundled()["bbu"].decode()
        assert old in text
        path = tmp_path / "own.toml"
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        return load_pack(str(path))

    return edit


def test_three_packs_come_with_whet_in_two_languages() -> None:
    assert {
        name: (pack.language, len(pack.missions)) for name, pack in zip(pack_names(), load_packs(), strict=True)
    } == {
        "bbu": ("zh", 4),
        "rru": ("zh", 3),
        "firesafety": ("en", 3),
    }


def test_a_mission_is_found_with_its_pack() -> None:
    pack, mission = find_mission("RRU线缆")
    assert (pack.name, mission.code, mission.per_station) == ("rru", "RCABLE", True)


def test_an_unknown_mission_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(WhetError, match=r"no mission 'RRU线缆检查'.*Did you mean 'RRU"):
        find_mission("RRU线缆检查")


def test_an_unknown_pack_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(WhetError, match=r"no pack 'bbv'.*'bbu'"):
        load_pack("bbv")


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="cannot read the pack"):
        load_pack(str(tmp_path / "none.toml"))


def test_mission_names_and_codes_are_unique_over_all_packs() -> None:
    missions = [mission for pack in load_packs() for mission in pack.missions]
    assert len({mission.name for mission in missions}) == len({mission.code for mission in missions}) == len(missions)


def test_a_mission_added_to_the_file_can_be_generated_and_judged(edited: Callable[[str, str], Pack]) -> None:
    pack = edited("\n[prompts]\n", NEW_MISSION)
    mission = pack.mission("光纤标签检查")
    for index in range(60):
        group = SiteWorld(pack, mission).group("train", index)
        readings = [read_summary(pack, text) for text in group.ticket.summaries]
        assert judge(pack, mission, readings).verdict == group.ticket.label


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "pass_share = 0.716",
            "pas_share = 0.716",
            r"mission 'BBU安装方式检查（正装）': unknown key 'pas_share'.*'pass_share'",
        ),
        ('focus = "需看到 BBU 设备，并', 'fokus = "需看到 BBU 设备，并', "the key 'focus' is missing"),
        ("pass_share = 0.716", "pass_share = 7", "'pass_share' must be a number from 0 to 1, not 7"),
        (
            'category = "BBU安装螺丝"\ngood',
            'category = "BBU安装螺栓"\ngood',
            "names the category 'BBU安装螺栓'.*Did you mean",
        ),
        ('good = { "符合性" = "符合" }', 'good = { "符合性" = "好" }', "'好', which BBU安装螺丝 does not have"),
        ('"整齐" = "tidy"', '"整齐" = "tidie"', "drawing 'tidie', which is not known.*'tidy'"),
        ('code = "EARTH"', 'code = "MOUNT"', "mission code 'MOUNT' is given twice"),
        ('code = "EARTH"', 'code = "earth"', "'code' must be capital letters"),
        ('"标签", "电线", "BBU设备"', '"标签", "电线", "光纤"', "asked for and cannot be a distractor"),
        ("{mission}\n说明", "{misson}\n说明", "'photo_request' must hold each of"),
        ('look = "fibre"', 'look = "fiber"', "'look' is 'fiber', which is not known"),
        ('tint = "#2f6fb5"', 'tint = "blue"', "'tint' must be a colour"),
        ("schema = 1", "schema = 2", "'schema' must be 1"),
        ('failed = "不通过"', 'failed = "通过"', "pass and fail must have different words"),
        ('name = "bbu"', 'name = "bbu', "is not TOML"),
        ('known = "挡风板需求"', 'known = "符合性"', "without 'marks'"),
        ('id = "bar"', 'id = "cabinet"', "need 'cabinet' is given twice"),
    ],
)
def test_a_mistake_in_a_pack_is_refused_with_its_place(
    edited: Callable[[str, str], Pack], old: str, new: str, message: str
) -> None:
    with pytest.raises(WhetError, match=message) as refusal:
        edited(old, new)
    assert "own.toml" in str(refusal.value)


def test_a_condition_that_no_need_asks_for_is_refused(edited: Callable[[str, str], Pack]) -> None:
    with pytest.raises(WhetError, match="depends on '光纤': another need must ask for it"):
        edited(
            'when = { category = "BBU设备", attribute = "挡风板需求", value = "空间充足需安装" }',
            'when = { category = "光纤", attribute = "保护措施", value = "有保护" }',
        )


def test_every_look_and_mark_that_a_pack_may_name_is_drawn() -> None:
    from whet.envs.groupqc.render import looks, marks

    assert set(looks.LOOKS) == set(LOOKS) - {"label", "text"}
    assert set(marks.MARKS) == set(MARKS) - {"badge"}


def test_reading_packs_and_generating_loads_no_image_library() -> None:
    code = (
        "import sys; from whet.envs.groupqc.pack.file import load_packs; from whet.envs.groupqc.world import world;"
        "[world.SiteWorld(p, m).group('train', 0) for p in load_packs() for m in p.missions];"
        "print([one for one in ('PIL', 'cv2', 'rapidocr_onnxruntime', 'pydantic') if one in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
