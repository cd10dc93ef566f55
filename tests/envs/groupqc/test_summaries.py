"""Summaries: written in one form, cleaned from many, read from any text without raising."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.envs.groupqc.pack.file import load_pack
from whet.envs.groupqc.pack.schema import Pack
from whet.envs.groupqc.records import PhotoObject
from whet.envs.groupqc.summaries.counts import problems, read_summary, without_stations
from whet.envs.groupqc.summaries.text import clean_summary, plain_text, render_summary, with_header

BBU, RRU = load_pack("bbu"), load_pack("rru")
SCREW = PhotoObject("机柜处接地螺丝", (("可见性", "完整"), ("符合性", "符合")))
WIRE = PhotoObject("电线", (("捆扎", "整齐"),))
LABEL = PhotoObject("标签", (("文本", "A区-BBU1-地线"),))
CANONICAL = (
    '{"统计": [{"类别": "机柜处接地螺丝", "可见性": {"完整": 1}, "符合性": {"符合": 1}}, '
    '{"类别": "电线", "捆扎": {"整齐": 2}}, {"类别": "标签", "文本": {"A区-BBU1-地线": 1}}]}'
)
PAIRED = (
    '{"统计": [{"类别": "站点距离", "站点距离": {"46": 1}}, '
    '{"类别": "尾纤", "标签": {"有标签": 1}, "套管保护": {"有套管": 1}, "组": {"1": 1}}, '
    '{"类别": "标签", "文本": {"B扇区-RRU2-尾纤": 1}, "组": {"1": 1}}], "分组统计": {"1": 2}}'
)


def test_a_summary_has_one_form_whatever_the_order_of_the_objects() -> None:
    assert render_summary(BBU, [LABEL, WIRE, SCREW, WIRE]) == CANONICAL
    assert render_summary(BBU, [WIRE, SCREW, LABEL, WIRE]) == CANONICAL


def test_pairs_are_counted_and_the_station_comes_first() -> None:
    items = [
        PhotoObject("标签", (("文本", "B扇区-RRU2-尾纤"), ("组", "1"))),
        PhotoObject("尾纤", (("标签", "有标签"), ("套管保护", "有套管"), ("组", "1"))),
        PhotoObject("站点距离", (("站点距离", "46"),)),
    ]
    assert render_summary(RRU, items) == PAIRED


def test_notes_follow_the_statistics() -> None:
    assert json.loads(render_summary(BBU, [WIRE], ["仅拍到局部"])) == {
        "统计": [{"类别": "电线", "捆扎": {"整齐": 1}}],
        "备注": ["仅拍到局部"],
    }


def test_nothing_seen_is_the_irrelevant_token_without_a_header() -> None:
    assert with_header(BBU, render_summary(BBU, [])) == "无关图片"
    assert with_header(BBU, CANONICAL) == f"<DOMAIN=BBU>, <TASK=SUMMARY>\n{CANONICAL}"


@pytest.mark.parametrize(
    ("answer", "stored"),
    [
        (f"<DOMAIN=BBU>, <TASK=SUMMARY>\n{CANONICAL}", CANONICAL),
        (f"  {CANONICAL}\n", CANONICAL),
        (CANONICAL.replace('": ', '":').replace(", ", ","), CANONICAL),
        (f"好的，摘要如下：\n{CANONICAL}", CANONICAL),
        (f"结果是 {CANONICAL} 以上", CANONICAL),
        (f"```json\n{CANONICAL}\n```", CANONICAL),
        (CANONICAL[1:-1].replace('"统计": ', "统计="), CANONICAL),
        (CANONICAL[1:-1].replace('"统计": ', "统计：") + "，完", CANONICAL),
        ('{"备注": ["x"], "统计": [], "其他": 1}', '{"统计": [], "备注": ["x"], "其他": 1}'),
        ("无关图片。这是图纸", "无关图片"),
        ('{"图片_1": "BBU设备/完整×1"}', "BBU设备/完整×1"),
        ('{"image_1": " a "}', "a"),
        ('{"甲": "一", "乙": "二"}', "一，二"),
        ("看不清楚", "看不清楚"),
        ("  \n ", ""),
    ],
)
def test_an_answer_is_cleaned_into_what_is_stored(answer: str, stored: str) -> None:
    assert clean_summary(BBU, answer) == stored


def test_cleaning_what_is_clean_changes_nothing() -> None:
    assert clean_summary(RRU, PAIRED) == PAIRED


@pytest.mark.parametrize(
    "text", [CANONICAL, f"<DOMAIN=BBU>, <TASK=SUMMARY>\n{CANONICAL}", plain_text(BBU, [SCREW, WIRE, WIRE, LABEL])]
)
def test_every_form_is_read_into_the_same_counts(text: str) -> None:
    reading = read_summary(BBU, text)
    assert {entry.category: entry.counts for entry in reading.entries} == {
        "机柜处接地螺丝": {"可见性": {"完整": 1}, "符合性": {"符合": 1}},
        "电线": {"捆扎": {"整齐": 2}},
        "标签": {"文本": {"A区-BBU1-地线": 1}},
    }


def test_an_english_plain_text_is_read_too() -> None:
    fire = load_pack("firesafety")
    items = [PhotoObject("exit sign", (("light", "lit"),)), PhotoObject("corridor", (("width", "clear"),))]
    assert [entry.category for entry in read_summary(fire, plain_text(fire, items)).entries] == [
        "exit sign",
        "corridor",
    ]


CUT = st.builds(lambda text, length: text[:length], st.sampled_from([CANONICAL, PAIRED]), st.integers(0, 200))


@given(st.text(max_size=200) | CUT)
def test_any_text_can_be_read_and_cleaned(text: str) -> None:
    for pack in (BBU, RRU):
        assert read_summary(pack, text).form in ("json", "plain", "irrelevant", "broken")
        assert (clean_summary(pack, text) == "") == (not text.strip())


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"统计": ' + "[" * 50_000,
        '{"统计": 5}',
        '{"统计": [1, {"类别": 3}, {"类别": "x", "y": [1]}]}',
        '{"统计": [{"类别": "电线", "捆扎": {"整齐": ' + "9" * 6000 + "}}]}",
    ],
)
def test_hostile_json_is_read_without_raising(text: str) -> None:
    read_summary(BBU, text)


def test_a_cut_off_summary_is_broken_and_not_guessed_at() -> None:
    assert read_summary(BBU, CANONICAL[:70]).form == "broken"


def test_the_number_of_objects_takes_the_largest_total_of_each_category() -> None:
    assert read_summary(BBU, CANONICAL).objects() == 4
    assert read_summary(BBU, "无关图片").objects() == 0


def test_stations_are_stripped_where_they_do_not_belong() -> None:
    polluted = (
        '{"统计": [{"类别": "站点距离", "站点距离": {"46": 1}}, '
        '{"类别": "电线", "捆扎": {"整齐": 1}, "站点距离": {"4": 1}}]}'
    )
    assert without_stations(BBU, polluted) == '{"统计": [{"类别": "电线", "捆扎": {"整齐": 1}}]}'
    assert "站点距离" not in without_stations(BBU, polluted[:-1])
    assert without_stations(BBU, CANONICAL) == CANONICAL


def lint(pack: Pack, text: str) -> tuple[str, ...]:
    return problems(pack, pack.missions[0], read_summary(pack, text))


@pytest.mark.parametrize(
    ("pack", "text", "problem"),
    [
        (BBU, '{"统计": [{"类别": "RRU设备"}]}', "unknown category 'RRU设备'"),
        (BBU, '{"统计": [{"类别": "电线", "颜色": {"红": 1}}]}', "电线 has no attribute '颜色'"),
        (BBU, '{"统计": [{"类别": "电线", "捆扎": {"乱": 1}}]}', "电线, 捆扎: unknown value '乱'"),
        (BBU, '{"统计": [{"类别": "电线", "捆扎": {"整齐": 0}}]}', "not a positive whole number"),
        (BBU, '{"统计": [{"类别": "电线", "捆扎": "整齐"}]}', "not a map from value to count"),
        (BBU, '{"统计": [{"类别": "电线"}, {"类别": "电线"}]}', "'电线' is listed twice"),
        (BBU, '{"统计": [{"捆扎": {"整齐": 1}}]}', "entry 1 has no 类别"),
        (BBU, CANONICAL[:50], "not a summary object (broken text)"),
        (RRU, '{"统计": [{"类别": "RRU设备", "存在": {"有": 1}}]}', "站点距离 is given 0 times"),
        (RRU, '{"统计": [{"类别": "RRU设备"}, {"类别": "站点距离", "站点距离": {"4": 1}}]}', "must be the first entry"),
        (RRU, '{"统计": [{"类别": "站点距离", "站点距离": {"近": 1}}]}', "'近' is not a number"),
    ],
)
def test_the_linter_names_what_is_wrong(pack: Pack, text: str, problem: str) -> None:
    assert any(problem in found for found in lint(pack, text))


@pytest.mark.parametrize(("pack", "text"), [(BBU, CANONICAL), (RRU, PAIRED), (BBU, "无关图片")])
def test_the_linter_has_nothing_against_a_good_summary(pack: Pack, text: str) -> None:
    assert lint(pack, text) == ()
