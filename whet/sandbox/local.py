"""The sandbox of this machine: a warm forking parent behind namespaces, and a channel to each job under way."""

from __future__ import annotations

import array
import asyncio
import contextlib
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from whet.errors import FaultError, WhetError
from whet.sandbox import bubblewrap, cgroup, gvisor
from whet.sandbox.base import Walls
from whet.sandbox.jobs import checked
from whet.sandbox.probe import PROBE, report
from whet.sandbox.workspace import remove
from whet.types import Fault, WorkResult

_HEADER = struct.Struct("!Q")

_START = (
    "import sys, json; sys.path.insert(0, sys.argv[1]); "
    "from whet.sandbox import zygote; zygote.main(json.loads(sys.argv[2]))"
)
_PROGRAMS = "/usr/local/bin:/usr/bin:/bin"
_HOME = str(Path(__file__).parents[2])

_PATIENCE = 60.0
"""Seconds the parent may take to load its libraries, or the first job to look around."""


def default_width() -> int:
    """Jobs at the same time: enough that waiting ones do not hold up others, few enough that each has its share."""
    return max(16, 2 * (os.cpu_count() or 1))


class LocalSandbox:
    """Jobs run in children of a warm parent, behind namespaces that `mode` says how to get.

    A parent that dies is replaced for the next job; the jobs it had are faults.
    """

    def __init__(self, mode: str, preload: Sequence[str] = (), width: int | None = None) -> None:
        self._mode = mode
        self._program = _wrapper(mode)
        self._groups: Path | None = None
        self._preload = tuple(preload)
        self._free = list(range(min(width or default_width(), 256)))
        self._width = len(self._free)
        self._places: tuple[asyncio.AbstractEventLoop, asyncio.Semaphore] | None = None
        self._parent: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._scratch: Path | None = None
        self._starting = threading.Lock()
        self._closed = False
        self.missing: tuple[str, ...] = ()
        """Libraries that were to be preloaded and are not installed."""
        try:
            self._walls = self._look()
        except BaseException:
            self.discard()
            raise

    def walls(self) -> Walls:
        return self._walls

    @property
    def parent(self) -> int:
        """The process id of the warm parent; 0 when there is none."""
        return self._parent.pid if self._parent is not None else 0

    async def run(self, payload: Mapping[str, Any]) -> WorkResult:
        job = checked(payload)
        if isinstance(job, WorkResult):
            return job
        if self._closed:
            raise _fault("parent", "the sandbox is closed")
        body = json.dumps(job).encode()
        async with self._place():
            slot = self._free.pop()
            try:
                if self._parent is None or self._parent.poll() is not None:
                    await asyncio.to_thread(self._revive)
                return _result(await self._exchange(body, slot))
            finally:
                self._free.append(slot)

    async def close(self) -> None:
        self._closed = True
        self.discard()

    def _place(self) -> asyncio.Semaphore:
        loop = asyncio.get_running_loop()
        if self._places is None or self._places[0] is not loop:
            self._places = (loop, asyncio.Semaphore(self._width))
        return self._places[1]

    async def _exchange(self, body: bytes, slot: int) -> dict[str, Any]:
        """Gives a job to a supervisor and waits for the result. Leaving early closes the channel: the job is ended."""
        loop = asyncio.get_running_loop()
        with self._channel(slot) as channel:
            channel.setblocking(False)
            try:
                await loop.sock_sendall(channel, _HEADER.pack(len(body)) + body)
                received = bytearray()
                while part := await loop.sock_recv(channel, 1 << 20):
                    received += part
            except ConnectionError as error:
                raise _fault("supervisor", str(error)) from None
        return _answer(received)

    def _look(self) -> Walls:
        """Starts the parent and has a first job look at the walls from inside; blocks for a moment."""
        self._revive()
        body = json.dumps(checked({"python": PROBE})).encode()
        with self._channel(0) as channel:
            channel.settimeout(_PATIENCE)
            channel.sendall(_HEADER.pack(len(body)) + body)
            received = bytearray()
            while part := channel.recv(1 << 20):
                received += part
        return report(self._mode, self._groups is not None, _result(_answer(received)))

    def _channel(self, slot: int) -> socket.socket:
        """Our end of a new channel, whose other end the parent hands to a new supervisor."""
        ours, theirs = socket.socketpair()
        with theirs:
            numbers = array.array("i", [theirs.fileno()])
            try:
                assert self._control is not None
                self._control.sendmsg([bytes([slot])], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)])
            except OSError as error:
                ours.close()
                raise _fault("parent", f"the warm parent is gone: {error}") from None
        return ours

    def _revive(self) -> None:
        with self._starting:
            if self._parent is not None and self._parent.poll() is None:
                return
            self.discard()
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self._control = ours
            self._scratch = Path(tempfile.mkdtemp(prefix="whet-sandbox-"))
            self._scratch.chmod(0o711)
            with theirs:
                above = cgroup.find()
                self._groups = None if above is None else cgroup.make_home(above)
                settings = {
                    "control": theirs.fileno(),
                    "mode": self._mode,
                    "root": str(self._scratch),
                    "preload": self._preload,
                    "program": self._program,
                    "groups": str(self._groups or ""),
                }
                self._parent = _spawn(settings, theirs)
                theirs.close()
                ours.settimeout(_PATIENCE)
                told = json.loads(ours.recv(65536) or b'{"error": "it ended while starting"}')
            if "error" in told:
                self.discard()
                raise WhetError(f"the sandbox cannot start ({self._mode}): {told['error']}")
            self.missing = tuple(told["missing"])

    def discard(self) -> None:
        """Ends the parent, and with it every job under way."""
        if self._control is not None:
            self._control.close()
        if self._parent is not None:
            with contextlib.suppress(ProcessLookupError):
                self._parent.kill()
            self._parent.wait()
        if self._scratch is not None:
            remove(str(self._scratch))
        if self._groups is not None:
            cgroup.remove_home(self._groups)
        self._control = self._parent = self._scratch = self._groups = None


