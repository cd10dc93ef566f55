"""Walls around an agent: what it sees, what it may reach, and the process that raises them (`launch`).

It sees system programs, its own program and its own folder, and is process 2 of a pid namespace. Its network is empty
but for one address, behind which a proxy of ours stands (`proxy`). Where walls cannot be had, it is not started.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import shutil
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path

from whet.errors import WhetError
from whet.models.agent.proxy import KeyProxy
from whet.models.agent.workspace import Workspace

_START = "import sys; sys.path.insert(0, sys.argv[1]); from whet.models.agent import launch; launch.main(sys.argv[2])"
_HOME = str(Path(__file__).parents[3])
_PATIENCE = 30.0
"""Seconds until the walls must stand."""

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")


class AgentWalls:
    """The walls of one call: words to start instead of the agent's own, and the proxy at work once they stand."""

    def __init__(self, name: str, workspace: Workspace, shown: Sequence[str], proxy: KeyProxy | None) -> None:
        self._name = name
        self._workspace = workspace
        self._shown = shown
        self._proxy = proxy
        self._ours, self._theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._scratch = tempfile.mkdtemp(prefix="whet-walls-")
        self.descriptors = (self._theirs.fileno(),)

    def words(self, words: Sequence[str], env: Mapping[str, str], needs: Sequence[str] | None = None) -> list[str]:
        """The command that raises the walls and starts `words` behind them, with `env` alone.

        `needs` is the command whose installation is shown, where it is started through another one.
        """
        settings = {
            "scratch": self._scratch,
            "root": str(self._workspace.root),
            "home": str(self._workspace.home),
            "cwd": str(self._workspace.place),
            "shown": [*installation(needs or words), *self._shown],
            "words": list(words),
            "env": dict(env),
            "uid": self._workspace.belongs_to,
        }
        self._ours.send(json.dumps(settings).encode())  # not on the command line, which everybody on the host can read
        return [sys.executable, "-s", "-P", "-B", "-c", _START, _HOME, str(self._theirs.fileno())]

    @contextlib.asynccontextmanager
    async def standing(self) -> AsyncIterator[None]:
        """From when the process has been started: waits until the walls stand, and serves the way out."""
        self._theirs.close()
        listener = await self._taken()
        try:
            if self._proxy is not None:
                await self._proxy.start(listener)
            yield
        finally:
            if self._proxy is not None:
                await self._proxy.close()
            listener.close()

    async def _taken(self) -> socket.socket:
        message, numbers = await asyncio.to_thread(self._receive)
        told = json.loads(message or b'{"error": "the process that raises them ended"}')
        if "error" in told:
            raise WhetError(
                f"{self._name}: no walls for an agent on this machine ({told['error']}): allow user namespaces, or let "
                "it run with all that you may do, outside, with target.extra.walls = false."
            )
        return socket.socket(fileno=numbers[0])

    def _receive(self) -> tuple[bytes, list[int]]:
        self._ours.settimeout(_PATIENCE)
        try:
            message, numbers, _, _ = socket.recv_fds(self._ours, 65536, 1)
        except TimeoutError:
            return b'{"error": "they did not stand in time"}', []
        return message, numbers

    def close(self) -> None:
        self._ours.close()
        self._theirs.close()
        with contextlib.suppress(OSError):
            Path(self._scratch).rmdir()


def agent_uid() -> int | None:
    """A user that nothing else here is, for an agent's folder and processes; None where we cannot make one."""
    if not sys.platform.startswith("linux") or os.getuid() != 0:
        return None
    lines = Path("/proc/self/uid_map").read_text().splitlines()
    reach = max(int(line.split()[0]) + int(line.split()[2]) for line in lines)
    drawn = secrets.randbelow(1 << 24)
    return (3 << 28) + drawn if reach > (1 << 30) else 61_000 + drawn % 4_000


def installation(words: Sequence[str]) -> list[str]:
    """What a command needs of the host to run: its program with what is installed beside it, and files it names."""
    found: dict[str, None] = {}
    program = shutil.which(words[0])
    if program is not None:
        found.update(dict.fromkeys(_program(Path(program))))
    for word in words[1:]:
        if word.startswith("/") and Path(word).is_file():
            found.update(dict.fromkeys(_links(Path(word))))
    return [path for path in found if not path.startswith(tuple(f"{folder}/" for folder in _SYSTEM))]


def _program(program: Path, depth: int = 0) -> Iterator[str]:
    real = program.resolve()
    yield from _links(program)
    for place in dict.fromkeys((Path(os.path.abspath(program)), real)):  # noqa: PTH100 - links stay what they are
        if place.parent.name == "bin":
            for beside in ("bin", "lib", "lib64", "pyvenv.cfg"):
                yield str(place.parents[1] / beside)
        elif place.parent.name == "shims":  # a chooser of versions (pyenv, asdf): the program is somewhere beside it
            yield str(place.parents[1])
        modules = [folder for folder in place.parents if folder.name == "node_modules"]
        yield from map(str, modules[-1:])
    if depth < 3:
        for interpreter in _interpreters(real):
            yield from _program(interpreter, depth + 1)


def _links(path: Path) -> Iterator[str]:
    """A file, and every file that links lead through on the way to it."""
    for _ in range(16):
        path = Path(os.path.abspath(path))  # noqa: PTH100 - a link must stay the link that was named
        yield str(path)
        if not path.is_symlink():
            yield str(path.resolve())
            return
        path = path.parent / path.readlink()


def _interpreters(script: Path) -> list[Path]:
    """The programs that the first line of a script names."""
    try:
        with script.open("rb") as file:
            first = file.read(256).split(b"\n")[0].decode(errors="replace")
    except OSError:
        return []
    words = first.removeprefix("#!").split() if first.startswith("#!") else []
    return [Path(found) for word in words if not word.startswith("-") and (found := shutil.which(word))]
