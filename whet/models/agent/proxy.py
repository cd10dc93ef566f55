"""The only way out of an agent's walls: a proxy that adds the key, to one service and no other.

The agent has an address on its own loopback and a token that opens nothing anywhere else. Where the token stands in a
header of a request, the key takes its place on the way out; the agent never holds it.
"""

from __future__ import annotations

import secrets
import socket
from collections.abc import Mapping

import aiohttp
from aiohttp import web
from yarl import URL

from whet.models.chat.endpoint import proxy_for
from whet.models.secrets import Key, Secret

_HOP = frozenset(
    ("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer", "transfer-encoding")
) | {"upgrade", "host", "content-length"}
_MOST_ERROR = 1 << 20
"""Bytes of an error that are read, and searched for the key, before they are passed on."""


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
        self._runner = web.ServerRunner(web.Server(self._answer), shutdown_timeout=0.1)
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
        if not below or ".." in path.split("/") or "\\" in path or request.method == "CONNECT":
            return self._refusal(403, f"only {self._service} can be reached from here")
        if token is None and self._keys:
            return self._refusal(401, "the request does not carry the token that stands for the key")
        secret = await self._keys[token].secret() if token else None
        try:
            return await self._passed_on(request, token, secret)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            return self._refusal(502, f"the service cannot be reached ({type(error).__name__})")

    def _refusal(self, status: int, why: str) -> web.Response:
        self.refused += 1
        return web.json_response({"error": {"type": "whet_proxy", "message": why}}, status=status)

    async def _passed_on(
        self, request: web.BaseRequest, token: str | None, secret: Secret | None
    ) -> web.StreamResponse:
        assert self._session is not None
        self.calls += 1
        key = secret.reveal() if secret else ""
        headers = [
            (name, value.replace(token, key) if token else value)
            for name, value in request.headers.items()
            if name.lower() not in _HOP
        ]
        target = self._service.origin().join(URL(request.raw_path, encoded=True))
        body = request.content if request.can_read_body else None
        sent = self._session.request(
            request.method, target, headers=headers, data=body, allow_redirects=False, proxy=proxy_for(target)
        )
        async with sent as came:
            answer = web.StreamResponse(status=came.status, reason=came.reason)
            for name, value in came.headers.items():
                if name.lower() not in _HOP:
                    answer.headers.add(name, secret.scrub(value) if secret else value)
            await answer.prepare(request)
            if came.status >= 400 and secret is not None:
                told = (await came.content.read(_MOST_ERROR)).decode("utf-8", "surrogateescape")
                await answer.write(secret.scrub(told).encode("utf-8", "surrogateescape"))
            else:
                async for part in came.content.iter_any():
                    await answer.write(part)
            await answer.write_eof()
            return answer
