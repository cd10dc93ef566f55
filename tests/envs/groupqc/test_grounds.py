"""Whether a reason says what the photos that it cites show."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.envs.groupqc.pack.file import find_mission
from whet.envs.groupqc.verdict.grounds import Vocabulary, grounds

NAMES = Vocabulary.of(*find_mission("BBU线缆布放要求"))
FIRE = Vocabulary.of(*find_mission("Fire door check"))
SUMMARIES = (
    '{"统计": [{"类别": "BBU端光纤插头", "符合性": {"不符合": 1}, "可见性": {"完整": 1}}]}',
    '{"统计": [{"类别": "光纤", "保护措施": {"有保护": 2}}, {"类别": "BBU设备", "可见性": {"部分": 1}}]}',
)


@pytest.mark.parametrize(
    ("reason", "share"),
    [
        ("Image1: BBU端光纤插头不符合; Image2: 光纤有保护", 1.0),
        ("Image1: BBU端光纤插头, 不符合, 完整", 1.0),
        ("Image1: BBU端光纤插头不符合要求", 1.0),
        ("Image2: BBU端光纤插头不符合", 0.0),
        ("Image1: BBU端光纤插头符合", 0.0),
        ("Image3: 光纤有保护", 0.0),
        ("Image1, Image2: 光纤有保护", 0.0),
        ("Image2: 光纤有保护, BBU设备完整", 0.5),
        ("Image2: 光纤有保护; 总结: 光纤有保护", 1.0),
        ("Image2: 光纤有保护; 总结: 光纤无保护", 0.5),
        ("总结: 未拍到ODF端光纤插头", 1.0),
        ("总结: 没有看到ODF端光纤插头", 1.0),
        ("总结: 未拍到光纤", 0.0),
        ("总结: 没有看到电线", 0.0),
        ("Image1", 0.0),
        ("Image1: ok; Image2: ok", 0.0),
        ("Image1: BBU端光纤插头; Image2: 光纤", 0.0),
        ("Image2: 有保护", 0.0),
        ("光纤有保护", 0.0),
        ("一切正常", 0.0),
        ("", 0.0),
    ],
)
def test_a_reason_is_held_against_the_photos_that_it_cites(reason: str, share: float) -> None:
    assert grounds(NAMES, reason, SUMMARIES).share == pytest.approx(share)


def test_object_and_value_must_stand_in_the_same_photo() -> None:
    apart = (
        '{"统计": [{"类别": "光纤", "弯曲半径": {"半径合理": 1}}]}',
        '{"统计": [{"类别": "光纤", "保护措施": {"有保护": 1}}]}',
    )
    assert grounds(NAMES, "Image1: 光纤有保护", apart).share == 0.0
    assert grounds(NAMES, "Image2: 光纤有保护", apart).share == 1.0


def test_latin_names_count_only_as_whole_words() -> None:
    summary = '{"statistics": [{"category": "fire door", "position": {"closed": 1}}]}'
    assert grounds(FIRE, "Image1: fire door closed", [summary]).share == 1.0
    assert grounds(FIRE, "Image1: fire door disclosed", [summary]).share == 0.0


@settings(max_examples=40, deadline=None)
@given(st.text(), st.lists(st.text(min_size=1), min_size=1, max_size=3))
def test_any_reason_has_a_share(reason: str, summaries: list[str]) -> None:
    assert 0.0 <= grounds(NAMES, reason, summaries).share <= 1.0
