"""The only way out of an agent's walls, tried with bytes that no client library would send."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web
from yarl import URL

from whet.models.agent.proxy import KeyProxy
from whet.models.secrets import EnvKey

KEY = "sk-real-0123456789abcdef0123456789abcdef"


class Scene:
    """A service, somebody else's server, and the proxy between the agent and the first of them."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.asked: list[str] = []
        self.elsewhere: list[str] = []
        self._runners: list[web.ServerRunner] = []

    async def __aenter__(self) -> Scene:
        self.other = await self._serve(self._steal)
        service = await self._serve(self._answer)
        self.proxy = KeyProxy(URL(f"http://127.0.0.1:{service}{self.base}"), {"KEY": EnvKey("PROXY_TEST_KEY")})
        listener = socket.create_server(("127.0.0.1", 0))
        self.port = listener.getsockname()[1]
        await self.proxy.start(listener)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.proxy.close()
        for runner in self._runners:
            await runner.cleanup()

    async def _serve(self, handler: Callable[[Any], Awaitable[web.StreamResponse]]) -> int:
        runner = web.ServerRunner(web.Server(handler), shutdown_timeout=0.1)
        self._runners.append(runner)
        await runner.setup()
        listener = socket.create_server(("127.0.0.1", 0))
        await web.SockSite(runner, listener).start()
        port: int = listener.getsockname()[1]
        return port

    async def _steal(self, request: web.BaseRequest) -> web.StreamResponse:
        self.elsewhere.append(str(request.headers))
        return web.Response(text="stolen")

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        self.asked.append(request.raw_path)
        name = request.path.rpartition("/")[2]
        if name == "echo":
            return web.Response(text=str(dict(request.headers)))
        if name == "count":
            return web.Response(text=f"[{len(await request.read())}]")
        told = web.StreamResponse(status=400 if name == "trouble" else 200)
        await told.prepare(request)
        for part in (b"first ", b"second ", KEY[:9].encode(), KEY[9:].encode()):
            await told.write(part)
            await asyncio.sleep(0.05)
            if name == "cut" and request.transport is not None:
                request.transport.abort()
        return told

    async def says(self, line: str, *headers: str, body: bytes = b"", seconds: float = 10.0) -> str:
        """All that comes back for a request, up to the end of the connection."""
        token = f"Authorization: Bearer {self.proxy.tokens['KEY']}"
        head = "\r\n".join((f"{line} HTTP/1.1", "Host: x", "Connection: close", token, *headers, "", ""))
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(head.encode() + body)
        async with asyncio.timeout(seconds):
            told = await reader.read()
        writer.close()
        return told.decode(errors="replace")


def played(base: str, story: Callable[[Scene], Awaitable[None]]) -> Scene:
    async def play() -> Scene:
        async with Scene(base) as scene:
            await story(scene)
        return scene

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROXY_TEST_KEY", KEY)
        return asyncio.run(play())


@pytest.mark.parametrize("base", ["", "/v1"])
def test_no_spelling_of_an_address_leads_to_another_host_or_path(base: str) -> None:
    async def story(scene: Scene) -> None:
        other = f"127.0.0.1:{scene.other}"
        lines = [f"GET http://{other}{base}/x", f"GET //{other}{base}/x", f"CONNECT {other}", f"GET /\\{other}/x"]
        lines += [f"GET {base}/..%2f..%2fadmin", f"GET {base}/%2e%2e/admin", "OPTIONS *", f"TRACE {base}/echo"]
        for line in lines:
            assert (await scene.says(line)).startswith("HTTP/1.1 403"), line

    scene = played(base, story)
    assert (scene.asked, scene.elsewhere) == ([], [])


def test_an_answer_that_repeats_the_key_comes_without_it() -> None:
    async def story(scene: Scene) -> None:
        for name in ("echo", "parts", "trouble"):
            told = await scene.says(f"GET /v1/{name}", "Accept-Encoding: gzip")
            assert KEY not in told.replace("\r\n", ""), name
            assert "***" in told, name

    played("/v1", story)


def test_an_error_that_comes_in_parts_is_passed_on_whole() -> None:
    async def story(scene: Scene) -> None:
        assert "first second ***" in await scene.says("GET /v1/trouble")

    played("/v1", story)


def test_an_answer_that_breaks_off_breaks_off_for_the_agent_too() -> None:
    async def story(scene: Scene) -> None:
        told = await scene.says("GET /v1/cut")
        assert "first" in told
        assert "502" not in told
        assert not told.endswith("0\r\n\r\n")

    played("/v1", story)


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        (("Expect: 100-continue", "Content-Length: 3"), b"abc"),
        (("Transfer-Encoding: chunked",), b"3\r\nabc\r\n0\r\n\r\n"),
    ],
)
def test_bodies_arrive_however_they_are_sent(headers: tuple[str, ...], body: bytes) -> None:
    async def story(scene: Scene) -> None:
        assert "[3]" in await scene.says("POST /v1/count", *headers, body=body)

    played("/v1", story)


def test_two_requests_in_one_are_refused_and_nobody_at_the_host_reads_of_it(caplog: pytest.LogCaptureFixture) -> None:
    async def story(scene: Scene) -> None:
        smuggled = b"0\r\n\r\nGET /v1/echo HTTP/1.1\r\n\r\n"
        told = await scene.says("POST /v1/count", "Content-Length: 5", "Transfer-Encoding: chunked", body=smuggled)
        assert " 400 " in told.partition("\n")[0]

    assert played("/v1", story).asked == []
    assert caplog.text == ""


def test_an_agent_that_opens_connections_without_end_takes_no_more_than_its_share_of_open_files() -> None:
    async def story(scene: Scene) -> None:
        opened = [await asyncio.open_connection("127.0.0.1", scene.port) for _ in range(100)]
        turned_away = opened[-1][0]
        assert await asyncio.wait_for(turned_away.read(), 10) == b""
        for _, writer in opened:
            writer.close()
        await asyncio.sleep(0.1)
        assert "200 OK" in await scene.says("GET /v1/echo")

    played("/v1", story)
