"""Any OpenAI-compatible `/chat/completions`: OpenAI, OpenRouter, Azure, and vLLM, SGLang or llama.cpp by base URL."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from yarl import URL

from whet.errors import WhetError
from whet.keys import digest
from whet.models.base import Model, Request
from whet.models.chat.endpoint import OK, Endpoint, base, check_options, extra_tokens, is_loopback
from whet.models.chat.retry import Persistence
from whet.models.chat.status import ContentRefusal
from whet.models.openai.body import ChatDialect
from whet.models.openai.refusal import inner_status, judge, refuses_shape
from whet.models.openai.reply import replies, shares
from whet.models.options import ModelOptions
from whet.models.registry.price import priced
from whet.models.secrets import Key, key_for
from whet.types import Reply, Shape, Usage

Auth = Literal["bearer", "api-key"]
_REASONING = re.compile(r"(o\d|gpt-5)", re.IGNORECASE)
AZURE_API_VERSION = "2024-10-21"


@dataclass(frozen=True, slots=True)
class Preset:
    """What a scheme settles: where to post, with which key, in which dialect."""

    url: URL
    key: Key
    auth: Auth
    limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    nested_effort: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)


class OpenAI(Model):
    """A model behind a chat-completions endpoint. One body, one POST, no SDK; cheap enough to be called a lot."""

    def __init__(
        self,
        name: str,
        preset: Preset,
        options: ModelOptions,
    ) -> None:
        scheme, _, model = name.partition(":")
        check_options(options)
        self.name = name
        held = () if options.shapes is None else (options.shapes,)
        self.fingerprint = digest(scheme, model, options.tools, dict(options.extra), *held)
        self.price = options.price
        self.context = options.context
        self.connections = options.connections
        self._options = options
        complete = replace(options, extra={**preset.extra, **options.extra})
        self.dialect = ChatDialect(model, options.limit_field or preset.limit_field, complete, preset.nested_effort)
        self.endpoint = Endpoint(preset.url, preset.key, options.auth or preset.auth, options)
        self._persistence = Persistence.of(name, self.endpoint.where, options)
        self._extra = extra_tokens(options)

    async def complete(self, request: Request) -> Reply:
        return (await self._ask(request, 1))[0]

    def overhead(self, request: Request) -> int:
        return self._extra

    async def complete_many(self, request: Request, n: int) -> tuple[Reply, ...]:
        """`n` replies in one call where the server can; what it leaves out is asked for one by one."""
        if n < 1:
            return ()
        got = await self._ask(request, n)
        if len(got) == n:
            return got
        seed = request.sampling.seed
        shifted = replace(request.sampling, seed=None if seed is None else seed + len(got))
        return (*got, *await super().complete_many(replace(request, sampling=shifted), n - len(got)))

    async def close(self) -> None:
        await self.endpoint.close()

    async def _ask(self, request: Request, n: int) -> tuple[Reply, ...]:
        body = self.dialect.body(request, n)
        async with self.endpoint.slots():
            try:
                return await self._persistence.run(lambda: self._attempt(body, request, n), request.meter)
            except ContentRefusal:
                usages = shares(Usage(calls=1, usd=None if self.price is None else 0.0), n)
                return tuple(Reply("", finish="filter", usage=usage) for usage in usages)

    async def _attempt(self, body: bytes, request: Request, n: int) -> tuple[Reply, ...]:
        answer, status, data = await self.endpoint.ask(body, inner_status, request.meter)
        if status == OK:
            return replies(data, request, n, self._options, self.price, answer.quote)
        if request.shape != Shape() and (trouble := refuses_shape(answer, status, self.endpoint.where)):
            raise trouble
        raise judge(
            answer,
            status,
            where=self.endpoint.where,
            key=self.endpoint.key.source,
            max_tokens=request.sampling.max_tokens,
            limit_field=self.dialect.limit_field,
        )


def open_openai(address: str, options: ModelOptions) -> OpenAI:
    """`openai:MODEL`: OpenAI itself, the server that OPENAI_BASE_URL names, or the one at `base_url`."""
    given = options.base_url or os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1"
    url = base(given)
    at_openai = f".{url.host}".endswith(".openai.com")
    own = at_openai or not options.base_url
    key = key_for(options, "OPENAI_API_KEY", own=own, needed=not is_loopback(url))
    limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_completion_tokens" if at_openai else "max_tokens"
    return OpenAI(address, Preset(_chat(url), key, "bearer", limit_field), priced(address, options))


def open_openrouter(address: str, options: ModelOptions) -> OpenAI:
    """`openrouter:VENDOR/MODEL`."""
    url = base(options.base_url or "https://openrouter.ai/api/v1")
    own = f".{url.host}".endswith(".openrouter.ai")
    key = key_for(options, "OPENROUTER_API_KEY", own=own, needed=not is_loopback(url))
    with_cost = {"usage": {"include": True}}
    return OpenAI(
        address, Preset(_chat(url), key, "bearer", nested_effort=True, extra=with_cost), priced(address, options)
    )


def open_azure(address: str, options: ModelOptions) -> OpenAI:
    """`azure:DEPLOYMENT` at the resource that `base_url` or AZURE_OPENAI_ENDPOINT names."""
    given = options.base_url or os.environ.get("AZURE_OPENAI_ENDPOINT")
    if not given:
        raise WhetError(
            f"{address} needs the endpoint of the resource, as in https://NAME.openai.azure.com: "
            "set AZURE_OPENAI_ENDPOINT or base_url."
        )
    url = base(given)
    deployment = address.partition(":")[2]
    if url.path.rstrip("/").endswith("/openai/v1"):
        url = _chat(url)
        if options.api_version:
            url = url.with_query({"api-version": options.api_version})
    else:
        version = options.api_version or os.environ.get("OPENAI_API_VERSION") or AZURE_API_VERSION
        url = _chat(url / "openai" / "deployments" / deployment).with_query({"api-version": version})
    key = key_for(options, "AZURE_OPENAI_API_KEY", own=True, needed=not is_loopback(url))
    auth: Auth = "bearer" if options.key_command else "api-key"
    reasons = _REASONING.match(deployment) is not None
    return OpenAI(
        address, Preset(url, key, auth, "max_completion_tokens" if reasons else "max_tokens"), priced(address, options)
    )


def _chat(url: URL) -> URL:
    return url if url.path.endswith("/chat/completions") else url / "chat" / "completions"
