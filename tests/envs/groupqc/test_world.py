"""The generator: pure, true to the rules, with sites that stay on their side of the wall."""

from __future__ import annotations

import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.envs.groupqc.pack.file import find_mission, load_packs
from whet.envs.groupqc.pack.schema import Mission, Pack
from whet.envs.groupqc.summaries.counts import problems, read_summary
from whet.envs.groupqc.verdict.rules import judge
from whet.envs.groupqc.world.noise import REALISTIC, Noise
from whet.envs.groupqc.world.scene import MOST_ITEMS
from whet.envs.groupqc.world.world import SiteWorld
from whet.envs.splits import split_of
from whet.errors import WhetError
from whet.types import SPLITS, Split

MISSIONS = [(pack, mission) for pack in load_packs() for mission in pack.missions]
by_mission = pytest.mark.parametrize(("pack", "mission"), MISSIONS, ids=[mission.code for _, mission in MISSIONS])


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(MISSIONS), st.sampled_from(SPLITS), st.integers(0, 9_999_999), st.integers(0, 99))
def test_the_rules_find_the_latent_state_in_the_clean_summaries(
    case: tuple[Pack, Mission], split: Split, index: int, seed: int
) -> None:
    pack, mission = case
    group = SiteWorld(pack, mission, REALISTIC, seed).group(split, index)
    judgement = judge(pack, mission, [read_summary(pack, text) for text in group.truth.clean])
    assert judgement.verdict == group.truth.observable
    if any(photo.items for photo in group.photos):
        assert {finding.key: finding.status for finding in judgement.findings} == group.truth.needs


@by_mission
def test_the_same_arguments_give_the_same_group(pack: Pack, mission: Mission) -> None:
    first, again = SiteWorld(pack, mission, REALISTIC), SiteWorld(pack, mission, REALISTIC)
    backwards = [again.group("select", index) for index in reversed(range(20))]
    assert [first.group("select", index) for index in range(20)] == backwards[::-1]


@by_mission
def test_without_noise_the_label_is_the_verdict_and_the_linter_is_content(pack: Pack, mission: Mission) -> None:
    for index in range(40):
        group = SiteWorld(pack, mission).group("train", index)
        assert group.ticket.label == group.truth.verdict == group.truth.observable
        assert group.truth.noise == ()
        assert group.ticket.summaries == group.truth.clean
        assert [problems(pack, mission, read_summary(pack, text)) for text in group.truth.clean] == [()] * len(
            group.photos
        )


@pytest.mark.parametrize("split", SPLITS)
def test_a_group_id_belongs_to_the_split_it_stands_in(split: Split) -> None:
    pack, mission = find_mission("BBU接地线检查")
    world = SiteWorld(pack, mission, Noise(resubmission=0.5))
    assert {split_of(world.ticket(split, index).group_id) for index in range(200)} == {split}


def test_ticket_keys_are_unique_even_with_every_noise() -> None:
    loud = Noise(resubmission=0.5, label=0.5, unobservable=0.5, drift=0.5, drift_after="2026-01-01")
    keys = [
        (mission.name, SiteWorld(pack, mission, loud).ticket(split, index).key)
        for pack, mission in MISSIONS
        for split in SPLITS
        for index in range(60)
    ]
    assert len(set(keys)) == len(keys)


def test_a_resubmitted_site_is_rejected_then_approved_with_other_evidence() -> None:
    pack, mission = find_mission("BBU线缆布放要求")
    world = SiteWorld(pack, mission, Noise(resubmission=1.0))
    for pair in range(20):
        first, second = world.group("test", 2 * pair), world.group("test", 2 * pair + 1)
        assert first.ticket.group_id == second.ticket.group_id
        assert (first.ticket.label, second.ticket.label) == ("fail", "pass")
        assert first.ticket.summaries != second.ticket.summaries
        assert (first.truth.submission, second.truth.submission) == (1, 2)
        assert first.truth.date < second.truth.date


def test_another_seed_gives_other_sites() -> None:
    pack, mission = find_mission("RRU线缆")
    assert SiteWorld(pack, mission, seed=1).ticket("train", 0) != SiteWorld(pack, mission, seed=2).ticket("train", 0)


@by_mission
def test_tickets_have_the_size_and_the_pass_share_of_real_ones(pack: Pack, mission: Mission) -> None:
    groups = [SiteWorld(pack, mission).group("train", index) for index in range(600)]
    sizes = [len(group.photos) for group in groups]
    assert 2 <= statistics.median(sizes) <= 3
    assert 3 <= statistics.mean(sizes) <= 4
    assert min(sizes) == 1
    assert max(sizes) <= 38
    assert abs(sum(group.ticket.label == "pass" for group in groups) / 600 - mission.pass_share) < 0.07
    unrelated = sum(photo.unrelated is not None for group in groups for photo in group.photos) / sum(sizes)
    assert 0.08 < unrelated < 0.17
    assert max(len(photo.items) for group in groups for photo in group.photos) <= MOST_ITEMS + 1


@by_mission
def test_every_need_fails_in_every_way_that_it_can(pack: Pack, mission: Mission) -> None:
    seen = {
        (key.rpartition("/")[2], status)
        for index in range(800)
        for key, status in SiteWorld(pack, mission).group("train", index).truth.needs.items()
    }
    for need in mission.needs:
        assert (need.id, "ok") in seen
        assert (need.id, "absent") in seen
        assert ((need.id, "defect") in seen) == bool(need.good or need.labelled)
        assert ((need.id, "exempt") in seen) == (need.when is not None)


def test_the_sidecar_holds_what_no_ticket_line_does() -> None:
    pack, mission = find_mission("RRU位置检查")
    group = SiteWorld(pack, mission, REALISTIC).group("train", 4)
    line, sidecar = group.ticket.as_line("image_"), group.as_sidecar()
    assert list(line["per_image"]) == [f"image_{n}" for n in range(1, len(group.photos) + 1)]
    assert not {"verdict", "observable", "needs", "noise", "clean", "photos"} & set(line)
    assert sidecar["ticket_key"] == f"{line['group_id']}::{line['label']}"
    assert sidecar["needs"] == group.truth.needs


@pytest.mark.parametrize("index", [-1, 10_000_000])
def test_an_index_out_of_range_is_refused(index: int) -> None:
    pack, mission = find_mission("RRU线缆")
    with pytest.raises(WhetError, match="there is no ticket"):
        SiteWorld(pack, mission).group("train", index)
