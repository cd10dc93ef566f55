"""Whet's side of a worker: starts it in the interpreter that has verifiers, and puts requests to it from any thread.

There is one worker for each set of settings in a process, started when it is first needed. It ends with this process,
when its socket closes. One that has ended is started again by the next attempt; attempts that were open in it are lost.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import orjson

from whet.errors import FaultError, WhetError
from whet.types import Fault

Json = dict[str, Any]

WORKER = Path(__file__).with_name("worker")

_START = """
import importlib.util, sys
folder, descriptor = sys.argv[1:]
spec = importlib.util.spec_from_file_location(
    "whet_worker", folder + "/__init__.py", submodule_search_locations=[folder])
sys.modules["whet_worker"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["whet_worker"])
from whet_worker.desk import main
main(int(descriptor))
"""

LOAD_SECONDS = 300.0
"""Seconds that loading an environment may take: its data may have to be fetched."""

PULSE_SECONDS = 20.0
"""Seconds in which a worker answers anything at all, unless code of the environment holds it up."""


@dataclass(frozen=True, slots=True)
class PeerSettings:
    """What a worker loads, and where."""

    line: str
    module: str
    python: str
    args: Mapping[str, Any] = field(default_factory=dict)
    most: int = 1000
    harness: str = ""
    runtime: str = "subprocess"
    folder: str = ""

    @property
    def mark(self) -> str:
        return orjson.dumps(asdict(self), option=orjson.OPT_SORT_KEYS).decode()


def _path() -> str:
    """Where programs are found, at last beside Whet's own, where a uv may be: without one, a harness fetches it."""
    return os.pathsep.join((os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)))


class Peer:
    """A worker at work. `welcome` is what it found."""

    def __init__(self, settings: PeerSettings) -> None:
        python = shutil.which(settings.python) or settings.python
        ours, theirs = socket.socketpair()
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the worker
        self._numbers = count(1)
        self._waiting: dict[int, Future[Json]] = {}
        self._lock = threading.Lock()
        with theirs:
            try:
                self._process = subprocess.Popen(
                    [python, "-c", _START, str(WORKER), str(theirs.fileno())],
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=self._said,
                    start_new_session=True,
                    env={**os.environ, "PATH": _path()},
                )
            except OSError as problem:
                ours.close()
                self._said.close()
                raise WhetError(f"{settings.python} cannot be started: {problem.strerror}") from None
        self._channel = ours
        self._stream = ours.makefile("rb")
        ours.settimeout(LOAD_SECONDS)
        try:
            ours.sendall(orjson.dumps(asdict(settings), option=orjson.OPT_APPEND_NEWLINE))
            line = self._stream.readline()
        except OSError:
            line = b""
        if not line:
            raise WhetError(f"{settings.module}: its worker ended while loading: {self.close()}")
        self.welcome: Json = json.loads(line)
        if "refused" in self.welcome:
            self.close()
            raise WhetError(f"{settings.module}: {self.welcome['refused']}")
        ours.settimeout(None)
        threading.Thread(target=self._listen, name="whet-verifiers", daemon=True).start()

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, request: Mapping[str, Any], seconds: float) -> Json:
        """The answer to a request; a `FaultError` where the worker is gone or too late.

        A tool or a grader that never returns holds up all attempts in its worker: who is too late and has no pulse
        either is ended, so that the next attempt finds another.
        """
        try:
            return self._asked(request, seconds)
        except Late:
            if self._has_pulse():
                raise FaultError(Fault("timeout", "verifiers", f"no answer after {seconds:g} s")) from None
            self._process.kill()
            self._process.wait()
            why = f"no answer after {seconds:g} s: a tool or grader holds up its worker, which was ended"
            raise FaultError(Fault("timeout", "verifiers", why)) from None
        except OSError:
            raise FaultError(Fault("worker_lost", "verifiers", "the worker of the environment ended")) from None

    def _has_pulse(self) -> bool:
        try:
            return self._asked({"do": "pulse"}, PULSE_SECONDS) is not None
        except (Late, OSError):
            return False

    def _asked(self, request: Mapping[str, Any], seconds: float) -> Json:
        number = next(self._numbers)
        waiting = self._waiting[number] = Future()
        line = orjson.dumps({**request, "id": number}, option=orjson.OPT_APPEND_NEWLINE)
        try:
            with self._lock:
                self._channel.sendall(line)
            if not self.alive:
                raise ConnectionError
            return waiting.result(seconds)
        finally:
            self._waiting.pop(number, None)

    def _listen(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            for line in self._stream:
                answer = orjson.loads(line)
                waiting = self._waiting.get(answer.pop("id", 0))
                if waiting is not None and not waiting.done():
                    waiting.set_result(answer)
        for waiting in list(self._waiting.values()):
            if not waiting.done():
                waiting.set_exception(ConnectionError("the worker ended"))

    def close(self) -> str:
        """Ends the worker; what it said last."""
        self._channel.close()
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        self._process.wait()
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").strip().splitlines()
        self._stream.close()
        self._said.close()
        return lines[-1][:300] if lines else f"exit status {self._process.returncode}"


_PEERS: dict[str, Peer] = {}
_STARTING = threading.Lock()


def peer_for(settings: PeerSettings) -> Peer:
    """The worker with these settings in this process, started where there is none."""
    with _STARTING:
        found = _PEERS.get(settings.mark)
        if found is not None and not found.alive:
            found.close()
            found = None
        if found is None:
            found = _PEERS[settings.mark] = Peer(settings)
        return found


def step(settings: Mapping[str, Any], request: Mapping[str, Any], seconds: float) -> Json:
    """A request of a play, as a work: what the worker answers. A fault is a value here, for the play to raise."""
    try:
        return peer_for(PeerSettings(**settings)).ask(request, seconds)
    except FaultError as error:
        return {"fault": {"kind": error.fault.kind, "message": error.fault.message}}
