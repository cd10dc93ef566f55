"""One HTTP endpoint: a kept-alive session of the running loop, a key, a size limit, and errors with names."""

from __future__ import annotations

import asyncio
import errno
import ssl
import urllib.request
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Literal

import aiohttp
import orjson
from yarl import URL

from whet.errors import FaultError, WhetError, host_words
from whet.models.base import Meter
from whet.models.chat.json_body import decoded
from whet.models.chat.reach import NoAnswer, Reach
from whet.models.chat.retry import Trouble
from whet.models.options import ModelOptions
from whet.models.secrets import Key, Secret, quoted
from whet.outside import KEYS
from whet.types import Fault


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """What came back: `status` may be any, `body` is whole; `secret` is the key that it was asked with."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    secret: Secret | None = None

    def quote(self, text: str) -> str:
        """`text` of this answer, fit for an error message."""
        return quoted(text, self.secret)


class ConnectionRefusal(WhetError):
    """A connection that this side does not make, or cannot: nothing has been sent."""


OK = 200
_RESERVED = ("model", "messages", "stream", "n", "best_of", "tools")

_TOKEN_LIMITS = (
    *("max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens", "n_predict", "num_predict"),
)
"""Body fields by which a reply could grow past what was reserved for it."""

Auth = Literal["bearer", "api-key", "x-api-key"]
"""The header that carries a key."""

CONNECT = 20.0
"""Seconds for a connection, at most: a host that is there takes far less."""


class Endpoint:
    """Posts JSON to `url`. One attempt each: lost connections and timeouts are `Trouble`, statuses are not judged."""

    def __init__(
        self, url: URL, key: Key, auth: Auth, options: ModelOptions, headers: Mapping[str, str] | None = None
    ) -> None:
        self.where = str(url.with_query(None))
        self.key = key
        self._url = url
        self._auth = auth
        self._fixed = dict(headers or {})
        self._limit = options.max_reply_bytes
        self._connections = options.connections
        self._seconds = options.timeout
        self._timeout = aiohttp.ClientTimeout(total=options.timeout, sock_connect=min(CONNECT, options.timeout))
        self._proxy = proxy_for(url)
        self._reach = Reach(self.where, self._knock)
        self._session: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._slots = asyncio.Semaphore(options.connections)

    async def post(self, body: bytes, meter: Meter | None = None) -> HttpAnswer:
        """The answer to one attempt; a key that was refused and can be renewed gets a second chance at once."""
        return await self._tried("POST", body, meter)

    async def ask(
        self, body: bytes, inner_status: Callable[[Any], int], meter: Meter | None = None
    ) -> tuple[HttpAnswer, int, Any]:
        """The answer to one attempt, what its status amounts to, and its decoded body where that is `OK`.

        `inner_status` reads the status of an error that came under a 2xx, as gateways send it; 0 where there is none.
        """
        answer = await self.post(body, meter)
        if not 200 <= answer.status < 300:
            return answer, answer.status, None
        data = decoded(answer.body, answer.quote)
        return answer, inner_status(data) or OK, data

    @asynccontextmanager
    async def relay(self, body: bytes) -> AsyncIterator[aiohttp.ClientResponse]:
        """The answer as it comes in, for whoever hands it on: any status, no retry, a limit on each silence alone."""
        silence = aiohttp.ClientTimeout(total=None, sock_connect=self._timeout.sock_connect, sock_read=self._seconds)
        headers = self._headers(await self.key.secret())
        how: Any = {"allow_redirects": False, "proxy": self._proxy, "timeout": silence}
        async with self._bind().post(self._url, data=body, headers=headers, **how) as response:
            yield response

    async def get(self) -> HttpAnswer:
        """The same without a body, as a GET."""
        return await self._tried("GET", None)

    def slots(self) -> asyncio.Semaphore:
        """Held for a whole call, waits included: a call that is told to slow down keeps others from rushing in.

        Waiting for a connection is so no part of an attempt, whose timeout is for the server alone.
        """
        self._bind()
        return self._slots

    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None and self._loop is asyncio.get_running_loop():
            await session.close()

    def _bind(self) -> aiohttp.ClientSession:
        """The session of the running loop. One of an earlier loop is let go: only there could it be closed."""
        loop = asyncio.get_running_loop()
        if self._session is None or self._loop is not loop:
            if self._session is not None:
                self._session.detach()
            connector = aiohttp.TCPConnector(limit=self._connections, ttl_dns_cache=300)
            jar = aiohttp.DummyCookieJar()
            self._session = aiohttp.ClientSession(connector=connector, cookie_jar=jar, timeout=self._timeout)
            self._slots = asyncio.Semaphore(self._connections)
            self._reach = Reach(self.where, self._knock)
            self._loop = loop
        return self._session

    async def _tried(self, method: str, body: bytes | None, meter: Meter | None = None) -> HttpAnswer:
        out = False

        async def send() -> HttpAnswer:
            nonlocal out
            out = True
            return await self._send(method, body, secret)

        try:
            secret = await self.key.secret()
            self._bind()
            answer = await self._reach.attempt(send)
        except BaseException as error:
            # Without a key, a certificate or a turn nothing has gone out, so there is nothing that could be billed.
            if meter is not None and (not out or isinstance(error, ConnectionRefusal)):
                meter.fail(sent=False)
            raise
        if answer.status == 401 and self.key.renew(secret):
            if meter is not None:
                await meter.again()
            answer = await self._send(method, body, await self.key.secret())
        return answer

    async def _knock(self) -> None:
        """Whether anybody is there: a connection, and no word."""
        there = URL(self._proxy) if self._proxy else self._url
        secure = ssl.create_default_context() if there.scheme == "https" else None
        try:
            async with asyncio.timeout(min(CONNECT, self._seconds)):
                _, writer = await asyncio.open_connection(there.host, there.port, ssl=secure)
        except TimeoutError as error:
            raise self._unanswered(f"no connection within {min(CONNECT, self._seconds):g} s") from error
        except ssl.SSLError as error:
            raise self._insecure(error) from error
        except OSError as error:
            raise self._no_connection(error, sent=False) from error
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()

    def _insecure(self, error: Exception) -> ConnectionRefusal:
        told = quoted(str(error))
        if isinstance(error, ssl.CertificateError):
            return ConnectionRefusal(f"{self.where}: its TLS certificate is not trusted: {told}")
        return ConnectionRefusal(f"{self.where}: it does not speak TLS as https needs it; is it http? ({told})")

    def _unanswered(self, told: str, *, sent: bool = False) -> NoAnswer:
        by = f" by the proxy {URL(self._proxy).origin()} that the environment names" if self._proxy else ""
        return NoAnswer("connection", quoted(told) + by, sent=sent)

    def _no_connection(self, error: OSError | aiohttp.ClientError, *, sent: bool = True) -> Exception:
        """The error of a connection that did not come about; where this machine is at its limit, one to mend."""
        if getattr(error, "errno", None) in (errno.EMFILE, errno.ENFILE, errno.ENOMEM):
            return ConnectionRefusal(host_words(OSError(error.errno, None), self.where))  # type: ignore[union-attr]
        return self._unanswered(f"no connection: {str(error) or type(error).__name__}", sent=sent)

    async def _send(self, method: str, body: bytes | None, secret: Secret | None) -> HttpAnswer:
        try:
            async with self._bind().request(
                method, self._url, data=body, headers=self._headers(secret), allow_redirects=False, proxy=self._proxy
            ) as response:
                whole = KEYS.hide_bytes(await self.read(response))
                return HttpAnswer(response.status, response.headers, whole, secret)
        except aiohttp.ClientConnectorCertificateError as error:
            raise self._insecure(error.certificate_error) from error
        except aiohttp.ClientConnectorSSLError as error:
            raise self._insecure(error.os_error) from error
        except aiohttp.ConnectionTimeoutError as error:
            raise self._unanswered(f"no connection within {min(CONNECT, self._seconds):g} s") from error
        except TimeoutError as error:
            raise Trouble("timeout", f"no whole answer within {self._seconds:g} s") from error
        except aiohttp.ClientPayloadError as error:
            lost = f"the connection was lost in the middle of the body: {quoted(str(error))}"
            raise Trouble("connection", lost) from error
        except aiohttp.ClientResponseError as error:
            raise Trouble("bad_reply", f"the HTTP exchange failed: {quoted(error.message)}") from error
        except aiohttp.ClientConnectorError as error:
            raise self._no_connection(error, sent=False) from error
        except (aiohttp.ClientConnectionError, ConnectionError) as error:
            raise self._no_connection(error) from error
        except (aiohttp.InvalidURL, ValueError) as error:
            raise WhetError(f"{quoted(self.where)}: cannot be posted to: {quoted(str(error))}") from error

    def _headers(self, secret: Secret | None) -> dict[str, str]:
        # Replies are short: not worth the time to compress, and a plain body keeps the size limit honest.
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity", **self._fixed}
        if secret is not None:
            if self._auth == "bearer":
                headers["Authorization"] = f"Bearer {secret.reveal()}"
            else:
                headers[self._auth] = secret.reveal()
        return headers

    async def read(self, response: aiohttp.ClientResponse) -> bytes:
        """The whole of an answer; one beyond the limit is a fault."""
        parts: list[bytes] = []
        size = 0
        while part := await response.content.readany():
            parts.append(part)
            size += len(part)
            if size > self._limit:
                response.close()
                told = f"the reply is larger than {self._limit} bytes (max_reply_bytes)"
                raise FaultError(Fault("reply_too_large", self.where, told))
        return b"".join(parts)


def check_options(options: ModelOptions) -> None:
    """Refuse options that no call could be made with."""
    for what in ("timeout", "attempts", "connections", "max_reply_bytes"):
        if getattr(options, what) <= 0:
            raise WhetError(f"{what} = {getattr(options, what)} must be above zero.")
    clash = [name for name in _RESERVED if name in options.extra]
    if clash:
        raise WhetError(f"extra must not set {', '.join(clash)}: the request itself does.")
    past = [name for name in _TOKEN_LIMITS if name in options.extra]
    if past:
        raise WhetError(f"extra must not set {', '.join(past)}: budgets go by sampling.max_tokens.")


def extra_tokens(options: ModelOptions) -> int:
    """The most tokens that fields of `extra` can add to a prompt: one for each byte of them."""
    return len(orjson.dumps(dict(options.extra), default=str)) if options.extra else 0


def base(text: str) -> URL:
    """A base URL that can be posted to; a password in it is refused, because URLs are shown."""
    try:
        url = URL(text.rstrip("/"))
    except ValueError as error:
        raise WhetError("base_url is not a URL: it must look like http://127.0.0.1:8000/v1.") from error
    if url.user or url.password:
        raise WhetError("base_url must not hold a user name or password: name the key with key_env instead.")
    if url.scheme not in ("http", "https") or not url.host:
        raise WhetError("base_url must begin with http:// or https://, as in http://127.0.0.1:8000/v1.")
    if not url.host.isprintable() or set(url.host) & set(' <>"\\^`{|}%'):
        raise WhetError("base_url has a host with characters that no host has: check it.")
    return url


def is_loopback(url: URL) -> bool:
    if url.host == "localhost":
        return True
    try:
        return ip_address(url.host or "").is_loopback
    except ValueError:
        return False


def proxy_for(url: URL) -> str | None:
    """The proxy that the environment names for this host, looked up once."""
    if is_loopback(url) or urllib.request.proxy_bypass(url.host or ""):
        return None
    named = urllib.request.getproxies().get(url.scheme)
    if named is None:
        return None
    proxy: URL | None = None
    with suppress(ValueError):
        proxy = URL(named)
    if proxy is None or proxy.scheme not in ("http", "https") or not proxy.host:
        variable = f"{url.scheme}_proxy"
        raise WhetError(f"the proxy in the environment variable {variable} is no http:// or https:// address: mend it.")
    return named
