"""The worker's desk: loads one environment, says what was found, and answers requests until the socket is closed.

The first line that it reads says what to load, its first answer is what was found. Then each line is a request with a
number of its own, and each answer bears that number.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from typing import Any

from .attempts import Json, WorkerAttempt, WorkerRefusal, told

MOST = 64 << 20
"""Bytes that a line may have."""

V0, V1 = "v0", "v1"
KNOWN = {V0: ((0, 1, 14), (0, 4)), V1: ((0, 4), (0, 5))}
"""The versions of each line: from the first, up to and without the second."""


def main(descriptor: int) -> None:
    channel = socket.socket(fileno=descriptor)
    # What an environment prints must not meet anything that is read.
    os.dup2(2, 1)
    settings = json.loads(_first_line(channel))
    try:
        environment = opened(settings)
        welcome: Json = environment.welcome()
    except WorkerRefusal as refusal:
        welcome = {"refused": str(refusal)}
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the environment's own code, whatever it raises
        welcome = {"refused": f"{settings['module']} cannot be loaded: {told(error)}"}
    channel.sendall(json.dumps(welcome).encode() + b"\n")
    if "refused" not in welcome:
        asyncio.run(WorkerDesk(environment).serve(channel))
    os._exit(0)  # threads and exit hooks of the environment may not hold it


def _first_line(channel: socket.socket) -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        part = channel.recv(1 << 16)
        if not part:
            os._exit(0)
        line += part
    return line


def opened(settings: Json) -> Any:
    """The environment that the settings name; a `WorkerRefusal` where the library is missing or of another line."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        found = version("verifiers")
    except PackageNotFoundError:
        raise WorkerRefusal(f"verifiers is not installed for {sys.executable}") from None
    line = line_of(found)
    if line is None:
        raise WorkerRefusal(f"verifiers {found} is neither of the lines known here (v0: 0.1.14 to 0.3.x, v1: 0.4.x)")
    if line != settings["line"]:
        scheme = {V0: "verifiers0:", V1: "verifiers:"}[line]
        raise WorkerRefusal(
            f"verifiers {found} is of the line {line}, not {settings['line']}: use {scheme}{settings['module']}, "
            "or name an interpreter with the other line (-a python=PATH)"
        )
    # As for whoever starts Python in the folder that Whet was started in, servers of tools included.
    sys.path.insert(0, settings["folder"])
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (settings["folder"], os.environ.get("PYTHONPATH"))))
    if line == V0:
        from .line0 import Line0

        return Line0(settings, found)
    from .line1 import Line1

    return Line1(settings, found)


def line_of(version: str) -> str | None:
    """The line that a version belongs to."""
    numbers = tuple(int(part) if part.isdigit() else -1 for part in version.split(".")[:3])
    return next((line for line, (first, end) in KNOWN.items() if first <= numbers < end), None)


class WorkerDesk:
    """Answers requests as they come, many at a time."""

    def __init__(self, environment: Any) -> None:
        self._environment = environment
        self._attempts: dict[int, WorkerAttempt] = {}
        self._count = 0

    async def serve(self, channel: socket.socket) -> None:
        reader, writer = await asyncio.open_connection(sock=channel, limit=MOST)
        under_way: set[asyncio.Task[None]] = set()
        while line := await reader.readline():
            task = asyncio.ensure_future(self._answer(json.loads(line), writer))
            under_way.add(task)
            task.add_done_callback(under_way.discard)

    async def _answer(self, request: Json, writer: asyncio.StreamWriter) -> None:
        try:
            answer = await getattr(self, f"_{request['do']}")(request)
        except Exception as error:  # noqa: BLE001 - a request must be answered, or its asker waits for ever
            answer = {"fault": {"kind": "worker_error", "message": told(error)}}
        writer.write(json.dumps({**answer, "id": request["id"]}).encode() + b"\n")
        await writer.drain()

    async def _pulse(self, request: Json) -> Json:
        return {}

    async def _score(self, request: Json) -> Json:
        """A whole attempt of one reply."""
        return await self._environment.score(request["task"], request["reply"])

    async def _begin(self, request: Json) -> Json:
        self._count += 1
        number = self._count
        attempt = self._attempts[number] = WorkerAttempt(number)
        attempt.start(self._environment.play(attempt, request["task"]))
        return await self._next(attempt)

    async def _reply(self, request: Json) -> Json:
        attempt = self._attempts.get(request["attempt"])
        if attempt is None:
            return {"fault": {"kind": "worker_lost", "message": "the worker does not know this attempt (any more)"}}
        attempt.hear(request["reply"])
        return await self._next(attempt)

    async def _drop(self, request: Json) -> Json:
        attempt = self._attempts.pop(request["attempt"], None)
        if attempt is not None:
            attempt.cancel()
        return {}

    async def _next(self, attempt: WorkerAttempt) -> Json:
        step = await attempt.step()
        if "ask" not in step:
            self._attempts.pop(attempt.number, None)
        return {**step, "attempt": attempt.number}
