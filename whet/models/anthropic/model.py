"""Anthropic's messages API, at Anthropic or at any server that speaks it.

A seed is not sent, because the service knows none. Thinking is asked for with `sampling.effort`, which becomes a share
of `max_tokens` (`anthropic.body.SHARES`), or with `extra = {thinking = {...}}`, which is sent as it is.
"""

from __future__ import annotations

import os

import orjson
from yarl import URL

from whet.keys import digest
from whet.models.anthropic.body import MessagesDialect
from whet.models.anthropic.reply import inner_status, refusal, reply_of
from whet.models.anthropic.thoughts import Thoughts, called
from whet.models.base import Model, Request
from whet.models.chat.endpoint import OK, Auth, Endpoint, base, check_options, extra_tokens, is_loopback
from whet.models.chat.retry import Persistence
from whet.models.chat.status import ContentRefusal
from whet.models.options import ModelOptions
from whet.models.registry.price import priced
from whet.models.secrets import Key, key_for
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
    ) -> None:
        check_options(options)
        scheme, _, model = name.partition(":")
        self.name = name
        held = () if options.shapes is None else (options.shapes,)
        self.fingerprint = digest(scheme, model, options.tools, dict(options.extra), *held)
        self.price = options.price
        self.context = options.context
        self._options = options
        self._dialect = MessagesDialect(model, options)
        auth: Auth = "bearer" if options.auth == "bearer" else "x-api-key"
        version = {"anthropic-version": options.api_version or API_VERSION}
        self._endpoint = Endpoint(url, key, auth, options, version)
        self.connections = options.connections
        self._thoughts = Thoughts()
        self._extra = extra_tokens(options)
        self._persistence = Persistence.of(name, self._endpoint.where, options)

    async def complete(self, request: Request) -> Reply:
        body = self._dialect.body(request, self._thoughts.of(request.messages))
        async with self._endpoint.slots():
            try:
                return await self._persistence.run(lambda: self._attempt(body, request), request.meter)
            except ContentRefusal:
                return Reply("", finish="filter", usage=Usage(calls=1, usd=None if self.price is None else 0.0))

    def overhead(self, request: Request) -> int:
        """What it thought between tool calls goes back with the request."""
        thoughts = self._thoughts.of(request.messages)
        return self._extra + (len(orjson.dumps(list(thoughts.values()))) if thoughts else 0)

    async def close(self) -> None:
        await self._endpoint.close()

    async def _attempt(self, body: bytes, request: Request) -> Reply:
        answer, status, data = await self._endpoint.ask(body, inner_status, request.meter)
        if status == OK:
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
    return Anthropic(address, _messages(url), key, priced(address, options))


def _messages(url: URL) -> URL:
    if url.path.endswith("/messages"):
        return url
    return url / "messages" if url.path.endswith("/v1") else url / "v1" / "messages"
