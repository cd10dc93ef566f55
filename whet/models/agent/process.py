"""A command run to its end: time limit, capped output, and nothing of it left behind.

Its output is read from pipes of our own, so that a grandchild that keeps one open cannot hold us up.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ProcessExit:
    """How a command ended. `status` is None where the time limit ended it; a negative one is a signal."""

    status: int | None
    stdout: str
    stderr: str


class CappedPipe:
    """Reads one end of a pipe: keeps the beginning and the end of what comes, each up to half of `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self._half = limit // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0
        self._read, self.write = os.pipe()
        os.set_blocking(self._read, False)

    def __enter__(self) -> CappedPipe:
        asyncio.get_running_loop().add_reader(self._read, self._take)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.get_running_loop().remove_reader(self._read)
        self.started()
        os.close(self._read)

    def started(self) -> None:
        """The command has its own copy of the writing end: ours is closed."""
        if self.write >= 0:
            os.close(self.write)
            self.write = -1

    def text(self) -> str:
        """All that was kept; what is still in the pipe is taken first."""
        while self._take():
            pass
        gap = f"\n[{self._dropped} bytes left out]\n".encode() if self._dropped else b""
        return (self._head + gap + self._tail).decode("utf-8", "replace")

    def _take(self) -> bool:
        try:
            data = os.read(self._read, 65536)
        except BlockingIOError:
            return False
        if not data:
            asyncio.get_running_loop().remove_reader(self._read)
            return False
        room = self._half - len(self._head)
        self._head += data[:room] if room > 0 else b""
        self._tail += data[max(0, room) :]
        over = len(self._tail) - self._half
        if over > 0:
            self._dropped += over
            del self._tail[:over]
        return True


async def run_command(
    words: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdin: Path,
    seconds: float,
    limit: int,
    descriptors: Sequence[int] = (),
    beside: AbstractAsyncContextManager[None] | None = None,
) -> ProcessExit:
    """Run `words` in a session of its own. However it ends, every process of the session is killed.

    `beside` is entered once it has been started and left when it has ended. Raises `OSError` where the command cannot
    be started.
    """
    with CappedPipe(limit) as stdout, CappedPipe(min(limit, 65536)) as stderr:
        with stdin.open("rb") as source:
            process = await asyncio.create_subprocess_exec(
                *words,
                cwd=cwd,
                env=env,
                stdin=source,
                stdout=stdout.write,
                stderr=stderr.write,
                start_new_session=True,
                pass_fds=descriptors,
            )
        stdout.started()
        stderr.started()
        status: int | None = None
        try:
            async with beside or contextlib.nullcontext(), asyncio.timeout(seconds):
                status = await process.wait()
        except TimeoutError:
            pass
        finally:
            kill_session(process.pid)
            await process.wait()
        return ProcessExit(status, stdout.text(), stderr.text())


def kill_session(leader: int) -> None:
    """Kill every process of the session that `leader` began, and descendants that began sessions of their own."""
    if not Path("/proc/self/stat").exists():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, signal.SIGKILL)
        return
    # All are listed before the first dies, because an orphan is no longer known by its parent; and looked for again,
    # because one may have been forking.
    for _ in range(3):
        found = family(leader)
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not found:
            return


def family(leader: int) -> set[int]:
    """Living processes of the session that `leader` began, and their descendants."""
    known = {pid: (parent, session) for pid, parent, session in _processes()}
    found = {pid for pid, (_, session) in known.items() if session == leader}
    while grown := {pid for pid, (parent, _) in known.items() if parent in found} - found:
        found |= grown
    return found


def _processes() -> Iterator[tuple[int, int, int]]:
    """Process id, parent and session of every process that is not a zombie."""
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] not in ("Z", "X"):
            yield int(entry.parent.name), int(fields[1]), int(fields[3])
