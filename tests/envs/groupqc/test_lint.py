"""The linter of Stage-A files: every mistake with its line and a code, and the rest goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from photo_trees import MISSION

from whet.envs.groupqc.tickets.line import BadLine, read_line
from whet.envs.groupqc.tickets.lint import LintReport, lint_file
from whet.errors import WhetError

SUMMARY = '{"统计": [{"类别": "电线", "捆扎": {"整齐": 2}}]}'


def line(group_id: str = "g", label: str = "pass", images: int = 2, **changed: Any) -> str:
    row = {
        "schema_version": 1,
        "group_id": group_id,
        "mission": MISSION,
        "label": label,
        "images": [f"{group_id}_{number}.jpg" for number in range(1, images + 1)],
        "per_image": {f"图片_{number}": SUMMARY for number in range(1, images + 1)},
        **changed,
    }
    return json.dumps({key: value for key, value in row.items() if value is not None}, ensure_ascii=False)


def lint(folder: Path, *lines: str) -> LintReport:
    path = folder / "stage_a.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return lint_file(path)


def test_a_sound_file_is_clean(tmp_path: Path) -> None:
    report = lint(tmp_path, line("a"), line("b", images=3), line("a", "fail", images=1))
    assert report.clean
    assert (report.records, report.forms, report.odd) == (3, {"json": 6}, {})


def test_both_key_schemes_are_read(tmp_path: Path) -> None:
    assert lint(tmp_path, line(per_image={"image_2": SUMMARY, "image_1": SUMMARY})).clean


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (line(per_image={"图片_1": SUMMARY, "图片_3": SUMMARY}), "key_gap"),
        (line(per_image={"图片_1": SUMMARY}), "key_gap"),
        (line(per_image={"图片_0": SUMMARY, "图片_1": SUMMARY}), "bad_key"),
        (line(per_image={"图片_1": SUMMARY, "image_2": SUMMARY}), "bad_key"),
        (line(per_image={"图片_1": SUMMARY, "photo": SUMMARY}), "bad_key"),
        (line(per_image={"图片_1": SUMMARY, "图片_2": " "}), "blank_summary"),
        (line(per_image={"图片_1": SUMMARY, "图片_2": 3}), "blank_summary"),
        (line(per_image={}), "bad_field"),
        (line(images=0), "empty_group"),
        (line(images=200), "too_many_photos"),
        (line(label="maybe"), "bad_label"),
        (line(label=["pass", "fail"]), "bad_label"),
        (line(ticket_key="g::fail"), "two_labels"),
        (line(group_id=" "), "bad_field"),
        (line(mission=None), "missing_field"),
        (line(mission="BBU接地"), "unknown_mission"),
        (line(schema_version=9), "schema_version"),
        (line().replace('"label": "pass"', '"label": "pass", "label": "fail"'), "duplicate_key"),
        (line().replace('"图片_2"', '"图片_1"'), "duplicate_key"),
        (line(per_image={"图片_1": SUMMARY, "图片_2": "a\nb"}), "many_lines"),
        (line()[:40], "bad_json"),
        ("[1]", "not_an_object"),
        ('{"a": NaN}', "bad_json"),
        ("[" * 100_000, "bad_json"),
    ],
)
def test_a_broken_line_is_told_with_its_number_and_the_rest_goes_on(tmp_path: Path, bad: str, reason: str) -> None:
    report = lint(tmp_path, line("first"), "", bad, line("last"))
    assert [(problem.line, problem.reason) for problem in report.problems] == [(3, reason)]
    assert report.problems[0].file.endswith("stage_a.jsonl")
    assert report.records >= 2


def test_a_ticket_that_stands_twice_is_told(tmp_path: Path) -> None:
    (problem,) = lint(tmp_path, line("a"), line("b"), line("a", images=3)).problems
    assert (problem.line, problem.reason) == (3, "duplicate_ticket")
    assert "line 1" in problem.detail


def test_the_same_evidence_under_two_labels_is_told(tmp_path: Path) -> None:
    (problem,) = lint(tmp_path, line("a"), line("a", "fail")).problems
    assert (problem.line, problem.reason) == (2, "two_labels")


def test_unknown_words_and_plain_text_are_odd_and_not_wrong(tmp_path: Path) -> None:
    odd = '{"统计": [{"类别": "电线", "捆扎": {"凌乱": 1}}]}'
    report = lint(tmp_path, line("a", per_image={"图片_1": odd, "图片_2": "电线/整齐×2"}))
    assert report.clean
    assert set(report.forms) == {"json", "plain"}
    assert sum(report.odd.values()) == 2
    assert all(":1: odd" in line for line in report.lines()[:-1])


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="cannot read"):
        lint_file(tmp_path / "none.jsonl")


@given(st.text())
def test_reading_a_line_raises_nothing_but_its_own_error(text: str) -> None:
    with pytest.raises(BadLine, match=r"^\w+: "):
        read_line(text)
