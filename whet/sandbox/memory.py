"""How much of the host's memory a job holds, looked at from outside and often enough.

What counts is what the host loses: pages of the job's own, wherever they are (in memory, swapped out, in its files, in
page tables, in the buffers of its pipes and sockets). Pages that several processes share count once. Shared anonymous
mappings, whose pages no process need show, are refused by the filter (`seccomp`), so that nothing is left out.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
from collections.abc import Iterable

_FIELDS = re.compile(r"^(RssAnon|RssShmem|VmPTE|VmSwap):\s+(\d+)", re.MULTILINE)

_PIPE, _SOCKET = 64 << 10, 212 << 10
"""The most that a pipe and that one end of a socket pair hold, with sizes that cannot be changed."""

_MAPPING = 512
"""Bytes of the kernel's for each separate mapping of a process."""
_MANY_MAPPINGS = 65536
"""Bytes of the list of mappings that are read at a time; an ordinary process has fewer."""

_FASTEST = 2 << 30
"""Bytes a second that one processor can fill, page by page."""

MOST_SECONDS, FEWEST_SECONDS = 0.05, 0.003
"""Between two looks, when there is no haste and when there is."""


class JobMemory:
    """The processes that `root` is the first of, and the files of their folder `box` where it is in memory."""

    def __init__(self, proc: int, root: int, box: str, limit: float, *, behind: bool = False) -> None:
        """`behind`: the folder is seen by the job's processes alone, and is looked at through theirs."""
        self._proc = proc
        self._root = str(root)
        self._box = box
        self._behind = behind
        self._limit = limit
        self._processors = os.cpu_count() or 1
        self._looks = 0
        self._kernels = 0
        self.processes = 1

    def used(self) -> int:
        """Bytes in use. The quick sum counts a shared page for each who shares it; only where that may be too much are
        shared pages divided, which takes the kernel longer, and the processes are held still meanwhile."""
        pids = self._tree()
        self.processes = len(pids)
        if self._looks % 4 == 3:
            self._kernels = sum(self._buffers(pids)) + sum(self._mappings(pid) for pid in pids)
        self._looks += 1
        files = self._files(pids)
        own = sum(self._own(pid) for pid in pids)
        if own + files + self._kernels + self._haste() <= self._limit:
            return own + files + self._kernels
        still = self._hold_still() if self.processes > 1 else pids
        used = sum(self._proportional(pid) for pid in still) + self._files(still) + self._kernels
        if used <= self._limit and self.processes > 1:
            _signal(still, signal.SIGCONT)
        return used

    def _haste(self) -> float:
        """What several processes can fill before the next look, which one process cannot: its own limit holds it."""
        if self.processes == 1:
            return 0.0
        return self._rate() * (FEWEST_SECONDS + 0.0003 * self.processes)

    def _rate(self) -> float:
        return _FASTEST * min(self._processors, self.processes)

    def _hold_still(self) -> list[str]:
        """Stops every process, those that are born meanwhile too."""
        stopped: set[str] = set()
        while born := set(pids := self._tree()) - stopped:
            _signal(born, signal.SIGSTOP)
            stopped |= born
        return pids

    def pause(self, used: int) -> float:
        """Seconds until the next look: before its processes could fill what is left.

        One process is held by its own limit; only several can add up to more.
        """
        if self.processes == 1:
            return MOST_SECONDS
        room = max(0.0, self._limit - used)
        return min(MOST_SECONDS, max(FEWEST_SECONDS, room / self._rate()))

    def _files(self, pids: list[str]) -> int:
        if not self._box:
            return 0
        if not self._behind:
            return _taken(os.statvfs(self._box))
        for pid in reversed(pids):
            with contextlib.suppress(OSError):
                folder = os.open(f"{pid}/root{self._box}", os.O_RDONLY | os.O_DIRECTORY, dir_fd=self._proc)
                try:
                    return _taken(os.fstatvfs(folder))
                finally:
                    os.close(folder)
        return 0

    def _own(self, pid: str) -> int:
        return sum(
            int(size) * 1024
            for name, size in _FIELDS.findall(self._read(f"{pid}/status"))
            if name != "RssShmem" or not self._box
        )

    def _proportional(self, pid: str) -> int:
        told = dict(re.findall(r"^(Pss_Anon|Pss_Shmem|SwapPss):\s+(\d+)", self._read(f"{pid}/smaps_rollup"), re.M))
        if not told:
            return self._own(pid)
        tables = sum(int(size) for name, size in _FIELDS.findall(self._read(f"{pid}/status")) if name == "VmPTE")
        shared = 0 if self._box else int(told.get("Pss_Shmem", 0))
        return (int(told.get("Pss_Anon", 0)) + int(told.get("SwapPss", 0)) + shared + tables) * 1024

    def _buffers(self, pids: list[str]) -> list[int]:
        """What the pipes and sockets of the processes can hold, each counted once."""
        sizes: dict[str, int] = {}
        for pid in pids:
            for number in self._names(f"{pid}/fd"):
                try:
                    target = os.readlink(f"{pid}/fd/{number}", dir_fd=self._proc)
                except OSError:
                    continue
                kind = target.partition(":")[0]
                if kind in ("pipe", "socket"):
                    sizes[target] = _PIPE if kind == "pipe" else _SOCKET
        # Its standard streams are pipes to us, which are emptied.
        return sorted(sizes.values())[3:]

    def _mappings(self, pid: str) -> int:
        """What the kernel keeps for the mappings of a process, where they are more than a program has."""
        try:
            file = os.open(f"{pid}/maps", os.O_RDONLY, dir_fd=self._proc)
        except OSError:
            return 0
        try:
            seen = 0
            while part := os.read(file, _MANY_MAPPINGS):
                seen += part.count(b"\n")
        except OSError:
            return 0
        finally:
            os.close(file)
        return seen * _MAPPING if seen > 1000 else 0

    def _tree(self) -> list[str]:
        found, todo = [], [self._root]
        while todo:
            pid = todo.pop()
            found.append(pid)
            for thread in self._names(f"{pid}/task"):
                todo += self._read(f"{pid}/task/{thread}/children").split()
        return found

    def _names(self, path: str) -> list[str]:
        try:
            folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY, dir_fd=self._proc)
        except OSError:
            return []
        try:
            return os.listdir(folder)  # noqa: PTH208 - by descriptor, which a Path cannot be
        except OSError:
            return []
        finally:
            os.close(folder)

    def _read(self, path: str) -> str:
        """A file of /proc; '' where the process is gone or may not be looked at."""
        try:
            file = os.open(path, os.O_RDONLY, dir_fd=self._proc)
        except OSError:
            return ""
        try:
            return os.read(file, 65536).decode(errors="replace")
        except OSError:
            return ""
        finally:
            os.close(file)


def _taken(told: os.statvfs_result) -> int:
    return (told.f_blocks - told.f_bfree) * told.f_frsize


def _signal(pids: Iterable[str], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(int(pid), number)
