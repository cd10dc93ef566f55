"""What a supervisor sees of the code it watches: its output up to a limit, and what ended it."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Mapping

_FLOOD = 16
"""Output is kept up to its limit and then let go by; a program that writes this many times the limit is ended."""


class JobWatch:
    """The streams of one job, and the verdict on it."""

    def __init__(self, limits: Mapping[str, float], stdin: bytes, in_end: int, out_end: int, err_end: int) -> None:
        self.limits = limits
        self.over = False
        self._error = ""
        self._detail = ""
        self._stdin = memoryview(stdin)
        self._in_end = in_end
        self._ends = {out_end: 0, err_end: 1}
        self._kept = (bytearray(), bytearray())
        self._seen = [0, 0]

    def register(self, poll: select.poll) -> None:
        for stream in self._ends:
            poll.register(stream, select.POLLIN)
        poll.register(self._in_end, select.POLLOUT)

    def move(self, stream: int, poll: select.poll) -> None:
        """Reads what the code wrote, or writes what it may read."""
        if stream == self._in_end:
            if not self._feed():
                poll.unregister(stream)
                os.close(stream)
        elif not self._read(stream):
            poll.unregister(stream)

    def _feed(self) -> bool:
        if not self._stdin:
            return False
        try:
            self._stdin = self._stdin[os.write(self._in_end, self._stdin[:65536]) :]
        except BlockingIOError:
            return True
        except BrokenPipeError:
            return False
        return bool(self._stdin)

    def _read(self, stream: int) -> bool:
        """False at the end of the stream, or when nothing is there."""
        try:
            part = os.read(stream, 65536)
        except BlockingIOError:
            return False
        which = self._ends[stream]
        room = 4 * int(self.limits["output"]) - len(self._kept[which])
        self._kept[which].extend(part[: max(room, 0)])
        self._seen[which] += len(part)
        if self._seen[which] > _FLOOD * self.limits["output"] + 65536:
            self.stop("output", f"more than {_FLOOD} times the {int(self.limits['output']):,} characters that are kept")
            return False
        return bool(part)

    def weigh(self, used: int) -> None:
        if used > self.limits["memory"]:
            self.stop("memory", f"its processes used more than {self.limits['memory'] / 2**20:.0f} MiB")

    def weigh_by_kernel(self, overrun: bool) -> None:
        """What the job's control group says, once it has ended."""
        if overrun:
            self.stop("memory", f"the kernel ended it at {self.limits['memory'] / 2**20:.0f} MiB")

    def stop(self, error: str, detail: str) -> None:
        """A limit ends the job; the first one counts."""
        if not self.over:
            self._error, self._detail, self.over = error, detail, True

    def drain(self) -> None:
        """Reads what is still in the pipes; nobody writes to them any more."""
        for stream in self._ends:
            while self._read(stream):
                pass

    def text(self, which: int) -> str:
        return bytes(self._kept[which]).decode("utf-8", "replace")[: int(self.limits["output"])]

    @property
    def truncated(self) -> bool:
        most = int(self.limits["output"])
        return any(
            seen > len(kept) or (len(kept) > most and len(bytes(kept).decode("utf-8", "replace")) > most)
            for seen, kept in zip(self._seen, self._kept, strict=True)
        )

    def verdict(self, code: int, cpu: float) -> tuple[str, str]:
        """What ended the job, as an error code and a detail; ('', '') when it ended by itself."""
        if self._error:
            return self._error, self._detail
        if code == -signal.SIGXCPU or (code == -signal.SIGKILL and cpu >= self.limits["cpu"] - 0.5):
            return "deadline", f"more than {self.limits['cpu']:g} s of CPU time"
        if code == -signal.SIGKILL:
            return "killed", "the kernel ended it, most likely for want of memory"
        if code != 0 and self._kept[1].rstrip().rpartition(b"\n")[2].startswith(b"MemoryError"):
            return "memory", f"more than {self.limits['memory'] / 2**20:.0f} MiB"
        return "", ""
