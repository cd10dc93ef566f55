"""An OpenAI-compatible server on loopback for tests and benches: deterministic answers, and faults on request.

    with serving() as server:                      # in a thread; `async with Loopback()` in a loop, or as a process:
        model = load_model("openai:any", ModelOptions(base_url=server.base_url))

    python tests/loopback.py --port 0 --solves 0.7 # prints its port as the first line

What it answers depends on the messages, the seed and nothing else. Sums ("17 + 25") are solved, as often as `solves`
says; a phrase in `taught` changes how often when it stands anywhere in the conversation. Faults come from a plan
(`server.plan`, POST /_plan), from the model's name (`fault-500`), or at a rate (`faults`). GET /_seen tells what it
saw. It is a bare protocol on purpose: a bench of a client should not measure its server.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import re
import subprocess
import sys
import threading
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

Json = dict[str, Any]

_SUM = re.compile(r"(-?\d+)\s*\+\s*(-?\d+)")
_REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}


@dataclass(frozen=True)
class Behaviour:
    """How the server answers. `faults` maps a fault's name to the share of requests that meet it."""

    solves: float = 1.0
    taught: Mapping[str, float] = field(default_factory=dict)
    latency: float = 0.0
    faults: Mapping[str, float] = field(default_factory=dict)
    remember: bool = True
    slow_failures: float = 0.0
    """Seconds that a wrong answer takes longer than a right one."""


@dataclass(frozen=True)
class Response:
    """What goes out. Where `withheld` bytes at its end do not, the connection is closed after the rest."""

    status: int
    body: bytes
    headers: str = ""
    withheld: int = 0
    stalls: bool = False
    endless: bool = False
    delay: float = 0.0
    media: str = "application/json"

    def wire(self) -> bytes:
        kind = f"Content-Type: {self.media}"
        head = f"HTTP/1.1 {self.status} {_REASONS.get(self.status, 'Status')}\r\n{kind}\r\n{self.headers}"
        if self.endless:
            return f"{head}Transfer-Encoding: chunked\r\n\r\n{len(self.body):x}\r\n".encode() + self.body + b"\r\n"
        whole = f"{head}Content-Length: {len(self.body)}\r\n\r\n".encode() + self.body
        return whole[: max(0, len(whole) - self.withheld)]


class Loopback:
    """The server: its plan of what to do next, and its memory of what it saw."""

    def __init__(self, behaviour: Behaviour = Behaviour()) -> None:
        self.behaviour = behaviour
        self.plan: deque[Any] = deque()
        self.seen: list[Json] = []
        self.requests = 0
        self.port = 0
        self.connections: set[asyncio.Transport] = set()
        self._met: Counter[bytes] = Counter()
        self._server: asyncio.Server | None = None

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def start(self, port: int = 0) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Connection(self), "127.0.0.1", port, backlog=4096)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        for transport in list(self.connections):
            transport.abort()
        await self._server.wait_closed()

    async def __aenter__(self) -> Loopback:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    def respond(self, method: str, path: str, headers: bytes, body: bytes) -> Response:
        if path.endswith("/chat/completions"):
            self.requests += 1
            fields = orjson.loads(body)
            if self.behaviour.remember:
                self.seen.append({"path": path, "headers": _headers(headers), "body": fields})
            step = self._step(fields, body)
            return completion(fields, self.behaviour) if step is None else planned(step, fields, self.behaviour)
        if path == "/_seen":
            return _json({"requests": self.requests, "connections": len(self.connections), "seen": self.seen})
        if path == "/_plan" and method == "POST":
            self.plan.extend(orjson.loads(body)["steps"])
            return _json({"planned": len(self.plan)})
        return _json({"error": {"message": f"no such path: {path}"}}, 404)

    def _step(self, fields: Json, body: bytes) -> Any:
        """What to do other than answer: by plan, by the model's name, or by a rate that a retry draws anew."""
        if self.plan:
            step = self.plan.popleft()
            return None if step == "ok" else step
        if fields["model"].startswith("fault-"):
            return fields["model"].removeprefix("fault-")
        if self.behaviour.faults:
            self._met[body] += 1
            left = share(body, self._met[body])
            for name, rate in self.behaviour.faults.items():
                if left < rate:
                    return name
                left -= rate
        return None


