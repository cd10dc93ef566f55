"""What a verdict earns, and whether a reason says what the summaries show."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.envs.groupqc.pack.file import load_pack
from whet.envs.groupqc.pack.schema import VerdictRewards
from whet.envs.groupqc.verdict.lines import VerdictReading
from whet.envs.groupqc.verdict.rewards import Vocabulary, grounds, score

WEIGHTS = VerdictRewards()
RELEASED, BLOCKED = VerdictReading("pass", "x"), VerdictReading("fail", "x")
INVALID = VerdictReading(None, code="too_many_lines")
NAMES = Vocabulary.of(load_pack("bbu"))
FIRE = Vocabulary.of(load_pack("firesafety"))
SUMMARIES = (
    '{"统计": [{"类别": "BBU端光纤插头", "符合性": {"不符合": 1}, "问题": {"未拧紧": 1}}]}',
    '{"统计": [{"类别": "光纤", "保护措施": {"有保护": 2}}]}',
)


def test_the_label_earns_one_and_the_form_a_fifth() -> None:
    assert score(RELEASED, "pass", WEIGHTS).reward == pytest.approx(1.2)
    assert score(RELEASED, "fail", WEIGHTS).reward == pytest.approx(0.2)
    assert score(INVALID, "fail", WEIGHTS).reward == 0.0


def test_a_right_verdict_is_solved_whatever_the_scheme() -> None:
    assert [score(BLOCKED, "fail", WEIGHTS, scheme).hard for scheme in ("label", "asymmetric")] == [1, 1]


def test_a_false_release_costs_more_than_a_false_block_and_an_invalid_reply_more_than_either() -> None:
    release = score(RELEASED, "fail", WEIGHTS, "asymmetric").reward
    block = score(BLOCKED, "pass", WEIGHTS, "asymmetric").reward
    invalid = score(INVALID, "pass", WEIGHTS, "asymmetric").reward
    assert invalid < release < block < score(BLOCKED, "fail", WEIGHTS, "asymmetric").reward


def test_the_parts_tell_the_errors_apart() -> None:
    parts = score(RELEASED, "fail", WEIGHTS).parts
    assert (parts["false_release"], parts["false_block"], parts["invalid"]) == (1.0, 0.0, 0.0)


def test_grounds_are_rewarded_only_when_asked_for_and_only_for_valid_replies() -> None:
    assert score(RELEASED, "pass", WEIGHTS, grounded=1.0).reward == pytest.approx(1.4)
    assert score(INVALID, "pass", WEIGHTS, grounded=1.0).reward == 0.0


@pytest.mark.parametrize(
    ("reason", "share"),
    [
        ("Image1: BBU端光纤插头不符合; Image2: 光纤有保护", 1.0),
        ("Image2: BBU端光纤插头不符合", 1 / 3),
        ("Image1: BBU端光纤插头符合", 2 / 3),
        ("Image3: 光纤有保护", 2 / 3),
        ("总结: 未拍到ODF端光纤插头", 1.0),
        ("总结: 未拍到光纤", 0.0),
        ("总结: 光纤无保护", 0.5),
        ("一切正常", 0.0),
    ],
)
def test_a_reason_is_held_against_the_summaries(reason: str, share: float) -> None:
    assert grounds(NAMES, reason, SUMMARIES).share == pytest.approx(share)


def test_latin_names_count_only_as_whole_words() -> None:
    summary = '{"statistics": [{"category": "fire door", "position": {"closed": 1}}]}'
    assert grounds(FIRE, "Image1: the Fire Door is closed", [summary]).share == 1.0
    assert grounds(FIRE, "I confirm it", [summary]).claims == 0


@given(st.text(), st.lists(st.text(), max_size=3))
def test_any_reason_has_a_share_between_nought_and_one(reason: str, summaries: list[str]) -> None:
    assert 0.0 <= grounds(NAMES, reason, summaries).share <= 1.0
