"""Who may look: this machine alone, or whoever has the token. Every answer says what a page may load and run."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "whet_token"

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)

LOOPBACK = ("127.0.0.1", "localhost", "[::1]", "::1")


@dataclass(frozen=True, slots=True)
class DoorGuard:
    """Stands before every page. Without a token only addresses of this machine are answered, whatever a name server
    says they are; with one, a request brings it in its address once, and in a cookie from then on."""

    app: App
    token: str = ""
    writes: frozenset[str] = frozenset()
    """Places that whoever has the token may post to; without a token nothing can be changed."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if scope["method"] not in ("GET", "HEAD") and not self._may_write(scope, headers):
            await _say(send, 405, "nothing can be changed here")
        elif not self.token and _host(headers.get("host", "")) not in LOOPBACK:
            await _say(send, 403, "this viewer answers on this machine alone")
        elif _from_elsewhere(headers):
            await _say(send, 403, "another site asks for this; open it by its address")
        elif self.token and not self._known(headers.get("cookie", "")):
            await self._ask(scope, send)
        else:
            await self.app(scope, receive, _with_headers(send))

    def _may_write(self, scope: Scope, headers: Mapping[str, str]) -> bool:
        """Whether a post is one of ours: with the token, to a place that takes one, from a page of this very site."""
        if scope["method"] != "POST" or not self.token or scope.get("path") not in self.writes:
            return False
        # A page that sends no referrer posts with an origin of `null`; the browser itself says where it comes from.
        origin, own = headers.get("origin", "").partition("://")[2], headers.get("host", "")
        ours = headers.get("sec-fetch-site") == "same-origin" or (bool(own) and origin == own)
        return ours and self._known(headers.get("cookie", ""))

    def _known(self, cookie: str) -> bool:
        """Whether a cookie is ours. Other programs of this host set theirs as they like, so each is looked at alone."""
        pairs = (pair.strip().partition("=") for pair in cookie.split(";"))
        held = (value.strip('"') for name, _, value in pairs if name == COOKIE)
        return any(hmac.compare_digest(value.encode(), self.token.encode()) for value in held)

    async def _ask(self, scope: Scope, send: Send) -> None:
        words = parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
        told = dict(words).get("token", "")
        if not hmac.compare_digest(told.encode("utf-8", "replace"), self.token.encode()):
            await _say(send, 401, "a token is needed: open the address that 'whet view' printed")
            return
        rest = urlencode([(name, value) for name, value in words if name != "token"])
        place = f"{scope.get('path', '/')}{'?' + rest if rest else ''}"
        if place.startswith("//"):
            place = "/"
        cookie = f"{COOKIE}={self.token}; HttpOnly; SameSite=Strict; Path=/"
        more = ((b"location", place.encode("latin-1", "replace")), (b"set-cookie", cookie.encode()))
        await _say(send, 303, "", more)


def _from_elsewhere(headers: Mapping[str, str]) -> bool:
    """Whether a page of another site loads this as a part of itself; a link that a person follows is no such thing."""
    foreign = headers.get("sec-fetch-site", "") in ("cross-site", "same-site")
    return foreign and headers.get("sec-fetch-mode") != "navigate"


def _host(told: str) -> str:
    if told.startswith("["):
        return told.partition("]")[0] + "]"
    return told.rpartition(":")[0] if told.count(":") == 1 else told


async def _say(send: Send, status: int, line: str, more: tuple[tuple[bytes, bytes], ...] = ()) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), *HEADERS, *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": line.encode()})


def _with_headers(send: Send) -> Send:
    async def sends(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            told = {name for name, _ in message["headers"]}
            message["headers"] = [*message["headers"], *(pair for pair in HEADERS if pair[0] not in told)]
        await send(message)

    return sends