class Connection(asyncio.Protocol):
    """HTTP/1.1 with keep-alive, as much of it as a JSON client speaks."""

    def __init__(self, server: Loopback) -> None:
        self.server = server
        self.buffer = b""
        self.transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.server.connections.add(transport)

    def connection_lost(self, error: Exception | None) -> None:
        self.server.connections.discard(self.transport)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            head = self.buffer[:end]
            size = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
            after = end + 4 + (int(size[1]) if size else 0)
            if len(self.buffer) < after:
                return
            body, self.buffer = self.buffer[end + 4 : after], self.buffer[after:]
            method, target, _ = head.partition(b"\r\n")[0].decode().split(" ", 2)
            response = self.server.respond(method, target.partition("?")[0], head, body)
            delay = self.server.behaviour.latency + response.delay
            if delay:
                asyncio.get_running_loop().call_later(delay, self.send, response)
            else:
                self.send(response)

    def send(self, response: Response) -> None:
        if response.stalls or self.transport.is_closing():
            return
        self.transport.write(response.wire())
        if response.withheld:
            self.transport.close()


# --------------------------------------------------------------------------------------------- answers


def share(*parts: Any) -> float:
    """A number in [0, 1) that depends on the parts alone."""
    text = b"\x1f".join(part if isinstance(part, bytes) else str(part).encode() for part in parts)
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") / 2**64


