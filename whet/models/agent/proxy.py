"""The only way out of an agent's walls: a proxy that adds the key, to one service and no other.

The agent has an address on its own loopback and a token that opens nothing anywhere else. Where the token stands in a
header of a request, the key takes its place on the way out; the agent never holds it.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import socket
from collections.abc import Mapping
from typing import Any

import aiohttp
from aiohttp import web
from yarl import URL

from whet.models.chat.endpoint import proxy_for
from whet.models.secrets import Key, Secret
from whet.outside import HIDDEN

_HOP = frozenset(
    ("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer", "transfer-encoding")
) | {"upgrade", "host", "content-length", "expect", "accept-encoding"}
"""Headers that are each side's own. What comes back is asked for as it is: a key in packed bytes would not be seen."""

_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
"""Not CONNECT, which asks for other hosts, and not TRACE, whose answer is the request with its key."""

_CONNECTIONS = 64
"""At a time: each is an open file of the host's."""

_MOST_ERROR = 1 << 20
"""Bytes of an error that are read, and searched for the key, before they are passed on."""


_silent = logging.Logger("agent", logging.CRITICAL + 1)
"""What an agent does wrong on its connection is told to the agent, not to whoever sits at the host."""


class _Hurry(asyncio.Protocol):
    """Turns a connection away."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.close()


class _NarrowServer(web.Server):
    """Takes no more than so many connections at a time."""

    def __call__(self) -> Any:
        return super().__call__() if len(self.connections) < _CONNECTIONS else _Hurry()


class KeyProxy:
    """Passes on requests that carry one of its tokens, to `service` and below its path. Counts them."""

    def __init__(self, service: URL, keys: Mapping[str, Key]) -> None:
        """`keys` by the name of the variable in which the agent looks for its key."""
        self._service = service
        self._keys = {f"sk-whet-{secrets.token_hex(16)}": key for key in keys.values()}
        self.tokens = dict(zip(keys, self._keys, strict=True))
        """What the agent is given in place of a key, by variable."""
        self.calls = 0
        self.refused = 0
        self._runner: web.ServerRunner | None = None
        self._session: aiohttp.ClientSession | None = None

    async def start(self, listener: socket.socket) -> None:
        listener.setblocking(False)
        self._session = aiohttp.ClientSession(auto_decompress=False, timeout=aiohttp.ClientTimeout(total=None))
        self._runner = web.ServerRunner(_NarrowServer(self._answer, logger=_silent), shutdown_timeout=0.1)
        await self._runner.setup()
        await web.SockSite(self._runner, listener).start()

    async def close(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
        if self._session is not None:
            await self._session.close()

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        path = request.rel_url.path
        base = self._service.path.rstrip("/")
        token = next((t for t in self._keys for value in request.headers.values() if t in value), None)
        below = path == base or path.startswith(f"{base}/")
        straight = request.raw_path.startswith("/") and not request.raw_path.startswith("//") and "\\" not in path
        if not below or not straight or ".." in path.split("/") or request.method not in _METHODS:
            return self._refusal(403, f"only {self._service} can be reached from here")
        if token is None and self._keys:
            return self._refusal(401, "the request does not carry the token that stands for the key")
        secret = await self._keys[token].secret() if token else None
        answer = web.StreamResponse()
        try:
            return await self._passed_on(request, answer, token, secret)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            if answer.prepared:  # half of it has gone out: the agent must see that it ends here
                if request.transport is not None:
                    request.transport.abort()
                return answer
            return self._refusal(502, f"the service cannot be reached ({type(error).__name__})")

    def _refusal(self, status: int, why: str) -> web.Response:
        self.refused += 1
        return web.json_response({"error": {"type": "whet_proxy", "message": why}}, status=status)

    async def _passed_on(
        self, request: web.BaseRequest, answer: web.StreamResponse, token: str | None, secret: Secret | None
    ) -> web.StreamResponse:
        assert self._session is not None
        self.calls += 1
        key = secret.reveal() if secret else ""
        headers = [
            (name, value.replace(token, key) if token else value)
            for name, value in request.headers.items()
            if name.lower() not in _HOP
        ]
        # Put together as text: a path is never taken for an address of its own.
        target = URL(f"{self._service.origin()}{request.raw_path}", encoded=True)
        body = request.content if request.can_read_body else None
        if request.headers.get("Expect", "").lower() == "100-continue" and request.transport is not None:
            request.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")  # ours to say: the service was not asked
        sent = self._session.request(
            request.method,
            target,
            headers=[*headers, ("Accept-Encoding", "identity")],
            data=body,
            allow_redirects=False,
            proxy=proxy_for(target),
        )
        async with sent as came:
            answer.set_status(came.status, came.reason)
            for name, value in came.headers.items():
                if name.lower() not in _HOP:
                    answer.headers.add(name, secret.scrub(value) if secret else value)
            await answer.prepare(request)
            if came.status >= 400 and secret is not None:
                told = b""
                while len(told) < _MOST_ERROR and (part := await came.content.read(_MOST_ERROR)):
                    told += part
                text = secret.scrub(told[:_MOST_ERROR].decode("utf-8", "surrogateescape"))
                await answer.write(text.encode("utf-8", "surrogateescape"))
            else:
                held = b""
                async for part in came.content.iter_any():
                    sent_on, held = _without(held + part, key.encode())
                    await answer.write(sent_on)
                await answer.write(held)
            await answer.write_eof()
            return answer


def _without(data: bytes, key: bytes) -> tuple[bytes, bytes]:
    """What can go on at once, the key hidden; and the end of it that may be the beginning of the key."""
    if not key:
        return data, b""
    data = data.replace(key, HIDDEN.encode())
    begun = next((size for size in range(min(len(key) - 1, len(data)), 0, -1) if data.endswith(key[:size])), 0)
    return data[: len(data) - begun], data[len(data) - begun :]
