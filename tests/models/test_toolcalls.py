"""Tool calls are read as written: sound, or malformed in a named way, and never repaired."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.models.base import Request
from whet.models.chat import fenced
from whet.models.chat.toolcalls import CallReader, ReplyCalls, demanded
from whet.types import Image, MalformedCall, Message, Reply, Sampling, ToolCall, ToolSpec, assistant, system, user

RUN = ToolSpec(
    "run_python",
    "Runs Python.",
    {
        "type": "object",
        "properties": {
            "code": {"type": "string"},
            "seconds": {"type": ["integer", "null"]},
            "quiet": {"type": "boolean"},
        },
        "required": ["code"],
    },
)
FINISH = ToolSpec("finish", "Ends the task.", {"type": "object", "properties": {}, "additionalProperties": False})


def request(**changes: Any) -> Request:
    return Request((user("Go on."),), Sampling(max_tokens=64), (RUN, FINISH), **changes)


def native(raw: Any, name: str = "run_python", *, cut: bool = False, **fields: Any) -> ReplyCalls:
    return CallReader.of(request(), cut).native([{"id": "c1", "function": {"name": name, "arguments": raw}, **fields}])


def in_fence(text: str, *, cut: bool = False) -> ReplyCalls:
    return fenced.read(text, CallReader.of(request(), cut))


def kinds(read: ReplyCalls) -> list[str]:
    return [bad.kind for bad in read.malformed]


# --------------------------------------------------------------------------------------------- native calls


def test_a_sound_call_is_read_with_its_raw_text() -> None:
    raw = '{"code": "print(1)", "seconds": null}'
    assert native(raw) == ReplyCalls((ToolCall("c1", "run_python", {"code": "print(1)", "seconds": None}, raw),))


def test_a_cut_reply_whose_call_is_whole_is_sound() -> None:
    assert native('{"code": "1"}', cut=True).malformed == ()


@pytest.mark.parametrize(
    ("raw", "kind", "told"),
    [
        ("import os\nprint(os.getcwd())", "raw_code", "You wrote code where JSON was expected"),
        ('print("hello")', "raw_code", "code"),
        ("x = 3\nx", "raw_code", "code"),
        ("def f(a):\n    return a", "raw_code", "code"),
        ("```python\nx\n```", "raw_code", "code"),
        ('run_python(code="1")', "raw_code", "code"),
        ("const x = 1;", "raw_code", "code"),
        (r'{"code": "a\d"}', "bad_escape", r"Invalid \escape at character 11"),
        ('{"code": "a\nb"}', "bad_escape", r"write a line break as \n"),
        (r'{"code": "\ud83d"}', "bad_escape", "half of a surrogate pair"),
        (r'{"code": "\u12"}', "bad_escape", "escape"),
        ('{"code": "print(1)', "bad_json", "it ends before it is closed"),
        ("{'code': 'print(1)'}", "bad_json", "double quotes"),
        ('{"code": "1"} and so on', "bad_json", "Extra data"),
        ("I would like to run some code.", "bad_json", "not valid JSON"),
        ('{"code": "1", "n": 1e999}', "bad_json", "out of range"),
        ("[" * 5000, "bad_json", "closed"),
        ('"print(1)"', "bad_arguments", "must be a JSON object, not string"),
        ("[1]", "bad_arguments", "not array"),
        ("null", "bad_arguments", "not null"),
        ("{}", "bad_arguments", "lacks 'code'"),
        ("", "bad_arguments", "lacks 'code'"),
        ('{"code": 5}', "bad_arguments", "'code' of 'run_python' must be of type string, not integer"),
        ('{"code": "1", "seconds": true}', "bad_arguments", "type integer or null, not boolean"),
        ('{"code": "1", "seconds": 1.5}', "bad_arguments", "not number"),
        ('{"code": "1", "quiet": 0}', "bad_arguments", "type boolean, not integer"),
    ],
)
def test_a_broken_call_is_named_and_explained(raw: str, kind: str, told: str) -> None:
    read = native(raw)
    assert (read.calls, kinds(read)) == ((), [kind])
    assert told in read.malformed[0].problem
    assert read.malformed[0].raw == raw


@pytest.mark.parametrize("raw", ['{"code": "print(', '{"code"', "{", "", '{"code": "a\\'])
def test_arguments_cut_by_the_token_limit_are_cut_off_and_the_limit_is_named(raw: str) -> None:
    read = native(raw, cut=True)
    assert kinds(read) == ["cut_off"]
    assert "cut off by the limit of 64 tokens" in read.malformed[0].problem
    assert "shorter code" in read.malformed[0].problem


@given(st.text(max_size=30), st.data())
def test_every_beginning_of_a_call_is_cut_off_where_the_reply_was_cut(code: str, data: st.DataObject) -> None:
    raw = json.dumps({"code": code})
    kept = data.draw(st.integers(0, len(raw) - 1))
    assert kinds(native(raw[:kept], cut=True)) == ["cut_off"]


def test_an_unknown_tool_is_told_the_known_ones() -> None:
    read = native("{}", name="run_pyhton")
    assert kinds(read) == ["unknown_tool"]
    assert "run_python, finish" in read.malformed[0].problem


def test_a_tool_without_arguments_may_be_called_with_nothing() -> None:
    assert native("", name="finish").calls == (ToolCall("c1", "finish", {}, ""),)


def test_an_argument_that_a_closed_schema_does_not_know_is_refused() -> None:
    read = native('{"now": true}', name="finish")
    assert "does not take 'now'; it takes no arguments" in read.malformed[0].problem


def test_arguments_that_came_as_an_object_are_taken_as_such() -> None:
    assert native({"code": "1"}).calls[0].arguments == {"code": "1"}


def test_calls_without_an_id_of_their_own_get_one_each() -> None:
    one = {"function": {"name": "finish", "arguments": "{}"}}
    read = CallReader.of(request(), False).native([one, {**one, "id": "same"}, {**one, "id": "same"}, {**one, "id": 7}])
    assert [call.id for call in read.calls] == ["call_1_0", "same", "call_1_2", "call_1_3"]


@given(st.one_of(st.none(), st.integers(), st.text(), st.dictionaries(st.text(), st.text())))
def test_any_wire_shape_is_read_without_an_error(one: Any) -> None:
    read = CallReader.of(request(), False).native([one, {"function": one}, {"id": one, "function": {"name": one}}])
    assert len(read.calls) + len(read.malformed) == 3


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.one_of(st.text(), JSON.map(json.dumps), st.text(alphabet='{}[]":,\\nu0d8 ')), st.booleans())
def test_a_call_is_either_what_was_written_or_malformed(raw: str, cut: bool) -> None:
    read = native(raw, cut=cut)
    assert len(read.calls) + len(read.malformed) == 1
    for call in read.calls:
        assert call.arguments == json.loads(raw)
    for bad in read.malformed:
        assert bad.problem


# --------------------------------------------------------------------------------------------- a call was demanded


def test_prose_where_a_call_was_demanded_is_malformed() -> None:
    reply = demanded(Reply("I think it is 4."), request(must_call=True))
    assert [bad.kind for bad in reply.malformed] == ["prose"]
    assert "run_python, finish" in reply.malformed[0].problem


def test_prose_is_fine_where_no_call_was_demanded() -> None:
    assert demanded(Reply("4"), request()).malformed == ()


def test_a_reply_cut_before_any_call_is_cut_off_and_not_prose() -> None:
    reply = demanded(Reply("Let me think", finish="length"), request(must_call=True))
    assert [bad.kind for bad in reply.malformed] == ["cut_off"]


def test_a_filtered_reply_is_not_blamed_for_calling_nothing() -> None:
    assert demanded(Reply("", finish="filter"), request(must_call=True)).malformed == ()


# --------------------------------------------------------------------------------------------- fenced calls


def test_a_fence_is_a_call_with_an_id_of_ours() -> None:
    body = '{"name": "run_python", "arguments": {"code": "print(1)"}}'
    read = in_fence(f"Let me see.\n```tool\n{body}\n```\nDone.")
    assert read == ReplyCalls((ToolCall("call_1_0", "run_python", {"code": "print(1)"}, body),))


def test_several_fences_are_several_calls() -> None:
    one = '```tool\n{"name": "finish"}\n```\n'
    assert [call.id for call in in_fence(one * 3).calls] == ["call_1_0", "call_1_1", "call_1_2"]


def test_other_fences_are_text() -> None:
    assert in_fence("```python\nprint(1)\n```\n```json\n{}\n```") == ReplyCalls()


@pytest.mark.parametrize(
    ("text", "cut", "kind"),
    [
        ('```tool\n{"name": "run_python", "arg', True, "cut_off"),
        ("```tool", True, "cut_off"),
        ('```tool\n{"name": "finish"}', False, "bad_json"),
        ("```tool\nprint(1)\n```", False, "raw_code"),
        ('```tool\n{"name": "run_python", "arguments": {"code": "a\nb"}}\n```', False, "bad_escape"),
        ("```tool\n{'name': 'finish'}\n```", False, "bad_json"),
        ('```tool\n{"name": "stop"}\n```', False, "unknown_tool"),
        ('```tool\n{"tool": "finish"}\n```', False, "bad_arguments"),
        ('```tool\n["finish"]\n```', False, "bad_arguments"),
        ('```tool\n{"name": "run_python", "arguments": "{}"}\n```', False, "bad_arguments"),
    ],
)
def test_a_broken_fence_is_named(text: str, cut: bool, kind: str) -> None:
    read = in_fence(text, cut=cut)
    assert (read.calls, kinds(read)) == ((), [kind])


@given(st.text(), st.booleans())
def test_any_text_is_read_without_an_error(text: str, cut: bool) -> None:
    in_fence(f"```tool\n{text}", cut=cut)


@given(st.text())
def test_a_call_written_out_in_a_fence_is_read_back(code: str) -> None:
    said = Message("assistant", "", (ToolCall("x", "run_python", {"code": code}),))
    written = fenced.spoken([said], (), False)[0].text
    assert in_fence(written).calls[0].arguments == {"code": code}


def test_specs_join_the_system_text() -> None:
    told = fenced.spoken([system("Be brief."), user("Hi")], (RUN,), True)
    assert [message.author for message in told] == ["system", "user"]
    assert told[0].text.startswith("Be brief.\n\nYou can call these tools:\n- run_python: Runs Python.")
    assert told[0].text.endswith("Every reply must call a tool.")


def test_specs_make_a_system_text_where_there_is_none() -> None:
    assert [message.author for message in fenced.spoken([user("Hi")], (RUN,), False)] == ["system", "user"]


def test_results_become_one_user_message_that_names_the_tools() -> None:
    said = Message(
        "assistant",
        "```tool\n...\n```",
        (ToolCall("a", "run_python", {"code": "1"}),),
        (MalformedCall("b", "finish", "", "bad_json", "no"),),
    )
    told = fenced.spoken([said, Message("tool", "1", call_id="a"), Message("tool", "Error", call_id="b")], (), False)
    assert told == (
        assistant("```tool\n...\n```"),
        user("Result of run_python:\n1\n\nResult of finish:\nError"),
    )


def test_an_image_in_a_result_stays_an_image() -> None:
    image = Image("0" * 64)
    said = [Message("assistant", "", (ToolCall("a", "look", {}),)), Message("tool", ("see", image), call_id="a")]
    assert fenced.spoken(said, (), False)[1].content == ("Result of look:\n", "see", image)
