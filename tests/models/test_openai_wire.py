"""The chat-completions format: what is sent, and what is understood."""

from __future__ import annotations

import base64
import json
from typing import Any

import orjson
import pytest

from whet.errors import WhetError
from whet.models import ModelOptions, Price, Request
from whet.models.chat.json_body import decoded
from whet.models.chat.retry import Trouble
from whet.models.openai.body import ChatDialect
from whet.models.openai.reply import replies
from whet.types import (
    Image,
    MalformedCall,
    Message,
    Reply,
    Sampling,
    Shape,
    ToolCall,
    ToolSpec,
    Usage,
    assistant,
    system,
    tool_result,
    user,
)

ASKED = Request((system("Add."), user("17 + 25")))
TOOL = ToolSpec("run", "Runs.", {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]})


def body(request: Request = ASKED, n: int = 1, **options: Any) -> dict[str, Any]:
    return orjson.loads(ChatDialect("m", "max_tokens", ModelOptions(**options)).body(request, n))


def understood(message: dict[str, Any], request: Request = ASKED, **fields: Any) -> Reply:
    finish, usage = fields.pop("finish", "stop"), fields.pop("usage", None)
    data = {"choices": [{"message": message, "finish_reason": finish, **fields}], "usage": usage}
    return replies(data, request, 1, ModelOptions(), None)[0]


# --------------------------------------------------------------------------------------------- what is sent


def test_a_plain_request_sends_nothing_that_was_not_asked_for() -> None:
    assert body() == {
        "model": "m",
        "messages": [{"role": "system", "content": "Add."}, {"role": "user", "content": "17 + 25"}],
        "max_tokens": 1024,
    }


def test_all_of_the_sampling_is_sent() -> None:
    sampling = Sampling(0.5, 0.9, 99, 7, ("END",), 3, "low")
    sent = body(Request(ASKED.messages, sampling))
    assert {name: sent[name] for name in sent if name not in ("model", "messages")} == {
        "temperature": 0.5,
        "top_p": 0.9,
        "max_tokens": 99,
        "seed": 7,
        "stop": ["END"],
        "logprobs": True,
        "top_logprobs": 3,
        "reasoning_effort": "low",
    }


def test_a_server_that_refuses_seeds_is_sent_none() -> None:
    assert "seed" not in body(Request(ASKED.messages, Sampling(seed=7)), seed=False)


def test_the_chosen_tokens_alone_need_no_alternatives() -> None:
    sent = body(Request(ASKED.messages, Sampling(logprobs=0)))
    assert (sent["logprobs"], "top_logprobs" in sent) == (True, False)


def test_extra_fields_are_passed_through() -> None:
    assert body(extra={"top_k": 20, "max_tokens": 5})["top_k"] == 20


def test_tools_are_sent_and_demanded() -> None:
    sent = body(Request(ASKED.messages, tools=(TOOL,), must_call=True))
    function = {"name": "run", "description": "Runs.", "parameters": TOOL.parameters}
    assert sent["tools"] == [{"type": "function", "function": function}]
    assert sent["tool_choice"] == "required"


def test_fenced_tools_are_told_in_the_system_text_alone() -> None:
    sent = body(Request(ASKED.messages, tools=(TOOL,), must_call=True), tools="fenced")
    assert "tools" not in sent
    assert "tool_choice" not in sent
    assert "```tool" in sent["messages"][0]["content"]


def test_a_schema_is_sent_as_a_strict_response_format() -> None:
    sent = body(Request(ASKED.messages, shape=Shape(schema={"type": "object"})))
    assert sent["response_format"]["json_schema"] == {"name": "reply", "schema": {"type": "object"}, "strict": True}


@pytest.mark.parametrize(
    ("field", "value"), [("grammar", "root ::= x"), ("structured_outputs", {"grammar": "root ::= x"})]
)
def test_a_grammar_goes_where_the_server_reads_it(field: Any, value: Any) -> None:
    assert body(Request(ASKED.messages, shape=Shape(grammar="root ::= x")), grammar_field=field)[field] == value


