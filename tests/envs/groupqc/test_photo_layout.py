"""Folders of photos: order, ids, labels, and what is set aside."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from photo_trees import FAIL, MISSION, PASS, RULES, group, picture

from whet.envs.groupqc.photos.layout import LayoutRules, MissionFolder, discover, group_id, missing_numbers, natural
from whet.errors import WhetError


def found(root: Path, rules: LayoutRules = RULES) -> MissionFolder:
    return discover(root, MISSION, rules)


def reasons(root: Path, rules: LayoutRules = RULES) -> dict[str, str]:
    return {refusal.ticket_key: refusal.reason for refusal in found(root, rules).refused}


def test_photos_stand_in_natural_order(tmp_path: Path) -> None:
    folder = group(tmp_path, "g", 1)
    for name in ("a-10.png", "a-2.PNG", "A-3.jpeg"):
        (folder / name).write_bytes(picture(1))
    (one,) = found(tmp_path).groups
    assert [photo.name for photo in one.photos] == ["a-2.PNG", "A-3.jpeg", "a-10.png", "g_1.png"]


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="/\0"), max_size=8)), st.randoms())
def test_natural_order_does_not_depend_on_the_order_before(names: list[str], chance: Random) -> None:
    shuffled = chance.sample(names, len(names))
    assert sorted(shuffled, key=natural) == sorted(names, key=natural)


def test_the_rejected_groups_come_first_and_folders_in_plain_order(tmp_path: Path) -> None:
    for name, label in (("g10", PASS), ("g2", PASS), ("z", FAIL)):
        group(tmp_path, name, 1, label=label)
    assert [(group.group_id, group.label) for group in found(tmp_path).groups] == [
        ("z", "fail"),
        ("g10", "pass"),
        ("g2", "pass"),
    ]


@pytest.mark.parametrize(
    ("stem", "told"),
    [
        ("QC-TEMP-20241206-0015502_3", "QC-TEMP-20241206-0015502"),
        ("QC-20240619-0030381-2", "QC-20240619-0030381"),
        ("IMG_0001", "the-folder"),
        ("xQC-TEMP-20241206-0015502", "the-folder"),
        ("QC-TEMP-2024-1", "the-folder"),
    ],
)
def test_the_group_id_is_a_prefix_of_the_name_or_else_the_folder(stem: str, told: str) -> None:
    assert group_id(Path("root") / "the-folder" / f"{stem}.jpg") == told


def test_photos_that_name_two_groups_are_warned_about(tmp_path: Path) -> None:
    folder = group(tmp_path, "QC-20240619-0030381", 1)
    (folder / "QC-20240619-0030382_2.png").write_bytes(picture(2))
    assert "name several groups" in found(tmp_path).warnings[0]


def test_only_photos_of_the_folder_itself_are_taken(tmp_path: Path) -> None:
    folder = group(tmp_path, "g", 1)
    (folder / "notes.txt").write_text("no photo")
    (folder / "more").mkdir()
    (folder / "more" / "x.png").write_bytes(picture(3))
    (one,) = found(tmp_path).groups
    assert [photo.name for photo in one.photos] == ["g_1.png"]


def test_another_folder_beside_the_labels_is_skipped_with_a_warning(tmp_path: Path) -> None:
    group(tmp_path, "g", 1)
    group(tmp_path, "h", 1, label="unsorted")
    assert [group.group_id for group in found(tmp_path).groups] == ["g"]
    assert "unsorted: skipped" in found(tmp_path).warnings[0]


def test_the_folder_of_the_mission_itself_is_taken_one_level_up(tmp_path: Path) -> None:
    group(tmp_path, "g", 1)
    taken = found(tmp_path / MISSION)
    assert len(taken.groups) == 1
    assert "is taken for the root" in taken.warnings[0]


def test_what_cannot_be_used_is_set_aside_and_the_rest_goes_on(tmp_path: Path) -> None:
    group(tmp_path, "fine", 2)
    group(tmp_path, "empty", 0)
    group(tmp_path, "many", [picture(1)] * 4)
    (group(tmp_path, "gone", 1) / "gone_2.png").symlink_to(tmp_path / "nowhere.png")
    assert [refusal.reason for group in found(tmp_path).groups for refusal in group.unusable] == ["missing_photo"]
    rules = LayoutRules(RULES.labels, most_photos=3, whole_groups=True)
    assert [group.group_id for group in found(tmp_path, rules).groups] == ["fine"]
    assert reasons(tmp_path, rules) == {
        "empty::pass": "empty_group",
        "many::pass": "too_many_photos",
        "gone::pass": "missing_photo",
    }


def test_a_group_of_200_photos_is_refused_by_default(tmp_path: Path) -> None:
    group(tmp_path, "fine", 1)
    group(tmp_path, "huge", [picture(1)] * 200)
    (refused,) = found(tmp_path).refused
    assert (refused.reason, refused.ticket_key) == ("too_many_photos", "huge::pass")
    assert "200 photos" in refused.detail
    assert refused.file.endswith("huge")


def test_two_folders_of_one_ticket_are_both_refused(tmp_path: Path) -> None:
    for folder in ("first", "second"):
        path = group(tmp_path, folder, 0)
        (path / "QC-TEMP-20241206-0015502_1.png").write_bytes(picture(ord(folder[0])))
    group(tmp_path, "fine", 1)
    refused = found(tmp_path).refused
    assert [refusal.reason for refusal in refused] == ["duplicate_ticket"] * 2
    assert [group.group_id for group in found(tmp_path).groups] == ["fine"]


def test_a_site_that_was_handed_in_again_is_two_tickets(tmp_path: Path) -> None:
    group(tmp_path, "site", 2, label=FAIL)
    group(tmp_path, "site", 2, label=PASS)
    assert [group.ticket_key for group in found(tmp_path).groups] == ["site::fail", "site::pass"]


def test_the_same_photos_under_both_labels_are_refused(tmp_path: Path) -> None:
    photos = [picture(1), picture(2)]
    group(tmp_path, "site", photos, label=FAIL)
    group(tmp_path, "site", photos, label=PASS)
    group(tmp_path, "fine", 1)
    assert reasons(tmp_path) == {"site::fail": "two_labels", "site::pass": "two_labels"}


@pytest.mark.parametrize(
    ("stems", "lost"),
    [
        (["g_1", "g_3"], [2]),
        (["g_2", "g_3"], [1]),
        (["g_1", "g_2"], []),
        (["a1", "b3"], []),
        (["left", "right"], []),
        (["IMG_4711", "IMG_4720"], []),
    ],
)
def test_missing_numbers_are_told_only_where_photos_are_counted(stems: list[str], lost: list[int]) -> None:
    assert missing_numbers(stems) == lost


def test_a_gap_in_the_numbers_is_a_warning_or_a_refusal(tmp_path: Path) -> None:
    (group(tmp_path, "g", 3) / "g_2.png").unlink()
    assert "photos 2 are missing" in found(tmp_path).warnings[0]
    assert reasons(tmp_path, LayoutRules(RULES.labels, refuse_gaps=True)) == {"g::pass": "number_gap"}


@pytest.mark.parametrize(
    ("root", "mission", "told"),
    [
        ("nowhere", MISSION, "no such folder"),
        (".", "BBU接地线检", f"Did you mean '{MISSION}'"),
        (".", "x", "has no folder for the mission"),
    ],
)
def test_a_root_or_mission_that_is_not_there_is_an_error(tmp_path: Path, root: str, mission: str, told: str) -> None:
    group(tmp_path, "g", 1)
    with pytest.raises(WhetError, match=told):
        discover(tmp_path / root, mission, RULES)


def test_a_mission_without_any_group_is_an_error(tmp_path: Path) -> None:
    (tmp_path / MISSION / PASS).mkdir(parents=True)
    with pytest.raises(WhetError, match="holds no groups"):
        found(tmp_path)
