"""A model's server as a process of ours: started, waited for, warmed, watched and stopped with all that it started.

    with ModelServer(order, log) as server:
        server.wait(600)
        server.warm(messages)

It has a session of its own, so that one signal reaches all its processes; it is told to end when this process is gone,
however that came about.
"""

from __future__ import annotations

import ctypes
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from whet.apps.serving.order import BACKENDS, ServeOrder, seconds
from whet.errors import WhetError, host_words
from whet.files import owner_only
from whet.outside import shown_line

GRACE = 20.0
"""Seconds between the request to end and the kill."""

TAIL = 12
"""Lines of a log that are shown when something is wrong."""

PAUSE = 0.3

# The request to end comes to the server when the thread that started it is gone, also where nothing could be caught.
_LEASH = (
    "import ctypes, os, sys; ctypes.CDLL(None).prctl(1, 15, 0, 0, 0); "
    "os.getppid() == int(sys.argv[1]) or sys.exit(1); os.execvp(sys.argv[2], sys.argv[2:])"
)


@dataclass(frozen=True, slots=True)
class Warmth:
    """What one request with the shared prefix took, and the same again."""

    name: str
    tokens: int | None
    cold: float
    warm: float
    cached: int | None

    def __str__(self) -> str:
        size = "" if self.tokens is None else f" of {self.tokens:,} tokens"
        again = "" if self.cached is None else f", {self.cached:,} of them from its cache"
        return f"{self.name}: prefix{size} in {seconds(self.cold)}; again in {seconds(self.warm)}{again}"


class ModelServer:
    """One server. `with` stops it, whatever happens."""

    def __init__(self, order: ServeOrder, log: Path) -> None:
        self.order = order
        self.log = log
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> ModelServer:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    # ------------------------------------------------------------------------------------------- start and stop

    def start(self) -> None:
        """Begin; what can be known to fail is refused before."""
        command = self.order.command()
        if shutil.which(command[0]) is None:
            backend = BACKENDS[self.order.backend]
            raise WhetError(
                f"{command[0]}: no such program here; install it ({backend.install}), or name it with --program"
            )
        refuse_taken(self.order.host, self.order.port)
        try:
            with owner_only(), self.log.open("wb") as log:
                self._process = subprocess.Popen(
                    _leashed(command), stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
                )
        except OSError as error:
            raise WhetError(host_words(error, self.log)) from None

    def stop(self, grace: float = GRACE) -> None:
        """End it and all that it started: asked first, then killed. Nothing of it is left."""
        process, self._process = self._process, None
        if process is None:
            return
        _signal(process.pid, signal.SIGTERM)
        end = time.monotonic() + grace
        while time.monotonic() < end and (process.poll() is None or _alive(process.pid)):
            time.sleep(0.05)
        _signal(process.pid, signal.SIGKILL)
        process.wait()

    # ------------------------------------------------------------------------------------------- at work

    def wait(self, patience: float) -> float:
        """Returns when it is well and serves all that was ordered; says how long that took."""
        began = time.monotonic()
        while not self._well():
            self.check("before it was ready")
            if time.monotonic() - began > patience:
                raise WhetError(f"{self.title}: not ready within {patience:g} s{self._last_word()}")
            time.sleep(PAUSE)
        told = self.served()
        absent = [name for name in self.order.names[1:] if name not in told]
        if absent and self.order.backend == "vllm":  # SGLang lists its base model alone
            raise WhetError(f"{self.title}: serves {', '.join(told) or 'nothing'}, and not {absent[0]}; see {self.log}")
        return time.monotonic() - began

    def check(self, when: str = "") -> None:
        """Raises where it has ended by itself, with the last it had to say."""
        status = None if self._process is None else self._process.poll()
        if status is None:
            return
        how = f"exit status {status}" if status >= 0 else f"signal {signal.Signals(-status).name}"
        raise WhetError(f"{self.title}: ended {when + ' ' if when else ''}({how}){self._last_word()}")

    def watch(self) -> None:
        """Returns never: raises where it ends by itself, or where this process is asked to."""
        while True:
            self.check()
            time.sleep(PAUSE)

    def served(self) -> list[str]:
        """The names of what it serves, as it says."""
        told = self._ask("GET", "/v1/models")
        models = told.get("data") if isinstance(told, dict) else None
        return [str(model.get("id")) for model in models or () if isinstance(model, dict)]

    def warm(self, messages: Sequence[Mapping[str, str]]) -> list[Warmth]:
        """Send the shared prefix once for each name, so that its keys and values are there, and once more to see it."""
        return [self._warmed(name, messages) for name in self.order.names]

    def _warmed(self, name: str, messages: Sequence[Mapping[str, str]]) -> Warmth:
        body = {"model": name, "messages": list(messages), "max_tokens": 1, "temperature": 0}
        took: list[float] = []
        usage: dict[str, Any] = {}
        for _ in range(2):
            began = time.monotonic()
            told = self._ask("POST", "/v1/chat/completions", body)
            took.append(time.monotonic() - began)
            usage = told.get("usage") or {} if isinstance(told, dict) else {}
        details = usage.get("prompt_tokens_details") or {}
        return Warmth(name, usage.get("prompt_tokens"), took[0], took[1], details.get("cached_tokens"))

    # ------------------------------------------------------------------------------------------- its log

    @property
    def title(self) -> str:
        return f"{self.order.backend} on port {self.order.port}"

    def tail(self) -> list[str]:
        """The last lines of its log, made harmless."""
        with suppress(OSError):
            size = self.log.stat().st_size
            with self.log.open("rb") as log:
                log.seek(max(0, size - 16_384))
                lines = log.read().decode(errors="replace").splitlines()
            return [shown_line(line)[:300] for line in lines if line.strip()][-TAIL:]
        return []

    def _last_word(self) -> str:
        tail = self.tail()
        return f", its last words: {tail[-1][:200]}; its log: {self.log}" if tail else f"; its log is empty: {self.log}"

    # ------------------------------------------------------------------------------------------- HTTP

    def _well(self) -> bool:
        try:
            return self._status("GET", BACKENDS[self.order.backend].health, timeout=5.0)[0] == 200
        except (OSError, http.client.HTTPException):
            return False

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        try:
            status, data = self._status(method, path, body)
            told = json.loads(data) if data else None
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.check(f"at {path}")
            raise WhetError(f"{self.title}: {path} cannot be asked ({error}); its log: {self.log}") from None
        if status >= 400:
            said = shown_line(data.decode(errors="replace"))[:300]
            raise WhetError(f"{self.title}: {path} answers {status}: {said}")
        return told

    def _status(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, timeout: float = 600.0
    ) -> tuple[int, bytes]:
        place = urlsplit(self.order.url)
        connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=timeout)
        try:
            data = None if body is None else json.dumps(body).encode()
            connection.request(method, path, data, {"Content-Type": "application/json"})
            reply = connection.getresponse()
            return reply.status, reply.read()
        finally:
            connection.close()


def refuse_taken(host: str, port: int) -> None:
    """A port that somebody listens on: a server would say so after it has loaded its weights."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except (OSError, OverflowError) as error:
        told = getattr(error, "strerror", None) or error
        raise WhetError(f"{host}:{port}: cannot be listened on ({told}); choose another with --port") from None


def _leashed(command: list[str]) -> list[str]:
    if not sys.platform.startswith("linux") or not hasattr(ctypes.CDLL(None), "prctl"):
        return command
    return [sys.executable, "-c", _LEASH, str(os.getpid()), *command]


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True
