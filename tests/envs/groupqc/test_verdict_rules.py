"""What passes: the table of missions, case by case."""

from __future__ import annotations

from typing import Any

import pytest

from whet.envs.groupqc.pack.file import find_mission
from whet.envs.groupqc.summaries.counts import read_summary
from whet.envs.groupqc.summaries.text import canonical
from whet.envs.groupqc.verdict.rules import RuleJudgement, judge, reason

CABINET = {"类别": "机柜处接地螺丝", "符合性": {"符合": 1}}
BAR = {"类别": "地排处接地螺丝", "符合性": {"符合": 3}}
TIDY = {"类别": "电线", "捆扎": {"整齐": 2}}
UNIT = {"类别": "BBU设备", "品牌": {"中兴": 2}, "挡风板需求": {"空间充足需安装": 2}}
EXEMPT = {"类别": "BBU设备", "品牌": {"爱立信": 1}, "挡风板需求": {"免装": 1}}


def judged(mission: str, *photos: list[dict[str, Any]] | str) -> RuleJudgement:
    """The judgement on photos, each a list of entries or the text of a summary."""
    pack, found = find_mission(mission)
    texts = [
        photo if isinstance(photo, str) else canonical(pack.words, {pack.words.statistics: photo}) for photo in photos
    ]
    return judge(pack, found, [read_summary(pack, text) for text in texts])


def at(distance: int, *entries: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"类别": "站点距离", "站点距离": {str(distance): 1}}, *entries]


@pytest.mark.parametrize(
    ("photos", "verdict", "wrong"),
    [
        ([[CABINET, TIDY], [BAR]], "pass", []),
        ([[CABINET, TIDY]], "fail", ["bar"]),
        ([[CABINET, TIDY], "无关图片"], "fail", ["bar"]),
        ([[CABINET, TIDY], [BAR, {"类别": "地排处接地螺丝", "符合性": {"不符合": 1}}]], "fail", ["bar"]),
        ([[CABINET, BAR]], "fail", ["wires"]),
        ([[CABINET, BAR, {"类别": "电线", "捆扎": {"整齐": 1, "散乱": 1}}]], "fail", ["wires"]),
        ([[{"类别": "机柜处接地螺丝", "可见性": {"完整": 1}}, BAR, TIDY]], "fail", ["cabinet"]),
        (["无关图片"], "fail", ["cabinet", "bar", "wires"]),
    ],
)
def test_earthing_needs_both_ends_and_tidy_wires(photos: list[Any], verdict: str, wrong: list[str]) -> None:
    judgement = judged("BBU接地线检查", *photos)
    assert (judgement.verdict, [failure.need.id for failure in judgement.failures]) == (verdict, wrong)


@pytest.mark.parametrize(
    ("photo", "verdict"),
    [
        ([UNIT, {"类别": "挡风板", "安装方向": {"方向正确": 1}}], "pass"),
        ([UNIT, {"类别": "挡风板", "安装方向": {"方向错误": 1}}], "fail"),
        ([UNIT], "fail"),
        ([EXEMPT], "pass"),
        ([{"类别": "BBU设备", "品牌": {"华为": 1}}], "fail"),
        ([{"类别": "挡风板", "安装方向": {"方向正确": 1}}], "fail"),
    ],
)
def test_a_baffle_is_needed_only_where_there_is_room_for_one(photo: list[Any], verdict: str) -> None:
    assert judged("挡风板安装检查", photo).verdict == verdict


PIGTAIL = {"类别": "尾纤", "标签": {"有标签": 1}, "套管保护": {"有套管": 1}, "组": {"1": 1}}
LABEL = {"类别": "标签", "文本": {"B扇区-RRU2-尾纤": 1}, "组": {"1": 1}}


def test_every_station_must_pass_by_itself() -> None:
    judgement = judged("RRU线缆", at(46, PIGTAIL, LABEL), at(90, {**PIGTAIL, "套管保护": {"无套管": 1}}, LABEL))
    assert judgement.verdict == "fail"
    assert [(failure.key, failure.status, failure.images) for failure in judgement.failures] == [
        ("90/sleeve", "defect", (2,))
    ]


def test_images_of_one_station_are_joined() -> None:
    unit, clamp = {"类别": "RRU设备", "存在": {"有": 1}}, {"类别": "紧固件", "安装状态": {"合格": 1}}
    assert judged("RRU安装检查", at(7, unit), at(7, clamp)).verdict == "pass"
    assert judged("RRU安装检查", at(7, unit), at(8, clamp)).verdict == "fail"


def test_a_label_of_another_pair_or_one_nobody_can_read_is_no_label() -> None:
    assert judged("RRU线缆", at(46, PIGTAIL, LABEL)).verdict == "pass"
    assert judged("RRU线缆", at(46, PIGTAIL, {**LABEL, "组": {"2": 1}})).verdict == "fail"
    assert (
        judged("RRU线缆", at(46, PIGTAIL, {"类别": "标签", "可读性": {"不可读": 1}, "组": {"1": 1}})).verdict == "fail"
    )


def test_a_station_that_shows_nothing_that_is_asked_is_left_out() -> None:
    assert judged("RRU线缆", at(46, PIGTAIL, LABEL), at(90, {"类别": "RRU设备", "存在": {"有": 1}})).verdict == "pass"


def test_an_image_without_a_number_joins_the_only_station() -> None:
    unit, clamp = {"类别": "RRU设备", "存在": {"有": 1}}, {"类别": "紧固件", "安装状态": {"合格": 1}}
    assert judged("RRU安装检查", at(7, unit), [clamp]).verdict == "pass"
    assert judged("RRU安装检查", at(7, unit, clamp), at(9, unit, clamp), [unit]).verdict == "fail"


def test_an_object_of_another_mission_decides_nothing() -> None:
    broken = {"类别": "BBU安装螺丝", "符合性": {"不符合": 1}}
    assert judged("BBU接地线检查", [CABINET, BAR, TIDY, broken]).verdict == "pass"


def test_the_reason_is_one_line_that_cites_images_and_stays_within_its_length() -> None:
    pack, _ = find_mission("BBU接地线检查")
    text = reason(pack, judged("BBU接地线检查", [CABINET, TIDY], [BAR]))
    shown = "Image1: 机柜侧接地螺丝符合, 电线捆扎整齐; Image2: 地排侧接地螺丝符合"
    assert text == f"{shown}; 总结: 机柜侧接地螺丝符合, 地排侧接地螺丝符合, 电线捆扎整齐"
    long = reason(pack, judged("BBU接地线检查", *([[CABINET, TIDY, BAR]] * 40)))
    assert len(long) <= 240
    assert "\n" not in long
