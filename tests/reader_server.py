"""The embedded reader as a vision endpoint on loopback: OpenAI's `/v1/chat/completions` with one image as a data URL.

    with serving_reader(load_packs()) as server:
        ...                                            # any OpenAI-compatible client at server.base_url

So the client that talks to a vision model can be exercised, and tried out, without one.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import orjson
from aiohttp import web

from whet.envs.groupqc.pack.schema import Pack
from whet.errors import WhetError
from whet.keys import bytes_digest

LARGEST = 64 * 1024 * 1024
"""Bytes of one request."""


class _Refusal(Exception):
    """A request that cannot be answered, as the API says it."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message


class ReaderServer:
    """Answers for several packs: the mission named in the request decides which one is meant."""

    def __init__(self, packs: Sequence[Pack], port: int = 0) -> None:
        from whet.envs.groupqc.reader.reader import NAME, PhotoReader

        if not packs:
            raise WhetError("the reader needs at least one pack to serve")
        self.name = NAME
        self.asked = 0
        self._readers = [(pack, PhotoReader(pack)) for pack in packs]
        self._port = port
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="reader")
        self._runner: web.AppRunner | None = None

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    async def start(self) -> None:
        app = web.Application(client_max_size=LARGEST)
        app.router.add_post("/v1/chat/completions", self._complete)
        app.router.add_get("/v1/models", self._models)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        try:
            await site.start()
        except OSError as problem:
            raise WhetError(f"cannot listen on 127.0.0.1:{self._port}: {problem.strerror}") from None
        self._port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
        self._pool.shutdown()

    async def _models(self, request: web.Request) -> web.Response:
        return _json(200, {"object": "list", "data": [{"id": self.name, "object": "model", "owned_by": "whet"}]})

    async def _complete(self, request: web.Request) -> web.Response:
        self.asked += 1
        try:
            image, text = _asked(await request.read())
            answer = await asyncio.get_running_loop().run_in_executor(self._pool, self._read, image, text)
        except _Refusal as no:
            error = {"message": no.message, "type": "invalid_request_error", "code": no.code}
            return _json(no.status, {"error": error})
        return _json(200, _completion(self.name, image, text, answer))

    def _read(self, image: bytes, text: str) -> str:
        from whet.envs.groupqc.reader.reader import NotAnImage

        named = [(len(m.name), reader) for pack, reader in self._readers for m in pack.missions if m.name in text]
        reader = max(named, key=lambda named_reader: named_reader[0])[1] if named else self._readers[0][1]
        try:
            return reader.read(image)
        except NotAnImage as problem:
            raise _Refusal(400, "invalid_image", str(problem)) from None


def _asked(body: bytes) -> tuple[bytes, str]:
    """The image and the text of a request."""
    try:
        messages = orjson.loads(body)["messages"]
        parts = [part for message in messages for part in _parts(message)]
        urls = [str(part["image_url"]["url"]) for part in parts if part.get("type") == "image_url"]
        text = "\n".join(str(part.get("text", "")) for part in parts if part.get("type") == "text")
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
        raise _Refusal(400, "invalid_body", "the body is not a chat request") from None
    if len(urls) != 1:
        raise _Refusal(400, "one_image", f"the reader takes exactly one image, this request has {len(urls)}")
    head, comma, data = urls[0].partition(",")
    if not comma or not head.startswith("data:") or not head.endswith(";base64"):
        raise _Refusal(400, "invalid_image", "the image must be a base64 data URL: nothing is fetched")
    try:
        return base64.b64decode(data, validate=True), text
    except binascii.Error:
        raise _Refusal(400, "invalid_image", "the data URL is not base64") from None


def _parts(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _completion(name: str, image: bytes, text: str, answer: str) -> dict[str, Any]:
    """A chat completion whose id depends on what was asked alone."""
    asked, said = len(text) // 2 + 765, max(1, len(answer) // 2)
    return {
        "id": f"chatcmpl-{bytes_digest(image + text.encode())}",
        "object": "chat.completion",
        "created": 0,
        "model": name,
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": answer}, "finish_reason": "stop", "logprobs": None}
        ],
        "usage": {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said},
    }


def _json(status: int, body: Mapping[str, Any]) -> web.Response:
    return web.Response(status=status, body=orjson.dumps(body), content_type="application/json")


@contextlib.contextmanager
def serving_reader(packs: Sequence[Pack], port: int = 0) -> Iterator[ReaderServer]:
    """A server in a thread of its own, ready when the block begins and gone when it ends."""
    server = ReaderServer(packs, port)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="reader-server", daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.start(), loop).result()
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
