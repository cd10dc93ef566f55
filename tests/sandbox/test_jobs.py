"""What a job may say: bad input is refused by name, before anything runs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.errors import WhetError
from whet.sandbox.jobs import MOST_TEXT, Limits, checked, name_problem, run_command, run_python
from whet.types import Work, WorkResult


def refusal(work: Work) -> str:
    result = checked(work.payload)
    assert isinstance(result, WorkResult)
    assert result.error == "refused"
    return result.detail


def test_a_job_is_plain_data_with_its_limits() -> None:
    work = run_python("1", limits=Limits(wall=2.0))
    assert work.kind == "sandbox"
    assert work.payload["limits"]["wall"] == 2.0
    assert work.deadline > 2.0


def test_an_unknown_key_is_named_with_the_nearest() -> None:
    with pytest.raises(WhetError, match=r"unknown key 'pyhton'. Did you mean 'python'"):
        checked({"pyhton": "1"})


def test_an_unknown_limit_is_named_with_the_nearest() -> None:
    with pytest.raises(WhetError, match=r"'memry' is unknown. Did you mean 'memory'"):
        checked({"python": "1", "limits": {"memry": 1}})


@pytest.mark.parametrize("value", [0, -1, True, "10", float("nan"), float("inf")])
def test_a_limit_must_be_a_positive_number(value: object) -> None:
    with pytest.raises(WhetError, match="must be a positive number"):
        checked({"python": "1", "limits": {"wall": value}})


@pytest.mark.parametrize("payload", [{}, {"python": "1", "argv": ["x"]}])
def test_a_job_is_python_or_a_command(payload: dict[str, object]) -> None:
    with pytest.raises(WhetError, match="one of the two"):
        checked(payload)


@pytest.mark.parametrize(
    "wrong", [{"python": b"1"}, {"argv": "ls"}, {"argv": []}, {"python": "1", "files": {"a": b"x"}}, {"argv": ["a", 1]}]
)
def test_a_wrong_type_is_named(wrong: dict[str, object]) -> None:
    with pytest.raises(WhetError, match="wrong type"):
        checked(wrong)


@pytest.mark.parametrize("name", ["../truth", "a/../../b", "/etc/passwd", "", "a//b", "./a", "a\0b", "x" * 600])
def test_a_file_name_that_leaves_the_workspace_is_refused(name: str) -> None:
    assert "file name" in refusal(run_python("1", files={name: "x"}))
    assert "file name" in refusal(run_python("1", collect=[name]))


def test_a_file_that_is_also_a_folder_is_refused() -> None:
    assert "also the folder" in refusal(run_python("1", files={"a": "x", "a/b": "y"}))


def test_code_of_five_megabytes_is_refused() -> None:
    assert "5,000,000 characters" in refusal(run_python("#" * 5_000_000))


def test_more_files_than_the_disk_holds_are_refused() -> None:
    big = {f"f{n}": "x" * 1_000_000 for n in range(3)}
    assert "bytes" in refusal(run_python("1", files=big, limits=Limits(disk=2_000_000)))


def test_a_lone_surrogate_is_refused() -> None:
    assert "Unicode" in refusal(run_python("print('\ud800')"))


def test_a_command_with_a_nul_is_refused() -> None:
    assert "NUL" in refusal(run_command(["echo", "a\0b"]))


@given(st.text(max_size=50))
def test_any_code_is_a_job_or_refused(code: str) -> None:
    result = checked(run_python(code).payload)
    assert isinstance(result, dict) or result.error == "refused"


@given(st.lists(st.sampled_from(["a", "..", ".", "", "b c", "ü"]), min_size=1, max_size=5))
def test_a_name_is_sound_exactly_when_every_part_is(parts: list[str]) -> None:
    assert (name_problem("/".join(parts)) == "") == all(part not in ("..", ".", "") for part in parts)


def test_the_most_text_is_below_five_megabytes() -> None:
    assert MOST_TEXT < 5_000_000
