"""Works that can be killed: warm processes for functions that may hang, exit or crash, such as a user's own check.

A thread cannot be stopped and takes the whole program along when it ends it. A process can be killed at its deadline in
the middle of anything, and what becomes of it is an answer: `hung` and `ended` are named outcomes, and the next work
gets another process.
"""

from __future__ import annotations

import asyncio
import contextlib
import copyreg
import functools
import io
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import fields
from operator import attrgetter
from pathlib import Path
from typing import Any

from whet.rollout.worker import HEADER
from whet.source import FILE_MODULE
from whet.types import WorkResult

_START = "import sys; sys.path.insert(0, sys.argv[1]); from whet.rollout import worker; worker.main(sys.argv[2])"
_HOME = str(Path(__file__).parents[2])

_PREPARATION = 60.0
"""Seconds that loading what a function needs may take; they do not count against its own."""

_MOST_ANSWER = 64 << 20


class KillableWorker:
    """One process. It is used for one call at a time, and again for the next unless it had to be killed."""

    def __init__(self, *, whole: bool = False) -> None:
        """`whole`: it calls functions of our own, and what they return comes back as it is, not as plain data."""
        self._whole = whole
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        self._channel = ours
        self.prepared: set[str] = set()
        with theirs:
            settings = json.dumps({"channel": theirs.fileno(), "path": sys.path, "whole": whole})
            self._process = subprocess.Popen(
                [sys.executable, "-c", _START, _HOME, settings],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    async def call(self, function: str, arguments: Mapping[str, Any], seconds: float) -> WorkResult:
        """What the function gave. Raises `TimeoutError`, or `ConnectionError` where the process has ended."""
        body = _packed((_address(function), dict(arguments), seconds))
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(seconds):
            await loop.sock_sendall(self._channel, HEADER.pack(len(body)) + body)
            body = await self._answer()
        if self._whole:
            result: WorkResult = pickle.loads(body)
            return result
        answer = json.loads(body)
        return WorkResult(answer.get("value"), answer.get("error", ""), answer.get("detail", ""))

    async def _answer(self) -> bytes:
        """What comes next, in as few reads as it comes in; nothing follows it before the next call."""
        received, size = bytearray(), HEADER.size
        while len(received) < size:
            part = await asyncio.get_running_loop().sock_recv(self._channel, 1 << 16)
            if not part:
                raise ConnectionError("the process has ended")
            received += part
            if len(received) >= HEADER.size:
                size = HEADER.size + HEADER.unpack_from(received)[0]
            if size > _MOST_ANSWER:
                raise ConnectionError("an answer of that size is none")
        return bytes(received[HEADER.size : size])

    def kill(self) -> None:
        """Ends it with all that it started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._channel.close()

    def epitaph(self) -> str:
        """How it ended by itself, for a person; it is buried after that."""
        with contextlib.suppress(subprocess.TimeoutExpired):  # its end of the channel closes a moment before it does
            self._process.wait(1.0)
        status = self._process.poll()
        self.kill()
        if status is None:
            return "it closed its channel"
        return f"exit status {status}" if status >= 0 else f"signal {_signal_name(-status)}"


class KillableWorkers:
    """As many processes as there is work for at the same time, at most `width`; each is started when it is needed."""

    def __init__(self, width: int | None = None, *, whole: bool = False) -> None:
        self._free = asyncio.Semaphore(width or max(2, os.cpu_count() or 1))
        self._whole = whole
        self._idle: list[KillableWorker] = []
        self._busy: set[KillableWorker] = set()

    async def perform(self, payload: Mapping[str, Any]) -> WorkResult:
        """Calls `function` with `arguments` within `seconds`; `prepare`, a function with arguments, comes before."""
        async with self._free:
            worker = await self._ready()
            self._busy.add(worker)
            try:
                result = await self._prepared(worker, payload.get("prepare"))
                if result is None:
                    result = await worker.call(payload["function"], payload["arguments"], payload["seconds"])
            except TimeoutError:
                worker.kill()
                return WorkResult(error="hung", detail=f"not done after {payload['seconds']:g} s")
            except ConnectionError:
                return WorkResult(error="ended", detail=await asyncio.to_thread(worker.epitaph))
            except BaseException:
                worker.kill()
                raise
            finally:
                self._busy.discard(worker)
            self._idle.append(worker)
            return result

    async def _ready(self) -> KillableWorker:
        while self._idle:
            worker = self._idle.pop()
            if worker.alive:
                return worker
            worker.kill()
        return await asyncio.to_thread(functools.partial(KillableWorker, whole=self._whole))

    async def _prepared(self, worker: KillableWorker, prepare: Any) -> WorkResult | None:
        """None where all is ready; otherwise what went wrong."""
        mark = json.dumps(prepare, sort_keys=True, default=str)
        if mark in worker.prepared:
            return None
        if prepare is not None:
            function, arguments = prepare
            result = await worker.call(function, arguments, _PREPARATION)
            if result.error:
                return result
        worker.prepared.add(mark)
        return None

    def close(self) -> None:
        for worker in (*self._idle, *self._busy):
            worker.kill()
        self._idle.clear()


class _Packer(pickle.Pickler):
    """Writes what pickle writes, and records with slots in a fraction of the time: those look for the names of their
    fields anew for each object, and a model of an environment's is hundreds of them."""

    def reducer_override(self, value: Any) -> Any:
        read = _fields(type(value))  # type: ignore[arg-type]
        return NotImplemented if read is None else (copyreg.__newobj__, (type(value),), read(value))  # type: ignore[attr-defined]


@functools.lru_cache(maxsize=256)
def _fields(kind: type) -> Callable[[Any], Any] | None:
    """What reads all fields of a record that is packed by its fields; None where something else is packed."""
    if getattr(kind, "__getstate__", None) is not _BY_FIELDS:
        return None
    names = [field.name for field in fields(kind)]
    return attrgetter(*names) if len(names) > 1 else lambda record: [getattr(record, name) for name in names]


_BY_FIELDS = WorkResult.__getstate__
"""How a frozen record with slots tells its state."""


def _packed(value: Any) -> bytes:
    file = io.BytesIO()
    _Packer(file).dump(value)
    return file.getvalue()


def _address(function: str) -> str:
    """Where another process finds a function: one of a file that was loaded by its path, by that path."""
    where, _, name = function.rpartition(":")
    file = getattr(sys.modules.get(where), "__file__", None)
    return f"{file}:{name}" if file and (where == "__main__" or where.startswith(FILE_MODULE)) else function


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
