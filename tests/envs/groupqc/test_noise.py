"""Ten channels: each can be switched alone, and the sidecar accounts for everything that it changed."""

from __future__ import annotations

from collections import Counter

import pytest

from whet.envs.groupqc.pack.file import find_mission
from whet.envs.groupqc.records import Channel, GeneratedGroup
from whet.envs.groupqc.summaries.counts import read_summary
from whet.envs.groupqc.world.noise import CHANNELS, Noise
from whet.envs.groupqc.world.world import SiteWorld
from whet.errors import WhetError

PACK, MISSION = find_mission("BBU接地线检查")


def groups(mission: str = "BBU接地线检查", count: int = 200, **rates: object) -> list[GeneratedGroup]:
    pack, found = find_mission(mission)
    world = SiteWorld(pack, found, Noise.of(rates))
    return [world.group("train", index) for index in range(count)]


def test_there_are_eleven_channels() -> None:
    assert len(CHANNELS) == 11


@pytest.mark.parametrize("channel", CHANNELS)
def test_a_channel_acts_alone(channel: Channel) -> None:
    found = Counter(event.channel for group in groups(**{channel: 0.5}) for event in group.truth.noise)
    if channel == "drift":
        assert found["omission"] < found["drift"]
        del found["omission"]
    assert set(found) == {channel}


@pytest.mark.parametrize("channel", ["omission", "flip", "jitter", "malformed", "ocr", "foreign"])
def test_a_summary_differs_from_the_clean_one_only_where_the_sidecar_says_so(channel: Channel) -> None:
    for group in groups(**{channel: 0.5}):
        touched = {event.image for event in group.truth.noise}
        changed = {
            number
            for number, (clean, noisy) in enumerate(
                zip(group.truth.clean, group.ticket.summaries, strict=True), start=1
            )
            if clean != noisy
        }
        assert changed == touched
        assert group.ticket.label == group.truth.verdict == group.truth.observable


def test_a_flip_says_what_stood_there_before() -> None:
    for group in groups(flip=0.5):
        for event in group.truth.noise:
            category, _, attribute = event.what.partition(".")
            clean = read_summary(PACK, group.truth.clean[event.image - 1])
            values = next(entry for entry in clean.entries if entry.category == category).counts[attribute]
            assert event.before == ",".join(f"{value}×{count}" for value, count in values.items())


def test_a_malformed_summary_has_one_of_four_forms() -> None:
    spoiled = [event for group in groups(malformed=0.9) for event in group.truth.noise]
    assert {event.what for event in spoiled} == {"cut_off", "header", "assignment", "plain_text"}
    forms = {(event.what, read_summary(PACK, event.after).form) for event in spoiled}
    assert {("cut_off", "broken"), ("header", "json"), ("assignment", "json"), ("plain_text", "plain")} <= forms
    assert len(forms - {("cut_off", "json")}) == 4  # cut off behind the statistics, those can still be read


def test_a_flipped_label_is_not_the_verdict() -> None:
    for group in groups(label=0.5, unobservable=0.3):
        flips = [event for event in group.truth.noise if event.channel == "label"]
        assert (group.ticket.label != group.truth.verdict) == bool(flips)
        assert [(event.before, event.after) for event in flips] == [(group.truth.verdict, group.ticket.label)] * len(
            flips
        )


def test_an_unobservable_fail_has_complete_evidence_and_a_remark_about_something_else() -> None:
    found = [group for group in groups(unobservable=0.5) if group.truth.noise]
    assert found
    for group in found:
        assert (group.truth.verdict, group.truth.observable, group.ticket.label) == ("fail", "pass", "fail")
        assert set(group.truth.needs.values()) <= {"ok", "exempt"}
        assert set(group.ticket.remarks) <= set(MISSION.remarks)


def test_a_resubmission_keeps_its_labels_whatever_else_is_on() -> None:
    for group in groups(resubmission=1.0, label=1.0, unobservable=1.0):
        assert group.ticket.label == ("pass" if group.truth.submission == 2 else "fail")


def test_drift_begins_at_its_date() -> None:
    for group in groups(drift=1.0, drift_after="2026-07-01"):
        drifted = any(event.channel == "drift" for event in group.truth.noise)
        assert drifted == (group.truth.date >= "2026-07-01")


def test_drift_shifts_the_brands_the_label_format_and_the_omissions() -> None:
    def figures(found: list[GeneratedGroup]) -> tuple[float, float, float]:
        items = [item for group in found for photo in group.photos for item in photo.items]
        brands = [item.value("品牌") for item in items if item.category == "BBU设备" and item.value("品牌")]
        texts = [item.value("文本") for item in items if item.value("文本")]
        events = [event for group in found for event in group.truth.noise if event.channel == "omission"]
        return brands.count("爱立信") / len(brands), sum("/" in text for text in texts) / len(texts), len(events)

    mission = "BBU安装方式检查（正装）"
    before, after = figures(groups(mission)), figures(groups(mission, drift=0.8, drift_after="2026-01-01"))
    assert before[0] < 0.25 < 0.6 < after[0]
    assert before[1] == 0
    assert after[1] > 0.6
    assert before[2] == 0 < after[2]


def test_an_object_of_another_domain_is_none_of_the_pack() -> None:
    found = [event.after for group in groups(foreign=0.5) for event in group.truth.noise]
    assert found
    assert all(PACK.category(name) is None for name in found)


@pytest.mark.parametrize(
    ("rates", "message"),
    [
        ({"omision": 0.1}, "no noise channel 'omision'.*'omission'"),
        ({"flip": 1.5}, "'flip' takes a rate from 0 to 1, not 1.5"),
        ({"flip": True}, "takes a rate"),
        ({"drift": 0.5, "drift_after": "soon"}, "must be a date"),
        ({"drift_after": 5}, "takes a date"),
    ],
)
def test_a_mistake_in_the_rates_is_refused(rates: dict[str, object], message: str) -> None:
    with pytest.raises(WhetError, match=message):
        SiteWorld(PACK, MISSION, Noise.of(rates))
