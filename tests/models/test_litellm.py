"""litellm behind our own rules: a library that lies about what was used does not switch a budget off."""

from __future__ import annotations

import asyncio
import importlib.machinery
import math
import os
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import orjson
import pytest
from builders import Doubles

from whet.errors import FaultError, LimitReached, WhetError
from whet.models.base import Price, Request
from whet.models.litellm.model import LiteLLM, open_litellm
from whet.models.load import load_model
from whet.models.options import ModelOptions
from whet.models.registry import price_of
from whet.models.registry.litellm_prices import TABLE, _table, litellm_context, litellm_price
from whet.outside import KEYS
from whet.run.api import evaluate
from whet.types import ToolSpec, user

ASKED = Request((user("How many?"),))


class FakeLibrary(ModuleType):
    """litellm as far as it is used, and as bad as it can be."""

    def __init__(self, answer: Any) -> None:
        super().__init__("litellm")
        self.__spec__ = importlib.machinery.ModuleSpec("litellm", None)
        self.answer = answer
        self.calls: list[dict[str, Any]] = []

    async def acompletion(self, **asked: Any) -> Any:
        self.calls.append(asked)
        found = self.answer(asked) if callable(self.answer) else self.answer
        if isinstance(found, BaseException):
            raise found
        return found


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Any:
    def installed(answer: Any) -> FakeLibrary:
        fake = FakeLibrary(answer)
        monkeypatch.setitem(sys.modules, "litellm", fake)
        return fake

    return installed


def reply(usage: Any = None, text: str = "42", **message: Any) -> Any:
    """What `acompletion` gives back: an object with `model_dump`."""
    data = {
        "model": "provider-model-7",
        "choices": [{"message": {"content": text, **message}, "finish_reason": "stop"}],
        "usage": usage,
    }
    return SimpleNamespace(model_dump=lambda: data)


def opened(**options: Any) -> LiteLLM:
    return open_litellm("litellm:provider/model", ModelOptions(attempts=2, **options))


def asked(model: LiteLLM, request: Request = ASKED) -> Any:
    return asyncio.run(model.complete(request))


# --------------------------------------------------------------------------------------------- money first


HOSTILE = {
    "none": None,
    "empty": {},
    "zero": {"prompt_tokens": 0, "completion_tokens": 0},
    "negative": {"prompt_tokens": -5, "completion_tokens": -1},
    "text": {"prompt_tokens": "7", "completion_tokens": "1"},
    "not a number": {"prompt_tokens": math.nan, "completion_tokens": math.nan},
    "past all measure": {"prompt_tokens": 1 << 60, "completion_tokens": 1},
    "a list": [1, 2],
    "a cost below zero": {"prompt_tokens": 5, "completion_tokens": 0, "cost": -100.0},
}


@pytest.mark.parametrize("usage", HOSTILE.values(), ids=HOSTILE)
def test_a_usage_that_is_left_out_or_a_lie_counts_as_all_that_was_reserved(
    library: Any, tmp_path: Path, usage: Any
) -> None:
    """Without it the run would go on for nothing: 40 tasks at no cost at all."""
    fake = library(reply(usage))
    limits = ["target.sampling.max_tokens=100", "control.budget.tokens=1000", "control.concurrency=2"]
    result = evaluate(Doubles(), opened(), n=40, overrides=limits, runs=tmp_path)
    assert "budget of 1000 tokens" in result.tally.stopped
    assert len(fake.calls) <= 9


