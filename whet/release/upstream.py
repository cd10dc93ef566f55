"""Who answers for a champion: a server of its own, whose answers are handed on as they come, or a model of ours.

An OpenAI-compatible server gets the client's own body, with the playbook placed and what the client left out filled in
from the champion; status, body and stream of its answer go back as they are, errors too, and nothing is tried twice.
Any other model is asked as a run asks it, and its reply is written as a chat completion.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

import aiohttp
import orjson
from aiohttp import web

from whet.errors import FaultError, LimitReached, WhetError
from whet.models.base import Model, Request
from whet.models.openai.model import OpenAI
from whet.outside import KEYS, shown_line
from whet.release.champion import Champion
from whet.release.chat import ChatAsk, ChatError, Json, completion, stream_events
from whet.rollout.player import Player
from whet.types import Reply, Sampling, Usage

if TYPE_CHECKING:
    from whet.rollout.purse import Charge, Purse

CHAMPION = "x-whet-champion"

PATIENCE = 600.0
"""Seconds for a reply of one of our own models, its retries included."""

_HANDED_ON = ("content-type", "retry-after", "x-request-id")
_TAIL = 16 * 1024
"""Bytes at the end of a stream in which its usage is looked for."""

_LOST = (aiohttp.ClientError, ConnectionError, OSError)


class Upstream(Protocol):
    """A champion's model as the server asks it."""

    async def answer(self, ask: ChatAsk, request: web.Request) -> web.StreamResponse: ...

    async def close(self) -> None: ...


def upstream_of(champion: Champion, model: Model, purse: Purse) -> Upstream:
    """An OpenAI-compatible server is handed on to; anything else is asked."""
    if isinstance(model, OpenAI) and champion.target.get("tools", "native") == "native":
        return HttpUpstream(champion, model, purse)
    return ModelUpstream(champion, model, purse)


# --------------------------------------------------------------------------------------------- a server


@dataclass(frozen=True, slots=True)
class HttpUpstream:
    """A server that speaks the client's own format."""

    champion: Champion
    model: OpenAI
    purse: Purse

    async def answer(self, ask: ChatAsk, request: web.Request) -> web.StreamResponse:
        body, asked = self.body(ask)
        async with (
            _paid(self.purse, asked, self.model) as charge,
            _reached(self.champion),
            self.model.endpoint.relay(body) as response,
        ):
            headers = {name: response.headers[name] for name in _HANDED_ON if name in response.headers}
            headers[CHAMPION] = self.champion.title
            if response.headers.get("content-type", "").startswith("text/event-stream"):
                return await self._stream(request, response, headers, charge)
            data = KEYS.hide_bytes(await self.model.endpoint.read(response))
            if response.status < 300:
                charge.end(Reply("", usage=_usage(data)))
            return web.Response(body=data, status=response.status, headers=headers)

    def body(self, ask: ChatAsk) -> tuple[bytes, Request]:
        """What the server is sent, and the same for the purse."""
        dialect, own = self.model.dialect, self.champion.policy.sampling
        placed = ask.placed(self.champion.playbook)
        limit = ask.limit(own.max_tokens)
        fields: Json = {name: value for name, value in ask.fields.items() if name not in _LIMITED}
        fields |= {"model": dialect.model, "messages": ask.wired(placed), dialect.limit_field: limit}
        for name, value in _sampled(own).items():
            if fields.get(name) is None and name in _PLAIN:
                fields[name] = value
        if own.effort is not None and not {"reasoning", "reasoning_effort"} & fields.keys():
            told = {"reasoning": {"effort": own.effort}} if dialect.nested_effort else {"reasoning_effort": own.effort}
            fields |= told
        fields |= dialect.options.extra
        asked = Request(placed, Sampling(max_tokens=limit * ask.choices), ask.tools(), ask.shape)
        return orjson.dumps(fields), asked

    async def _stream(
        self, request: web.Request, response: aiohttp.ClientResponse, headers: Mapping[str, str], charge: Charge
    ) -> web.StreamResponse:
        """Piece by piece as it comes. A stream that is cut off upstream is cut off here: it must not seem whole."""
        answer = web.StreamResponse(status=response.status, headers=dict(headers))
        await answer.prepare(request)
        tail = b""
        try:
            async for piece in response.content.iter_any():
                await answer.write(KEYS.hide_bytes(piece))
                tail = (tail + piece)[-_TAIL:]
        except (aiohttp.ClientError, TimeoutError):
            answer.force_close()
            if request.transport is not None:
                request.transport.abort()
            return answer
        charge.end(Reply("", usage=_stream_usage(tail)))
        await answer.write_eof()
        return answer

    async def close(self) -> None:
        await self.model.close()


