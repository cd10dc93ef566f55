"""Models over HTTP: replies, loops, and who is told which key."""

from __future__ import annotations

import asyncio
import gc
import shlex
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from loopback import Behaviour, Loopback, serving

from whet.errors import FaultError, WhetError
from whet.models import Model, ModelOptions, Request, load_model
from whet.types import Reply, Sampling, ToolSpec, system, user

ASKED = Request((system("Add."), user("17 + 25")))
TOOL = ToolSpec("run", "Runs.", {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]})


@pytest.fixture
def server() -> Iterator[Loopback]:
    with serving() as running:
        yield running


def at(server: Loopback, address: str = "openai:m", **options: Any) -> Model:
    return load_model(address, ModelOptions(**{"base_url": server.base_url, **options}))


def ask(model: Model, request: Request = ASKED) -> Reply:
    async def once() -> Reply:
        try:
            return await model.complete(request)
        finally:
            await model.close()

    return asyncio.run(once())


# --------------------------------------------------------------------------------------------- over HTTP


def test_a_sum_is_answered(server: Loopback) -> None:
    assert ask(at(server)).text == "42"


def test_the_same_seed_gives_the_same_reply_and_another_seed_another() -> None:
    with serving(Behaviour(solves=0.5)) as server:
        texts = [ask(at(server), Request(ASKED.messages, Sampling(seed=seed))).text for seed in (*range(8), *range(8))]
    assert texts[:8] == texts[8:]
    assert set(texts) == {"42", "43"}


def test_a_demanded_call_comes_back_as_a_call(server: Loopback) -> None:
    reply = ask(at(server), Request(ASKED.messages, tools=(TOOL,), must_call=True))
    assert [(call.name, call.arguments) for call in reply.calls] == [("run", {"code": "42"})]


def many(model: Model, n: int) -> tuple[Reply, ...]:
    async def all_of_them() -> tuple[Reply, ...]:
        try:
            return await model.complete_many(Request(ASKED.messages, Sampling(seed=1)), n)
        finally:
            await model.close()

    return asyncio.run(all_of_them())


def test_many_replies_are_one_call(server: Loopback) -> None:
    assert len(many(at(server), 5)) == 5
    assert (server.requests, server.seen[0]["body"]["n"]) == (1, 5)


def test_what_a_server_leaves_out_of_many_is_asked_for_with_other_seeds(server: Loopback) -> None:
    server.plan.append({"message": {"content": "only one"}})
    assert len(many(at(server), 3)) == 3
    assert sorted(seen["body"]["seed"] for seen in server.seen) == [1, 2, 3]


def test_none_of_many_needs_no_call(server: Loopback) -> None:
    assert (many(at(server), 0), server.requests) == ((), 0)


def test_a_model_serves_one_loop_after_another(server: Loopback) -> None:
    model = at(server)
    assert [ask(model).text, ask(model).text] == ["42", "42"]


def test_a_loop_that_ended_without_closing_does_not_hinder_the_next(server: Loopback) -> None:
    model = at(server)
    asyncio.run(model.complete(ASKED))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        assert ask(model).text == "42"
        gc.collect()


def burst(model: Model, size: int) -> list[Reply]:
    async def all_at_once() -> list[Reply]:
        try:
            return await asyncio.gather(*(model.complete(ASKED) for _ in range(size)))
        finally:
            await model.close()

    return asyncio.run(all_at_once())


def test_calls_that_had_to_wait_in_one_loop_may_wait_in_the_next(server: Loopback) -> None:
    model = at(server, connections=1)
    assert [len(burst(model, 4)), len(burst(model, 4))] == [4, 4]


def test_closing_twice_and_before_any_call_is_fine(server: Loopback) -> None:
    async def closing() -> None:
        model = at(server)
        await model.close()
        await model.complete(ASKED)
        await model.close()
        await model.close()

    asyncio.run(closing())
    assert server.requests == 1


def test_calls_beyond_the_connections_wait_without_timing_out() -> None:
    with serving(Behaviour(latency=0.2)) as server:
        assert len(burst(at(server, connections=2, timeout=1.0, attempts=1), 12)) == 12


# --------------------------------------------------------------------------------------------- keys and endpoints


def seen_headers(server: Loopback) -> dict[str, str]:
    return server.seen[-1]["headers"]