def test_what_is_told_is_believed_and_priced(library: Any) -> None:
    library(reply({"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 40}}))
    said = asked(opened(price=Price(1.0, 2.0, 0.5)))
    assert (said.usage.prompt_tokens, said.usage.completion_tokens, said.usage.cached_tokens) == (100, 10, 40)
    assert said.usage.usd == pytest.approx((60 + 20 + 20) / 1e6)


def test_every_attempt_is_one_call_of_the_library(library: Any) -> None:
    fake = library(reply({"prompt_tokens": 5, "completion_tokens": 1}))
    asked(opened())
    assert (fake.calls[0]["num_retries"], fake.calls[0]["max_retries"], fake.calls[0]["stream"]) == (0, 0, False)
    assert fake.calls[0]["model"] == "provider/model"
    assert fake.calls[0]["max_tokens"] == ASKED.sampling.max_tokens


# --------------------------------------------------------------------------------------------- replies and errors


def test_tool_calls_are_read_like_any_servers(library: Any) -> None:
    call = {"id": "c1", "function": {"name": "look", "arguments": '{"at": 3}'}}
    library(reply({"prompt_tokens": 5, "completion_tokens": 5}, "", tool_calls=[call]))
    tool = ToolSpec("look", "Looks.", {"type": "object", "properties": {"at": {"type": "integer"}}})
    said = asked(opened(), Request((user("Look."),), tools=(tool,)))
    assert [(found.name, dict(found.arguments)) for found in said.calls] == [("look", {"at": 3})]


class ProviderError(Exception):
    def __init__(self, status: Any, text: str = "no") -> None:
        super().__init__(text)
        self.status_code = status


def named(kind: str, status: Any, text: str = "no") -> Exception:
    made: Exception = type(kind, (ProviderError,), {})(status, text)
    return made


@pytest.mark.parametrize(
    ("error", "becomes", "says"),
    [
        (named("RateLimitError", 429), FaultError, "RateLimitError"),
        (named("InternalServerError", 500), FaultError, "InternalServerError"),
        (named("APIConnectionError", None), FaultError, "APIConnectionError"),
        (named("Strange", "x"), FaultError, "Strange"),
        (ValueError("broken inside"), FaultError, "broken inside"),
        (named("AuthenticationError", 401), WhetError, "litellm's own rules"),
        (named("NotFoundError", 404), WhetError, "404"),
        (named("UnsupportedParamsError", 400, "seed is not supported"), WhetError, "seed is not supported"),
        (named("ContextWindowExceededError", 400), LimitReached, "context_overflow"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_an_error_is_a_fault_a_limit_or_a_mistake(
    library: Any, monkeypatch: pytest.MonkeyPatch, error: Exception, becomes: type[Exception], says: str
) -> None:
    fake = library(lambda asked: error)
    model = opened()
    monkeypatch.setattr("whet.models.chat.retry.Patience.wait", lambda *_: 0.0)
    with pytest.raises(becomes, match=says):
        asked(model)
    assert len(fake.calls) == (2 if becomes is FaultError else 1)


def test_a_prompt_that_is_refused_by_its_content_is_a_reply_that_ended_there(library: Any) -> None:
    library(lambda asked: named("ContentPolicyViolationError", 400))
    assert asked(opened()).finish == "filter"


@pytest.mark.parametrize("answer", [None, 7, "text", {"choices": []}, {}, {"choices": [None]}], ids=repr)
def test_what_is_no_reply_is_a_fault(library: Any, monkeypatch: pytest.MonkeyPatch, answer: Any) -> None:
    library(answer)
    monkeypatch.setattr("whet.models.chat.retry.Patience.wait", lambda *_: 0.0)
    with pytest.raises(FaultError):
        asked(opened())


def test_a_library_that_hangs_is_given_up(library: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def hangs() -> None:
        await asyncio.sleep(60)

    fake = library(None)
    monkeypatch.setattr(fake, "acompletion", lambda **_: hangs())
    monkeypatch.setattr("whet.models.chat.retry.Patience.wait", lambda *_: 0.0)
    with pytest.raises(FaultError, match="no answer within"):
        asked(opened(timeout=0.05))


def test_a_key_that_comes_back_is_taken_out(library: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVIDER_API_KEY", "zq-1234567890-abcdef")
    library(reply({"prompt_tokens": 5, "completion_tokens": 1}, "your key is zq-1234567890-abcdef"))
    assert asked(opened()).text == "your key is ***"
    library(lambda asked: named("AuthenticationError", 401, "bad key zq-1234567890-abcdef"))
    with pytest.raises(WhetError) as refused:
        asked(opened())
    assert "1234567890" not in str(refused.value)
    KEYS.forget()


def test_keys_of_ours_are_refused_because_litellm_would_not_read_them() -> None:
    with pytest.raises(WhetError, match="litellm reads keys by its own rules"):
        open_litellm("litellm:provider/model", ModelOptions(key_env="MY_KEY"))


def test_without_the_package_there_is_one_line_that_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whet.models.scheme._is_there", lambda package: False)
    with pytest.raises(WhetError, match=r"litellm: needs litellm, not installed here; run: pip install"):
        load_model("litellm:provider/model")


# --------------------------------------------------------------------------------------------- prices


@pytest.fixture
def prices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A litellm whose table holds what a test says."""

    def held(table: Any) -> None:
        (tmp_path / TABLE).write_bytes(table if isinstance(table, bytes) else orjson.dumps(table))
        spec = SimpleNamespace(submodule_search_locations=[str(tmp_path)])
        monkeypatch.setattr("whet.models.registry.litellm_prices.find_spec", lambda name: spec)
        _table.cache_clear()

    yield held
    _table.cache_clear()


def test_prices_come_from_the_table_that_litellm_brings(prices: Any) -> None:
    entry = {"input_cost_per_token": 4e-07, "output_cost_per_token": 1.6e-06, "cache_read_input_token_cost": 1e-07}
    prices({"provider/model": {**entry, "max_input_tokens": 9000}, "someone-new": entry})
    assert litellm_price("provider/model") == Price(0.4, 1.6, 0.1)
    assert litellm_context("provider/model") == 9000
    assert opened().price == Price(0.4, 1.6, 0.1)
    assert opened(price=Price(9.0, 9.0)).price == Price(9.0, 9.0)
    assert price_of("openai:someone-new") == Price(0.4, 1.6, 0.1)
    assert price_of("openai:openai/gpt-oss-20b") == Price(0.07, 0.3), "the registry's own word comes first"


@pytest.mark.parametrize(
    "entry",
    [
        None,
        [],
        {},
        {"input_cost_per_token": "1", "output_cost_per_token": 1e-6},
        {"input_cost_per_token": -1e-6, "output_cost_per_token": 1e-6},
        {"input_cost_per_token": True, "output_cost_per_token": 1e-6},
        {"input_cost_per_token": 5.0, "output_cost_per_token": 1e-6},
    ],
    ids=repr,
)
def test_what_is_no_price_is_none(prices: Any, entry: Any) -> None:
    prices({"provider/model": entry})
    assert litellm_price("provider/model") is None


@pytest.mark.parametrize("table", [b"", b"[1]", b"{"])
def test_a_table_that_cannot_be_read_is_no_table(prices: Any, table: bytes) -> None:
    prices(table)
    assert litellm_price("provider/model") is None


@pytest.mark.skipif("WHET_LITELLM" not in os.environ, reason="importing litellm takes seconds; WHET_LITELLM=1 runs it")
def test_the_real_library_against_a_server_on_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    from loopback import Behaviour, Loopback, serving

    monkeypatch.setenv("OPENAI_API_KEY", "sk-none-of-your-business")
    with serving(server=Loopback(Behaviour())) as server:
        url = f"http://127.0.0.1:{server.port}/v1"
        model = open_litellm("litellm:openai/some-model", ModelOptions(base_url=url, attempts=1))
        said = asked(model)
    assert said.text
    assert said.usage.prompt_tokens > 0
