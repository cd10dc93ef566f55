"""`whet serve`: a champion behind an OpenAI-compatible endpoint, and its next version as soon as it is promoted.

    POST /v1/chat/completions   the champion's playbook is applied to every request (`whet.release.upstream`)
    POST /decide                a ticket's decision, where the environment has an intake (`whet.release.endpoint`)
    GET  /v1/models             the champion, with its version
    GET  /health                whether it serves, and since when

A request is answered by the version that was the champion when it came in; promoted or rolled back meanwhile, the next
one is answered by the other, and the model of the old one is closed when its last answer is out.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import signal
import socket
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import orjson
from aiohttp import web

from whet.errors import BudgetReached, WhetError
from whet.outside import KEYS, shown_line
from whet.release.answerer import open_champion
from whet.release.champion import RELEASES, Champion, Champions
from whet.release.chat import ChatAsk, ChatError
from whet.release.endpoint import DecisionDoor
from whet.release.meter import open_purse
from whet.release.trail import FILE as TRAIL
from whet.release.upstream import CHAMPION, Upstream, upstream_of

if TYPE_CHECKING:
    from aiohttp.typedefs import Handler, Middleware

    from whet.rollout.purse import Purse

LOOK = 0.25
"""Seconds between two looks at whether another version is the champion."""

GRACE = 30.0
"""Seconds that answers under way are waited for when the server is told to stop."""

MOST_BODY = 64 << 20
BACKLOG = 1024
LOOPBACK = ("127.0.0.1", "localhost", "::1")

Tell = Callable[[str], None]


@dataclass(slots=True)
class Shift:
    """One version at work: its model, and how many answers it still owes."""

    champion: Champion
    upstream: Upstream
    since: float = field(default_factory=time.time)
    under_way: int = 0
    over: bool = False

    @asynccontextmanager
    async def busy(self) -> AsyncIterator[Upstream]:
        self.under_way += 1
        try:
            yield self.upstream
        finally:
            self.under_way -= 1
            if self.over and not self.under_way:
                await self.upstream.close()

    async def end(self) -> None:
        """No further request comes; the model is closed once the last answer is out."""
        self.over = True
        if not self.under_way:
            await self.upstream.close()


@dataclass(slots=True)
class ChampionDesk:
    """Who serves now, and the look for who is next."""

    champions: Champions
    name: str
    purse: Purse
    base_url: str
    tell: Tell
    now: Shift = field(init=False)
    trouble: str = ""
    """Why the newest version is not served; '' where it is."""
    stopping: bool = False
    cut: int = 0
    """Answers that were cut off because the server stops."""
    _seen: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self._seen = self._signature()
        self.now = self._shift(self.champions.get(self.name))

    def _shift(self, champion: Champion) -> Shift:
        model = open_champion(champion, self.champions.place(champion), self.base_url)
        if self.purse.limits.usd is not None and model.price is None and not model.unpaid:
            raise WhetError(
                f"{champion.title}: no price is known for its model, so a budget in dollars cannot be kept; limit the "
                "tokens instead: --max-tokens"
            )
        return Shift(champion, upstream_of(champion, model, self.purse))

    def _signature(self) -> tuple[int, ...]:
        """What changes whenever the trail does."""
        parts: list[int] = []
        for name in (TRAIL, f"{TRAIL}-wal"):
            with suppress(OSError):
                told = (self.champions.folder / name).stat()
                parts += [told.st_ino, told.st_size, told.st_mtime_ns]
        return tuple(parts)

    async def watch(self) -> None:
        """Switch over whenever another version is the champion; what cannot be opened leaves the old one at work."""
        while True:
            await asyncio.sleep(LOOK)
            signature = self._signature()
            if signature == self._seen:
                continue
            self._seen = signature
            try:
                await self._switch()
            except Exception as problem:  # noqa: BLE001 - whatever it is: a look that fails must not be the last one
                told = (
                    str(problem) if isinstance(problem, WhetError | OSError) else f"{type(problem).__name__}: {problem}"
                )
                if told != self.trouble:
                    self.trouble = told
                    self.tell(f"{self.now.champion.title} is served on: {shown_line(told, 400)}")
                self._seen = ()  # it may be mended without another entry in the trail

    async def _switch(self) -> None:
        """Serve whoever is the champion now."""
        champion = await asyncio.to_thread(self.champions.get, self.name)
        if champion.digest == self.now.champion.digest:
            self.trouble = ""
            return
        old, self.now = self.now, await asyncio.to_thread(self._shift, champion)
        self.trouble = ""
        self.tell(f"{champion.title} serves from now on, in place of {old.champion.title}")
        await old.end()


@dataclass(slots=True)
class ServingCounts:
    """What a server has done since it began."""

    requests: int = 0
    answered: int = 0
    refused: int = 0


@dataclass(frozen=True, slots=True)
class ChampionServer:
    """What is answered at each address; with a token, to whoever has it."""

    desk: ChampionDesk
    token: str
    counts: ServingCounts

    async def complete(self, request: web.Request) -> web.StreamResponse:
        desk, counts = self.desk, self.counts
        counts.requests += 1
        try:
            ask = ChatAsk.read(await request.read())
            _refuse_other_model(ask, desk.name)
            async with desk.now.busy() as upstream:
                answer = await upstream.answer(ask, request)
        except ChatError as problem:
            counts.refused += 1
            return _refusal(problem, desk)
        except BudgetReached as reached:
            counts.refused += 1
            return _refusal(ChatError(429, "budget_reached", str(reached), "insufficient_quota"), desk)
        except asyncio.CancelledError:
            desk.cut += desk.stopping
            raise
        counts.answered += 1
        return answer

    async def models(self, request: web.Request) -> web.Response:
        shift = self.desk.now
        model = {
            "id": self.desk.name,
            "object": "model",
            "created": int(shift.since),
            "owned_by": "whet",
            "champion": shift.champion.title,
            "digest": shift.champion.digest,
        }
        return _json({"object": "list", "data": [model]})

    async def health(self, request: web.Request) -> web.Response:
        if self.token and not _has_token(request, self.token):
            return _json({"status": "ok"})
        shift, counts = self.desk.now, self.counts
        told: dict[str, object] = {
            "status": "ok",
            "champion": shift.champion.title,
            "digest": shift.champion.digest,
            "model": shift.champion.target["model"],
            "since": shift.since,
            "under_way": shift.under_way,
            "requests": counts.requests,
            "answered": counts.answered,
            "refused": counts.refused,
            "trouble": self.desk.trouble,
        }
        return _json(told)


def build_app(desk: ChampionDesk, token: str = "") -> web.Application:
    """The server of a champion: chat, who answers, how it is, and decisions on tickets."""
    server = ChampionServer(desk, token, ServingCounts())
    app = web.Application(client_max_size=MOST_BODY, middlewares=[_door(token)])
    app.router.add_post("/v1/chat/completions", server.complete)
    app.router.add_get("/v1/models", server.models)
    app.router.add_get("/health", server.health)
    tickets = DecisionDoor(lambda: desk.now.champion, desk.champions.folder, desk.base_url, desk.purse)
    app.router.add_post("/decide", tickets.answer)
    app.on_cleanup.append(tickets.close)
    return app


def _refuse_other_model(ask: ChatAsk, name: str) -> None:
    told = ask.fields.get("model", name)
    if told != name:
        raise ChatError(404, "model_not_found", f"there is no model {str(told)[:80]!r} here: ask for {name!r}")


def _refusal(problem: ChatError, desk: ChampionDesk) -> web.Response:
    headers = {CHAMPION: desk.now.champion.title}
    body = KEYS.hide_bytes(problem.body)
    return web.Response(body=body, status=problem.status, content_type="application/json", headers=headers)


def _json(value: Mapping[str, object]) -> web.Response:
    return web.Response(body=orjson.dumps(value), content_type="application/json")


# --------------------------------------------------------------------------------------------- who may ask


def _door(token: str) -> Middleware:
    """Without a token, programs of this machine alone: no page of another site, whatever a name server says."""

    @web.middleware
    async def pass_by(request: web.Request, handler: Handler) -> web.StreamResponse:
        if token:
            if request.path != "/health" and not _has_token(request, token):
                return _barred(401, "invalid_api_key", "a token is needed: Authorization: Bearer TOKEN")
        elif not _is_here(f"//{request.host}"):
            return _barred(403, "not_here", "this server answers programs of this machine alone")
        elif not _is_here(request.headers.get("origin", "//localhost")):
            return _barred(403, "not_here", "a page of another site asks; this server answers programs")
        try:
            return await handler(request)
        except web.HTTPRequestEntityTooLarge:
            return _barred(413, "too_large", f"a request has at most {MOST_BODY >> 20} MiB")
        except web.HTTPException as problem:
            return _barred(
                problem.status, "no_such_path", f"{request.method} {request.path}: there is no such thing here"
            )

    return pass_by


def _has_token(request: web.Request, token: str) -> bool:
    scheme, _, told = request.headers.get("authorization", "").partition(" ")
    return scheme.lower() == "bearer" and hmac.compare_digest(told.strip().encode(), token.encode())


def _is_here(url: str) -> bool:
    try:
        host = urlsplit(url).hostname or ""
        return host in LOOPBACK or ip_address(host).is_loopback
    except ValueError:
        return False


def _barred(status: int, code: str, message: str) -> web.Response:
    return web.Response(body=ChatError(status, code, message).body, status=status, content_type="application/json")


# --------------------------------------------------------------------------------------------- at work


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """Where a champion is served, and for how much."""

    host: str = "127.0.0.1"
    port: int = 8421
    token: str = ""
    base_url: str = ""
    usd: float | None = None
    tokens: int | None = None
    calls: int | None = None


def serve(name: str, options: ServeOptions, tell: Tell, releases: Path = RELEASES) -> None:
    """Serve a champion until the process is told to stop; answers under way are finished first."""
    champions = Champions(releases)
    champions.get(name)  # an unknown one is refused before anything is opened
    token = options.token or ("" if options.host in LOOPBACK else secrets.token_urlsafe(24))
    if token:
        KEYS.add(token)
    door = _listen(options.host, options.port)
    with door:
        asyncio.run(_serve(champions, name, options, token, door, tell))


async def _serve(
    champions: Champions, name: str, options: ServeOptions, token: str, door: socket.socket, tell: Tell
) -> None:
    with open_purse(champions.folder / name, usd=options.usd, tokens=options.tokens, calls=options.calls) as purse:
        desk = ChampionDesk(champions, name, purse, options.base_url, tell)
        runner = web.AppRunner(
            build_app(desk, token), access_log=None, shutdown_timeout=GRACE, handler_cancellation=True
        )
        await runner.setup()
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        await web.SockSite(runner, door, backlog=BACKLOG).start()
        host = f"[{options.host}]" if ":" in options.host else options.host
        tell(f"{desk.now.champion.title} at http://{host}:{door.getsockname()[1]}/v1, model name {name!r}")
        if desk.now.champion.policy.sampling.votes > 1:
            tell("it was measured with votes, and an endpoint answers with one draw: ask for several with n")
        if token and not options.token:
            tell(f"whoever asks needs this token: {token}")
        watch = asyncio.create_task(desk.watch())
        try:
            await stop.wait()
        finally:
            desk.stopping = True
            watch.cancel()
            with suppress(asyncio.CancelledError):
                await watch
            await runner.cleanup()
            await desk.now.end()
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)
    late = f"{desk.cut} answers were not out after {GRACE:.0f} seconds, and were cut off"
    tell(f"stopped; {late if desk.cut else 'every answer that was begun is out'}")


def _listen(host: str, port: int) -> socket.socket:
    """A socket that listens; a port that another program has is one line."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    door = socket.socket(family, socket.SOCK_STREAM)
    try:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        door.bind((host, port))
        door.listen(BACKLOG)  # two that start at once both bind; one of them listens
        door.setblocking(False)
    except (OSError, OverflowError) as problem:
        door.close()
        told = getattr(problem, "strerror", None) or problem
        raise WhetError(
            f"{host}:{port} cannot be listened on ({told}); name another with --port, or 0 for a free one"
        ) from None
    return door
