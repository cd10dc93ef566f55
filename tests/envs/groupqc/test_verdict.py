"""The two-line verdict: every vector of the protocol, and no exception on any text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.envs.groupqc.pack.schema import VERDICTS
from whet.envs.groupqc.verdict.lines import SPOKEN, read_as_published, read_verdict, write_verdict

VECTORS = [
    ("Verdict: 通过\nReason: ok", "pass", "ok"),
    ("verdict：不通过。\nREASON：x", "fail", "ok"),
    ("Verdict: 通过\n\n  \nReason: ok\n", "pass", "ok"),
    ("Verdict: 不 通 过\nReason: x", "fail", "ok"),
    ("Verdict: 通过。\nReason: x", "pass", "ok"),
    ("Verdict: 未通过\nReason: x", "fail", "ok"),
    ("Verdict: 不通過\nReason: x", "fail", "ok"),
    ("Verdict: pass\nReason: x", "pass", "ok"),
    ("Verdict: FAIL\r\nReason: x", "fail", "ok"),
    ("Verdict : 通过\nReason ： x: y", "pass", "ok"),
    ("assistant\nVerdict: 通过\nReason: x", "pass", "ok"),
    ("<|im_start|>assistant\nVerdict: 通过\nReason: x", "pass", "ok"),
    ("Verdict: 通过\nReason: the assistant engineer signed", "pass", "ok"),
    ("Verdict: 通过\nReason: a\nReason: b", None, "too_many_lines"),
    ("```\nVerdict: 通过\nReason: a\n```", None, "too_many_lines"),
    ("Verdict: **通过**\nReason: x", None, "bad_verdict"),
    ("Verdict: 通过!\nReason: x", None, "bad_verdict"),
    ("Verdict: 通过（无问题）\nReason: x", None, "bad_verdict"),
    ("Verdict: Fail.\nReason: x", None, "bad_verdict"),
    ("Verdict: 待定\nReason: x", None, "bad_verdict"),
    ("Verdict:\nReason: x", None, "bad_verdict"),
    ("通过\n理由: x", None, "no_verdict"),
    ("VerdictX: 通过\nReasonable: x", None, "no_verdict"),
    ("Verdict: 通过\nReasonable: x", None, "no_reason"),
    ("Verdict: 通过\n理由: x", None, "no_reason"),
    ("Reason: x\nVerdict: 通过", None, "no_verdict"),
    ("Verdict: 通过\nReason:  ", None, "empty_reason"),
    ("Verdict: 通过", None, "too_few_lines"),
    (" \n ", None, "empty"),
]

PUBLISHED = [
    ("Verdict: 通过\nReason: ok", "pass"),
    ("verdict：不通过。\nREASON：x", "fail"),
    ("Verdict: 通过\n\nReason: ok", "pass"),
    ("Verdict: 不 通 过\nReason: x", "fail"),
    ("Verdict: 通过\nReason: a\nb", None),
    ("```\nVerdict: 通过\nReason: a\n```", None),
    ("Verdict: **通过**\nReason: x", None),
    ("Verdict: 通过!\nReason: x", None),
    ("Verdict: 通过（无问题）\nReason: x", None),
    ("Verdict: Fail.\nReason: x", None),
    ("通过\n理由: x", None),
    ("VerdictX: 通过\nReasonable: x", "pass"),
    ("Verdict: 通过\nReason: the assistant engineer signed", None),
]


@pytest.mark.parametrize(("text", "call", "code"), VECTORS)
def test_every_vector_of_the_protocol_is_read_as_specified(text: str, call: str | None, code: str) -> None:
    reading = read_verdict(text)
    assert (reading.call, reading.code) == (call, code)


@pytest.mark.parametrize(("text", "call"), PUBLISHED)
def test_older_records_are_read_as_the_published_parser_did(text: str, call: str | None) -> None:
    assert read_as_published(text).call == call


def test_the_reason_is_kept_whole_after_its_first_colon() -> None:
    assert read_verdict("Verdict: fail\nReason: Image1: loose; 总结： x").reason == "Image1: loose; 总结： x"


def test_an_invalid_reply_gives_up_neither_call_nor_reason() -> None:
    reading = read_verdict("Verdict: 通过\nReason: a\nb")
    assert (reading.call, reading.reason) == (None, "")


def test_a_reply_cut_off_before_it_was_whole_says_so() -> None:
    assert read_verdict("Verdict: 通过\nRea", cut_off=True).code == "cut_off"


def test_a_whole_reply_counts_although_the_limit_ended_it() -> None:
    assert read_verdict("Verdict: 通过\nReason: Image1: ok", cut_off=True).call == "pass"


@given(st.text(), st.booleans())
def test_any_text_is_read_without_an_exception(text: str, cut_off: bool) -> None:
    reading = read_verdict(text, cut_off=cut_off)
    assert reading.valid == (reading.code == "ok")


@given(
    st.lists(st.sampled_from(["Verdict", "verdict", ":", "：", "通过", "不", "\n", "Reason", " ", "assistant", "pass"]))
)
def test_texts_made_of_the_protocols_own_pieces_are_read_without_an_exception(pieces: list[str]) -> None:
    reading = read_verdict("".join(pieces))
    assert (reading.call is None) == (reading.reason == "")


@given(st.sampled_from(VERDICTS), st.sampled_from(sorted(SPOKEN)), st.text(min_size=1))
def test_what_is_written_is_read_back(call: str, language: str, reason: str) -> None:
    joined = " ".join(reason.split())
    reading = read_verdict(write_verdict(call, reason, language))  # type: ignore[arg-type]
    assert (reading.call, reading.reason) == ((call, joined) if joined else (None, ""))