def test_a_named_key_is_sent_as_bearer(server: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE", "sk-mine")
    ask(at(server, key_env="MINE"))
    assert seen_headers(server)["authorization"] == "Bearer sk-mine"


def test_a_key_of_openai_is_not_sent_to_another_server(server: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
    server.plan.append("401")
    with pytest.raises(WhetError, match="OPENAI_API_KEY goes to its own service only, unless key_env names it"):
        ask(at(server))
    assert "authorization" not in seen_headers(server)


def test_the_server_that_the_environment_names_gets_the_key_of_the_environment(
    server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-environment")
    ask(load_model("openai:m"))
    assert seen_headers(server)["authorization"] == "Bearer sk-environment"


def test_openai_itself_needs_a_key() -> None:
    with pytest.raises(WhetError, match="OPENAI_API_KEY is not set"):
        ask(load_model("openai:gpt-5"))


@pytest.mark.parametrize(
    ("address", "options", "field"),
    [
        ("openai:m", {}, "max_completion_tokens"),
        ("openai:m", {"base_url": "http://127.0.0.1:1/v1"}, "max_tokens"),
        (
            "openai:m",
            {"base_url": "http://127.0.0.1:1/v1", "limit_field": "max_completion_tokens"},
            "max_completion_tokens",
        ),
        ("openrouter:a/b", {}, "max_tokens"),
        ("azure:gpt-4o", {"base_url": "https://x.openai.azure.com"}, "max_tokens"),
        ("azure:gpt-5-mini", {"base_url": "https://x.openai.azure.com"}, "max_completion_tokens"),
        ("azure:o3", {"base_url": "https://x.openai.azure.com"}, "max_completion_tokens"),
    ],
)
def test_the_token_limit_goes_into_the_field_that_the_endpoint_reads(address: str, options: Any, field: str) -> None:
    model: Any = load_model(address, ModelOptions(**options))
    assert orjson.loads(model.dialect.body(ASKED))[field] == 1024


def test_openrouter_is_asked_for_the_cost_and_told_the_effort_its_way(server: Loopback) -> None:
    server.plan.append(
        {"message": {"content": "42"}, "usage": {"prompt_tokens": 3, "completion_tokens": 1, "cost": 0.125}}
    )
    reply = ask(at(server, "openrouter:a/b"), Request(ASKED.messages, Sampling(effort="high")))
    assert reply.usage.usd == 0.125
    sent = server.seen[0]["body"]
    assert (sent["model"], sent["usage"], sent["reasoning"]) == ("a/b", {"include": True}, {"effort": "high"})


def azure(server: Loopback, **options: Any) -> Model:
    return at(server, "azure:mine", **{"base_url": f"http://127.0.0.1:{server.port}", **options})


def test_azure_is_reached_by_deployment_with_its_own_header(server: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "azure-key")
    ask(azure(server))
    assert server.seen[0]["path"] == "/openai/deployments/mine/chat/completions"
    assert seen_headers(server)["api-key"] == "azure-key"
    assert "authorization" not in seen_headers(server)


def test_azure_takes_a_bearer_token_from_a_command(server: Loopback) -> None:
    command = f"{shlex.quote(sys.executable)} -c " + shlex.quote("print('token-1')")
    ask(azure(server, key_command=command))
    assert seen_headers(server)["authorization"] == "Bearer token-1"


def test_azure_of_the_new_kind_is_reached_by_model_name(server: Loopback) -> None:
    ask(azure(server, base_url=f"http://127.0.0.1:{server.port}/openai/v1"))
    assert (server.seen[0]["path"], server.seen[0]["body"]["model"]) == ("/openai/v1/chat/completions", "mine")


def test_a_token_that_was_refused_is_fetched_anew_once(server: Loopback, tmp_path: Path) -> None:
    counter = tmp_path / "count"
    program = f"p={str(counter)!r}\nopen(p,'a').write('x')\nprint('token-%d' % len(open(p).read()))"
    server.plan.append("401")
    reply = ask(azure(server, key_command=f"{shlex.quote(sys.executable)} -c {shlex.quote(program)}"))
    assert (reply.text, seen_headers(server)["authorization"]) == ("42", "Bearer token-2")


def test_a_token_that_is_refused_again_is_an_error(server: Loopback) -> None:
    server.plan.extend(["401", "401"])
    command = f"{shlex.quote(sys.executable)} -c " + shlex.quote("print('token')")
    with pytest.raises(WhetError, match=r"answered 401.*key_command"):
        ask(azure(server, key_command=command))
    assert server.requests == 2


# --------------------------------------------------------------------------------------------- fingerprints


def fingerprint(address: str = "openai:m", **options: Any) -> str:
    return load_model(address, ModelOptions(**{"base_url": "http://127.0.0.1:1/v1", **options})).fingerprint


@pytest.mark.parametrize(
    "options", [{"base_url": "http://127.0.0.1:2/v1"}, {"key_env": "OTHER"}, {"timeout": 5.0}, {"attempts": 1}]
)
def test_where_a_model_is_served_is_no_part_of_its_fingerprint(options: dict[str, Any]) -> None:
    assert fingerprint(**options) == fingerprint()


@pytest.mark.parametrize("options", [{"tools": "fenced"}, {"extra": {"top_k": 1}}, {"address": "openai:n"}])
def test_what_changes_the_answers_is_part_of_the_fingerprint(options: dict[str, Any]) -> None:
    assert fingerprint(**options) != fingerprint()


@pytest.mark.parametrize(
    ("sent", "wanted", "body"),
    [
        (
            "max_tokens",
            "max_completion_tokens",
            "Unsupported parameter: 'max_tokens' is not supported here. Use 'max_completion_tokens' instead.",
        ),
        ("max_completion_tokens", "max_tokens", "body.max_completion_tokens: Extra inputs are not permitted"),
    ],
)
def test_a_limit_under_another_name_is_named_with_the_key_that_mends_it(
    server: Loopback, sent: str, wanted: str, body: str
) -> None:
    server.plan.append({"status": 400, "body": {"error": {"message": body}}})
    with pytest.raises(WhetError, match=f"control.target.limit_field={wanted}"):
        ask(at(server, limit_field=sent))
    assert ask(at(server, limit_field=wanted)).text == "42"


def test_a_limit_that_is_too_large_is_not_taken_for_another_name(server: Loopback) -> None:
    told = "max_tokens is too large: 9000. This model supports at most 4096."
    server.plan.append({"status": 400, "body": {"error": {"message": told}}})
    with pytest.raises(FaultError, match="too large"):
        ask(at(server, limit_field="max_tokens"))