_LIMITED = ("max_tokens", "max_completion_tokens")
_PLAIN = ("temperature", "top_p", "stop")


def _sampled(sampling: Sampling) -> Json:
    found = {"temperature": sampling.temperature, "top_p": sampling.top_p, "stop": list(sampling.stop) or None}
    return {name: value for name, value in found.items() if value is not None}


def _usage(data: bytes) -> Usage:
    """What an answer says that it used; nothing where it says nothing that can be read."""
    try:
        told = orjson.loads(data).get("usage") or {}
        cached = (told.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
        return Usage(1, int(told["prompt_tokens"]), int(told["completion_tokens"]), int(cached))
    except (ValueError, LookupError, TypeError, AttributeError):
        return Usage(1)


def _stream_usage(tail: bytes) -> Usage:
    lines = [line.removeprefix(b"data:").strip() for line in tail.split(b"\n") if b'"usage"' in line]
    found = (_usage(line) for line in reversed(lines))
    return next((usage for usage in found if usage.prompt_tokens), Usage(1))


@asynccontextmanager
async def _paid(purse: Purse, asked: Request, model: Model) -> AsyncIterator[Charge]:
    """A call on the purse: reserved before it is sent, and counted in full where its end says nothing else."""
    charge = purse.charge(asked, model)
    await charge.begin()
    try:
        yield charge
    finally:
        charge.fail()


@asynccontextmanager
async def _reached(champion: Champion) -> AsyncIterator[None]:
    """What keeps an answer away, as the client is told it."""
    where = f"the model of {champion.title}"
    try:
        yield
    except FaultError as fault:
        raise ChatError(502, fault.fault.kind, f"{where}: {shown_line(str(fault), 300)}", "upstream_error") from None
    except TimeoutError:
        raise ChatError(504, "timeout", f"{where} did not answer in time", "upstream_error") from None
    except _LOST as error:
        told = shown_line(KEYS.hide_pieces(str(error) or type(error).__name__), 300)
        raise ChatError(502, "unreachable", f"{where} cannot be reached: {told}", "upstream_error") from None


# --------------------------------------------------------------------------------------------- a model of ours


@dataclass(slots=True)
class ModelUpstream:
    """Any model: embedded, local weights, another vendor's, an agent, a function."""

    champion: Champion
    model: Model
    purse: Purse
    player: Player = field(init=False)

    def __post_init__(self) -> None:
        bounds = [bound for bound in (self.model.width, self.model.connections) if bound]
        self.player = Player(self.model, asyncio.Semaphore(min(bounds)) if bounds else None, self.model.unpaid)

    async def answer(self, ask: ChatAsk, request: web.Request) -> web.StreamResponse:
        replies = await self._replies(ask)
        made = completion(replies, self.champion.name, f"chatcmpl-{uuid.uuid4().hex}", int(time.time()))
        headers = {CHAMPION: self.champion.title}
        if not ask.stream:
            return web.Response(body=orjson.dumps(made), content_type="application/json", headers=headers)
        answer = web.StreamResponse(headers={**headers, "content-type": "text/event-stream"})
        await answer.prepare(request)
        options = ask.fields.get("stream_options")
        with_usage = isinstance(options, dict) and options.get("include_usage") is True
        for event in stream_events(made, with_usage=with_usage):
            await answer.write(event)
        await answer.write_eof()
        return answer

    async def _replies(self, ask: ChatAsk) -> list[Reply]:
        asked, many = self.request(ask), ask.choices
        seed = asked.sampling.seed
        each = [
            asked if seed is None else replace(asked, sampling=replace(asked.sampling, seed=seed + draw))
            for draw in range(many)
        ]
        try:
            return await asyncio.gather(*(self.player.reply(request, self.purse, PATIENCE) for request in each))
        except LimitReached as limit:
            raise ChatError(400, "context_length_exceeded", shown_line(str(limit), 300)) from None
        except (FaultError, WhetError) as error:
            raise ChatError(502, "model_failed", shown_line(str(error), 300), "upstream_error") from None

    def request(self, ask: ChatAsk) -> Request:
        champion, handed = self.champion, None
        if self.model.places_playbook:
            said, handed = ask.handed(champion.playbook)
        else:
            said = ask.placed(champion.playbook)
        messages, blobs = ask.with_images(said)
        must_call = ask.fields.get("tool_choice") == "required"
        sampling = ask.sampling(champion.policy.sampling)
        return Request(messages, sampling, ask.tools(), ask.shape, must_call, blobs.__getitem__, None, handed)

    async def close(self) -> None:
        await self.model.close()
