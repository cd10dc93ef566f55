"""A server on loopback that does whatever a test makes of a connection, down to the byte.

    with hostile(lambda talk: talk.send(b"HTTP/1.1 200 OK\r\n\r\n")) as server:
        whet("eval", ..., "--base-url", server.base_url)

`loopback.py` is the server that keeps to the protocol; this one need not.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from command_line import Said

SUMS = f"{Path(__file__).parents[1] / 'examples' / 'sums.py'}:Sums"

ESCAPES = "\x1b[31mred\x1b]0;title\x07\x1b[2J\x9b31m\r\x08"
BIDI = "user\u202egnp.exe\u2066\u2069\u200b\u200f\u2028\ufeff\U000e0041"
MARKUP = "[/bold] [red]x[/] [link=file:///etc/passwd]y[/link] :smile: [bold"

ACTS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]"
)
"""Characters that do something to a terminal or to what a reader sees, beside line ends and tabs."""

LATE = 5.0 * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
"""Seconds that a run may take beyond the time that its own limits allow: 5, and more where many others are at work."""


def harmless(said: Said) -> None:
    for stream in (said.out, said.err):
        assert "Traceback" not in stream
        assert not (found := ACTS.search(stream)), f"{found!r} in {stream!r}"


@dataclass
class Talk:
    """One request on one connection: what came, and the ways to answer."""

    connection: socket.socket
    head: bytes
    body: bytes
    number: int
    """How many requests came before this one."""

    @property
    def key(self) -> str:
        found = re.search(rb"(?i)\r\nauthorization: bearer ([^\r]+)", self.head)
        return found[1].decode() if found else ""

    def send(self, data: bytes) -> None:
        self.connection.sendall(data)

    def answer(
        self, body: bytes, status: int = 200, media: str = "application/json", headers: bytes = b"", reason: str = "S"
    ) -> None:
        head = f"HTTP/1.1 {status} {reason}\r\nContent-Type: {media}\r\nContent-Length: {len(body)}\r\n".encode()
        self.send(head + headers + b"\r\n" + body)

    def say(self, text: Any, **more: Any) -> None:
        """A chat completion with this content."""
        self.answer(orjson.dumps(completion(text, **more)))


def completion(text: Any, **more: Any) -> dict[str, Any]:
    usage = {"prompt_tokens": 9, "completion_tokens": 3}
    return {"model": "m", "choices": [{"message": {"content": text}, "finish_reason": "stop"}], "usage": usage, **more}


def right(talk: Talk) -> str:
    """The answer to a task of examples/sums.py."""
    asked = orjson.loads(talk.body)["messages"][-1]["content"]
    left, sign, other = re.search(r"(\d+) ([+-]) (\d+)", asked).groups()  # type: ignore[union-attr]
    return str(int(left) + int(other) if sign == "+" else int(left) - int(other))


Behave = Callable[[Talk], None]


@dataclass
class Hostile:
    """The server. `requests` counts those that came whole, `connections` all that were made."""

    behave: Behave
    family: int = socket.AF_INET
    tls: ssl.SSLContext | None = None
    greeting: bytes = b""
    """Sent before anything is asked."""
    requests: int = 0
    connections: int = 0
    _open: set[socket.socket] = field(default_factory=set)
    _listener: socket.socket | None = None

    @property
    def port(self) -> int:
        assert self._listener is not None
        return int(self._listener.getsockname()[1])

    @property
    def base_url(self) -> str:
        host = "[::1]" if self.family == socket.AF_INET6 else "127.0.0.1"
        return f"{'https' if self.tls else 'http'}://{host}:{self.port}/v1"

    def start(self, port: int = 0) -> None:
        listener = socket.socket(self.family)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("::1" if self.family == socket.AF_INET6 else "127.0.0.1", port))
        listener.listen(512)
        self._listener = listener
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def stop(self) -> None:
        """Gone from one moment to the next: nobody listens, and what was open is reset."""
        if self._listener is not None:
            with contextlib.suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                self.connections += 1
                self._open.add(connection)
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        """Until the client has gone; one that came just as the server stopped is on no list and must be closed here."""
        with contextlib.suppress(OSError, ValueError):
            if self.tls is not None:
                connection = self.tls.wrap_socket(connection, server_side=True)
            with contextlib.closing(connection):
                self._talk(connection)

    def _talk(self, connection: socket.socket) -> None:
        if self.greeting:
            connection.sendall(self.greeting)
        buffer = b""
        while True:
            while (end := buffer.find(b"\r\n\r\n")) < 0:
                if not (more := connection.recv(65536)):
                    return
                buffer += more
            size = re.search(rb"(?i)\r\ncontent-length: *(\d+)", buffer[:end])
            after = end + 4 + (int(size[1]) if size else 0)
            while len(buffer) < after:
                if not (more := connection.recv(65536)):
                    return
                buffer += more
            talk = Talk(connection, buffer[:end], buffer[end + 4 : after], self.requests)
            buffer = buffer[after:]
            self.requests += 1
            self.behave(talk)


@contextlib.contextmanager
def hostile(behave: Behave, **more: Any) -> Iterator[Hostile]:
    server = Hostile(behave, **more)
    server.start()
    try:
        yield server
    finally:
        server.stop()