def test_images_are_sent_as_data_urls() -> None:
    picture = Image("ab" * 32, "image/jpeg")
    sent = body(Request((user(("Look:", picture)),), blob={picture.sha256: b"JPEG"}.__getitem__))
    url = "data:image/jpeg;base64," + base64.b64encode(b"JPEG").decode()
    assert sent["messages"][0]["content"] == [
        {"type": "text", "text": "Look:"},
        {"type": "image_url", "image_url": {"url": url}},
    ]


def test_an_image_without_a_blob_to_read_is_an_error() -> None:
    with pytest.raises(WhetError, match="the image abababababab"):
        body(Request((user((Image("ab" * 32),)),)))


def test_images_of_tool_results_follow_all_results_of_the_turn() -> None:
    first, second = ToolCall("a", "run", {}, "{}"), ToolCall("b", "run", {}, "{}")
    said = (
        Message("assistant", "", (first, second)),
        tool_result(first, ("one", Image("00" * 32))),
        tool_result(second, "two"),
        user("next"),
    )
    wired = body(Request(said, blob=lambda sha256: b"PNG"))["messages"]
    assert [message["role"] for message in wired] == ["assistant", "tool", "tool", "user", "user"]
    assert [message["content"] for message in wired[1:3]] == ["one", "two"]
    assert wired[3]["content"][0]["type"] == "image_url"


def test_earlier_calls_are_sent_as_the_model_wrote_them() -> None:
    call = ToolCall("a", "run", {"code": "1"}, '{"code":  "1"}')
    wired = body(Request((Message("assistant", "", (call,)), tool_result(call, "1"))))["messages"]
    assert wired == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "a", "type": "function", "function": {"name": "run", "arguments": '{"code":  "1"}'}}],
        },
        {"role": "tool", "tool_call_id": "a", "content": "1"},
    ]


def test_a_call_made_by_a_program_is_written_out() -> None:
    wired = body(Request((Message("assistant", "", (ToolCall("a", "run", {"code": "1"}),)),)))["messages"]
    assert json.loads(wired[0]["tool_calls"][0]["function"]["arguments"]) == {"code": "1"}


def test_a_malformed_call_is_sent_back_in_a_form_that_servers_accept() -> None:
    bad = MalformedCall("a", "run code!", '{"code": "', "cut_off", "cut")
    wired = body(Request((Message("assistant", "So:", malformed=(bad,)), tool_result(bad, "Error"))))["messages"]
    assert wired[0]["tool_calls"][0]["function"] == {"name": "run_code_", "arguments": "{}"}
    assert wired[0]["content"] == 'So:\n[malformed call of run code!: {"code": "]'
    assert wired[1]["tool_call_id"] == "a"


def test_prose_is_sent_back_as_plain_text() -> None:
    bad = MalformedCall("", "", "", "prose", "call a tool")
    wired = body(Request((Message("assistant", "It is 42.", malformed=(bad,)),)))["messages"]
    assert wired == [{"role": "assistant", "content": "It is 42."}]


def test_a_request_that_is_not_json_is_an_error_of_the_user() -> None:
    with pytest.raises(WhetError, match="cannot be written as JSON"):
        body(Request((user("half a pair: \ud800"),)))


def test_a_conversation_keeps_its_beginning_from_turn_to_turn() -> None:
    bad = MalformedCall("a", "run", "{", "bad_json", "no")
    turns = (user("1"), Message("assistant", "x", malformed=(bad,)), tool_result(bad, "no"), assistant("y"), user("2"))
    wired = [body(Request(turns[:k]))["messages"] for k in (1, 3, 5)]
    assert wired[2][: len(wired[1])] == wired[1]
    assert wired[1][: len(wired[0])] == wired[0]


# --------------------------------------------------------------------------------------------- what is understood


@pytest.mark.parametrize(
    ("told", "finish"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("content_filter", "filter"),
        (None, "stop"),
        ([7], "stop"),
        ({"type": "length"}, "stop"),
        ("eos", "stop"),
    ],
)
def test_finish_reasons_are_mapped(told: Any, finish: str) -> None:
    assert understood({"content": "42"}, finish=told).finish == finish


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": None}, ""),
        ({}, ""),
        ({"content": [{"type": "text", "text": "4"}, {"type": "text", "text": "2"}]}, "42"),
        ({"content": None, "refusal": "I will not."}, "I will not."),
    ],
)
def test_text_is_found_where_servers_put_it(message: dict[str, Any], text: str) -> None:
    assert understood(message).text == text


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_is_kept_apart_from_the_text(field: str) -> None:
    reply = understood({"content": "42", field: "17 and 25"})
    assert (reply.text, reply.reasoning) == ("42", "17 and 25")


