"""One writer per run: an advisory lock that the operating system lets go of when its holder dies, however it dies."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from types import TracebackType

from whet.errors import WhetError

PAUSES = (0.01, 0.03, 0.1, 0.0)
"""Seconds to wait before the lock is tried again."""


class WriterLock:
    """Held by the one process that may write to a run."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("a+")
        if not self._claimed():
            self._file.seek(0)
            holder = self._file.read().strip() or "unknown"
            self._file.close()
            raise WhetError(f"{path.parent}: process {holder} is writing to this run; wait for it to end, or stop it")
        self._file.truncate(0)
        self._file.write(str(os.getpid()))
        self._file.flush()

    @property
    def held(self) -> bool:
        return not self._file.closed

    def _claimed(self) -> bool:
        """Whether the lock is ours. A reader that looks whether anybody writes has it for a moment."""
        for pause in PAUSES:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except OSError:
                time.sleep(pause)
        return False

    def release(self) -> None:
        if not self._file.closed:
            self._file.truncate(0)
            self._file.close()

    def __enter__(self) -> WriterLock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
