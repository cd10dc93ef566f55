"""What a real server does wrong over real HTTP: each is tried again, or becomes a clear fault, limit or error."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from loopback import Behaviour, Loopback, serving

from whet.errors import FaultError, LimitReached, WhetError
from whet.models import ModelOptions, Request, load_model
from whet.models.openai.model import OpenAI
from whet.types import Fault, Reply, Sampling, user

ASKED = Request((user("17 + 25"),), Sampling(max_tokens=100))
KEY = "sk-canary-0123456789abcdef"


@pytest.fixture
def server() -> Iterator[Loopback]:
    with serving() as running:
        yield running


class Caller:
    """A model at `server` that does not really wait between attempts, and what it would have waited."""

    def __init__(self, base_url: str, **options: Any) -> None:
        self.slept: list[float] = []
        model = load_model("openai:m", ModelOptions(**{"base_url": base_url, "attempts": 3, **options}))
        assert isinstance(model, OpenAI)
        model._persistence = replace(model._persistence, sleep=self.sleep, random=Random(1))
        self.model = model

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def ask(self, request: Request = ASKED) -> Reply:
        async def once() -> Reply:
            try:
                return await self.model.complete(request)
            finally:
                await self.model.close()

        return asyncio.run(once())

    def fault(self, request: Request = ASKED) -> Fault:
        with pytest.raises(FaultError) as failed:
            self.ask(request)
        return failed.value.fault


PASSING = ["429", "500", "502", "503", "408", "409", "cut", "drop", "invalid", "empty"]


@pytest.mark.parametrize("fault", PASSING)
def test_what_may_pass_is_tried_again(server: Loopback, fault: str) -> None:
    server.plan.append(fault)
    assert Caller(server.base_url).ask().text == "42"
    assert server.requests == 2


def test_a_stall_is_left_and_tried_again(server: Loopback) -> None:
    server.plan.append("stall")
    assert Caller(server.base_url, timeout=0.5, attempts=6).ask().text == "42"


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("429", "rate_limited"),
        ("500", "server_error"),
        ("503", "server_error"),
        ("408", "timeout"),
        ("cut", "connection"),
        ("drop", "connection"),
        ("invalid", "bad_reply"),
        ("empty", "empty_reply"),
    ],
)
def test_what_does_not_pass_becomes_a_fault_that_says_so(server: Loopback, fault: str, kind: str) -> None:
    server.plan.extend([fault] * 3)
    recorded = Caller(server.base_url).fault()
    assert (recorded.kind, recorded.attempts) == (kind, 3)
    assert recorded.where == f"{server.base_url}/chat/completions"
    assert server.requests == 3


def test_a_server_that_only_stalls_is_a_fault_by_timeout(server: Loopback) -> None:
    server.plan.extend(["stall"] * 2)
    where = f"{server.base_url}/chat/completions"
    expected = Fault("timeout", where, "no whole answer within 0.3 s", 2)
    assert Caller(server.base_url, timeout=0.3, attempts=2).fault() == expected


@pytest.mark.parametrize(("name", "value", "least"), [("Retry-After", "7", 7.0), ("retry-after-ms", "2500", 2.5)])
def test_the_wait_that_the_server_asks_for_is_kept(server: Loopback, name: str, value: str, least: float) -> None:
    server.plan.append({"fault": "429", "headers": {name: value}})
    caller = Caller(server.base_url)
    assert caller.ask().text == "42"
    assert least <= caller.slept[0] <= least + 1.0


def test_a_wait_past_the_deadline_is_a_fault_at_once(server: Loopback) -> None:
    server.plan.append({"fault": "429", "headers": {"Retry-After": "86400"}})
    caller = Caller(server.base_url, deadline=60.0)
    assert "would pass the deadline" in caller.fault().message
    assert (caller.slept, server.requests) == ([], 1)


@pytest.mark.parametrize("size", ["huge", "flood"])
def test_a_reply_of_ten_megabytes_is_a_fault_at_once(server: Loopback, size: str) -> None:
    server.plan.append(size)
    fault = Caller(server.base_url, timeout=5.0).fault()
    assert (fault.kind, fault.attempts) == ("reply_too_large", 1)
    assert "4194304 bytes (max_reply_bytes)" in fault.message


def test_a_large_reply_is_fine_where_it_is_allowed(server: Loopback) -> None:
    server.plan.append("huge")
    assert len(Caller(server.base_url, max_reply_bytes=11_000_000).ask().text) == 10_000_000


def test_a_server_that_is_not_there_is_a_fault() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        fault = Caller(f"http://127.0.0.1:{taken.getsockname()[1]}/v1").fault()
    assert (fault.kind, fault.attempts) == ("connection", 3)


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (401, "The key was refused. Key used: none; name one with key_env"),
        (402, "no credit left"),
        (403, "may not use this model"),
        (404, "Check the model's name, and base_url"),
        (308, "points to /v1/elsewhere: mend base_url"),
    ],
)
def test_what_only_the_user_can_mend_stops_at_once(server: Loopback, status: int, told: str) -> None:
    server.plan.append({"fault": str(status), "headers": {"Location": "/v1/elsewhere"}})
    with pytest.raises(WhetError) as refused:
        Caller(server.base_url).ask()
    assert f"{server.base_url}/chat/completions answered {status}" in str(refused.value)
    assert told in str(refused.value)
    assert server.requests == 1


def test_a_quota_that_is_used_up_is_not_waited_for(server: Loopback) -> None:
    server.plan.append({"body": {"error": {"code": "insufficient_quota", "message": "quota"}}, "status": 429})
    with pytest.raises(WhetError, match="waiting does not help"):
        Caller(server.base_url).ask()


@pytest.mark.parametrize("status", [400, 405, 413, 422, 501])
def test_other_refusals_are_faults_at_once_that_name_the_status(server: Loopback, status: int) -> None:
    server.plan.append(str(status))
    fault = Caller(server.base_url).fault()
    assert (fault.kind, fault.attempts) == (f"http_{status}", 1)
    assert f"planned {status}" in fault.message


OVERFLOWS = [
    (400, {"code": "context_length_exceeded", "message": "too long"}),
    (400, {"message": "This model's maximum context length is 4096 tokens. However, you requested 9000 tokens."}),
    (400, {"message": "The input (5000 tokens) is longer than the model's context length (4096 tokens)."}),
    (400, {"message": "Requested token count exceeds the model's maximum context length of 4096 tokens."}),
    (
        400,
        {
            "message": "request (9412 tokens) exceeds the available context size (8192 tokens), try increasing it",
            "type": "exceed_context_size_error",
            "n_prompt_tokens": 9412,
            "n_ctx": 8192,
        },
    ),
    (413, {"message": "prompt is too long: 210000 tokens > 200000 maximum"}),
]


@pytest.mark.parametrize(("status", "error"), OVERFLOWS)
def test_a_conversation_that_outgrew_the_context_is_a_limit(server: Loopback, status: int, error: Any) -> None:
    server.plan.append({"body": {"error": error}, "status": status})
    with pytest.raises(LimitReached) as reached:
        Caller(server.base_url).ask()
    assert reached.value.reason == "context_overflow"


def test_a_token_limit_larger_than_the_context_is_an_error_of_the_user(server: Loopback) -> None:
    server.plan.append("overflow")
    with pytest.raises(WhetError, match="max_tokens = 5000 leaves no room for a prompt in a context of 2048 tokens"):
        Caller(server.base_url).ask(Request(ASKED.messages, Sampling(max_tokens=5000)))


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, {"code": "content_filter", "message": "filtered"}),
        (403, {"code": 403, "message": "moderated", "metadata": {"reasons": ["x"], "flagged_input": "y"}}),
    ],
)
def test_a_prompt_refused_by_content_rules_is_a_filtered_reply(server: Loopback, status: int, error: Any) -> None:
    server.plan.append({"body": {"error": error}, "status": status})
    reply = Caller(server.base_url).ask()
    assert (reply.text, reply.finish, reply.usage.calls) == ("", "filter", 1)


@pytest.mark.parametrize(("code", "requests"), [(502, 2), (429, 2), ("upstream", 2)])
def test_an_error_under_status_200_is_judged_by_its_own_code(server: Loopback, code: Any, requests: int) -> None:
    server.plan.append({"body": {"error": {"code": code, "message": "provider failed"}}})
    assert Caller(server.base_url).ask().text == "42"
    assert server.requests == requests


def test_half_characters_in_a_reply_survive_the_way_to_the_ledger(server: Loopback) -> None:
    server.plan.append({"raw": '{"choices": [{"message": {"content": "half \\ud83d"}, "finish_reason": "stop"}]}'})
    reply = Caller(server.base_url).ask()
    assert reply.text.encode() == "half \ufffd".encode()


ECHOES = [
    {"body": {"error": {"message": f"bad key {KEY}"}}, "status": 401},
    {"body": {"error": {"message": f"bad key {KEY}"}}, "status": 418},
    {"body": {"error": {"message": "x" * 270 + KEY}}, "status": 400},
    {"raw": f"<html>{KEY}</html>"},
    {"body": {"choices": f"Bearer {KEY}"}},
    {"body": {"choices": [f"Bearer {KEY}"]}},
    {"body": {"error": {"message": KEY, "code": "context_length_exceeded"}}, "status": 400},
    {"body": {"error": {"message": KEY}}, "status": 500},
]


@pytest.mark.parametrize("step", ECHOES)
def test_a_key_that_the_server_echoes_is_in_no_error(
    server: Loopback, monkeypatch: pytest.MonkeyPatch, step: dict[str, Any]
) -> None:
    monkeypatch.setenv("CANARY", KEY)
    server.plan.append(step)
    with pytest.raises((WhetError, FaultError, LimitReached)) as failed:
        Caller(server.base_url, key_env="CANARY", attempts=1).ask()
    error: BaseException | None = failed.value
    while error is not None:
        assert "canary" not in f"{error} {error!r} {vars(error)}"
        error = error.__cause__


def test_many_calls_come_through_a_server_that_fails_a_fifth_of_them() -> None:
    rates = {"429": 0.05, "500": 0.05, "cut": 0.05, "invalid": 0.05}
    with serving(Behaviour(faults=rates, remember=False)) as server:
        caller = Caller(server.base_url, attempts=12)

        async def burst() -> list[Reply]:
            try:
                asked = [Request((user(f"{k} + 1"),)) for k in range(200)]
                return await asyncio.gather(*map(caller.model.complete, asked))
            finally:
                await caller.model.close()

        assert [reply.text for reply in asyncio.run(burst())] == [str(k + 1) for k in range(200)]
        assert server.requests > 220