def completion(fields: Json, behaviour: Behaviour) -> Response:
    """The answer to a request, as a chat completion."""
    said = orjson.dumps(fields["messages"])
    seed = fields.get("seed") or 0
    choices, wrong = [], False
    for index in range(fields.get("n") or 1):
        number, text, right = answer(fields["messages"], said, seed + index, behaviour)
        wrong = wrong or not right
        message: Json = {"role": "assistant", "content": text}
        if fields.get("tool_choice") == "required":
            message = {"role": "assistant", "content": None, "tool_calls": [call(fields["tools"][0], number, text)]}
        choices.append({"index": index, "message": message, "finish_reason": "stop"})
    used = sum(len(choice["message"]["content"] or "") for choice in choices)
    usage = {"prompt_tokens": len(said) // 4, "completion_tokens": used, "total_tokens": len(said) // 4 + used}
    whole = _json(
        {"id": "chat-1", "object": "chat.completion", "model": fields["model"], "choices": choices, "usage": usage}
    )
    if fields.get("stream"):
        whole = streamed(fields["model"], choices, usage)
    return replace(whole, delay=behaviour.slow_failures) if wrong else whole


def streamed(model: str, choices: list[Json], usage: Json) -> Response:
    """The same as server-sent events: for each choice its message and its end, then what was used."""
    events: list[Json] = []
    for choice in choices:
        for delta, reason in ((choice["message"], None), ({}, choice["finish_reason"])):
            events.append({"choices": [{"index": choice["index"], "delta": delta, "finish_reason": reason}]})
    events.append({"choices": [], "usage": usage})
    named = ({"id": "chat-1", "object": "chat.completion.chunk", "created": 0, "model": model, **one} for one in events)
    body = b"".join(b"data: " + orjson.dumps(one) + b"\n\n" for one in named) + b"data: [DONE]\n\n"
    return Response(200, body, media="text/event-stream")


def answer(messages: list[Json], said: bytes, seed: int, behaviour: Behaviour) -> tuple[int, str, bool]:
    """A number, the text that says it, and whether it is right: a sum, true or one off, or a word drawn by hash."""
    drawn = share(said, seed)
    asked = messages[-1]["content"]
    found = _SUM.search(asked if isinstance(asked, str) else orjson.dumps(asked).decode())
    if found is None:
        return 0, f"word-{int(drawn * 1_000_000)}", True
    solves = next((rate for phrase, rate in behaviour.taught.items() if phrase.encode() in said), behaviour.solves)
    right = drawn < solves
    number = int(found[1]) + int(found[2]) + (0 if right else 1)
    return number, str(number), right


def call(tool: Json, number: int, text: str) -> Json:
    """A call of `tool` with the answer in every required argument."""
    schema = tool["function"]["parameters"]
    kinds = {name: schema["properties"][name].get("type", "string") for name in schema.get("required", ())}
    arguments = {name: text if kind == "string" else number for name, kind in kinds.items()}
    function = {"name": tool["function"]["name"], "arguments": orjson.dumps(arguments).decode()}
    return {"id": "call-1", "type": "function", "function": function}


def planned(step: Any, fields: Json, behaviour: Behaviour) -> Response:
    """A step of a plan: a fault by name, or `{"fault", "headers"}`, `{"body"}`, `{"raw"}`, `{"message", "finish"}`."""
    if isinstance(step, str):
        return fault(step, fields, behaviour)
    if "fault" in step:
        headers = "".join(f"{name}: {value}\r\n" for name, value in step.get("headers", {}).items())
        failed = fault(step["fault"], fields, behaviour)
        return Response(failed.status, failed.body, headers, failed.withheld, failed.stalls)
    if "body" in step:
        return _json(step["body"], step.get("status", 200))
    if "raw" in step:
        return Response(step.get("status", 200), step["raw"].encode())
    choice = {
        "index": 0,
        "message": {"role": "assistant", **step["message"]},
        "finish_reason": step.get("finish", "stop"),
    }
    return _json({"model": fields["model"], "choices": [choice], "usage": step.get("usage", {})})


def fault(name: str, fields: Json, behaviour: Behaviour) -> Response:
    """A fault by its name."""
    whole = completion(fields, behaviour)
    match name:
        case "cut":
            return Response(200, whole.body, withheld=len(whole.body) // 2)
        case "drop":
            return Response(200, b"", withheld=10**6)
        case "invalid":
            return Response(200, whole.body[:-20])
        case "empty":
            return _json({"model": fields["model"], "choices": [], "usage": {}})
        case "stall":
            return Response(200, b"", stalls=True)
        case "huge":
            return planned({"message": {"content": "x" * 10_000_000}}, fields, behaviour)
        case "flood":
            return Response(200, fault("huge", fields, behaviour).body, endless=True)
        case "401":
            return _json({"error": {"message": "Incorrect API key provided.", "code": "invalid_api_key"}}, 401)
        case "overflow":
            told = "This model's maximum context length is 2048 tokens. However, your messages resulted in 9000 tokens."
            return _json({"error": {"message": told, "code": "context_length_exceeded"}}, 400)
        case _:
            return _json({"error": {"message": f"planned {name}", "type": "planned"}}, int(name))


def _json(value: Json, status: int = 200) -> Response:
    return Response(status, orjson.dumps(value))


def _headers(head: bytes) -> dict[str, str]:
    lines = (line.partition(": ") for line in head.decode().split("\r\n")[1:])
    return {name.lower(): value for name, _, value in lines}


# --------------------------------------------------------------------------------------------- ways to run it


@contextlib.contextmanager
def serving(behaviour: Behaviour = Behaviour(), server: Loopback | None = None) -> Iterator[Loopback]:
    """The server, or one of another kind, in a thread of its own."""
    server = server or Loopback(behaviour)
    started = threading.Event()
    loop = asyncio.new_event_loop()
    ended = asyncio.Event()

    async def main() -> None:
        async with server:
            started.set()
            await ended.wait()

    thread = threading.Thread(target=lambda: (loop.run_until_complete(main()), loop.close()), daemon=True)
    thread.start()
    started.wait(10)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(10)


@contextlib.contextmanager
def spawned(*arguments: str) -> Iterator[str]:
    """The server in a process of its own; yields its base URL."""
    command = [sys.executable, str(Path(__file__)), "--port", "0", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.terminate()


def main() -> None:
    parser = argparse.ArgumentParser(description="An OpenAI-compatible server on loopback.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--solves", type=float, default=1.0, help="share of sums that are solved")
    parser.add_argument("--taught", action="append", default=[], metavar="PHRASE=SHARE")
    parser.add_argument("--faults", action="append", default=[], metavar="NAME=SHARE")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--remember", action="store_true", help="keep requests for GET /_seen")
    given = parser.parse_args()

    def pairs(texts: list[str]) -> dict[str, float]:
        return {name: float(value) for name, _, value in (text.rpartition("=") for text in texts)}

    behaviour = Behaviour(given.solves, pairs(given.taught), given.latency, pairs(given.faults), given.remember)

    async def serve() -> None:
        server = Loopback(behaviour)
        await server.start(given.port)
        sys.stdout.write(f"{server.port}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve())


if __name__ == "__main__":
    main()
