"""Mission packs: what comes with Whet, what a file of one's own may hold, and what is refused with its place."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from whet.envs.groupqc.pack.file import (
    LOOKS,
    MARKS,
    bundled,
    find_mission,
    load_pack,
    load_packs,
    pack_mistakes,
    pack_names,
)
from whet.envs.groupqc.pack.keys import reference
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
        ('focus = "需看到 BBU 设备，并', 'fokus = "需看到 BBU 设备，并', "unknown key 'fokus'. Did you mean 'focus'"),
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
        ('known = "挡风板需求"', 'known = "符合度"', "'known' names '符合度'.*Did you mean '符合性'"),
        (
            '"{zone}机房-{n}柜"',
            '"{zone}机房-{cabinet}柜"',
            r"unknown field \{cabinet\}.*Allowed: \{zone\}, \{n\}, \{m\}",
        ),
        ('"{zone}机房-{n}柜"', '"{zone机房"', r"template '\{zone机房'.*Allowed: \{zone\}"),
        ('id = "bar"', 'id = "cabinet"', "need 'cabinet' is given twice"),
    ],
)
def test_a_mistake_in_a_pack_is_refused_with_its_place(
    edited: Callable[[str, str], Pack], old: str, new: str, message: str
) -> None:
    with pytest.raises(WhetError, match=message) as refusal:
        edited(old, new)
    assert "own.toml" in str(refusal.value)


def test_every_mistake_is_found_at_once_with_what_is_allowed(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    text = bundled()["bbu"].decode()
    for old, new in (
        ("pass_share = 0.716", 'pass_share = "most"'),
        ('look = "fibre"', 'look = "fiber"'),
        ('good = { "捆扎" = "整齐" }', 'good = { "捆扎" = "松" }'),
        ('[words]\ndomain = "BBU"', "[words]"),
        ('new_templates = ["BBU/{zone}{n}/{m}"', 'new_templates = ["BBU/{zone}{k}/{m}"'),
        ("[rewards]", "[rewards]\nbonus = 2"),
    ):
        assert old in text
        text = text.replace(old, new, 1)
    path.write_text(text, encoding="utf-8")
    mistakes = pack_mistakes(str(path))
    for said in (
        "'pass_share' must be a number from 0 to 1, not 'most'",
        "'look' is 'fiber', which is not known. Did you mean 'fibre'? Allowed: unit, screw",
        "'good' says 捆扎 = '松', which 电线 does not have. Allowed: 整齐, 散乱",
        "words: the key 'domain' is missing: text",
        "unknown field {k}",
        "rewards: unknown key 'bonus'. Allowed: label, format",
    ):
        assert sum(said in mistake for mistake in mistakes) == 1, said
    assert len(mistakes) == 6
    assert not any("\n" in mistake for mistake in mistakes)


def test_a_pack_that_can_be_used_has_no_mistakes() -> None:
    assert [pack_mistakes(name) for name in pack_names()] == [(), (), ()]


def test_a_file_of_junk_is_told_in_a_line_for_each_table(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text('schema = "x"\nwords = 3\nmission = [1]\ncategory = {}\nnotes = [1]\n', encoding="utf-8")
    assert len(pack_mistakes(str(path))) < 12


def test_the_page_of_keys_is_what_the_parser_reads_by() -> None:
    page = Path(__file__).parents[3] / "docs" / "groupqc-packs.md"
    assert page.read_text(encoding="utf-8") == "\n".join(reference()) + "\n"


# --------------------------------------------------------------------------------------------- richer needs

RICH_MISSION = """
[[mission]]
name = "机柜综合检查"
code = "RICH"
about = "检查机柜。"
focus = "按清单检查。"
remarks = ["请重拍"]
distractors = ["标签", "光纤"]
pass_share = 0.5

[[mission.need]]
id = "screws"
text = "至少两颗安装螺丝"
absent = "安装螺丝不足两颗"
category = "BBU安装螺丝"
least = 2

[[mission.need]]
id = "fitted"
text = "设备按要求配备"
absent = "未写明配备情况"
broken = "设备未按要求配备"
category = "BBU设备"
good = { "符合性" = "按要求配备" }

[[mission.need]]
id = "either"
text = "电线整齐或有地线标签，且没有生锈"
absent = "-"
broken = "电线不整齐也没有地线标签，或者生锈"
holds = { all = [
    { any = [ { category = "电线", attribute = "捆扎", value = "整齐" }, { label = "{zone}区-BBU{n}-地线" } ] },
    { not = { category = "机柜处接地螺丝", attribute = "问题", value = "生锈" } },
] }

[[mission.need]]
id = "outside"
text = "边缘机房要有带保护的光纤"
absent = "-"
broken = "边缘机房的光纤没有保护"
sites = ["边缘机房"]
holds = { category = "光纤", attribute = "保护措施", value = "有保护" }

[prompts]
"""


def test_counts_or_not_and_sites_can_be_needed_and_are_generated(edited: Callable[[str, str], Pack]) -> None:
    pack = edited("\n[prompts]\n", RICH_MISSION)
    mission = pack.mission("机柜综合检查")
    seen = set()
    for index in range(150):
        group = SiteWorld(pack, mission).group("train", index)
        ticket = group.ticket
        readings = [read_summary(pack, text) for text in ticket.summaries]
        judgement = judge(pack, mission, readings, ticket.site, ticket.submitted)
        assert judgement.verdict == ticket.label
        seen |= {(finding.need.id, finding.status) for finding in judgement.findings}
    assert {("screws", "ok"), ("screws", "absent"), ("either", "ok"), ("either", "defect")} <= seen
    assert {("fitted", "defect"), ("outside", "exempt"), ("outside", "ok"), ("outside", "defect")} <= seen


def test_an_attribute_without_a_drawing_is_told_of_where_a_need_asks_for_it(edited: Callable[[str, str], Pack]) -> None:
    pack = edited("\n[prompts]\n", RICH_MISSION)
    rich = [SiteWorld(pack, pack.mission("机柜综合检查")).ticket("train", index) for index in range(20)]
    plain = [SiteWorld(pack, pack.mission("BBU安装方式检查（正装）")).ticket("train", index) for index in range(20)]
    assert any("按要求配备" in text for ticket in rich for text in ticket.summaries)
    assert not any("按要求配备" in text for ticket in plain for text in ticket.summaries)


@pytest.mark.parametrize(
    ("holds", "message"),
    [
        ('{ category = "光纤", label = "x" }', "exactly one of category, label, site, before, all, any, not"),
        ('{ site = "山顶" }', "'site' names '山顶'.*Allowed: 宏站"),
        ('{ before = "soon" }', "must be a date such as 2026-07-01, not 'soon'"),
        ("{ any = [] }", "'any' must be a list of one or more conditions"),
        ('{ not = { category = "光缆" } }', "holds, not: 'category' names '光缆'.*Allowed: .*光纤"),
        ('{ category = "光纤", value = "有保护" }', "'value' is a value of an 'attribute'"),
        ('{ category = "光纤", attribute = "保护措施", value = "好" }', "Allowed: 有保护, 无保护"),
        ('{ label = "{zone}" }', "'label' names '{zone}'.*Allowed: {zone}区-BBU{n}-地线"),
        ("3", "holds: must be a table with the keys category"),
    ],
)
def test_a_mistake_in_a_condition_has_its_place(edited: Callable[[str, str], Pack], holds: str, message: str) -> None:
    mission = NEW_MISSION.replace('category = "光纤"\ngood = { "保护措施" = "有保护" }', f"holds = {holds}")
    with pytest.raises(WhetError, match=message):
        edited("\n[prompts]\n", mission)


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