def test_calls_are_read_and_end_the_reply() -> None:
    wired = [{"id": "a", "type": "function", "function": {"name": "run", "arguments": '{"code": "1"}'}}]
    reply = understood({"content": None, "tool_calls": wired}, Request(ASKED.messages, tools=(TOOL,)))
    assert (reply.calls, reply.finish) == ((ToolCall("a", "run", {"code": "1"}, '{"code": "1"}'),), "tool_calls")


def test_a_call_that_ran_into_the_limit_is_cut_off_even_where_the_server_does_not_say_so() -> None:
    wired = [{"id": "a", "function": {"name": "run", "arguments": '{"code": "pri'}}]
    request = Request(ASKED.messages, Sampling(max_tokens=16), (TOOL,))
    reply = understood({"tool_calls": wired}, request, finish="tool_calls", usage={"completion_tokens": 16})
    assert ([bad.kind for bad in reply.malformed], reply.finish) == (["cut_off"], "length")


def test_logprobs_token_ids_and_alternatives_are_kept_when_asked_for() -> None:
    top = [{"token": "42", "logprob": -0.1}, {"token": "41", "logprob": -2.0}]
    told = {"content": [{"token": "42", "logprob": -0.1, "id": 7, "top_logprobs": top}]}
    reply = understood({"content": "42"}, Request(ASKED.messages, Sampling(logprobs=2)), logprobs=told)
    assert (reply.completion_ids, reply.logprobs) == ((7,), (-0.1,))
    assert reply.trace == ({"token": "42", "top": [["42", -0.1], ["41", -2.0]]},)


LLAMA_ENTRY = {"token": "42", "logprob": -0.1, "id": 7}


@pytest.mark.parametrize(
    ("answer", "choice", "logprobs", "read", "drawn"),
    [
        pytest.param({"prompt_token_ids": [1, 2]}, {"token_ids": [7, 0]}, None, (1, 2), (7, 0), id="vLLM"),
        pytest.param({}, {"prompt_token_ids": [1, 2], "token_ids": [7, 0]}, None, (1, 2), (7, 0), id="SGLang"),
        pytest.param({}, {"logprobs": {"content": [LLAMA_ENTRY]}}, 0, (), (7,), id="llama.cpp, logprobs"),
        pytest.param({"__verbose": {"tokens": [7, 0]}}, {}, None, (), (7, 0), id="llama.cpp, verbose"),
        pytest.param({"prompt_token_ids": None}, {"token_ids": None}, None, (), (), id="not asked for"),
        pytest.param({"prompt_token_ids": "1 2"}, {"token_ids": [7, None]}, None, (), (), id="no ids at all"),
        pytest.param({"prompt_token_ids": [-1]}, {"token_ids": [7, 2**80]}, None, (), (), id="beyond any vocabulary"),
        pytest.param({}, {"logprobs": {"content": [LLAMA_ENTRY, {"logprob": -1.0}]}}, 0, (), (), id="ids of a part"),
    ],
)
def test_token_ids_are_read_where_a_server_tells_them(
    answer: Any, choice: Any, logprobs: int | None, read: tuple[int, ...], drawn: tuple[int, ...]
) -> None:
    request = Request(ASKED.messages, Sampling(logprobs=logprobs))
    data = {**answer, "choices": [{"message": {"content": "42"}, **choice}]}
    (reply,) = replies(data, request, 1, ModelOptions(), None)
    assert (reply.prompt_ids, reply.completion_ids) == (read, drawn)


def test_token_ids_are_asked_for_by_the_config_alone() -> None:
    assert "return_token_ids" not in body(ASKED)
    assert body(ASKED, extra={"return_token_ids": True})["return_token_ids"] is True