def _wrapper(mode: str) -> str:
    """The program that raises the walls in our place; '' where we do so ourselves."""
    known = {"bubblewrap": (bubblewrap.find, "bwrap"), "gvisor": (gvisor.find, "runsc")}
    if mode not in known:
        return ""
    find, name = known[mode]
    program = find()
    if program is None:
        raise WhetError(f"the sandbox cannot start ({mode}): there is no program {name} on the PATH; install it")
    return program


def _spawn(settings: Mapping[str, Any], control: socket.socket) -> subprocess.Popen[bytes]:
    """Starts the parent with nothing of ours: no variables, no open files but the socket, another folder.

    The hash seed is fixed, so that a program which prints a set prints it the same way every time.
    """
    kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return subprocess.Popen(
        [sys.executable, "-s", "-P", "-B", "-c", _START, _HOME, json.dumps(settings)],
        pass_fds=[control.fileno()],
        env={"PATH": _PROGRAMS, "LANG": "C.UTF-8", "PYTHONHASHSEED": "0", **one_thread, **kept},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )


def _answer(received: bytearray) -> dict[str, Any]:
    at = _HEADER.size + (_HEADER.unpack_from(received)[0] if len(received) >= _HEADER.size else 0)
    if not _HEADER.size < at <= len(received):
        raise _fault("supervisor", "it ended without a result")
    answer = dict(json.loads(received[_HEADER.size : at]))
    if len(received) != at + sum(answer["sizes"].values()):
        raise _fault("supervisor", "it ended within its result")
    files = {}
    for name, size in answer["sizes"].items():
        files[name] = received[at : at + size].decode("utf-8", "replace")
        at += size
    if "value" in answer:
        answer["value"] = {**answer["value"], "files": files}
    return answer


def _result(answer: Mapping[str, Any]) -> WorkResult:
    if "fault" in answer:
        raise _fault("supervisor", answer["fault"])
    return WorkResult(answer["value"], answer["error"], answer["detail"])


def _fault(where: str, message: str) -> FaultError:
    return FaultError(Fault("sandbox", where, message))
