"""Anthropic's messages API, at Anthropic or at any server that speaks it.

A seed is not sent, because the service knows none. Thinking is asked for with `sampling.effort`, which becomes a share
of `max_tokens` (`anthropic_body.SHARES`), or with `extra = {thinking = {...}}`, which is sent as it is.
"""

from __future__ import annotations

import asyncio
import os
import time
from random import Random

from yarl import URL

from whet.errors import WhetError
from whet.keys import digest, seed_for
from whet.models.anthropic_body import MessagesDialect
from whet.models.anthropic_reply import inner_status, refusal, reply_of
from whet.models.base import Model, Request
from whet.models.endpoint import Auth, Endpoint, base, is_loopback
from whet.models.openai import check
from whet.models.openai_refusal import Filtered
from whet.models.openai_reply import decoded
from whet.models.options import ModelOptions
from whet.models.retry import Clock, Patience, Sleep, persist
from whet.models.secrets import Key, key_for
from whet.models.thoughts import Thoughts, called
from whet.types import Reply, Usage

API_VERSION = "2023-06-01"
HOME = "https://api.anthropic.com"


class Anthropic(Model):
    """A model behind a messages endpoint. Thinking between tool calls is kept here and sent back word for word."""

    def __init__(
        self,
        name: str,
        url: URL,
        key: Key,
        options: ModelOptions,
        *,
        random: Random | None = None,
        sleep: Sleep = asyncio.sleep,
        clock: Clock = time.monotonic,
    ) -> None:
        check(options)
        scheme, _, model = name.partition(":")
        self.name = name
        self.fingerprint = digest(scheme, model, options.tools, dict(options.extra))
        self.price = options.price
        self.context = options.context
        self._options = options
        self._dialect = MessagesDialect(model, options)
        auth: Auth = "bearer" if options.auth == "bearer" else "x-api-key"
        version = {"anthropic-version": options.api_version or API_VERSION}
        self._endpoint = Endpoint(url, key, auth, options, version)
        self._thoughts = Thoughts()
        self._patience = Patience(options.attempts, options.deadline)
        self._random = random or Random(seed_for("backoff", name, os.getpid()))
        self._sleep = sleep
        self._clock = clock

    async def complete(self, request: Request) -> Reply:
        body = self._dialect.body(request, self._thoughts.of(request.messages))
        async with self._endpoint.slots():
            try:
                return await persist(
                    lambda: self._attempt(body, request),
                    self._patience,
                    where=self._endpoint.where,
                    random=self._random,
                    sleep=self._sleep,
                    clock=self._clock,
                )
            except Filtered:
                return Reply("", finish="filter", usage=Usage(calls=1, usd=None if self.price is None else 0.0))

    async def close(self) -> None:
        await self._endpoint.close()

    async def _attempt(self, body: bytes, request: Request) -> Reply:
        answer = await self._endpoint.post(body)
        status = answer.status
        if 200 <= status < 300:
            data = decoded(answer.body, answer.quote)
            status = inner_status(data)
            if not status:
                reply, blocks = reply_of(data, request, self._options, self.price, answer.quote)
                # Only a tool loop needs its thinking back; the service drops that of finished turns itself.
                said = reply.as_message()
                if reply.trace and called(said):
                    self._thoughts.keep(request.messages, said, blocks)
                return reply
        raise refusal(answer, status, where=self._endpoint.where, key=self._endpoint.key.source)


def open_anthropic(address: str, options: ModelOptions) -> Anthropic:
    """`anthropic:MODEL`: Anthropic itself, the server that ANTHROPIC_BASE_URL names, or the one at `base_url`."""
    url = base(options.base_url or os.environ.get("ANTHROPIC_BASE_URL") or HOME)
    own = f".{url.host}".endswith(".anthropic.com") or not options.base_url
    key = key_for(options, "ANTHROPIC_API_KEY", own=own, needed=not is_loopback(url))
    if "max_tokens" in options.extra:
        raise WhetError("extra must not set max_tokens: budgets go by sampling.max_tokens.")
    return Anthropic(address, _messages(url), key, options)


def _messages(url: URL) -> URL:
    if url.path.endswith("/messages"):
        return url
    return url / "messages" if url.path.endswith("/v1") else url / "v1" / "messages"
