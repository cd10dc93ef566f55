"""Stage-A files as tickets: what is read, and what is set aside with file, line and reason."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.envs.groupqc.tickets.file import TicketFile, read_exclusions, read_tickets, ticket_of
from whet.envs.groupqc.tickets.line import BadLine
from whet.errors import WhetError

MISSION = "BBU接地线检查"
KNOWN = {MISSION, "RRU线缆"}


def line(**fields: Any) -> dict[str, Any]:
    made = {
        "group_id": "QC-1",
        "mission": MISSION,
        "label": "pass",
        "images": ["a.jpg", "b.jpg"],
        "per_image": {"image_1": "one", "image_2": "two"},
    }
    return {name: value for name, value in {**made, **fields}.items() if value is not ...}


def read(folder: Path, *lines: Any, **options: Any) -> TicketFile:
    path = folder / "x_stage_a.jsonl"
    texts = [given if isinstance(given, str) else json.dumps(given, ensure_ascii=False) for given in lines]
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return read_tickets(path, KNOWN, **options)


def test_both_key_schemes_give_the_same_ticket(tmp_path: Path) -> None:
    chinese = line(group_id="QC-2", per_image={"图片_2": "two", "图片_1": "one"})
    first, second = (found.ticket.summaries for found in read(tmp_path, line(), chinese).lines)
    assert first == second == ("one", "two")


def test_ten_photos_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    many = {f"image_{n}": str(n) for n in (10, 2, 1, 9, 3, 8, 4, 7, 5, 6)}
    found = read(tmp_path, line(per_image=many, images=[f"{n}.jpg" for n in range(10)]))
    assert found.lines[0].ticket.summaries == tuple(str(n) for n in range(1, 11))


def test_older_files_without_names_or_numbers_are_read(tmp_path: Path) -> None:
    old = line(images=..., per_image={"front": "BBU设备/华为×1", "back": {"统计": []}})
    ticket = read(tmp_path, old).lines[0].ticket
    assert ticket.summaries == ("BBU设备/华为×1", '{"统计": []}')
    assert ticket.images == ("image_1", "image_2")


def test_a_summary_that_was_encoded_twice_is_unwrapped(tmp_path: Path) -> None:
    twice = line(per_image={"image_1": json.dumps("无关图片"), "image_2": "x"})
    assert read(tmp_path, twice).lines[0].ticket.summaries[0] == "无关图片"


def test_a_site_that_was_handed_in_again_is_two_tickets(tmp_path: Path) -> None:
    again = line(label="fail", per_image={"image_1": "one", "image_2": "worse"})
    assert [found.ticket.key for found in read(tmp_path, line(), again).lines] == ["QC-1::pass", "QC-1::fail"]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("{", "bad_json"),
        ("[1]", "not_an_object"),
        ('{"a": 1, "a": 2}', "duplicate_key"),
        ('{"a": NaN}', "bad_json"),
        (line(mission=...), "missing_field"),
        (line(mission="BBU接地线检査"), "unknown_mission"),
        (line(label="maybe"), "bad_label"),
        (line(group_id=" "), "bad_field"),
        (line(per_image=...), "missing_field"),
        (line(per_image={}), "bad_field"),
        (line(per_image={"image_1": "one", "image_3": "three"}), "key_gap"),
        (line(per_image={"image_0": "one", "image_1": "two"}), "bad_key"),
        (line(per_image={"left1": "one", "right1": "two"}), "bad_key"),
        (line(per_image={"image_1": "one", "note": "two"}), "bad_key"),
        (line(per_image={"image_1": "one", "image_2": "  "}), "blank_summary"),
        (line(per_image={"image_1": "one", "image_2": 3}), "blank_summary"),
        (line(images=["a.jpg"]), "key_gap"),
        (line(ticket_key="QC-1::fail"), "two_labels"),
    ],
)
def test_a_line_that_is_no_ticket_is_set_aside_and_the_rest_goes_on(tmp_path: Path, bad: Any, reason: str) -> None:
    found = read(tmp_path, line(group_id="QC-0"), bad, line(group_id="QC-9"))
    assert [line.ticket.group_id for line in found.lines] == ["QC-0", "QC-9"]
    reject = found.rejects[0]
    assert (reject.file, reject.line) == ("x_stage_a.jsonl", 2)
    assert reject.reason == reason


def test_a_key_that_stands_twice_is_named(tmp_path: Path) -> None:
    twice = f'{{"group_id": "Q", "mission": "{MISSION}", "label": "pass", "label": "fail"}}'
    reject = read(tmp_path, line(), twice).rejects[0]
    assert "'label'" in reject.detail


def test_a_ticket_that_stands_twice_is_set_aside_with_the_first_place(tmp_path: Path) -> None:
    reject = read(tmp_path, line(), line(per_image={"image_1": "x", "image_2": "y"})).rejects[0]
    assert reject.reason == "duplicate_ticket"
    assert "x_stage_a.jsonl, line 1" in reject.detail


def test_the_same_evidence_with_two_labels_is_set_aside(tmp_path: Path) -> None:
    reject = read(tmp_path, line(), line(label="fail")).rejects[0]
    assert (reject.reason, reject.line) == ("two_labels", 2)


def test_one_site_may_have_a_ticket_in_each_mission(tmp_path: Path) -> None:
    assert len(read(tmp_path, line(), line(mission="RRU线缆")).lines) == 2


def test_bytes_that_are_no_text_are_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"group_id": "\xff"}\n' + json.dumps(line()).encode() + b"\n\n")
    found = read_tickets(path, KNOWN)
    assert ([reject.reason for reject in found.rejects], len(found.lines)) == (["not_text"], 1)


def test_a_folder_gives_the_stage_a_files_in_it(tmp_path: Path) -> None:
    read(tmp_path, line())
    (tmp_path / "x_stage_a.errors.jsonl").write_text("nothing of the kind\n")
    assert len(read_tickets(tmp_path, KNOWN).lines) == 1


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="no such file"):
        read_tickets(tmp_path / "no.jsonl", KNOWN)


def test_a_mission_that_does_not_exist_cannot_be_wanted(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="Did you mean 'RRU线缆'"):
        read(tmp_path, line(), wanted=["RRU线"])


def test_wanted_missions_and_excluded_keys_narrow_what_is_kept(tmp_path: Path) -> None:
    lines = (line(), line(group_id="QC-2"), line(group_id="QC-3", mission="RRU线缆"))
    found = read(tmp_path, *lines, wanted=[MISSION], exclude={"QC-2::pass"})
    assert ([line.ticket.group_id for line in found.lines], found.excluded) == (["QC-1"], ("QC-2::pass",))


def test_the_ticket_filter_has_remarks(tmp_path: Path) -> None:
    path = tmp_path / "exclude.txt"
    path.write_text("# noisy\nQC-1::pass  # by hand\n\nQC-2::fail\n")
    assert read_exclusions(str(path)) == {"QC-1::pass", "QC-2::fail"}


def test_a_ticket_filter_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="one ticket key a line"):
        read_exclusions(str(tmp_path / "none.txt"))


JSONISH = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.fixed_dictionaries(dict.fromkeys(("group_id", "mission", "label", "images", "per_image"), JSONISH)))
def test_any_object_is_a_ticket_or_is_refused(row: dict[str, Any]) -> None:
    with contextlib.suppress(BadLine):
        assert ticket_of(json.dumps({**row, "mission": MISSION}).encode(), KNOWN).summaries


@given(st.binary(max_size=80))
def test_any_bytes_are_a_ticket_or_are_refused(line: bytes) -> None:
    with pytest.raises(BadLine):
        ticket_of(line, KNOWN)
