"""Conventions that no prompt tells: planted from a seed, known in the truth, worth finding, and in no text."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest

from whet.envs.groupqc import GroupQc
from whet.envs.groupqc.pack.condition import (
    Appearance,
    Condition,
    Conjunction,
    Disjunction,
    LabelFormat,
    Location,
    Negation,
    Period,
    as_data,
    sentence,
)
from whet.envs.groupqc.pack.conditions import ConditionReader
from whet.envs.groupqc.pack.file import find_mission, load_packs
from whet.envs.groupqc.pack.schema import Mission, Pack
from whet.envs.groupqc.summaries.counts import SummaryEntry, SummaryReading, read_summary, reading_of
from whet.envs.groupqc.verdict.conventions import judge_with
from whet.envs.groupqc.verdict.evidence import TicketEvidence, holds
from whet.envs.groupqc.world.conventions import REQUIRED_SHARE, WAIVED_SHARE, draw_conventions
from whet.envs.groupqc.world.noise import NO_NOISE, REALISTIC, Noise
from whet.envs.groupqc.world.world import SiteWorld
from whet.errors import WhetError
from whet.types import SPLITS

MISSIONS = [(pack, mission) for pack in load_packs() for mission in pack.missions]
by_mission = pytest.mark.parametrize(("pack", "mission"), MISSIONS, ids=[mission.code for _, mission in MISSIONS])
BBU = find_mission("BBU安装方式检查（正装）")[0]
LEARNING = {"clean": NO_NOISE, "loud": replace(REALISTIC, ambiguous=0.1)}


# --------------------------------------------------------------------------------------------- conditions


def seen(*summaries: str, site: str = "", date: str = "") -> TicketEvidence:
    readings = [read_summary(BBU, text) for text in summaries]
    return TicketEvidence(BBU, list(enumerate(readings, start=1)), site, date)


SCREWS = '{"统计": [{"类别": "BBU安装螺丝", "可见性": {"完整": 1, "部分": 1}}]}'
LABEL = '{"统计": [{"类别": "标签", "文本": {"A区-BBU3-地线": 1}}], "备注": ["仅拍到局部"]}'


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (Appearance("BBU安装螺丝"), True),
        (Appearance("BBU安装螺丝", least=2), True),
        (Appearance("BBU安装螺丝", least=3), False),
        (Appearance("BBU安装螺丝", "可见性", "完整", least=2), False),
        (Appearance("BBU安装螺丝", photos=2), False),
        (Appearance("BBU安装螺丝", noted=True), False),
        (Appearance("标签", noted=True), True),
        (LabelFormat("{zone}区-BBU{n}-地线"), True),
        (LabelFormat("{zone}区-BBU{n}-电源"), False),
        (Location("室分"), True),
        (Period("2026-03-01"), True),
        (Period("2026-02-01"), False),
        (Negation(Location("宏站")), True),
        (Conjunction((Location("室分"), Appearance("光纤"))), False),
        (Disjunction((Location("宏站"), Appearance("标签", "文本"))), True),
    ],
)
def test_a_condition_holds_by_what_the_ticket_shows(condition: Condition, expected: bool) -> None:
    assert holds(condition, seen(SCREWS, LABEL, site="室分", date="2026-02-01")) is expected


def test_a_ticket_that_tells_neither_site_nor_date_is_of_none_that_is_named() -> None:
    assert not holds(Disjunction((Location("室分"), Period("2026-03-01"))), seen(SCREWS))


@by_mission
def test_every_planted_condition_can_be_written_in_a_pack_and_said(pack: Pack, mission: Mission) -> None:
    reader = ConditionReader(pack.categories, pack.labels, pack.sites.names if pack.sites else ())
    for convention in draw_conventions(pack, mission, 0):
        mistakes: list[str] = []
        data = json.loads(json.dumps(as_data(convention.condition)))
        assert reader.read("here", data, mistakes) == convention.condition
        assert mistakes == []
        assert sentence(pack, convention.condition) in convention.text


# --------------------------------------------------------------------------------------------- planting


@by_mission
def test_a_mission_has_three_to_five_conventions_of_several_kinds(pack: Pack, mission: Mission) -> None:
    for seed in range(8):
        planted = draw_conventions(pack, mission, seed)
        assert 3 <= len(planted) <= 5
        assert len({convention.kind for convention in planted}) >= 3
        assert {convention.effect for convention in planted} == {"require", "waive"}
        shares = Counter[str]()
        for convention in planted:
            shares[convention.effect] += convention.share  # type: ignore[assignment]
        assert shares["require"] == pytest.approx(REQUIRED_SHARE)
        assert shares["waive"] == pytest.approx(WAIVED_SHARE)


def test_every_kind_of_convention_is_planted_somewhere() -> None:
    kinds = {
        convention.kind
        for pack, mission in MISSIONS
        for seed in range(4)
        for convention in draw_conventions(pack, mission, seed)
    }
    assert kinds == {"count", "either_or", "visibility", "label_format", "note", "exception", "dropped"}


def test_the_same_seed_gives_the_same_conventions_whatever_the_sites_and_another_seed_others() -> None:
    pack, mission = find_mission("BBU线缆布放要求")
    first = SiteWorld(pack, mission, seed=1, conventions=4).conventions
    assert SiteWorld(pack, mission, REALISTIC, seed=2, conventions=4).conventions == first
    assert SiteWorld(pack, mission, seed=1, conventions=5).conventions != first
    assert SiteWorld(pack, mission).conventions == ()


@by_mission
def test_each_convention_decides_the_share_that_was_planned(pack: Pack, mission: Mission) -> None:
    world = SiteWorld(pack, mission, conventions=0)
    groups = [world.group("select", index) for index in range(300)]
    decided = Counter(by for group in groups for by in group.truth.decided_by)
    for convention in world.conventions:
        assert abs(decided[convention.id] / 300 - convention.share) < 0.06
    assert abs(sum(group.ticket.label == "pass" for group in groups) / 300 - world.pass_share) < 0.09


@by_mission
def test_the_truth_says_what_the_planted_conventions_say(pack: Pack, mission: Mission) -> None:
    world = SiteWorld(pack, mission, REALISTIC, conventions=3)
    for index in range(30):
        group = world.group("train", index)
        readings = [read_summary(pack, text) for text in group.truth.clean]
        ticket = group.ticket
        found = judge_with(pack, mission, world.conventions, readings, ticket.site, ticket.submitted)
        assert found.verdict == group.truth.observable
        assert found.checklist == group.truth.checklist
        assert found.decided_by == group.truth.decided_by
        again = [reading_of(photo.items, photo.notes) for photo in group.photos]
        assert [_entries(reading) for reading in again] == [_entries(reading) for reading in readings]


def _entries(reading: SummaryReading) -> list[SummaryEntry]:
    return sorted(reading.entries, key=lambda entry: entry.category)


def test_a_resubmitted_site_keeps_its_kind_and_is_rejected_then_approved() -> None:
    pack, mission = find_mission("BBU接地线检查")
    world = SiteWorld(pack, mission, Noise(resubmission=1.0), conventions=0)
    for pair in range(20):
        first, second = world.ticket("test", 2 * pair), world.ticket("test", 2 * pair + 1)
        assert (first.group_id, first.site) == (second.group_id, second.site)
        assert (first.label, second.label) == ("fail", "pass")
        assert first.submitted < second.submitted


# --------------------------------------------------------------------------------------------- ambiguous tickets


def test_ambiguous_tickets_have_their_share_and_labels_like_a_coin() -> None:
    pack, mission = find_mission("Fire door check")
    world = SiteWorld(pack, mission, Noise(ambiguous=0.3), conventions=0)
    groups = [world.group("train", index) for index in range(400)]
    doubtful = [group for group in groups if any(event.channel == "ambiguous" for event in group.truth.noise)]
    assert 0.23 < len(doubtful) / 400 < 0.37
    assert 0.35 < sum(group.ticket.label == "pass" for group in doubtful) / len(doubtful) < 0.65
    assert all(group.truth.decided_by == () for group in doubtful)


def test_an_ambiguous_ticket_shows_one_thing_good_and_bad() -> None:
    pack, mission = find_mission("Fire door check")
    doubtful = [SiteWorld(pack, mission, Noise(ambiguous=1.0)).group("train", index) for index in range(40)]
    contradictory = 0
    for group in doubtful:
        shown = {item.value("position") for photo in group.photos for item in photo.items} - {""}
        seals = {item.value("seal") for photo in group.photos for item in photo.items} - {""}
        arms = {item.value("arm") for photo in group.photos for item in photo.items} - {""}
        contradictory += any(len(values) == 2 for values in (shown, seals, arms))
    assert contradictory >= 36


# --------------------------------------------------------------------------------------------- worth learning


@pytest.mark.parametrize("noise", LEARNING)
@by_mission
def test_the_ceiling_is_fifteen_points_above_the_checklist(pack: Pack, mission: Mission, noise: str) -> None:
    """In plain and in balanced accuracy; 200 tickets give each to about three points."""
    world = SiteWorld(pack, mission, LEARNING[noise], conventions=0)
    hits: dict[tuple[str, str], list[bool]] = {}
    for index in range(200):
        ticket = world.ticket("test", index)
        readings = [read_summary(pack, text) for text in ticket.summaries]
        found = judge_with(pack, mission, world.conventions, readings, ticket.site, ticket.submitted)
        for name, call in (("checklist", found.checklist), ("ceiling", found.verdict)):
            hits.setdefault((name, ticket.label), []).append(call == ticket.label)
    rates = {key: sum(right) / len(right) for key, right in hits.items()}
    plain = {
        name: sum(sum(right) for (known, _), right in hits.items() if known == name) / 200
        for name in ("checklist", "ceiling")
    }
    balanced = {name: (rates[name, "pass"] + rates[name, "fail"]) / 2 for name in ("checklist", "ceiling")}
    assert plain["ceiling"] - plain["checklist"] >= 0.15
    assert balanced["ceiling"] - balanced["checklist"] >= 0.15
    if noise == "clean":
        assert plain["ceiling"] == 1.0


# --------------------------------------------------------------------------------------------- nothing leaks


def test_no_prompt_tells_a_convention_or_depends_on_one() -> None:
    """The prompt of a ticket is a function of the mission and the ticket: the same text under any conventions."""
    env = GroupQc("", {"noise": "realistic"})
    planted = [text for pack, mission in MISSIONS for text in _texts(pack, mission)]
    for split in SPLITS:
        for index in range(40):
            task = env.task(split, index)
            said = "\n".join(message.text for message in task.messages)
            assert not any(text in said for text in planted)
            assert set(task.data) == {"mission", "images", "summaries", "site", "submitted"}


def _texts(pack: Pack, mission: Mission) -> list[str]:
    return [
        text
        for convention in draw_conventions(pack, mission, 0)
        for text in (convention.text, sentence(pack, convention.condition))
    ]


def test_the_prompt_shows_the_site_and_the_date_and_the_old_world_shows_neither() -> None:
    new = GroupQc("", {"mission": "Fire door check"}).task("train", 0)
    old = GroupQc("", {"mission": "Fire door check", "conventions": "none"}).task("train", 0)
    assert f"Building: {new.data['site']}; Handed in: {new.data['submitted']}" in new.messages[-1].text
    assert "Handed in" not in old.messages[-1].text


def test_the_ceiling_is_a_baseline_only_where_conventions_are() -> None:
    assert "ceiling" in GroupQc("", {}).baselines()
    assert "ceiling" not in GroupQc("", {"conventions": "none"}).baselines()


def test_the_description_says_where_checklist_and_ceiling_stand() -> None:
    assert "unwritten conventions" in GroupQc("", {"mission": "RRU线缆"}).standing()
    assert GroupQc("", {"conventions": "none"}).standing() == ""


def test_conventions_that_are_no_number_are_refused() -> None:
    with pytest.raises(WhetError, match="conventions is 'many': write a number"):
        GroupQc("", {"conventions": "many"})