def test_replies_of_one_call_share_their_prompt() -> None:
    choices = [{"message": {"content": str(token)}, "token_ids": [token]} for token in (7, 8)]
    got = replies({"prompt_token_ids": [1, 2], "choices": choices}, ASKED, 2, ModelOptions(), None)
    assert [(reply.prompt_ids, reply.completion_ids) for reply in got] == [((1, 2), (7,)), ((1, 2), (8,))]


@pytest.mark.parametrize(
    ("told", "price", "usage"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 5}, None, Usage(1, 10, 5, 0, None)),
        ({"prompt_tokens": 10, "completion_tokens": 5}, Price(1.0, 2.0), Usage(1, 10, 5, 0, 20 / 1e6)),
        ({"prompt_tokens": 10, "completion_tokens": 5, "cost": 0.25}, Price(1.0, 2.0), Usage(1, 10, 5, 0, 0.25)),
        (
            {"prompt_tokens": 10, "completion_tokens": 0, "prompt_tokens_details": {"cached_tokens": 4}},
            Price(1.0, 2.0, 0.5),
            Usage(1, 10, 0, 4, 8 / 1e6),
        ),
        ({"prompt_tokens": None, "prompt_tokens_details": None}, None, Usage(1, 0, 0, 0, None)),
        ({"prompt_tokens": 10}, Price(1.0, 2.0), Usage(1, 0, 0, 0, None)),
        ({"completion_tokens": 5}, Price(1.0, 2.0), Usage(1, 0, 5, 0, None)),
        ({"prompt_tokens": -10, "completion_tokens": 5}, Price(1.0, 2.0), Usage(1, 0, 5, 0, None)),
        ({"prompt_tokens": 10, "completion_tokens": 5, "cost": -1}, Price(1.0, 2.0), Usage(1, 10, 5, 0, 20 / 1e6)),
        (None, Price(1.0, 2.0), Usage(1, 0, 0, 0, None)),
    ],
)
def test_usage_is_counted_and_priced(told: Any, price: Price | None, usage: Usage) -> None:
    data = {"choices": [{"message": {"content": "42"}}], "usage": told}
    assert replies(data, ASKED, 1, ModelOptions(), price)[0].usage == usage


def test_usages_of_several_replies_add_up_to_the_call() -> None:
    told = {"prompt_tokens": 10, "completion_tokens": 11, "cost": 0.5}
    data = {"choices": [{"message": {"content": str(k)}} for k in range(3)], "usage": told}
    got = replies(data, ASKED, 3, ModelOptions(), None)
    assert sum((reply.usage for reply in got), Usage()) == Usage(1, 10, 11, 0, 0.5)


def test_the_server_says_what_it_is() -> None:
    data = {"model": "m-2026", "system_fingerprint": "fp_1", "choices": [{"message": {"content": ""}}]}
    assert replies(data, ASKED, 1, ModelOptions(), None)[0].version == "m-2026@fp_1"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        ([], "bad_reply"),
        ({}, "bad_reply"),
        ({"choices": "none"}, "bad_reply"),
        ({"choices": [{}]}, "bad_reply"),
        ({"choices": [None]}, "bad_reply"),
        ({"choices": []}, "empty_reply"),
        ({"choices": [{"message": {"content": ""}, "finish_reason": "error"}]}, "server_error"),
    ],
)
def test_a_body_without_a_reply_is_trouble(data: Any, kind: str) -> None:
    with pytest.raises(Trouble) as trouble:
        replies(data, ASKED, 1, ModelOptions(), None)
    assert trouble.value.kind == kind


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (rb'{"t": "half \ud83d"}', "half \ufffd"),
        (rb'{"t": "whole \ud83d\ude00"}', "whole \U0001f600"),
        (rb'{"t": "\ude00\ud83d"}', "\ufffd\ufffd"),
        (b'{"t": "cut \xf0\x9f"}', "cut \ufffd"),
    ],
)
def test_half_characters_are_replaced_so_that_all_can_be_written_again(raw: bytes, text: str) -> None:
    data = decoded(raw)
    assert data == {"t": text}
    assert orjson.loads(orjson.dumps(data)) == data
