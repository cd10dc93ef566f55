"""The messages API: what is sent, what is read, whose key goes where, and thinking that comes back word for word."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from messages import Messages, messages_server, refused

from whet.errors import FaultError, LimitReached, WhetError
from whet.models import Model, ModelOptions, Price, Request, load_model
from whet.models.anthropic.thoughts import Thoughts
from whet.types import (
    Image,
    MalformedCall,
    Message,
    Reply,
    Sampling,
    Shape,
    ToolCall,
    ToolSpec,
    assistant,
    system,
    tool_result,
    user,
)

ASKED = Request((system("Add."), user("17 + 25")))
SCHEMA = {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]}
TOOL = ToolSpec("run", "Runs.", SCHEMA)
CALLED = {"type": "tool_use", "id": "toolu_9", "name": "run", "input": {"code": "1"}}
THOUGHT = {"type": "thinking", "thinking": "Let me see.", "signature": "c2lnbmVk"}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Messages]:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
    with messages_server() as running:
        yield running


def at(server: Messages, address: str = "anthropic:claude-x", **options: Any) -> Model:
    return load_model(address, ModelOptions(**{"base_url": f"http://127.0.0.1:{server.port}", **options}))


def ask(model: Model, *requests: Request) -> list[Reply]:
    async def one_after_another() -> list[Reply]:
        try:
            return [await model.complete(request) for request in requests]
        finally:
            await model.close()

    return asyncio.run(one_after_another())


def sent(server: Messages, request: Request, **options: Any) -> dict[str, Any]:
    """The body that reaches the server."""
    ask(at(server, **options), request)
    return dict(server.seen[-1]["body"])


def got(server: Messages, step: dict[str, Any], request: Request = ASKED, **options: Any) -> Reply:
    """The reply to what the server is told to say."""
    server.plan.append(step)
    return ask(at(server, **options), request)[0]


def reached(server: Messages) -> dict[str, str]:
    return dict(server.seen[-1]["headers"])


# --------------------------------------------------------------------------------------------- what is sent


def test_a_sum_is_answered(server: Messages) -> None:
    reply = ask(at(server), ASKED)[0]
    assert (reply.text, reply.finish, reply.version) == ("42", "stop", "claude-x")


def test_system_text_and_limit_stand_where_the_format_wants_them(server: Messages) -> None:
    body = sent(server, Request(ASKED.messages, Sampling(temperature=0.5, top_p=0.9, max_tokens=77, stop=("END", " "))))
    assert body == {
        "model": "claude-x",
        "max_tokens": 77,
        "system": "Add.",
        "messages": [{"role": "user", "content": [{"type": "text", "text": "17 + 25"}]}],
        "temperature": 0.5,
        "top_p": 0.9,
        "stop_sequences": ["END"],
    }


def test_no_seed_is_sent(server: Messages) -> None:
    assert "seed" not in sent(server, Request(ASKED.messages, Sampling(seed=7)))


def test_sides_alternate_and_empty_texts_are_left_out(server: Messages) -> None:
    body = sent(server, Request((user("a"), assistant(""), user("b"), assistant("c"), system("d"), user("17 + 25"))))
    assert [(turn["role"], [part["text"] for part in turn["content"]]) for turn in body["messages"]] == [
        ("user", ["a", "b"]),
        ("assistant", ["c"]),
        ("user", ["d", "17 + 25"]),
    ]


def test_a_task_of_system_text_alone_is_still_asked(server: Messages) -> None:
    body = sent(server, Request((system("17 + 25"),)))
    assert body["messages"] == [{"role": "user", "content": "17 + 25"}]


def test_images_go_in_as_bytes_and_into_tool_results_too(server: Messages) -> None:
    called = Message("assistant", "", calls=(ToolCall("t1", "run", {"code": "x"}),))
    shown = tool_result(called.calls[0], ("see ", Image("beef")))
    body = sent(server, Request((user(("17 + 25", Image("beef"))), called, shown), blob=lambda _: b"png"))
    source = {"type": "base64", "media_type": "image/png", "data": "cG5n"}
    assert body["messages"][0]["content"][1] == {"type": "image", "source": source}
    result = body["messages"][2]["content"][0]
    assert (result["tool_use_id"], result["content"][1]["source"]) == ("t1", source)


def test_an_image_without_bytes_is_an_error(server: Messages) -> None:
    with pytest.raises(WhetError, match="no blob to read it from"):
        ask(at(server), Request((user(("x", Image("beef"))),)))


def test_a_malformed_call_is_sent_back_as_text_beside_an_empty_call(server: Messages) -> None:
    bad = MalformedCall("t1", "no such", '{"code', "bad_json", "Broken.")
    body = sent(server, Request((user("q"), Message("assistant", "", malformed=(bad,)), tool_result(bad, "Error"))))
    assert body["messages"][1]["content"] == [
        {"type": "text", "text": '[malformed call of no such: {"code]'},
        {"type": "tool_use", "id": "t1", "name": "no_such", "input": {}},
    ]


def test_a_schema_is_asked_for_and_a_grammar_refused(server: Messages) -> None:
    body = sent(server, Request(ASKED.messages, shape=Shape(schema=SCHEMA)), extra={"output_config": {"effort": "low"}})
    assert body["output_config"] == {"format": {"type": "json_schema", "schema": SCHEMA}, "effort": "low"}
    with pytest.raises(WhetError, match="follows no grammar"):
        ask(at(server), Request(ASKED.messages, shape=Shape(grammar="root ::= 'a'")))


def test_logprobs_are_refused(server: Messages) -> None:
    with pytest.raises(WhetError, match="tells no logprobs"):
        ask(at(server), Request(ASKED.messages, Sampling(logprobs=0)))


# --------------------------------------------------------------------------------------------- tools


def test_a_demanded_call_comes_back_as_a_call(server: Messages) -> None:
    reply = ask(at(server), Request(ASKED.messages, tools=(TOOL,), must_call=True))[0]
    assert server.seen[0]["body"]["tools"] == [{"name": "run", "description": "Runs.", "input_schema": SCHEMA}]
    assert [(call.id, call.name, call.arguments) for call in reply.calls] == [("toolu_1", "run", {"code": "42"})]
    assert reply.finish == "tool_calls"


@pytest.mark.parametrize(
    ("block", "stop", "kind"),
    [
        ({**CALLED, "name": "walk"}, "tool_use", "unknown_tool"),
        ({**CALLED, "input": {}}, "tool_use", "bad_arguments"),
        ({**CALLED, "input": "import os"}, "tool_use", "raw_code"),
        ({**CALLED, "input": {"code": "imp"}}, "max_tokens", "cut_off"),
        ({"type": "text", "text": "I will."}, "end_turn", "prose"),
    ],
)
def test_a_malformed_call_is_classified(server: Messages, block: dict[str, Any], stop: str, kind: str) -> None:
    step = {"content": [block], "stop_reason": stop}
    reply = got(server, step, Request(ASKED.messages, tools=(TOOL,), must_call=True))
    assert [bad.kind for bad in reply.malformed] == [kind]
    assert reply.calls == ()


def test_what_a_cut_off_call_had_left_is_kept(server: Messages) -> None:
    step = {"content": [{**CALLED, "input": {"code": "imp"}}], "stop_reason": "max_tokens"}
    reply = got(server, step, Request(ASKED.messages, tools=(TOOL,)))
    assert (reply.malformed[0].raw, reply.finish) == ('{"code":"imp"}', "length")


def test_tools_can_be_spoken(server: Messages) -> None:
    fence = 'So:\n```tool\n{"name": "run", "arguments": {"code": "1"}}\n```'
    step = {"content": [{"type": "text", "text": fence}]}
    reply = got(server, step, Request(ASKED.messages, tools=(TOOL,)), tools="fenced")
    assert [call.arguments for call in reply.calls] == [{"code": "1"}]
    assert "tools" not in server.seen[0]["body"]


# --------------------------------------------------------------------------------------------- thinking


@pytest.mark.parametrize(
    ("effort", "tokens"), [("minimal", 1024), ("low", 1638), ("medium", 4096), ("high", 6553), (None, None)]
)
def test_an_effort_is_a_share_of_the_token_limit(server: Messages, effort: Any, tokens: int | None) -> None:
    body = sent(server, Request(ASKED.messages, Sampling(max_tokens=8192, effort=effort)))
    assert body.get("thinking") == (None if tokens is None else {"type": "enabled", "budget_tokens": tokens})


def test_an_effort_that_leaves_no_room_for_an_answer_is_refused(server: Messages) -> None:
    with pytest.raises(WhetError, match="raise max_tokens to 2048 or more"):
        ask(at(server), Request(ASKED.messages, Sampling(max_tokens=1024, effort="low")))


def test_a_temperature_beside_thinking_is_refused(server: Messages) -> None:
    with pytest.raises(WhetError, match="thinks at temperature 1 only"):
        ask(at(server), Request(ASKED.messages, Sampling(temperature=0.0, max_tokens=4096, effort="low")))


def test_extra_sets_thinking_in_its_own_words_and_a_call_is_then_not_forced(server: Messages) -> None:
    request = Request(ASKED.messages, Sampling(effort="high"), tools=(TOOL,), must_call=True)
    body = sent(server, request, extra={"thinking": {"type": "adaptive"}})
    assert (body["thinking"], "tool_choice" in body) == ({"type": "adaptive"}, False)


def thinking_loop(server: Messages, model: Model, *, effort: Any = "low") -> dict[str, Any]:
    """A reply that thinks and calls a tool, then the request that carries its result; the body of that request."""
    server.plan.append({"content": [THOUGHT, CALLED], "stop_reason": "tool_use"})
    first = Request(ASKED.messages, Sampling(max_tokens=4096, effort=effort), tools=(TOOL,))
    (reply,) = ask(model, first)
    told = (*first.messages, reply.as_message(), tool_result(reply.calls[0], "done"))
    ask(model, Request(told, first.sampling, first.tools))
    return dict(server.seen[-1]["body"])


def test_thinking_goes_back_word_for_word_with_the_tool_results(server: Messages) -> None:
    body = thinking_loop(server, at(server))
    assert body["messages"][1] == {"role": "assistant", "content": [THOUGHT, CALLED]}
    assert body["thinking"]["type"] == "enabled"


def test_thinking_is_in_the_reply_and_its_blocks_in_the_trace(server: Messages) -> None:
    reply = got(server, {"content": [THOUGHT, {"type": "text", "text": "42"}]})
    assert (reply.reasoning, reply.trace, reply.text) == ("Let me see.", (THOUGHT,), "42")


def test_a_tool_loop_whose_thinking_is_unknown_goes_on_without(server: Messages) -> None:
    called = Message("assistant", "", calls=(ToolCall("t1", "run", {"code": "x"}),))
    told = (user("q"), called, tool_result(called.calls[0], "done"))
    body = sent(server, Request(told, Sampling(max_tokens=4096, effort="low"), tools=(TOOL,)))
    assert "thinking" not in body


def test_the_same_words_in_another_conversation_are_another_thought() -> None:
    thoughts = Thoughts()
    said = Message("assistant", "", calls=(ToolCall("t1", "run", {}),))
    thoughts.keep((user("a"),), said, (THOUGHT,))
    assert thoughts.of((user("a"), said)) == {1: (THOUGHT,)}
    assert thoughts.of((user("b"), said)) == {}


def test_the_oldest_thoughts_give_way() -> None:
    thoughts = Thoughts(room=2)
    said = Message("assistant", "", calls=(ToolCall("t1", "run", {}),))
    for name in "abc":
        thoughts.keep((user(name),), said, (THOUGHT,))
    assert [bool(thoughts.of((user(name), said))) for name in "abc"] == [False, True, True]


# --------------------------------------------------------------------------------------------- what is read


@pytest.mark.parametrize(
    ("stop", "finish"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "filter"),
    ],
)
def test_why_a_reply_ended_is_told(server: Messages, stop: str, finish: str) -> None:
    assert got(server, {"stop_reason": stop}).finish == finish


def test_cached_tokens_are_part_of_the_prompt_and_priced_apart(server: Messages) -> None:
    used = {"input_tokens": 10, "cache_read_input_tokens": 30, "cache_creation_input_tokens": 60, "output_tokens": 5}
    usage = got(server, {"usage": used}, price=Price(1.0, 10.0, 0.1)).usage
    assert (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens) == (100, 30, 5)
    assert usage.usd == pytest.approx((70 * 1.0 + 30 * 0.1 + 5 * 10.0) / 1e6)


def test_an_empty_answer_is_the_policys_own(server: Messages) -> None:
    assert got(server, {"content": []}).text == ""


# --------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    "step",
    [
        refused(529, "overloaded_error", "Overloaded", retry_after=0),
        refused(429, "rate_limit_error", "Slow down", retry_after=0),
        {"status": 200, "body": {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}},
    ],
)
def test_an_overloaded_service_is_asked_again(server: Messages, step: dict[str, Any]) -> None:
    server.plan.append(step)
    assert ask(at(server), ASKED)[0].text == "42"
    assert server.requests == 2


def test_an_overloaded_service_is_a_fault_in_the_end(server: Messages) -> None:
    server.plan.extend([refused(529, "overloaded_error", "Overloaded", retry_after=0)] * 2)
    with pytest.raises(FaultError) as fault:
        ask(at(server, attempts=2), ASKED)
    assert (fault.value.fault.kind, fault.value.fault.attempts) == ("overloaded", 2)


@pytest.mark.parametrize(
    "step",
    [
        refused(400, "invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"),
        refused(400, "invalid_request_error", "input length and `max_tokens` exceed context limit: 190000 + 21333"),
        refused(413, "request_too_large", "Request exceeds the maximum size"),
    ],
)
def test_a_conversation_that_outgrew_the_context_is_a_limit(server: Messages, step: dict[str, Any]) -> None:
    server.plan.append(step)
    with pytest.raises(LimitReached) as limit:
        ask(at(server), ASKED)
    assert limit.value.reason == "context_overflow"


@pytest.mark.parametrize(
    ("step", "told"),
    [
        (refused(401, "authentication_error", "invalid x-api-key"), "The key was refused"),
        (refused(404, "not_found_error", "model: claude-x"), "Check the model's name"),
        (refused(400, "invalid_request_error", "Your credit balance is too low"), "credit balance"),
        (refused(400, "invalid_request_error", "max_tokens: 99999 > 8192, the maximum"), "max_tokens: 99999"),
    ],
)
def test_what_the_user_must_mend_stops_at_once(server: Messages, step: dict[str, Any], told: str) -> None:
    server.plan.append(step)
    with pytest.raises(WhetError, match=told):
        ask(at(server), ASKED)
    assert server.requests == 1


def test_a_blocked_prompt_is_a_reply_that_was_filtered(server: Messages) -> None:
    step = refused(400, "invalid_request_error", "Output blocked by content filtering policy")
    assert got(server, step).finish == "filter"


def test_another_refusal_is_a_fault_by_its_status(server: Messages) -> None:
    server.plan.append(refused(400, "invalid_request_error", "messages: odd"))
    with pytest.raises(FaultError) as fault:
        ask(at(server), ASKED)
    assert fault.value.fault.kind == "http_400"


# --------------------------------------------------------------------------------------------- keys and endpoints


def test_a_named_key_goes_into_its_own_header_with_the_version(
    server: Messages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINE", "sk-mine")
    ask(at(server, key_env="MINE"), ASKED)
    headers = reached(server)
    assert (headers["x-api-key"], headers["anthropic-version"]) == ("sk-mine", "2023-06-01")
    assert "authorization" not in headers


def test_a_gateway_may_want_a_bearer(server: Messages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE", "sk-mine")
    ask(at(server, key_env="MINE", auth="bearer"), ASKED)
    assert reached(server)["authorization"] == "Bearer sk-mine"


def test_a_key_of_anthropic_is_not_sent_to_another_server(server: Messages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-secret")
    ask(at(server), ASKED)
    assert "x-api-key" not in reached(server)


def test_the_server_that_the_environment_names_gets_the_key_of_the_environment(
    server: Messages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-environment")
    ask(load_model("anthropic:claude-x"), ASKED)
    assert reached(server)["x-api-key"] == "sk-ant-environment"


def test_anthropic_itself_needs_a_key(server: Messages) -> None:
    with pytest.raises(WhetError, match="ANTHROPIC_API_KEY is not set"):
        ask(load_model("anthropic:claude-x"), ASKED)


def test_the_key_is_in_no_error(server: Messages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE", "sk-ant-very-secret")
    server.plan.append(refused(401, "authentication_error", "invalid key sk-ant-very-secret"))
    with pytest.raises(WhetError) as refusal:
        ask(at(server, key_env="MINE"), ASKED)
    assert "very-secret" not in str(refusal.value)


def test_extra_must_not_set_the_token_limit() -> None:
    with pytest.raises(WhetError, match="extra must not set max_tokens"):
        load_model("anthropic:m", ModelOptions(extra={"max_tokens": 5}))


def test_the_fingerprint_says_what_answers_not_where() -> None:
    def one(address: str = "anthropic:m", **options: Any) -> str:
        return load_model(address, ModelOptions(**options)).fingerprint

    assert one() == one(base_url="http://127.0.0.1:1") != one("anthropic:n")
    assert one() != one(extra={"thinking": {"type": "adaptive"}})
